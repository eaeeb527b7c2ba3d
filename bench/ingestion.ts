// What ingestion costs and how long it takes, beside a baseline server that stores nothing: with prepared bodies at full load
// and at half of it, with OpenTelemetry's exporter, and the batches of a long trace. Beside another commit, the baseline and the
// exporter are left out: they would take half of the time and say the same.
import { Agent } from "node:http";
import { openAccount } from "./account.ts";
import type { Figures, Given, Parts } from "./benchmark.ts";
import type { DriverInput } from "./driver.ts";
import { median } from "./figures.ts";
import { post } from "./post.ts";
import { type Child, peakMb } from "./processes.ts";
import { type Driven, openStand, type Stand } from "./stand.ts";
import { contentTypes, encode, type Format, newTraceId, spanMaker } from "./traces.ts";

/** Every trace has 12 spans in 27 KB and is new; 32 connections are open. */
export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const baseline = given.isCompared ? undefined : await startBaseline(stand);
  const { service, url } = await stand.startService();
  const { apiKey: key } = await (await openAccount(stand.databaseUrl, url)).project({ serviceName: "bench" });
  const to = `${url}/public/traces`;
  const load = (driver: "prepared" | "exporter", format: Format) => async () => {
    const input = { key, format, serviceName: "bench", connections: 32, warmUpSeconds: 0 };
    const send = (more: Partial<DriverInput> & { url: string }, server = service) =>
      stand.drive({ ...input, seconds: given.seconds, ...more }, server, driver);
    const bare = baseline && (await send({ url: baseline.url }, baseline.server));
    const full = await send({ url: to });
    const figures = figuresOf(`${format}, ${driver}`, full);
    if (bare) figures[`${format}, ${driver}: traces/s to the baseline's`] = full.traces / bare.traces;
    // The exporter sends when it is asked to, so only prepared bodies come at a steady rate.
    if (driver === "prepared") {
      const half = await send({ url: to, perSecond: Math.max(1, full.traces / full.seconds / 2) });
      figures[`${format}, half of that rate: p99 ms`] = half.p99Ms;
    }
    return figures;
  };
  return [
    load("prepared", "json"),
    load("prepared", "protobuf"),
    ...(given.isCompared ? [] : [load("exporter", "json"), load("exporter", "protobuf")]),
    async () => ({
      "a batch in a trace of 500, to one of 10": await longTrace(to, key),
      "peak MB of the service": peakMb(service.pid),
    }),
  ];
}

async function startBaseline(stand: Stand): Promise<{ server: Child; url: string }> {
  const server = stand.startProgram("./baseline.ts", []);
  const { url } = JSON.parse(await server.nextLine()) as { url: string };
  return { server, url };
}

function figuresOf(name: string, { traces, seconds, service, postgres, p50Ms, p99Ms }: Driven): Figures {
  return {
    [`${name}: service µs a trace`]: (service / traces) * 1e6,
    [`${name}: PostgreSQL µs a trace`]: (postgres / traces) * 1e6,
    [`${name}: traces/s`]: traces / seconds,
    [`${name}: p50 ms`]: p50Ms,
    [`${name}: p99 ms`]: p99Ms,
  };
}

/** The last batches of a long trace against those of short ones, in turns: median times. */
async function longTrace(url: string, key: string): Promise<number> {
  const [batches, ofShort, spans] = [500, 10, 20];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const make = spanMaker("bench");
  const send = async (traceId: string, batch: number) => {
    const body = encode("protobuf", make(traceId, batch * spans, (batch + 1) * spans));
    const headers = { "x-api-key": key, "content-type": contentTypes.protobuf };
    const begun = performance.now();
    const status = await post(url, { agent, headers, body });
    if (status !== 200) throw new Error(`A batch was answered with ${status}.`);
    return performance.now() - begun;
  };
  const [short, long]: [number[], number[]] = [[], []];
  const longId = newTraceId();
  for (let batch = 0; batch < batches; batch += ofShort) {
    const shortId = newTraceId();
    for (let at = 0; at < ofShort; at++) long.push(await send(longId, batch + at));
    for (let at = 0; at < ofShort; at++) short.push(await send(shortId, at));
  }
  agent.destroy();
  return median(long.slice(-batches / 2)) / median(short);
}
