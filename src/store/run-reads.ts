// Reading runs back: one by its id, those of a trace, those that judged a test.
import type { Outcome, Routing, RunKind, RunState } from "../model/run.ts";
import type { Database } from "./db.ts";
import type { Listing } from "./listing.ts";

export type RunRow = {
  id: string;
  traceId: string;
  agentId: string;
  kind: RunKind;
  state: RunState;
  dueAt: Date;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  attempts: number;
  /** The trace's revision that was judged. */
  revision: number | null;
  routing: Routing | null;
  verdict: Outcome | null;
  score: number | null;
  passed: number | null;
  failed: number | null;
  skipped: number | null;
  missing_instrumentation: number | null;
  test_ids: string[] | null;
  error: string | null;
};

export type RunWithDetail = RunRow & { detail: Buffer | null };

/** For a query over `runs r`. */
export const runColumns = `r.id, r.trace_id as "traceId", r.agent_id as "agentId", r.kind, r.state,
  r.due_at as "dueAt", r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt",
  r.attempts, r.revision, r.routing, r.verdict, r.score, r.passed, r.failed, r.skipped, r.missing_instrumentation,
  r.test_ids, r.error`;

export async function findRun(db: Database, id: string): Promise<RunWithDetail | undefined> {
  const { rows } = await db.pool.query<RunWithDetail>(
    `select ${runColumns}, r.detail from runs r where r.id = $1`,
    [id],
  );
  return rows[0];
}

/** Every run of a trace, newest first. */
export async function listRunsOfTrace(db: Database, traceId: string): Promise<RunWithDetail[]> {
  const { rows } = await db.pool.query<RunWithDetail>(
    `select ${runColumns}, r.detail from runs r where r.trace_id = $1 order by r.id desc`,
    [traceId],
  );
  return rows;
}

/** The completed runs that hold a result of the test, newest first. */
export async function listRunsOfTest(
  db: Database,
  { agentId, testId }: { agentId: string; testId: string },
  { before, rowsMax }: Listing,
): Promise<RunWithDetail[]> {
  const { rows } = await db.pool.query<RunWithDetail>(
    `select ${runColumns}, r.detail from runs r
      where r.agent_id = $1 and r.state = 'completed' and $2::uuid = any (r.test_ids)
        and r.id < $3
      order by r.id desc limit $4`,
    [agentId, testId, before, rowsMax],
  );
  return rows;
}
