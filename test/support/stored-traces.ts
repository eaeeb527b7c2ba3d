// Inserts traces for lists directly: in states that take long to reach, and by the thousand.

import { randomUUID } from "node:crypto";
import type { Counts, Outcome } from "../../src/model/run/outcome.ts";
import type { Routing, RunState } from "../../src/model/run/run.ts";
import type { TraceKind, TracePath } from "../../src/model/trace/trace.ts";
import { placeOf, placeOfRow } from "../../src/store/cluster/routing.ts";
import { type Database, transaction } from "../../src/store/db.ts";
import { idAt } from "../../src/store/listing.ts";
import { newId } from "../../src/store/new-id.ts";
import { addResultValues, outcomesOf, versionsOf } from "../../src/store/runs/result-values.ts";

export type StoredRun = {
  state: RunState;
  dueAt?: Date;
  verdict?: Outcome | null;
  counts?: Partial<Counts>;
  routing?: Routing;
  testIds?: string[];
  failedTestIds?: string[];
  error?: string;
};

export type StoredTrace = {
  name?: string;
  userInput?: string | null;
  responseText?: string | null;
  externalId?: string;
  kind?: TraceKind;
  path?: TracePath;
  revision?: number;
  failed?: boolean;
  httpStatus?: number | null;
  durationMs?: number | null;
  tokens?: [input: number, output: number] | null;
  spanCount?: number;
  conversationId?: string | null;
  userId?: string | null;
  /** When the trace began; else its time of receipt. */
  startedAt?: Date;
  receivedAt?: Date;
  run?: StoredRun;
};

/** The trace's id. Ids follow the times of receipt, as for traces that are sent. */
export async function storeTrace(db: Database, agentId: string, trace: StoredTrace = {}): Promise<string> {
  const { receivedAt = new Date(), revision = 1, tokens = [640, 118], run } = trace;
  const id = idAt(receivedAt.getTime()).slice(0, -12) + randomUUID().slice(-12);
  await (await placeOf(db, agentId)).pool.query(
    `with named as (insert into trace_identities (agent_id, trace_id, external_id) values ($2, $1, $3))
    insert into traces (id, agent_id, external_id, kind, path, revision, received_at, batch_spans, batch_bytes,
      derived_revision, name, duration_ms, http_status, input_tokens, output_tokens, failed, span_count, user_input,
      response_text, conversation_id, user_id, turn_at)
    values ($1, $2, $3, $4, $5, $6, $7, 1, 1, $6, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
    [
      id,
      agentId,
      trace.externalId ?? randomUUID(),
      trace.kind ?? "live",
      trace.path ?? "otlp",
      revision,
      receivedAt,
      trace.name ?? "POST /chat",
      trace.durationMs === undefined ? 1_840 : trace.durationMs,
      trace.httpStatus === undefined ? 200 : trace.httpStatus,
      tokens?.[0] ?? null,
      tokens?.[1] ?? null,
      trace.failed ?? false,
      trace.spanCount ?? 5,
      trace.userInput === undefined ? "Where is my order?" : trace.userInput,
      trace.responseText ?? null,
      trace.conversationId ?? null,
      trace.userId ?? null,
      trace.conversationId ? (trace.startedAt ?? receivedAt).getTime() * 1_000 : null,
    ],
  );
  if (run) await storeRun(db, { agentId, traceId: id }, run);
  return id;
}

/** A run of the trace, as its worker left it. */
export async function storeRun(
  db: Database,
  { agentId, traceId }: { agentId: string; traceId: string },
  {
    state,
    dueAt = new Date(),
    verdict = null,
    counts,
    routing,
    testIds = [],
    failedTestIds,
    error,
  }: StoredRun,
): Promise<void> {
  const completed = state === "completed";
  const { pool } = await placeOf(db, agentId);
  if (state === "pending" || state === "running") {
    // Under a long lease, so no worker takes it over.
    await pool.query(
      `insert into queue (id, trace_id, agent_id, state, due_at, lease_until)
      values ($1, $2, $3, $4, $5, now() + interval '1 day')`,
      [newId(), traceId, agentId, state, dueAt],
    );
    return;
  }
  await pool.query(
    `insert into runs (id, trace_id, agent_id, kind, state, due_at, revision, routing, verdict, passed,
      failed, skipped, missing_instrumentation, test_ids, error, failed_test_ids)
    values ($1, $2, $3, 'passive', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      newId(),
      traceId,
      agentId,
      state,
      dueAt,
      completed ? 1 : null,
      completed ? (routing ?? "not_needed") : null,
      verdict,
      ...(["passed", "failed", "skipped", "missing_instrumentation"] as const).map(outcome =>
        completed ? (counts?.[outcome] ?? 0) : null,
      ),
      completed ? testIds : null,
      error ?? null,
      failedTestIds ?? null,
    ],
  );
  if (!completed || !verdict) return;
  const results = testIds.map(testId => ({ testId, outcome: verdict }));
  await keepResults(db, { agentId, traceId }, results);
}

