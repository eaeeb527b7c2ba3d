// Conducts one manual run: each turn is sent, its trace awaited or made of what was seen; then the whole is judged.
import { randomBytes, randomUUID, randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { evaluateTest, verdictOf } from "../evaluate/evaluate.ts";
import { joinTurns, placedInTurns } from "../evaluate/turns.ts";
import { isWaiting } from "../evaluate/unsettled.ts";
import { prepareBatch } from "../ingest/prepare.ts";
import { TraceRoom } from "../load/trace-room.ts";
import { type HeldTraces, holdTraces, type LoadedTrace } from "../load.ts";
import type { AgentMessage, AgentReply, AgentTurn } from "../model/agent/call.ts";
import { Refusal } from "../model/refusal.ts";
import { type RunTurn, replyMax } from "../model/run/launch.ts";
import { observedTurn } from "../model/run/observed-turn.ts";
import type { Verdict } from "../model/run/run.ts";
import { systemClock } from "../remote/clock.ts";
import { judgeOfRun } from "../run/admission.ts";
import { answersFor, type RunDeps, waitFor } from "../run.ts";
import { type Database, isTransient } from "../store/db.ts";
import type { ManualRun } from "../store/runs/manual-claims.ts";
import {
  beginTurn,
  type JudgedManualRun,
  keepTurnsOver,
  type ManualWait,
  traceDeleted,
} from "../store/runs/manual-runs.ts";
import { findArrived, listTurns, saveTurn } from "../store/runs/turns.ts";
import { insertTraces } from "../store/traces/insert.ts";
import { findTraceSize } from "../store/traces/read.ts";
import type { Patience } from "./deadline.ts";

export type ConductDeps = Omit<RunDeps, "judgeDeadlineMs"> & {
  patience: Patience;
  /** What goes wrong is in the reply; throws a Refusal where the agent can be called no more. */
  call: (agentId: string, turn: AgentTurn, signal: AbortSignal) => Promise<AgentReply>;
  /** An OTLP trace is whole once nothing came for this long. */
  debounceMs: number;
  /** Of all turns' traces together, as of one trace. */
  traceBytesMax: number;
  /** Told when a turn was begun, and when something became known of it. */
  onTurn: (run: ManualRun, turn: RunTurn) => void;
  /** Told when the run calls its agent no more. */
  onTurnsOver: (run: ManualRun) => void;
};

/** What may be said in a conversation: it is kept, and sent again with every turn. */
const conversationCharsMax = 4_000_000;

export type Held = { lease: string; run: ManualRun; waitMs: number };

/** What a run came to, or what it waits for. */
export type Conducted = { judged: JudgedManualRun } | { wait: ManualWait };

/**
 * Undefined where the run was given up before, because `signal` says so or it is no longer held. One that was put away
 * goes on where its turns were over. A database that is away is waited for.
 */
export async function conduct(
  deps: ConductDeps,
  held: Held,
  signal: AbortSignal,
): Promise<Conducted | undefined> {
  const { run } = held;
  const traceIds =
    run.judgeLeftMs === null ? await takeAll(deps, held, signal) : await taken(deps, run, signal);
  if (!traceIds) return undefined;
  if (traceIds.length === 0) throw new Error("The test has no turn.");
  // Opened only now, all at once: two runs that hold the traces of some turns could wait for each other's room.
  const opened = await open(deps, traceIds, signal);
  if (!opened) return undefined;
  try {
    const last = opened.traces.at(-1)!;
    const { verdict, wait } = await judge(deps, held, opened.traces, signal);
    if (signal.aborted) return undefined;
    return wait ? { wait } : { judged: { traceId: last.traceId, revision: last.revision, verdict } };
  } finally {
    opened.release();
  }
}

/** A turn that fails is the last one: the run is judged by what is known. */
async function takeAll(deps: ConductDeps, held: Held, signal: AbortSignal): Promise<string[] | undefined> {
  const traceIds: string[] = [];
  const history: AgentMessage[] = [];
  let bytesLeft = deps.traceBytesMax;
  for (const [at, { input }] of held.run.test.turns.entries()) {
    const taken = await take(deps, held, { at, input, history, bytesLeft }, signal);
    if (!taken) return undefined;
    traceIds.push(taken.traceId);
    bytesLeft -= taken.bytes;
    if (taken.reply.error) break;
    history.push({ role: "user", content: input }, { role: "assistant", content: taken.reply.text ?? "" });
  }
  return traceIds;
}

/** Of a run whose turns were over when it was put away. */
async function taken(
  { db, traceBytesMax }: ConductDeps,
  { id }: ManualRun,
  signal: AbortSignal,
): Promise<string[]> {
  const traceIds: string[] = [];
  let bytesLeft = traceBytesMax;
  for (const { traceId } of (await patiently(signal, () => listTurns(db, [id]))).get(id) ?? []) {
    if (traceId === null) throw traceDeleted();
    bytesLeft -= await patiently(signal, () => sizeOf(db, traceId, bytesLeft));
    traceIds.push(traceId);
  }
  return traceIds;
}

async function open(
  { db, room = new TraceRoom() }: ConductDeps,
  traceIds: string[],
  signal: AbortSignal,
): Promise<HeldTraces | undefined> {
  const held = await patiently(signal, () => holdTraces(db, traceIds, room, signal));
  if (!held || held.traces.length === traceIds.length) return held;
  held.release();
  throw traceDeleted();
}

type Next = { at: number; input: string; history: AgentMessage[]; bytesLeft: number };

type TakenTurn = { reply: AgentReply; traceId: string; bytes: number };

/** One turn, from before it is sent until its trace is stored. */
async function take(
  deps: ConductDeps,
  held: Held,
  { at, input, history, bytesLeft }: Next,
  signal: AbortSignal,
): Promise<TakenTurn | undefined> {
  const { db } = deps;
  const { run } = held;
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
  if (!(await patiently(signal, () => beginTurn(db, held, turn)))) return undefined;
  deps.onTurn(run, turn);
  const sent: AgentTurn = {
    input,
    history: [...history],
    conversationId: `run-${run.id}`,
    requestId: turn.requestId,
    traceparent: `00-${turn.w3cTraceId}-${randomBytes(8).toString("hex")}-01`,
  };
  const answered = await deps.call(run.agentId, sent, signal);
  if (signal.aborted) return undefined;
  const reply = at + 1 < run.test.turns.length ? goingOn(sent, answered) : answered;
  Object.assign(turn, repliedOf(reply));
  await patiently(signal, () => saveTurn(db, run.id, turn));
  deps.onTurn(run, turn);

  const arrived = await awaitTrace(deps, held, turn, waitOf(reply, held.waitMs), signal);
  if (signal.aborted) return undefined;
  const stored = arrived
    ? { traceId: arrived, arrived: true }
    : await store(deps, run, turn, sent, reply, signal);
  Object.assign(turn, stored);
  await patiently(signal, () => saveTurn(db, run.id, turn));
  deps.onTurn(run, turn);
  const { traceId } = stored;
  return { reply, traceId, bytes: await patiently(signal, () => sizeOf(db, traceId, bytesLeft)) };
}

/** The reply, as one that failed where no further turn has room after it. */
function goingOn({ input, history }: AgentTurn, reply: AgentReply): AgentReply {
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
      message: "The traces of the turns together are larger than a trace may be.",
      hint: "Make them smaller, or the test shorter.",
    });
  }
  return size.bytes;
}

