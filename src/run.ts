// Story 2, a run is evaluated: trace + tests -> questions -> answers -> results. A run that waits for the judge is stored
// with a partial verdict, and resumed later.

import { applyingTests, routingQuestion } from "./evaluate/applicability.ts";
import { evaluating, evaluatingTest } from "./evaluate/evaluate.ts";
import type { Answers, OpenQuestions } from "./evaluate/finding.ts";
import { findingQuestions, noAnswers } from "./evaluate/questions.ts";
import { TraceView } from "./evaluate/trace-view.ts";
import { isWaiting as hasWaiting, isOutage } from "./evaluate/unsettled.ts";
import { HeapSemaphore } from "./load/heap-semaphore.ts";
import { openInTurns } from "./load/in-turns.ts";
import { type LoadedTrace, readAgain, type TraceOutcome } from "./load.ts";
import { readByOf } from "./model/agent/read-by.ts";
import type { Judge, JudgeOf, RoutingAnswer, SemanticAnswer } from "./model/judge/judge.ts";
import { isWaiting, wasCalled } from "./model/judge/outcome.ts";
import { reasonText } from "./model/run/reason-text.ts";
import type { Result, Verdict } from "./model/run/run.ts";
import type { TestCase } from "./model/test-case/document.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import type { Sandbox } from "./remote/sandbox/sandbox.ts";
import { judgeOfRun, notAnswered, pendingJudge } from "./run/admission.ts";
import { runBytes } from "./run/heap.ts";
import type { Database } from "./store/db.ts";
import type { ClaimedRun } from "./store/runs/claim.ts";
import { decodeDetail } from "./store/runs/detail.ts";
import { listForAgent } from "./store/test-cases.ts";
import type { Owners } from "./threads/fair-queue.ts";
import type { FairSemaphore } from "./threads/fair-semaphore.ts";
import { inTurns } from "./threads/turns.ts";

/** Neither throws: an outage is an answer. */
export type Askable = { judge: Judge; sandbox: Pick<Sandbox, "answer"> };

export type RunDeps = {
  db: Database;
  judgeOf: JudgeOf;
  sandbox: Askable["sandbox"];
  /** How long a run waits for the judge, from its first question on; checks without an answer are skipped then. */
  judgeDeadlineMs: number;
  /** Of accounts and their agents. Absent: any number of runs may ask the judge. */
  admission?: FairSemaphore;
  /** The heap that this thread has for traces. */
  heap?: HeapSemaphore;
  clock?: Clock;
};

export type EvaluatedRun = {
  run: ClaimedRun;
  loaded: LoadedTrace;
  verdict: Verdict;
  /** Whether a check or a scenario is undecided because the judge was unavailable. */
  outage: boolean;
  /** The tests that the trace was evaluated by. */
  plan: TestCase[];
};

/** The partial verdict of a run whose judge has not answered yet. It continues with `plan`, for at most `leftMs`. */
export type PartialRun = {
  run: ClaimedRun;
  verdict: Verdict;
  plan: TestCase[];
  leftMs: number;
  /** Absent: its questions are being asked. */
  wait?: Wait;
};

/** `tried`: whether a call to the judge failed. */
export type Wait = { nextTryMs: number; reason: string; tried: boolean };

/** The end of each run. A run that is aborted has none: the worker still holds it. */
export type RunEnds = {
  /** Called before anything of a run's trace is read. */
  opening?: (run: ClaimedRun) => void;
  /**
   * Called when a run starts. Its trace keeps its share of the heap until `release` is called, once nothing quotes the
   * trace any more. Without this callback the share is released when the run ends.
   */
  started?: (run: ClaimedRun, release: () => void) => void;
  evaluated: (run: EvaluatedRun) => void;
  /** Called soon after the first question to the judge; another end follows. */
  partial: (run: PartialRun) => void;
  /** Not to be resumed before its next try. */
  waiting: (run: PartialRun & { wait: Wait }) => void;
  /** A Refusal if the trace is too large to be opened, which no retry would change. */
  failed: (run: ClaimedRun, error: unknown) => void;
  /** The trace was deleted, and the run with it. */
  deleted: (run: ClaimedRun) => void;
};

/** Do not publish a partial verdict if the judge answers within this time. */
const partialAfterMs = 50;

/**
 * Evaluates runs with their traces as they are now, and with the tests as they were when each run began. Resolves once
 * the runs without questions have ended; the others end when their answers arrive. A trace that does not fit on the heap
 * waits until earlier runs have released theirs. Rejects if traces cannot be read. Resolves early when `stopping` is
 * aborted: the worker still holds the runs that were not started by then.
 */