/** Completes the trace's run without a worker, with these columns of `runs`. */
export async function endRun(
  db: Database,
  traceId: string,
  columns: Record<string, unknown> = {},
): Promise<void> {
  const values = { state: "completed", ...columns };
  const names = Object.keys(values);
  await (await placeOfRow(db, "traces", traceId)).pool.query(
    `with ended as (delete from queue where trace_id = $1 returning *)
    insert into runs (id, trace_id, agent_id, kind, due_at, created_at, cause, ${names.join(", ")})
    select id, trace_id, agent_id, kind, due_at, created_at, cause, ${names.map((_, at) => `$${at + 2}`).join(", ")} from ended`,
    [traceId, ...Object.values(values)],
  );
}

/** Completes a run of a launch without a launcher. */
export async function endLaunchedRun(db: Database, id: string, verdict: Outcome): Promise<void> {
  const columns =
    "id, agent_id, kind, due_at, created_at, launch_id, test_id, test_digest, test_row, test_repeat, input_digest";
  await (await placeOfRow(db, "runs", id)).pool.query(
    `with ended as (delete from queue where id = $1 returning *)
    insert into runs (${columns}, state, verdict) select ${columns}, 'completed', $2 from ended`,
    [id, verdict],
  );
}

type TestResult = { testId: string; outcome: Outcome; version?: number };

/** What lists find the results of a completed run by. */
export async function keepResults(
  db: Database,
  { agentId, traceId }: { agentId: string; traceId: string },
  found: TestResult[],
): Promise<void> {
  const results = found.map(({ version = 1, ...result }) => ({
    ...{ ...result, testVersion: version, fullyEvaluated: true },
  }));
  await transaction(await placeOf(db, agentId), async client => {
    await client.query(
      `update runs set test_ids = $2, test_outcomes = $3, test_versions = $4 where trace_id = $1 and state = 'completed'`,
      [traceId, results.map(({ testId }) => testId), outcomesOf({ results }), versionsOf({ results })],
    );
    await addResultValues(client, [{ agentId, traceIds: [traceId], verdict: { results } }]);
  });
}

/** A trace whose run is being evaluated, and the run. */
export async function storeRunning(
  db: Database,
  agentId: string,
): Promise<{ traceId: string; runId: string }> {
  const traceId = await storeTrace(db, agentId, { run: { state: "running" } });
  const { rows } = await db.pool.query<{ id: string }>("select id from queue where trace_id = $1", [traceId]);
  return { traceId, runId: rows[0]!.id };
}

/** This many traces, one second apart, the newest received now and named "Question 1". */
export async function storeTraces(db: Database, agentId: string, count: number): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    `with made as (
      select number, now() - number * interval '1 second' as at from generate_series(1, $2::int) as number
    ), stored as (
      insert into traces (id, agent_id, external_id, kind, path, received_at, batch_spans, batch_bytes,
        derived_revision, name, duration_ms, http_status, input_tokens, output_tokens, failed, span_count, user_input)
      select id_at(at, gen_random_uuid()), $1, number::text, 'live', 'otlp', at, 1, 1, 1,
        'POST /chat', 20 + (number * 7919) % 9000, 200, 400 + number % 300, number % 500, false, 3 + number % 9,
        'Question ' || number || ': where is the parcel that was promised for last week?'
      from made
      returning id, agent_id, external_id
    ), named as (
      insert into trace_identities (agent_id, trace_id, external_id) select agent_id, id, external_id from stored
    )
    insert into runs (id, trace_id, agent_id, kind, state, due_at, revision, routing, verdict, passed, failed, skipped,
      missing_instrumentation, test_ids)
    select id_at(now(), gen_random_uuid()), id, agent_id, 'passive', 'completed', now(), 1, 'not_needed', 'passed', 4, 0, 1, 0, '{}'
    from stored`,
    [agentId, count],
  );
}
