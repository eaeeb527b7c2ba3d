// Executes one manual run: sends its turns, evaluates their traces, and returns the results or the wait for the judge.
import { evaluateTest, verdictOf } from "../evaluate/evaluate.ts";
import { joinTurns, placedInTurns } from "../evaluate/turns.ts";
import { isWaiting } from "../evaluate/unsettled.ts";
import { TraceRoom } from "../load/trace-room.ts";
import { type HeldTraces, holdTraces, type LoadedTrace } from "../load.ts";
import type { Verdict } from "../model/run/run.ts";
import { systemClock } from "../remote/clock.ts";
import { judgeOfRun } from "../run/admission.ts";
import { answersFor, type RunDeps, waitFor } from "../run.ts";
import type { ManualRun } from "../store/runs/manual-claims.ts";
import {
  type JudgedManualRun,
  type LeasedRun,
  type ManualWait,
  saveTurnsDone,
  traceDeleted,
} from "../store/runs/manual-runs.ts";
import type { LaunchDeadlines } from "./deadlines.ts";
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
  const traceIds =
    run.judgeLeftMs === null ? await sendTurns(deps, leased, signal) : await findSentTurns(deps, run, signal);
  if (!traceIds) return undefined;
  if (traceIds.length === 0) throw new Error("The test has no turn.");
  // Opened together after the last turn: two runs that each keep some traces open could deadlock on the heap.
  const opened = await open(deps, traceIds, signal);
  if (!opened) return undefined;
  try {
    const last = opened.traces.at(-1)!;
    const { verdict, wait } = await evaluate(deps, leased, opened.traces, signal);
    if (signal.aborted) return undefined;
    return wait ? { wait } : { judged: { traceId: last.traceId, revision: last.revision, verdict } };
  } finally {
    opened.release();
  }
}

async function open(
  { db, room = new TraceRoom() }: ManualRunDeps,
  traceIds: string[],
  signal: AbortSignal,
): Promise<HeldTraces | undefined> {
  const held = await retryTransient(signal, () => holdTraces(db, traceIds, room, signal));
  if (!held || held.traces.length === traceIds.length) return held;
  held.release();
  throw traceDeleted();
}

/** Evaluates with the same code as passive runs; several turns are joined to one conversation. */
async function evaluate(
  { db, judgeOf, sandbox, deadlines, clock = systemClock, onTurnsDone }: ManualRunDeps,
  leased: LeasedRun,
  turns: LoadedTrace[],
  signal: AbortSignal,
): Promise<{ verdict: Verdict; wait: ManualWait | undefined }> {
  const { id: runId, agentId, launchId, test, judgeLeftMs, judgeTries: tries } = leased.run;
  const deadlineAt = judgeLeftMs === null ? deadlines.deadlineAt(launchId) : clock.now() + judgeLeftMs;
  if (judgeLeftMs === null) {
    await retryTransient(signal, () => saveTurnsDone(db, leased, deadlineAt - clock.now()));
  }
  onTurnsDone(leased.run);
  const isConversation = test.turns.length > 1;
  const { trace, derived } = isConversation ? joinTurns(turns) : turns[0]!;
  const { traceId } = turns.at(-1)!;
  const waitedMs = judgeLeftMs === null ? 0 : deadlines.waitedMs(judgeLeftMs);
  const context = { agentId, traceId, runId, deadlineAt, tries, waitedMs, chosen: true as const };
  const askable = { judge: judgeOfRun({ judgeOf, clock }, context), sandbox };
  const answers = await answersFor(askable, { trace, derived }, [test], signal);
  const given = [...answers.semantic.values()];
  deadlines.note(launchId, given);
  const result = evaluateTest(trace, derived, test, answers);
  const verdict: Verdict = {
    ...verdictOf([isConversation ? placedInTurns(result) : result]),
    routing: "not_needed",
    tests: [{ testId: test.id, name: test.name, applied: true, why: "manual_run" }],
  };
  return { verdict, wait: isWaiting(verdict) ? waitFor(given, clock.now()) : undefined };
}
