// Hostile and too many requests, beside a healthy agent: what each is answered, the agent's times, memory and recovery.
import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { openAccount } from "./account.ts";
import { post } from "./post.ts";
import type { Probed } from "./probe.ts";
import { peakMb, start } from "./processes.ts";

export type OverloadOptions = {
  databaseUrl: string;
  url: string;
  pid: number;
  seconds: number;
  /** By default the hostile ones, and five times the connections that saturate it. */
  loads?: Record<string, Load>;
};

export type Overloaded = {
  load: string;
  statuses: Record<string, number>;
  /** Of the healthy agent during the load: 99th percentile, and how often each status. */
  healthyP99Ms: number;
  healthy: Record<string, number>;
  /** The same 99th percentile at a bare server that commits to the same PostgreSQL: what the machine takes just then. */
  floorP99Ms: number;
  /** From the end of the load to the end of the agent's last slow or failed request. */
  recoveredMs: number;
  /** Of the service, since it started. */
  peakMb: number;
};

type Sender = { key: string; agentId: string; url: string };
type Load = (sender: Sender, count: (status: number) => void, seconds: number) => Promise<void>;

export async function measureOverload(
  { databaseUrl, url, pid, seconds, loads = hostileLoads }: OverloadOptions,
  onLoad: (result: Overloaded) => void = () => {},
): Promise<Overloaded[]> {
  const account = await openAccount(databaseUrl, url);
  const made = await account.project({ serviceName: "hostile" });
  const calm = await account.project({ serviceName: "healthy" });
  const to = `${url}/public/traces`;
  const sender = { key: made.apiKey, agentId: made.agentId, url: to };
  const floor = start("./overload-floor.ts", [databaseUrl]);
  const floorUrl = await floor.nextLine();
  const results: Overloaded[] = [];
  for (const [load, run] of Object.entries(loads)) {
    const input = { key: calm.apiKey, agentId: calm.agentId };
    const probes = await Promise.all([to, floorUrl].map(url => startProbe({ ...input, url })));
    await sleep(1_000);
    const statuses: Record<string, number> = {};
    const began = Date.now();
    await run(sender, status => (statuses[status] = (statuses[status] ?? 0) + 1), seconds);
    const ended = Date.now();
    await sleep(recoveryMs);
    const [probed, floorProbed] = await Promise.all(probes.map(probe => probe.stop()));
    const during = (of: Probed[]) => of.filter(([at]) => at >= began && at <= ended);
    const floorP99Ms = p99(during(floorProbed!));
    const result = {
      load,
      statuses,
      healthyP99Ms: p99(during(probed!)),
      healthy: countBy(during(probed!), ([, , status]) => status),
      floorP99Ms,
      recoveredMs: recoveredAfter(probed!, ended, slowMs(floorP99Ms)),
      peakMb: peakMb(pid),
    };
    results.push(result);
    onLoad(result);
  }
  await floor.stop();
  return results;
}

/** Sends as a healthy agent does until it is stopped, which returns every request. */
async function startProbe(input: { url: string; key: string; agentId: string }) {
  const probe = start("./probe.ts", [JSON.stringify(input)]);
  await probe.nextLine();
  return {
    async stop(): Promise<Probed[]> {
      probe.process.kill("SIGTERM");
      return JSON.parse(await probe.nextLine()) as Probed[];
    },
  };
}

function countBy<T>(items: T[], keyOf: (item: T) => number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}

/** Within this time after a load, the service must be as before. */
export const recoveryMs = 10_000;

/** From when on a request of the healthy agent is slow: a second, or ten times the floor on a machine too slow for that. */
export function slowMs(floorP99Ms: number): number {
  return Math.max(1_000, 10 * floorP99Ms);
}

function p99(probed: Probed[]): number {
  const times = probed.map(([, ms]) => ms).sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}

