// Sends the turns of a manual run one by one, and waits for the trace of each, or builds one from request and reply.

import { randomBytes, randomUUID } from "node:crypto";
import { type IntakeBy, intakeOf } from "../ingest/intake.ts";
import { prepareBatch } from "../ingest/prepare.ts";
import { whileChanging } from "../ingest/while-changing.ts";
import type { AgentMessage, AgentReply, AgentTurn } from "../model/agent/call.ts";
import { readByNothing } from "../model/agent/read-by.ts";
import { Refusal } from "../model/refusal.ts";
import type { RunTurn } from "../model/run/launch.ts";
import { observedTurn } from "../model/run/observed-turn.ts";
import { traceparentOf } from "../model/run/sent-trace.ts";
import { findAgent } from "../store/accounts/agents.ts";
import { placeOf } from "../store/cluster/routing.ts";
import type { Database } from "../store/db.ts";
import { newId } from "../store/new-id.ts";
import type { ManualRun } from "../store/runs/manual-claims.ts";
import { beginTurn, type LeasedRun, traceDeleted } from "../store/runs/manual-runs.ts";
import { findArrived, listWholeTurns } from "../store/runs/turns.ts";
import { insertTraces } from "../store/traces/insert.ts";
import { nameByOtlpId } from "../store/traces/otlp-ids.ts";
import { deleteTrace, findTraceSize } from "../store/traces/read.ts";
import { type AwaitDeps, awaitTrace } from "./await-trace.ts";
import { type StoringOf, saveRedacted } from "./redact-turn.ts";
import { noReply } from "./reply-in-trace.ts";
import { retryTransient } from "./retry.ts";

export type TurnDeps = AwaitDeps &
  StoringOf & {
    /** Errors are part of the reply; throws a Refusal if the agent can no longer be called. */
    call: (agentId: string, turn: AgentTurn, signal: AbortSignal) => Promise<AgentReply>;
    /** Limit of the traces of all turns together, the same as for one trace. */
    traceBytesMax: number;
    /** Called when a turn begins, and when its reply or its trace is known. */
    onTurn: (run: ManualRun, turn: RunTurn) => void;
  };

/** `waitMs`: how long to wait for the trace of a turn. */
export type SendableRun = LeasedRun & { waitMs: number };

/** Characters of a conversation, which is stored, and sent again with every turn. */
const conversationCharsMax = 4_000_000;

/**
 * Sends all turns and returns them with the whole text of each reply; undefined if `signal` was aborted or the lease was lost. Stops after
 * a failed turn: the run is then evaluated by the turns so far.
 */
export async function sendTurns(
  deps: TurnDeps,
  leased: SendableRun,
  signal: AbortSignal,
): Promise<RunTurn[] | undefined> {
  const turns: RunTurn[] = [];
  const history: AgentMessage[] = [];
  let bytesLeft = deps.traceBytesMax;
  for (const [at, { input }] of leased.run.test.turns.entries()) {
    const sent = await sendTurn(deps, leased, { at, input, history, bytesLeft }, signal);
    if (!sent) return undefined;
    const { turn, said, bytes } = sent;
    turns.push(turn);
    bytesLeft -= bytes;
    if (turn.error) break;
    history.push({ role: "user", content: input }, { role: "assistant", content: said });
  }
  return turns;
}

/** The turns that were sent earlier, of a run that waited for the judge. */
export async function findSentTurns(
  { db, traceBytesMax }: TurnDeps,
  { id }: ManualRun,
  signal: AbortSignal,
): Promise<RunTurn[]> {
  let bytesLeft = traceBytesMax;
  const turns = await retryTransient(signal, () => listWholeTurns(db, id));
  for (const { traceId } of turns) {
    if (traceId === null) throw traceDeleted();
    bytesLeft -= await retryTransient(signal, () => sizeOf(db, traceId, bytesLeft));
  }
  return turns;
}

type NextTurn = { at: number; input: string; history: AgentMessage[]; bytesLeft: number };

/** `said`: the reply as the agent gave it, for the next turn; what is stored and evaluated is redacted. */
type SentTurn = { turn: RunTurn; said: string; bytes: number };

