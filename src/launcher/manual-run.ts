// Executes one manual run: sends its turns, evaluates their traces, and returns the results or the wait for the judge.

import { failedByAgent, verdictOf } from "../evaluate/evaluate.ts";
import { agentErrorOf, differencesOf, withReceived } from "../evaluate/received.ts";
import { TraceView } from "../evaluate/trace-view.ts";
import { joinTurns, placedInTurns } from "../evaluate/turns.ts";
import { isOutage, isWaiting } from "../evaluate/unsettled.ts";
import { derivationOf, type LoadedTrace, readAgain } from "../load.ts";
import { readByOf } from "../model/agent/read-by.ts";
import type { RunTurn } from "../model/run/launch.ts";
import { receivedAttributes } from "../model/run/received.ts";
import type { Verdict } from "../model/run/run.ts";
import { observedMark } from "../model/trace/trace.ts";
import { systemClock } from "../remote/clock.ts";
import { judgeOfRun } from "../run/admission.ts";
import { evaluateOne, type RunDeps, waitFor } from "../run.ts";
import { decodeDetail } from "../store/runs/detail.ts";
import type { ManualRun } from "../store/runs/manual-claims.ts";
import {
  type JudgedManualRun,
  type LeasedRun,
  type ManualWait,
  saveTurnsDone,
} from "../store/runs/manual-runs.ts";
import { updateColumns } from "../store/traces/stale.ts";
import type { LaunchDeadlines } from "./deadlines.ts";
import { openTraces } from "./open-traces.ts";
import { saveRedacted } from "./redact-turn.ts";
import { replyIn } from "./reply-in-trace.ts";
import { retryTransient } from "./retry.ts";
import { findSentTurns, type SendableRun, sendTurns, type TurnDeps } from "./turns.ts";

export type ManualRunDeps = Omit<RunDeps, "judgeDeadlineMs"> &
  TurnDeps & {
    deadlines: LaunchDeadlines;
    /** Called when the run no longer calls its agent. */
    onTurnsDone: (run: ManualRun) => void;
  };

/** The results of a run, or its wait for the judge. */
export type Executed = { judged: JudgedManualRun } | { wait: ManualWait };

/**
 * Undefined if `signal` was aborted or the run lost its lease. A run that waited for the judge continues after its turns.
 * Waits while the database is unavailable.
 */
export async function executeManualRun(
  deps: ManualRunDeps,
  leased: SendableRun,
  signal: AbortSignal,
): Promise<Executed | undefined> {
  const { run } = leased;
  const turns =
    run.judgeLeftMs === null ? await sendTurns(deps, leased, signal) : await findSentTurns(deps, run, signal);
  if (!turns) return undefined;
  if (turns.length === 0) throw new Error("The test has no turn.");
  // Opened together after the last turn: two runs that each keep some traces open could deadlock on the heap.
  const traceIds = turns.map(({ traceId }) => traceId!);
  const opened = await openTraces(deps, traceIds, signal);
  if (!opened) return undefined;
  try {
    const begun = run.detail ? decodeDetail(run.detail) : undefined;
    const traces = begun ? opened.traces.map(trace => readAgain(trace, readByOf(begun))) : opened.traces;
    const last = traces.at(-1)!;
    await retryTransient(signal, () =>
      updateColumns(deps.db, opened.traces.filter(isSentTold).map(derivationOf)),
    );
    for (const [at, turn] of turns.entries()) await saveSeen(deps, run, turn, traces[at]!, signal);
    const { verdict, wait } = await evaluate(deps, leased, turns, traces, signal);
    if (signal.aborted) return undefined;
    if (wait) return { wait };
    const revisions = traces.map(({ revision }) => revision);
    return { judged: { traceId: last.traceId, revisions, verdict, outage: isOutage(verdict, null) } };
  } finally {
    opened.release();
  }
}

/** Whether lists are to show the message that was sent instead of what the trace says. */
function isSentTold({ derived }: LoadedTrace): boolean {
  return derived.userInput?.attribute === receivedAttributes.input;
}

/**
 * Stores what the trace shows of a turn: what it says otherwise than the call and, where it came or changed after the wait,
 * that it came, and the reply that is read from it.
 */
async function saveSeen(
  deps: ManualRunDeps,
  run: ManualRun,
  turn: RunTurn,
  loaded: LoadedTrace,
  signal: AbortSignal,
): Promise<void> {
  const before = JSON.stringify(turn);
  turn.arrived = loaded.trace.metadata?.[observedMark] !== true;
  const isLast = turn.turn === run.test.turns.length;
  const mayReply = turn.error === null || (turn.error.code === "no_reply" && isLast);
  if (turn.replyFrom === "trace" && turn.arrived && mayReply) {
    const found = replyIn(loaded, turn.w3cTraceId);
    if (found) Object.assign(turn, { redactions: undefined, ...found.reply });
  }
  const differences = turn.arrived ? differencesOf(loaded.derived, turn) : {};
  Object.assign(turn, { statusInTrace: undefined, replyInTrace: undefined, ...differences });
  if (JSON.stringify(turn) === before) return;
  await saveRedacted(deps, run, turn, signal);
  deps.onTurn(run, turn);
}

/** Evaluates with the same code as passive runs; several turns are joined to one conversation. */
async function evaluate(
  { db, judgeOf, sandbox, deadlines, clock = systemClock, onTurnsDone }: ManualRunDeps,
  leased: LeasedRun,
  turns: RunTurn[],
  traces: LoadedTrace[],
  signal: AbortSignal,
): Promise<{ verdict: Verdict; wait: ManualWait | undefined }> {
  const { id: runId, agentId, launchId, test, judgeLeftMs, judgeTries: tries } = leased.run;
  const deadlineAt = judgeLeftMs === null ? deadlines.deadlineAt(launchId) : clock.now() + judgeLeftMs;
  const last = traces.at(-1)!;
  if (judgeLeftMs === null) {
    await retryTransient(signal, () => saveTurnsDone(db, leased, deadlineAt - clock.now(), last));
  }
  onTurnsDone(leased.run);
  const isConversation = test.turns.length > 1;
  const received = traces.map(({ read, derived }, at) => withReceived({ trace: read, derived }, turns[at]!));
  const { trace, derived } = isConversation ? joinTurns(received) : received[0]!;
  const { traceId, accountId } = last;
  const waitedMs = judgeLeftMs === null ? 0 : deadlines.waitedMs(judgeLeftMs);
  const context = { agentId, traceId, runId, deadlineAt, tries, waitedMs, chosen: true as const };
  const askable = { judge: judgeOfRun({ judgeOf, clock }, context), sandbox };
  const view = new TraceView(trace, derived);
  const { result: evaluated, answers } = await evaluateOne(
    askable,
    { accountId, agentId, view },
    test,
    signal,
  );
  const given = [...answers.semantic.values()];
  deadlines.note(launchId, given);
  const result = isConversation ? placedInTurns(evaluated) : evaluated;
  const agentError = agentErrorOf(test, turns);
  const verdict: Verdict = {
    ...verdictOf(
      [agentError ? failedByAgent(result, agentError) : result],
      [{ testId: test.id, name: test.name, applied: true, why: "manual_run" }],
    ),
    routing: "not_needed",
    ...readByOf(last),
  };
  return { verdict, wait: isWaiting(verdict) ? waitFor(given, clock.now()) : undefined };
}