/** The end of the last slow or failed request after the load, in ms since its end; 0 if there was none. */
function recoveredAfter(probed: Probed[], ended: number, slow: number): number {
  const bad = probed.filter(
    ([at, ms, status]) => at + ms > ended && (ms > slow || status >= 400 || status === 0),
  );
  return Math.max(0, ...bad.map(([at, ms]) => at + ms - ended));
}

const mebibyte = 1024 * 1024;
const json = { "content-type": "application/json" };

export const hostileLoads: Record<string, Load> = {
  "64 parallel bodies of 30 MB": (sender, count) => {
    const filling = "x".repeat(30 * mebibyte - 300);
    const spans = [{ span_id: "1", name: "large", attributes: { a: filling } }];
    return together(
      64,
      sender,
      Buffer.from(JSON.stringify({ platformId: sender.agentId, spans })),
      {},
      count,
    );
  },
  "50 gzip bombs of 1 GiB": (sender, count) => {
    const part = gzipSync(Buffer.alloc(64 * mebibyte, " "));
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => part));
    return together(50, sender, bomb, { "content-encoding": "gzip" }, count);
  },
  "16 bodies of 10 million empty objects": (sender, count) =>
    together(16, sender, Buffer.alloc(30 * mebibyte, "{},"), {}, count),
  "8 protobuf bodies of 15 million empty attributes": (sender, count) =>
    together(
      8,
      sender,
      Buffer.alloc(30 * mebibyte, "\x4a\0"),
      { "content-type": "application/x-protobuf" },
      count,
    ),
  "2,000 slow sockets": slowSockets,
  "five times the connections that saturate it": (sender, count, seconds) =>
    saturate(sender, count, seconds, 160),
};

/** For a service whose PostgreSQL is too slow: five times as many requests as it has places for. */
export const slowLoads: Record<string, Load> = {
  "1,280 connections, PostgreSQL too slow": (sender, count, seconds) =>
    saturate(sender, count, seconds, 1_280),
};

async function together(
  requests: number,
  { url, key }: Sender,
  body: Buffer,
  headers: Record<string, string>,
  count: (status: number) => void,
): Promise<void> {
  const agent = new Agent();
  const send = async () =>
    count(
      await post(url, { agent, headers: { ...json, "x-api-key": key, ...headers }, body }).catch(() => 0),
    );
  await Promise.all(Array.from({ length: requests }, send));
}

/** Half of them send a header and no more, half a body byte by byte, for as long as the load lasts. */
async function slowSockets(
  { url, key }: Sender,
  count: (status: number) => void,
  seconds: number,
): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const sockets: Socket[] = [];
  for (let at = 0; at < 2_000; at++) {
    const socket = connect(Number(port), hostname).on("error", () => {});
    const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${key}\r\n`;
    socket.write(at % 2 ? head : `${head}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`);
    socket.once("data", (chunk: Buffer) =>
      count(Number(/^HTTP\/1.1 (\d+)/.exec(chunk.toString("latin1"))?.[1] ?? 0)),
    );
    sockets.push(socket);
    if (at % 100 === 99) await sleep(10);
  }
  for (let second = 0; second < seconds; second++) {
    await sleep(1_000);
    for (const [at, socket] of sockets.entries()) if (at % 2 === 0 && !socket.destroyed) socket.write(" ");
  }
  const closing = sockets.filter(({ closed }) => !closed).map(socket => once(socket, "close"));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closing);
}

/** 32 connections saturate it (see the benchmark of ingestion). */
async function saturate(
  { url, key, agentId }: Sender,
  count: (status: number) => void,
  seconds: number,
  connections: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const attributes = { "gen_ai.prompt": "x".repeat(1_500) };
  const spans = Array.from({ length: 12 }, (_, at) => ({ span_id: `${at}`, name: `step ${at}`, attributes }));
  const body = Buffer.from(JSON.stringify({ platformId: agentId, spans }));
  const until = performance.now() + seconds * 1_000;
  const work = async () => {
    while (performance.now() < until)
      count(await post(url, { agent, headers: { ...json, "x-api-key": key }, body }).catch(() => 0));
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
}
