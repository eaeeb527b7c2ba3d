// Sends every agent's conversations over HTTP and waits for their verdicts.
import { setTimeout as delay } from "node:timers/promises";
import type { TraceDetail } from "../src/http/traces/schemas.ts";
import type { listedTraceView } from "../src/http/traces/view.ts";
import type { Client } from "./client.ts";
import type { CreatedAgent, DemoProject } from "./project.ts";
import { placeSteps } from "./sample.ts";
import { sendCanonical } from "./send-canonical.ts";
import { sendOtlp } from "./send-otlp.ts";

type Listed = ReturnType<typeof listedTraceView>;

/** The external ids of one agent's traces, in the order they were sent. */
export type SentTraces = { agent: CreatedAgent; externalIds: string[] };
/** `trace` is undefined if it is not stored yet. */
export type SentTrace = { agent: CreatedAgent; trace: TraceDetail | undefined };

// The time between conversations of one agent; the last one has just ended.
const distanceMs = 45_000;
const pollMs = 250;

export async function sendTraffic(url: string, { agents, apiKey }: DemoProject): Promise<SentTraces[]> {
  const now = Date.now();
  return Promise.all(
    agents.map(async agent => {
      const { id: agentId, otlpServiceName: serviceName, conversations } = agent;
      const placed = conversations.map((conversation, at) =>
        placeSteps(conversation, now - (conversations.length - at) * distanceMs),
      );
      const externalIds = serviceName
        ? await sendOtlp({ url, apiKey, serviceName }, placed)
        : await sendCanonical({ url, apiKey, agentId }, placed);
      return { agent, externalIds };
    }),
  );
}

/** The traces, once each is evaluated or after `timeoutMs`. */
export async function awaitVerdicts(
  client: Client,
  sent: SentTraces[],
  timeoutMs: number,
  onProgress: (evaluated: number) => void,
): Promise<SentTrace[]> {
  const until = Date.now() + timeoutMs;
  let found: Listed[][];
  do {
    await delay(pollMs);
    found = await Promise.all(sent.map(traces => findSent(client, traces)));
    onProgress(found.flat().filter(isEvaluated).length);
  } while (Date.now() < until && !isAllEvaluated(sent, found));
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

function isAllEvaluated(sent: SentTraces[], found: Listed[][]): boolean {
  return sent.every(
    ({ externalIds }, at) => found[at]!.length === externalIds.length && found[at]!.every(isEvaluated),
  );
}

function isEvaluated({ run }: Listed): boolean {
  return run?.state === "completed" || run?.state === "error";
}