function repliedOf({ status, ms, text, error, startedAt }: AgentReply): Partial<RunTurn> {
  const kept = text !== null && text.length > replyMax ? `${text.slice(0, replyMax - 1)}…` : text;
  return { status, ms: Math.round(ms), text: kept, error, startedAt: startedAt.toISOString() };
}

/** An agent that was not reached, or not asked, sends no trace. */
function waitOf({ error, status }: AgentReply, waitMs: number): number {
  const unasked = error?.code === "too_large" && status === null;
  return unasked || error?.code === "unreachable" || error?.code === "refused_target" ? 0 : waitMs;
}

const lookEveryMs = 200;

/** The trace that the agent sent of the turn: a canonical one at once, an OTLP one when it is quiet or time is up. */
async function awaitTrace(
  { db, debounceMs }: ConductDeps,
  { run }: Held,
  { requestId, w3cTraceId }: RunTurn,
  waitMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = performance.now() + waitMs;
  while (!signal.aborted) {
    const leftMs = deadline - performance.now();
    const found = await patiently(signal, () => findArrived(db, run.agentId, [requestId, w3cTraceId]));
    const isWhole = found && (found.path === "canonical" || found.quietMs >= debounceMs);
    if (found && (isWhole || leftMs <= 0)) return found.traceId;
    if (leftMs <= 0) return undefined;
    await delay(Math.min(lookEveryMs, leftMs), undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** Stores what was seen as the turn's trace, unless the agent's own came at the last moment: that one stands then. */
async function store(
  { db, debounceMs }: ConductDeps,
  run: ManualRun,
  turn: RunTurn,
  sent: AgentTurn,
  reply: AgentReply,
  signal: AbortSignal,
): Promise<{ traceId: string; arrived: boolean }> {
  const spanId = randomBytes(8).toString("hex");
  const batch = prepareBatch(
    observedTurn(sent, reply, { runId: run.id, turn: turn.turn, spanId }),
    "canonical",
  );
  const traceId = randomUUIDv7();
  const { agentId } = run;
  const write = {
    ...batch,
    traceId,
    runId: randomUUIDv7(),
    keyId: null,
    agentId,
    externalId: turn.requestId,
    path: "canonical" as const,
  };
  return patiently(signal, async () => {
    const [stored] = await insertTraces(db, [write], debounceMs);
    if (stored instanceof Error) throw stored;
    if (stored) return { traceId, arrived: false };
    const found = await findArrived(db, agentId, [turn.requestId]);
    return { traceId: found?.traceId ?? traceId, arrived: found !== undefined && found.traceId !== traceId };
  });
}

/** By the same code as real conversations are; several turns as one conversation. */
async function judge(
  { db, judgeOf, sandbox, patience, clock = systemClock, onTurnsOver }: ConductDeps,
  held: Held,
  turns: LoadedTrace[],
  signal: AbortSignal,
): Promise<{ verdict: Verdict; wait: ManualWait | undefined }> {
  const { id: runId, agentId, launchId, test, judgeLeftMs, judgeTries: tries } = held.run;
  const deadlineAt = judgeLeftMs === null ? patience.deadlineAt(launchId) : clock.now() + judgeLeftMs;
  if (judgeLeftMs === null) {
    await patiently(signal, () => keepTurnsOver(db, held, deadlineAt - clock.now()));
  }
  onTurnsOver(held.run);
  const isConversation = test.turns.length > 1;
  const { trace, derived } = isConversation ? joinTurns(turns) : turns[0]!;
  const { traceId } = turns.at(-1)!;
  const waitedMs = judgeLeftMs === null ? 0 : patience.waitedMs(judgeLeftMs);
  const context = { agentId, traceId, runId, deadlineAt, tries, waitedMs, chosen: true as const };
  const askable = { judge: judgeOfRun({ judgeOf, clock }, context), sandbox };
  const answers = await answersFor(askable, { trace, derived }, [test], signal);
  const given = [...answers.semantic.values()];
  patience.note(launchId, given);
  const result = evaluateTest(trace, derived, test, answers);
  const verdict: Verdict = {
    ...verdictOf([isConversation ? placedInTurns(result) : result]),
    routing: "not_needed",
    tests: [{ testId: test.id, name: test.name, applied: true, why: "manual_run" }],
  };
  return { verdict, wait: isWaiting(verdict) ? waitFor(given, clock.now()) : undefined };
}

/** What was sent cannot be sent again: a database that is away is waited for until the run is given up. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await delay(500, undefined, { signal }).catch(() => {});
    }
  }
}