/** Sends one turn, and returns once its trace is stored. */
async function sendTurn(
  deps: TurnDeps,
  leased: SendableRun,
  { at, input, history, bytesLeft }: NextTurn,
  signal: AbortSignal,
): Promise<SentTurn | undefined> {
  const { db } = deps;
  const { run } = leased;
  const turn: RunTurn = {
    turn: at + 1,
    input,
    requestId: `run-${randomUUID()}`,
    w3cTraceId: randomBytes(16).toString("hex"),
    startedAt: new Date().toISOString(),
    status: null,
    ms: null,
    text: null,
    error: null,
    arrived: null,
    traceId: null,
  };
  if (!(await retryTransient(signal, () => beginTurn(db, leased, turn)))) return undefined;
  deps.onTurn(run, turn);
  const sent: AgentTurn = {
    input,
    history: [...history],
    conversationId: `run-${run.id}`,
    requestId: turn.requestId,
    traceparent: traceparentOf(turn.w3cTraceId),
  };
  const answered = await deps.call(run.agentId, sent, signal);
  if (signal.aborted) return undefined;
  const limited = (reply: AgentReply) =>
    at + 1 < run.test.turns.length ? limitConversation(sent, reply) : reply;
  let reply = limited(answered);
  Object.assign(turn, replyFields(reply));
  await saveRedacted(deps, run, turn, signal);
  deps.onTurn(run, turn);

  const waitMs = traceWaitMs(reply, leased.waitMs);
  const waitFrom = performance.now();
  const arrived = await awaitTrace(deps, leased, turn, waitMs, signal);
  if (signal.aborted) return undefined;
  if (reply.fromTrace && !reply.error) {
    const { redactions, ...said } = arrived?.reply ?? noReply(leased.waitMs);
    reply = limited({ ...reply, ...said });
    Object.assign(turn, replyFields(reply), { redactions });
  }
  if (waitMs > 0 && !arrived?.reply) turn.waitedMs = Math.round(performance.now() - waitFrom);
  const stored = arrived
    ? { traceId: arrived.traceId, arrived: true }
    : await storeObserved(deps, run, turn, sent, reply, signal);
  Object.assign(turn, stored);
  if (!(await saveRedacted(deps, run, turn, signal))) {
    // A trace that was built here contains the history, and so what was deleted.
    if (!stored.arrived) await retryTransient(signal, () => deleteTrace(db, stored.traceId));
    return undefined;
  }
  deps.onTurn(run, turn);
  const { traceId } = stored;
  return {
    turn,
    said: reply.text ?? "",
    bytes: await retryTransient(signal, () => sizeOf(db, traceId, bytesLeft)),
  };
}

/** Turns the reply into an error if the conversation would get too long for another turn. */
function limitConversation({ input, history }: AgentTurn, reply: AgentReply): AgentReply {
  const chars = history.reduce((sum, { content }) => sum + content.length, input.length);
  if (reply.error || chars + (reply.text?.length ?? 0) <= conversationCharsMax) return reply;
  const reason = `The conversation is longer than ${conversationCharsMax} characters.`;
  return { ...reply, error: { code: "too_large", reason } };
}

async function sizeOf(db: Database, traceId: string, bytesLeft: number): Promise<number> {
  const size = await findTraceSize(db, traceId);
  if (!size) throw traceDeleted();
  if (size.bytes > bytesLeft) {
    throw new Refusal("PAYLOAD_TOO_LARGE", {
      message: "The traces of all turns together exceed the size limit of a trace.",
      hint: "Send smaller traces, or use fewer turns.",
    });
  }
  return size.bytes;
}

function replyFields({ status, ms, text, error, startedAt, fromTrace }: AgentReply): Partial<RunTurn> {
  const fields = { status, ms: Math.round(ms), text, error, startedAt: startedAt.toISOString() };
  return fromTrace ? { ...fields, replyFrom: "trace" } : fields;
}

/** No wait if the agent was not called or not reached, because it sends no trace then. */
function traceWaitMs({ error, status }: AgentReply, waitMs: number): number {
  const isUncalled = error?.code === "too_large" && status === null;
  return isUncalled || error?.code === "unreachable" || error?.code === "refused_target" ? 0 : waitMs;
}

/** Builds the turn's trace from request and reply, unless the agent's own arrived at the last moment. */
async function storeObserved(
  { db, debounceMs, storingOf }: TurnDeps,
  run: ManualRun,
  turn: RunTurn,
  sent: AgentTurn,
  reply: AgentReply,
  signal: AbortSignal,
): Promise<{ traceId: string; arrived: boolean }> {
  const spanId = randomBytes(8).toString("hex");
  const observed = observedTurn(sent, reply, { runId: run.id, turn: turn.turn, spanId });
  const traceId = newId();
  const { agentId } = run;
  const write = {
    traceId,
    runId: newId(),
    keyId: null,
    agentId,
    externalId: turn.requestId,
    path: "canonical" as const,
  };
  let by: IntakeBy = readByNothing;
  let rules: Awaited<ReturnType<typeof storingOf>>;
  const readSettings = async () => {
    const agent = await findAgent(db, agentId);
    if (agent) by = intakeOf(agent);
    rules = await storingOf(agentId);
  };
  await retryTransient(signal, readSettings);
  const storedAs = await retryTransient(signal, async () => {
    const stored = await whileChanging(async () => {
      const batch = prepareBatch(
        observed,
        "canonical",
        { ...readByNothing, intake: by.intake },
        rules.storing,
      );
      const prepared = { ...write, ...batch, privacyRevision: rules.revision };
      const [outcome] = await insertTraces(await placeOf(db, agentId), [prepared], debounceMs);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    }, readSettings);
    return stored ? traceId : ((await findArrived(db, agentId, [turn.requestId]))?.traceId ?? traceId);
  });
  if (storedAs !== traceId) return { traceId: storedAs, arrived: true };
  // What the agent still sends replaces it under either identity.
  const named = { agentId, otlpTraceId: turn.w3cTraceId, traceId };
  const bearer = await retryTransient(signal, () => nameByOtlpId(db, named));
  if (bearer === traceId) return { traceId, arrived: false };
  await retryTransient(signal, () => deleteTrace(db, traceId));
  return { traceId: bearer, arrived: true };
}