export async function evaluateRuns(
  deps: RunDeps,
  runs: ClaimedRun[],
  signal: AbortSignal,
  ends: RunEnds,
  stopping: AbortSignal = signal,
): Promise<void> {
  const agentIds = [...new Set(runs.map(run => run.agentId))];
  const tests = new Map(
    await Promise.all(agentIds.map(async id => [id, await listForAgent(deps.db, id)] as const)),
  );
  const runsOf = Map.groupBy(runs, run => run.traceId);
  const heap = deps.heap ?? new HeapSemaphore();
  const wanted = [...runsOf].map(([traceId, ofTrace]) => {
    const { accountId, agentId } = ofTrace[0]!;
    const besideBytes = ofTrace.reduce((sum, run) => sum + runBytes(run, tests.get(agentId)!), 0);
    const onBegin = () => {
      for (const run of ofTrace) ends.opening?.(run);
    };
    return { traceId, owners: [accountId, agentId] as const, besideBytes, onBegin };
  });
  const begin = (outcome: TraceOutcome) => {
    const runsOfTrace = runsOf.get(outcome.traceId)!;
    if ("missing" in outcome) runsOfTrace.forEach(ends.deleted);
    else if (!("loaded" in outcome)) {
      for (const run of runsOfTrace) ends.failed(run, "refusal" in outcome ? outcome.refusal : outcome.error);
    } else {
      const release = releaseAfter(runsOfTrace.length, outcome.release);
      for (const run of runsOfTrace) {
        ends.started?.(run, release);
        evaluateRun(deps, run, outcome.loaded, tests.get(run.agentId)!, signal, ends)
          .catch(error => {
            if (!signal.aborted) ends.failed(run, error);
          })
          .finally(() => {
            if (!ends.started) release();
          });
      }
    }
  };
  await openInTurns(deps.db, wanted, heap, { signal: stopping }, begin);
}

/** Releases after this many calls. */
function releaseAfter(calls: number, release: () => void): () => void {
  let left = calls;
  return () => {
    if (--left === 0) release();
  };
}

async function evaluateRun(
  { judgeOf, sandbox, judgeDeadlineMs, admission, clock = systemClock }: RunDeps,
  run: ClaimedRun,
  current: LoadedTrace,
  tests: TestCase[],
  signal: AbortSignal,
  ends: RunEnds,
): Promise<void> {
  const { accountId, agentId, traceId, id: runId, judgeTries: tries, judgeLeftMs } = run;
  const begun = run.detail ? decodeDetail(run.detail) : undefined;
  const plan = begun?.plan ?? tests;
  const loaded = begun?.conventions ? readAgain(current, readByOf(begun)) : current;
  const readBy = readByOf(loaded);
  const deadlineAt = clock.now() + (judgeLeftMs ?? judgeDeadlineMs);
  const waitedMs = Math.max(0, judgeDeadlineMs - (judgeLeftMs ?? judgeDeadlineMs));
  const answers = noAnswers();
  const viewed = { accountId, agentId, view: viewOf(loaded) };
  const partOf = (verdict: Verdict) => ({
    run,
    verdict: { ...verdict, ...readBy },
    plan,
    leftMs: deadlineAt - clock.now(),
  });

  let routed: RoutingAnswer | undefined;
  let endPartial = () => {};
  const publishPartial = async () => {
    const over = new AbortController();
    endPartial = () => over.abort();
    await clock.sleep(partialAfterMs, over.signal);
    const soFar = { semantic: new Map(answers.semantic), sandbox: answers.sandbox };
    const judge = pendingJudge(notAnswered, () => routed ?? notAnswered);
    const partial = await evaluateWith({ judge, sandbox }, viewed, plan, soFar, over.signal);
    if (!over.signal.aborted && !signal.aborted) ends.partial(partOf(partial.verdict));
  };
  // The partial verdict of a run that is resumed is stored already.
  let isPublished = judgeLeftMs !== null;
  const onAsk = () => {
    if (!isPublished) publishPartial().catch(() => {});
    isPublished = true;
  };
  const context = { agentId, traceId, runId, deadlineAt, tries, waitedMs };
  const holders = [accountId, agentId];
  const enter = admission && (() => admission.tryAcquire(holders));
  const judge = judgeOfRun({ judgeOf, clock, enter, onAsk }, context);
  const onRouted = (routing: RoutingAnswer) => {
    routed = routing;
  };
  const { verdict, routing } = await evaluateWith(
    { judge, sandbox },
    viewed,
    plan,
    answers,
    signal,
    onRouted,
  ).finally(() => endPartial());
  if (signal.aborted) return;
  const wait = hasWaiting(verdict)
    ? waitFor([routing, ...answers.semantic.values()], clock.now())
    : undefined;
  if (wait) ends.waiting({ ...partOf(verdict), wait });
  else {
    const outage = isOutage(verdict, routing);
    // The row shows what the conventions of now give.
    ends.evaluated({
      run,
      loaded: current,
      verdict: { ...verdict, ...readBy },
      outage,
      plan,
    });
  }
}

