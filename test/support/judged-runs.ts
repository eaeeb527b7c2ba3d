// Inserts runs as the judge and its outages leave them, so that no judge has to be asked.

import { randomUUID } from "node:crypto";
import { areFullyEvaluated, isRunFullyEvaluated } from "../../src/model/run/fully-evaluated.ts";
import type { Counts, Outcome } from "../../src/model/run/outcome.ts";
import {
  type Applicability,
  type Check,
  type Result,
  type Routing,
  type RunCause,
  type SemanticActual,
  scoreOf,
  type Verdict,
} from "../../src/model/run/run.ts";
import type { Assertion } from "../../src/model/test-case/assertion.ts";
import type { TestCase, TestCaseDocument } from "../../src/model/test-case/document.ts";
import type { Database } from "../../src/store/db.ts";
import { newId } from "../../src/store/new-id.ts";

import { savePartial } from "../../src/store/runs/waiting.ts";
import { completeRuns } from "./complete-runs.ts";

export type JudgedRun = {
  results?: Result[];
  tests?: Applicability[];
  routing?: Routing;
  cause?: RunCause;
  /** The judge was unavailable for some checks. */
  outage?: boolean;
  /** The tests of the run, which would be evaluated again. */
  plan?: TestCase[];
  /** The run has started and resumes then. */
  waiting?: { nextTryAt: Date; until: Date; reason: string };
};

/** The last revision of each trace that was evaluated. */
const revisions = new Map<string, number>();

/** The run's id. The run is as its worker leaves it: completed, or waiting. */
export async function storeJudgedRun(
  db: Database,
  { agentId, traceId }: { agentId: string; traceId: string },
  {
    results = [],
    tests = [],
    routing = "not_needed",
    cause = "traffic",
    outage = false,
    plan,
    waiting,
  }: JudgedRun,
): Promise<string> {
  const lease = randomUUID();
  const id = newId();
  await db.pool.query(
    `insert into queue (id, trace_id, agent_id, state, due_at, started_at, lease, lease_until, cause)
    values ($1, $2, $3, 'running', now(), now() - interval '4 s', $4, now() + interval '1 day', $5)`,
    [id, traceId, agentId, lease, cause],
  );
  if (waiting) {
    const wait = { nextTryMs: msUntil(waiting.nextTryAt), reason: waiting.reason, tried: true };
    const partly = { id, verdict: { results, tests }, plan: [], leftMs: msUntil(waiting.until), wait };
    await savePartial(db, lease, [partly]);
    return id;
  }
  const counts = countsOf(results);
  const verdict: Verdict = {
    routing,
    verdict: worstOf(results),
    score: scoreOf(counts),
    counts,
    fullyEvaluated: isRunFullyEvaluated(results, tests),
    results,
    tests,
  };
  const tokens = { input: null, output: null, reasoning: null, cached: null, total: null };
  const planned = plan ? { plan } : {};
  // A revision is evaluated once: each further run is of the next one.
  const revision = (revisions.get(traceId) ?? 0) + 1;
  revisions.set(traceId, revision);
  await completeRuns(db, lease, [
    { id, revision, verdict, outage, durationMs: 2_400, tokens, usage: [], ...planned },
  ]);
  return id;
}

function msUntil(at: Date): number {
  return at.getTime() - Date.now();
}

/** A test's result from its checks, as an evaluation computes it. */
export function resultOf(
  test: Partial<TestCaseDocument> & { id?: string; version?: number },
  checks: Check[],
  assertions: Assertion[] = [],
): Result {
  const { id = randomUUID(), version = 1, name = "Answers well", ...document } = test;
  const counts = countsOf(checks);
  const outcome = worstOf(checks) ?? "skipped";
  const counted = counts.passed + counts.failed;
  return {
    testId: id,
    name,
    outcome,
    score: scoreOf(counts),
    reason: `${counts.passed} of ${counted} checks passed.`,
    reasonCode: "checks_counted",
    counts,
    checks,
    fullyEvaluated: areFullyEvaluated(checks),
    test: {
      name,
      status: "active",
      passiveBehavior: "always_run",
      scenario: "A customer asks about an order.",
      threshold: 0.7,
      turns: [{ input: "Where is my order?" }],
      assertions,
      ...document,
    },
    testVersion: version,
  };
}

/** A semantic check that was judged. */
export function semanticCheck(
  id: string,
  actual: Partial<SemanticActual> & Pick<SemanticActual, "criteria">,
  more: Partial<Check> = {},
): Check {
  const score = actual.score ?? 1;
  return {
    id,
    type: "semantic",
    outcome: "passed",
    reason: `The judge's score is ${score} of at least 0.7.`,
    reasonCode: "judge_score",
    reasonData: { score, threshold: 0.7 },
    expected: { threshold: 0.7 },
    actual: {
      score,
      votes: { passed: 1, of: 1, scores: [score] },
      provider: "openai_compatible",
      model: "judge-small",
      promptVersion: "semantic-1",
      cached: false,
      spent: { ms: 1_240, inputTokens: 1_106, outputTokens: 92 },
      ...actual,
    },
    evidence: [],
    score,
    ...more,
  };
}

function countsOf(all: { outcome: Outcome }[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  for (const { outcome } of all) counts[outcome]++;
  return counts;
}

function worstOf(all: { outcome: Outcome }[]): Outcome | null {
  const order: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];
  return order.find(outcome => all.some(one => one.outcome === outcome)) ?? null;
}
