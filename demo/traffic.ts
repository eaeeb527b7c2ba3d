// Sends every agent's conversations over HTTP, and waits for what the service makes of them.
import { setTimeout as delay } from "node:timers/promises";
import type { listedTraceView, traceDetailView } from "../src/http/traces/view.ts";
import type { Client } from "./client.ts";
import type { DemoProject, MadeAgent } from "./project.ts";
import { placeSteps } from "./sample.ts";
import { sendCanonical } from "./send-canonical.ts";
import { sendOtlp } from "./send-otlp.ts";

type Listed = ReturnType<typeof listedTraceView>;
export type TraceDetail = ReturnType<typeof traceDetailView>;

/** The traces of one agent, in the order in which they were sent. */
export type SentTraces = { agent: MadeAgent; externalIds: string[] };
/** `trace` is undefined where it is not there (yet). */
export type Judged = { agent: MadeAgent; trace: TraceDetail | undefined };

// Conversations of one agent are this far apart, the last one over by now.
const apartMs = 45_000;
const askAgainMs = 250;

export async function sendTraffic(url: string, { agents, apiKey }: DemoProject): Promise<SentTraces[]> {
  const now = Date.now();
  return Promise.all(
    agents.map(async agent => {
      const { id: agentId, otlpServiceName: serviceName, conversations } = agent;
      const placed = conversations.map((conversation, at) =>
        placeSteps(conversation, now - (conversations.length - at) * apartMs),
      );
      const externalIds = serviceName
        ? await sendOtlp({ url, apiKey, serviceName }, placed)
        : await sendCanonical({ url, apiKey, agentId }, placed);
      return { agent, externalIds };
    }),
  );
}

/** The traces, once each is judged or `patienceMs` have passed. */
export async function awaitVerdicts(
  client: Client,
  sent: SentTraces[],
  patienceMs: number,
  onProgress: (judged: number) => void,
): Promise<Judged[]> {
  const until = Date.now() + patienceMs;
  let found: Listed[][];
  do {
    await delay(askAgainMs);
    found = await Promise.all(sent.map(traces => findSent(client, traces)));
    onProgress(found.flat().filter(isJudged).length);
  } while (Date.now() < until && !isAllJudged(sent, found));
  return Promise.all(
    sent.flatMap(({ agent, externalIds }, at) =>
      externalIds.map(async externalId => {
        const listed = found[at]!.find(trace => trace.externalId === externalId);
        return { agent, trace: listed && (await client.get<TraceDetail>(`/api/traces/${listed.id}`)) };
      }),
    ),
  );
}

async function findSent(client: Client, { agent, externalIds }: SentTraces): Promise<Listed[]> {
  const newest = await client.list<Listed>(`/api/agents/${agent.id}/traces`, 2 * externalIds.length);
  return newest.filter(trace => externalIds.includes(trace.externalId));
}

function isAllJudged(sent: SentTraces[], found: Listed[][]): boolean {
  return sent.every(
    ({ externalIds }, at) => found[at]!.length === externalIds.length && found[at]!.every(isJudged),
  );
}

function isJudged({ run }: Listed): boolean {
  return run?.state === "completed" || run?.state === "error";
}
