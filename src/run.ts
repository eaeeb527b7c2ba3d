// Story 2, a run is judged: trace + tests -> questions -> answers -> results; what waits for the judge is put away.
import { applyingTests, routingQuestion } from "./evaluate/applicability.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import type { Answers } from "./evaluate/finding.ts";
import { noAnswers, openQuestions } from "./evaluate/questions.ts";
import { isOutage, isWaiting } from "./evaluate/unsettled.ts";
import { TraceRoom } from "./load/trace-room.ts";
import { type LoadedTrace, openEach } from "./load.ts";
import type { Judge, JudgeOf, RoutingAnswer, SemanticAnswer } from "./model/judge/judge.ts";
import type { Verdict } from "./model/run/run.ts";
import type { TestCase } from "./model/test-case/test-case.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import type { Sandbox } from "./remote/sandbox/sandbox.ts";
import { punctual, waitingJudge } from "./run/admission.ts";
import type { Database } from "./store/db.ts";
import type { ClaimedRun } from "./store/runs/claims.ts";
import { decodeDetail } from "./store/runs/detail.ts";
import { listForAgent } from "./store/test-cases.ts";

/** Whoever answers questions. Neither throws: an outage is an answer. */
export type Askable = { judge: Judge; sandbox: Pick<Sandbox, "answer"> };

export type RunDeps = {
  db: Database;
  judgeOf: JudgeOf;
  sandbox: Askable["sandbox"];
  /** How long a run waits for the judge, from its first question on; what is not answered then is skipped. */
  judgeDeadlineMs: number;
  /** The heap that this thread has for traces. */
  room?: TraceRoom;
  clock?: Clock;
};

export type JudgedRun = {
  run: ClaimedRun;
  loaded: LoadedTrace;
  verdict: Verdict;
  /** Whether an outage of the judge kept something from being judged. */
  outage: boolean;
  /** The tests by which it was judged. */
  plan: TestCase[];
};

/** What is known of a run whose judge has not answered yet. It goes on by `plan`, for at most `leftMs` more. */
export type PartlyJudgedRun = {
  run: ClaimedRun;
  verdict: Verdict;
  plan: TestCase[];
  leftMs: number;
  /** Absent: its questions are still open. */
  wait?: Wait;
};

/** `tried`: whether the judge was asked in vain. */
export type Wait = { nextTryMs: number; reason: string; tried: boolean };

/** Where each run goes. A run whose judging is aborted goes nowhere: it is still in hand. */
export type RunEnds = {
  /**
   * Told when a run begins. Its trace keeps its share of the heap until `release` is called, which is to be once the
   * results are stored: they quote the trace. Without it the share is released when the run ends.
   */
  begun?: (run: ClaimedRun, release: () => void) => void;
  judged: (run: JudgedRun) => void;
  /** What is known is told soon after the judge was asked first; the run goes elsewhere later. */
  partly: (run: PartlyJudgedRun) => void;
  /** Not to be gone on with before its next try. */
  waits: (run: PartlyJudgedRun & { wait: Wait }) => void;
  /** A Refusal where its trace is too large to be opened, which no further try would change. */
  faulty: (run: ClaimedRun, error: unknown) => void;
  /** Its trace was deleted, and the run with it. */
  gone: (run: ClaimedRun) => void;
};

/** A judge that answers sooner needs no half verdict before. */
const partlyAfterMs = 50;

/**
 * Judges runs with their traces as they are now and their agents' tests as they were when each run began (F1). Resolves
 * once those without questions are judged; the others end when their answers are in. A trace for which there is no room
 * waits until earlier runs have released theirs. Rejects where traces cannot be read, and resolves early when `stopping`
 * is aborted: the runs that were not begun by then are still in hand.
 */
export async function judgeRuns(
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
  const room = deps.room ?? new TraceRoom();
  for await (const outcome of openEach(deps.db, [...runsOf.keys()], room, { signal: stopping })) {
    const itsRuns = runsOf.get(outcome.traceId)!;
    if ("missing" in outcome) itsRuns.forEach(ends.gone);
    else if (!("loaded" in outcome)) {
      for (const run of itsRuns) ends.faulty(run, "refusal" in outcome ? outcome.refusal : outcome.error);
    } else {
      const release = releaseAfter(itsRuns.length, outcome.release);
      for (const run of itsRuns) {
        ends.begun?.(run, release);
        judgeRun(deps, run, outcome.loaded, tests.get(run.agentId)!, signal, ends)
          .catch(error => {
            if (!signal.aborted) ends.faulty(run, error);
          })
          .finally(() => {
            if (!ends.begun) release();
          });
      }
    }
  }
}

/** Releases when it was called so many times. */
function releaseAfter(calls: number, release: () => void): () => void {
  let left = calls;
  return () => {
    if (--left === 0) release();
  };
}

