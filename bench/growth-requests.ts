// How long requests take whose service has many or few traces in its database: one after the other, in turns.
import { Agent, request } from "node:http";
import { median } from "./figures.ts";
import { agentCount, anyTrace, type Filled, newTrace } from "./growth-fill.ts";
import { spansPerTrace } from "./shapes.ts";
import type { Stand } from "./stand.ts";
import { contentTypes, encode, newTraceId, spanMaker } from "./traces.ts";

type Sent = { path: string; body?: Buffer };

/** What is requested in a round. Traces are 12 spans in 27 KB of protobuf, batches two of these spans. */
const requests: Record<string, (into: Filled, round: number) => Sent> = {
  "POST a new trace": ({ senders }, round) => post(senders[round % 8]!.serviceName, newTraceId()),
  "POST a batch of a new trace": into => {
    const { sender, externalId } = newTrace(into);
    return post(sender.serviceName, externalId, spansOfBatch);
  },
  "POST a batch of a trace of any age": into => {
    const { sender, externalId } = anyTrace(into);
    return post(sender.serviceName, externalId, spansOfBatch);
  },
  "GET a page of 50": ({ senders }, round) => ({
    path: `/api/agents/${senders[round % agentCount]!.agentId}/traces?limit=50`,
  }),
  "GET one by its external ID": into => {
    const { sender, externalId } = anyTrace(into);
    return { path: `/api/agents/${sender.agentId}/traces?externalId=${externalId}` };
  },
  "GET a trace with its spans": into => ({ path: `/api/traces/${anyTrace(into).id}` }),
  "GET its outline and runs": into => ({ path: `/api/traces/${anyTrace(into).id}/outline` }),
};

const spansOfBatch = 2;
const warmUpRounds = 40;

/** A service for each database. Yields the median of each request on each, in ms. */
export async function* requestTimes(
  filled: Filled[],
  { rounds, startService }: { rounds: number; startService: Stand["startService"] },
): AsyncGenerator<[name: string, ms: number[]]> {
  const services = [];
  for (const { url } of filled) services.push(await startService({ SVC_ROLES: "http", DATABASE_URL: url }));
  const agent = new Agent({ keepAlive: true });
  for (const [name, next] of Object.entries(requests)) {
    const times = filled.map((): number[] => []);
    for (let round = -warmUpRounds; round < rounds; round++) {
      for (const [at, into] of filled.entries()) {
        const sent = next(into, round + warmUpRounds);
        const begun = performance.now();
        await send({ ...sent, agent, into, url: services[at]!.url });
        if (round >= 0) times[at]!.push(performance.now() - begun);
      }
    }
    yield [name, times.map(median)];
  }
  agent.destroy();
  for (const { service } of services) await service.stop();
}

function post(serviceName: string, traceId: string, spans: number = spansPerTrace): Sent {
  return { path: "/public/traces", body: encode("protobuf", spanMaker(serviceName)(traceId, 0, spans)) };
}

/** Resolves once the answer has been read. Throws unless it is 200. */
function send({ path, body, agent, into, url }: Sent & { agent: Agent; into: Filled; url: string }) {
  const headers = body
    ? { "x-api-key": into.apiKey, "content-type": contentTypes.protobuf }
    : { authorization: `Bearer ${into.accessToken}` };
  return new Promise<void>((resolve, reject) => {
    const sent = request(url + path, { method: body ? "POST" : "GET", agent, headers });
    sent.on("response", answer => {
      let text = "";
      answer.on("data", part => {
        text += part;
      });
      answer.on("error", reject);
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`${path} was answered ${answer.statusCode}: ${text}`));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
