// Runs as a judge and its outages leave them, put straight into the tables: no judge has to be asked for them.
import { randomUUID } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import type { Assertion } from "../../src/model/assertion.ts";
import type {
  Applicability,
  Check,
  Counts,
  Outcome,
  Result,
  Routing,
  SemanticActual,
} from "../../src/model/run.ts";
import type { TestCaseDocument } from "../../src/model/test-case.ts";
import type { Database } from "../../src/store/db.ts";

export type JudgedRun = {
  results?: Result[];
  tests?: Applicability[];
  routing?: Routing;
  verdict?: Outcome | null;
  cause?: "traffic" | "again";
  outageOpen?: boolean;
  /** The run has begun and is to go on then. */
  waiting?: { nextTryAt: Date; until: Date; reason: string };
};

/** The run's id. Under no lease: a worker takes up what waits once its time has come. */
export async function storeJudgedRun(
  db: Database,
  { agentId, traceId }: { agentId: string; traceId: string },
  run: JudgedRun,
): Promise<string> {
  const { results = [], tests = [], waiting } = run;
  const counts = countsOf(results);
  const completed = waiting === undefined;
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into runs (id, trace_id, agent_id, kind, state, due_at, started_at, finished_at, revision, routing, verdict,
      score, passed, failed, skipped, missing_instrumentation, test_ids, detail, cause, outage_open, next_try_at,
      judge_deadline_at, judge_tries, waiting_reason)
    values (uuidv7(), $1, $2, 'passive', $3, now(), now() - interval '4 s', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
      $14, $15, $16, $17, $18, $19, $20)
    returning id`,
    [
      traceId,
      agentId,
      completed ? "completed" : "running",
      completed ? new Date() : null,
      completed ? 1 : null,
      completed ? (run.routing ?? "not_needed") : null,
      completed ? (run.verdict === undefined ? worstOf(results) : run.verdict) : null,
      null,
      ...(["passed", "failed", "skipped", "missing_instrumentation"] as const).map(outcome =>
        completed ? counts[outcome] : null,
      ),
      completed ? results.map(({ testId }) => testId) : null,
      zstdCompressSync(JSON.stringify({ results, tests })),
      run.cause ?? "traffic",
      run.outageOpen ?? false,
      waiting?.nextTryAt ?? null,
      waiting?.until ?? null,
      waiting ? 1 : 0,
      waiting?.reason ?? null,
    ],
  );
  return rows[0]!.id;
}

/** A test's result by its checks, as an evaluation would form it. */
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
    score: counted === 0 ? null : counts.passed / counted,
    reason: `${counts.passed} of ${counted} checks passed.`,
    counts,
    checks,
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
    expected: { threshold: 0.7 },
    actual: {
      score,
      votes: { passed: 1, of: 1, scores: [score] },
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
