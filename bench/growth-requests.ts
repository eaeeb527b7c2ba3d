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
const rounds = 60;

/** A service for each database. `times`: the median of a request on each, in ms. */
export async function openRequests(filled: Filled[], { startService }: Stand) {
  const urls: string[] = [];
  for (const { url } of filled) urls.push((await startService({ DATABASE_URL: url })).url);
  const agent = new Agent({ keepAlive: true });
  return Object.entries(requests).map(([what, next]) => ({
    what,
    async times(): Promise<number[]> {
      const times = filled.map((): number[] => []);
      for (let round = -warmUpRounds; round < rounds; round++) {
        for (const [at, into] of filled.entries()) {
          const sent = next(into, round + warmUpRounds);
          const begun = performance.now();
          await send({ ...sent, agent, into, url: urls[at]! });
          if (round >= 0) times[at]!.push(performance.now() - begun);
        }
      }
      return times.map(median);
    },
  }));
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