async function judgeRun(
  { judgeOf, sandbox, judgeDeadlineMs, clock = systemClock }: RunDeps,
  run: ClaimedRun,
  loaded: LoadedTrace,
  tests: TestCase[],
  signal: AbortSignal,
  ends: RunEnds,
): Promise<void> {
  const { agentId, traceId, id: runId, judgeTries: tries, judgeLeftMs } = run;
  const plan = (run.detail && decodeDetail(run.detail).plan) ?? tests;
  const deadlineAt = clock.now() + (judgeLeftMs ?? judgeDeadlineMs);
  const waitedMs = Math.max(0, judgeDeadlineMs - (judgeLeftMs ?? judgeDeadlineMs));
  const judge = punctual(judgeOf({ agentId, traceId, runId, deadlineAt, tries, waitedMs }), deadlineAt);
  const answers = noAnswers();
  const partOf = (verdict: Verdict) => ({ run, verdict, plan, leftMs: deadlineAt - clock.now() });

  const settled = new AbortController();
  const watched = whenAsked(judge, async known => {
    await clock.sleep(partlyAfterMs, settled.signal);
    const soFar = { semantic: new Map(answers.semantic), sandbox: answers.sandbox };
    const partial = await judgeBy({ judge: known, sandbox }, loaded, plan, soFar, settled.signal);
    if (!settled.signal.aborted && !signal.aborted) ends.partly(partOf(partial.verdict));
  });
  // What is known of a run that goes on was kept when it was put away.
  const asked = judgeLeftMs === null ? watched : judge;
  const { verdict, routing } = await judgeBy(
    { judge: asked, sandbox },
    loaded,
    plan,
    answers,
    signal,
  ).finally(() => settled.abort());
  if (signal.aborted) return;
  const wait = isWaiting(verdict) ? waitFor([routing, ...answers.semantic.values()], clock.now()) : undefined;
  if (wait) ends.waits({ ...partOf(verdict), wait });
  else ends.judged({ run, loaded, verdict, outage: isOutage(verdict, routing), plan });
}

/** Plan, ask, judge: every outage is an answer, so nothing is passed or failed by one (E4). */
async function judgeBy(
  { judge, sandbox }: Askable,
  { trace, derived }: LoadedTrace,
  tests: TestCase[],
  answers: Answers,
  signal: AbortSignal,
): Promise<{ verdict: Verdict; routing: RoutingAnswer | null }> {
  const question = routingQuestion(derived, tests);
  const routing = question && (await judge.route(question, signal));
  const applying = applyingTests(derived, tests, routing);
  // Nothing is asked about replies before it is known which tests apply: one call serves them all.
  const asked = routing?.state === "waiting" ? waitingJudge(routing) : judge;
  await answersFor({ judge: asked, sandbox }, { trace, derived }, applying, signal, answers);
  return { verdict: evaluate({ trace, derived, tests, routing, answers }), routing };
}

/**
 * Calls `told` when the judge is asked for the first time, with a judge that knows what was answered about scenarios by
 * the time it is asked, and lets wait for everything else.
 */
function whenAsked(judge: Judge, told: (known: Judge) => Promise<void>): Judge {
  let routed: RoutingAnswer | undefined;
  const unanswered = waitingJudge({
    state: "waiting",
    reason: "The judge has not answered yet.",
    nextTryAt: 0,
  });
  let tell: (() => void) | undefined = () => {
    tell = undefined;
    told({ ...unanswered, route: async question => routed ?? unanswered.route(question) }).catch(() => {});
  };
  return {
    async route(question, signal) {
      tell?.();
      routed = await judge.route(question, signal);
      return routed;
    },
    ask(questions, signal) {
      tell?.();
      return judge.ask(questions, signal);
    },
  };
}

/** Until the last of those that wait is worth asking again: none is asked too soon. */
export function waitFor(answers: (RoutingAnswer | SemanticAnswer | null)[], now: number): Wait | undefined {
  const waiting = answers.filter(answer => answer?.state === "waiting");
  if (waiting.length === 0) return undefined;
  const { nextTryAt, reason } = waiting.reduce((a, b) => (b.nextTryAt > a.nextTryAt ? b : a));
  return { nextTryMs: Math.max(nextTryAt - now, 0), reason, tried: waiting.some(({ unasked }) => !unasked) };
}

/** Asks what `answers` lack to judge the trace by these tests, in as many rounds as dependencies make it take. */
export async function answersFor(
  deps: Askable,
  { trace, derived }: Pick<LoadedTrace, "trace" | "derived">,
  tests: TestCase[],
  signal: AbortSignal,
  answers: Answers = noAnswers(),
): Promise<Answers> {
  for (;;) {
    const open = openQuestions(trace, derived, tests, answers);
    if (open.semantic.length + open.sandbox.length === 0) return answers;
    await ask(deps, open, answers, signal);
  }
}

/** Asks what is open, all at once; the judge and the sandbox keep their own bounds. */
async function ask(
  { judge, sandbox }: Askable,
  open: ReturnType<typeof openQuestions>,
  answers: Answers,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([
    askJudge(judge, open.semantic, answers, signal),
    ...open.sandbox.map(async ({ key, question }) => {
      answers.sandbox.set(key, await sandbox.answer(question, signal));
    }),
  ]);
}

/** All of them at once: the judge decides what goes into one call. */
async function askJudge(
  judge: Judge,
  asked: ReturnType<typeof openQuestions>["semantic"],
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
