// Story 2, a run is judged: trace + tests -> questions -> answers -> results.
import { applyingTests, routingQuestion } from "./evaluate/applicability.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import type { Answers } from "./evaluate/finding.ts";
import { noAnswers, openQuestions } from "./evaluate/questions.ts";
import { type LoadedTrace, loadTraces } from "./load.ts";
import type { Judge, JudgeContext, JudgeOf } from "./model/judge.ts";
import type { Verdict } from "./model/run.ts";
import type { TestCase } from "./model/test-case.ts";
import type { Sandbox } from "./remote/sandbox.ts";
import type { Database } from "./store/db.ts";
import type { ClaimedRun } from "./store/runs.ts";
import { listForAgent } from "./store/test-cases.ts";

/** Whoever answers questions. Neither throws: an outage is an answer. */
export type Askable = { judge: Judge; sandbox: Pick<Sandbox, "answer"> };

export type RunDeps = { db: Database; judgeOf: JudgeOf; sandbox: Askable["sandbox"] };

export type JudgedRun = { run: ClaimedRun; loaded: LoadedTrace; verdict: Verdict };

/** Where each run goes. A run whose judging is aborted goes nowhere: it is still in hand. */
export type RunEnds = {
  judged: (run: JudgedRun) => void;
  faulty: (run: ClaimedRun, error: unknown) => void;
  /** Its trace was deleted, and the run with it. */
  gone: (run: ClaimedRun) => void;
};

/**
 * Judges runs with their agents' tests and traces as they are now (F1). Resolves once those without questions are
 * judged; the others end when their answers are in. Rejects where nothing could be loaded.
 */
export async function judgeRuns(
  deps: RunDeps,
  runs: ClaimedRun[],
  signal: AbortSignal,
  ends: RunEnds,
): Promise<void> {
  const agentIds = [...new Set(runs.map(run => run.agentId))];
  const [traces, ...testsOfAgents] = await Promise.all([
    loadTraces(
      deps.db,
      runs.map(run => run.traceId),
    ),
    ...agentIds.map(agentId => listForAgent(deps.db, agentId)),
  ]);
  const tests = new Map(agentIds.map((agentId, index) => [agentId, testsOfAgents[index]!]));
  for (const run of runs) {
    const loaded = traces.get(run.traceId);
    if (!loaded) {
      ends.gone(run);
      continue;
    }
    const context = { agentId: run.agentId, traceId: run.traceId, runId: run.id, deadlineAt: null };
    judge(deps, context, loaded, tests.get(run.agentId)!, signal).then(
      verdict => {
        if (!signal.aborted) ends.judged({ run, loaded, verdict });
      },
      error => {
        if (!signal.aborted) ends.faulty(run, error);
      },
    );
  }
}

/** Plan, ask, judge: every outage is an answer, so nothing is passed or failed by one (E4). */
async function judge(
  { judgeOf, sandbox }: RunDeps,
  context: JudgeContext,
  { trace, derived }: LoadedTrace,
  tests: TestCase[],
  signal: AbortSignal,
): Promise<Verdict> {
  const judge = judgeOf(context);
  const question = routingQuestion(derived, tests);
  const routing = question && (await judge.route(question, signal));
  const applying = applyingTests(derived, tests, routing);
  const answers = await answersFor({ judge, sandbox }, { trace, derived }, applying, signal);
  return evaluate({ trace, derived, tests, routing, answers });
}

/** Asks whatever must be known to judge the trace by these tests, in as many rounds as dependencies make it take. */
export async function answersFor(
  deps: Askable,
  { trace, derived }: Pick<LoadedTrace, "trace" | "derived">,
  tests: TestCase[],
  signal: AbortSignal,
): Promise<Answers> {
  const answers = noAnswers();
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