/** Plan, ask, evaluate: every outage is an answer, so no check passes or fails because of one. */
async function evaluateWith(
  { judge, sandbox }: Askable,
  viewed: ViewedTrace,
  tests: TestCase[],
  answers: Answers,
  signal: AbortSignal,
  onRouted?: (routing: RoutingAnswer) => void,
): Promise<{ verdict: Verdict; routing: RoutingAnswer | null }> {
  const { view } = viewed;
  const { derived } = view;
  const question = routingQuestion(view, tests);
  const routing = question && (await judge.route(question, signal));
  if (routing) onRouted?.(routing);
  const applying = applyingTests(derived, tests, routing, view.content);
  // Replies are judged only once it is known which tests apply: then one call serves them all.
  const asked = routing && isWaiting(routing) ? pendingJudge(routing) : judge;
  await answersFor({ judge: asked, sandbox }, viewed, applying, signal, answers);
  const verdict = await inTurns(ownersOf(viewed), evaluating({ view, tests, routing, answers }));
  return { verdict, routing };
}

/** The latest of all retry times: no question is asked too soon. */
export function waitFor(answers: (RoutingAnswer | SemanticAnswer | null)[], now: number): Wait | undefined {
  const waiting = answers.filter(answer => answer !== null).filter(isWaiting);
  if (waiting.length === 0) return undefined;
  const { retryAt, detail } = waiting.reduce((a, b) => (b.retryAt > a.retryAt ? b : a));
  const tried = waiting.some(({ detail }) => wasCalled(detail));
  return { nextTryMs: Math.max(retryAt - now, 0), reason: reasonText(detail), tried };
}

export function viewOf(loaded: LoadedTrace): TraceView {
  return new TraceView(loaded.read, loaded.derived);
}

/** A trace as its checks see it. They share the view, and its budget, in all rounds. */
export type ViewedTrace = { accountId: string; agentId: string; view: TraceView };

const ownersOf = ({ accountId, agentId }: ViewedTrace): Owners => [accountId, agentId];

/** The result of one test, and the answers that it is based on. */
export async function evaluateOne(
  askable: Askable,
  viewed: ViewedTrace,
  test: TestCase,
  signal: AbortSignal,
): Promise<{ result: Result; answers: Answers }> {
  const answers = await answersFor(askable, viewed, [test], signal);
  return { result: await inTurns(ownersOf(viewed), evaluatingTest(viewed.view, test, answers)), answers };
}

/** Asks what is missing from `answers`, in as many rounds as the dependencies between checks take. */
async function answersFor(
  { judge, sandbox }: Askable,
  viewed: ViewedTrace,
  tests: TestCase[],
  signal: AbortSignal,
  answers: Answers = noAnswers(),
): Promise<Answers> {
  const { accountId, agentId, view } = viewed;
  const caller = { accountId, agentId, budget: view.budget };
  for (;;) {
    const open = await inTurns(ownersOf(viewed), findingQuestions(view, tests, answers));
    if (open.semantic.length + open.sandbox.length === 0) return answers;
    // All at once: the judge batches its questions, and both have limits of their own.
    await Promise.all([
      askJudge(judge, open.semantic, answers, signal),
      ...open.sandbox.map(async ({ key, question }) => {
        answers.sandbox.set(key, await sandbox.answer(question, caller, signal));
      }),
    ]);
  }
}

async function askJudge(
  judge: Judge,
  asked: OpenQuestions["semantic"],
  answers: Answers,
  signal: AbortSignal,
): Promise<void> {
  if (asked.length === 0) return;
  const given = await judge.ask(
    asked.map(({ question }) => question),
    signal,
  );
  for (const [at, { key }] of asked.entries()) answers.semantic.set(key, given[at]!);
}
