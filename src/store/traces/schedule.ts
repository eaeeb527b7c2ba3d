// Schedules the evaluation of a stored trace: an accepted batch moves its pending run, or creates one.
import type pg from "pg";
import type { ContentGone } from "../../model/content.ts";
import type { TraceKind } from "../../model/trace/trace.ts";
import { multiRow } from "../multi-row.ts";
import { opaque } from "../runs/of-traces.ts";
import { eligibleSql } from "../test-cases.ts";
import { findAdded } from "./span-keys.ts";

export type ScheduleLimits = {
  /** A run waits until no batch has come for this long, in ms. */
  debounceMs: number;
  /** But no longer than this after the first, in ms. */
  debounceCapMs: number;
};

/** A batch about to be appended, and the id of the run that it may create. */
export type AppendedBatch = {
  traceId: string;
  kind: TraceKind;
  agentId: string;
  runId: string;
  spanKeys: Buffer;
  /** Of a trace whose content was dropped no run is scheduled: its verdict stays. */
  content?: ContentGone | undefined;
};

type NewRun = Pick<AppendedBatch, "runId" | "traceId" | "agentId">;

const newRuns = multiRow<NewRun>(3, {
  id: ["uuid", run => run.runId],
  trace_id: ["uuid", run => run.traceId],
  agent_id: ["uuid", run => run.agentId],
});

/**
 * Every batch moves a pending run. Only where none is pending does it matter whether the batch adds a span, so only
 * then are the stored span keys read: a trace of 500 batches costs each of them the same as one of ten. Returns the
 * ids of the traces that have a pending run now.
 */
export async function scheduleRuns(
  client: pg.PoolClient,
  batches: AppendedBatch[],
  limits: ScheduleLimits,
): Promise<Set<string>> {
  const ids = [...new Set(batches.map(batch => batch.traceId))];
  const scheduled = await moveRuns(client, ids, limits);
  // A trace of a manual run is evaluated by that run.
  const open = batches.filter(
    batch => batch.kind === "live" && batch.content !== "forgotten" && !scheduled.has(batch.traceId),
  );
  if (open.length === 0) return scheduled;
  const judged = await eligibleAgents(client, open);
  const candidates = open.filter(batch => judged.has(batch.agentId));
  if (candidates.length === 0) return scheduled;
  const added = await findAdded(client, candidates);
  const runs = new Map(
    candidates.filter(({ traceId }) => added.has(traceId)).map(batch => [batch.traceId, batch]),
  );
  await insertRuns(client, [...runs.values()], limits);
  for (const id of runs.keys()) scheduled.add(id);
  return scheduled;
}

/** Schedules a run for each of these traces whose agent has a test for it; none of them has a pending one. Returns their ids. */
export async function scheduleFurther(
  client: pg.PoolClient,
  traces: NewRun[],
  limits: ScheduleLimits,
): Promise<string[]> {
  if (traces.length === 0) return [];
  const judged = await eligibleAgents(client, traces);
  const runs = traces.filter(({ agentId }) => judged.has(agentId));
  if (runs.length > 0) await insertRuns(client, runs, limits);
  return runs.map(({ traceId }) => traceId);
}

async function eligibleAgents(client: pg.PoolClient, traces: NewRun[]): Promise<Set<string>> {
  const { rows } = await client.query<{ agent_id: string }>({
    name: "eligible_agents",
    text: `select distinct agent_id from test_cases where agent_id = any ($1::uuid[]) and ${eligibleSql}`,
    values: [[...new Set(traces.map(({ agentId }) => agentId))]],
  });
  return new Set(rows.map(row => row.agent_id));
}

async function insertRuns(client: pg.PoolClient, runs: NewRun[], limits: ScheduleLimits): Promise<void> {
  await client.query({
    name: "schedule_runs",
    text: `insert into runs (id, trace_id, agent_id, kind, state, due_at)
      select id, trace_id, agent_id, 'passive', 'pending',
        now() + least($1::float8, $2::float8) * interval '1 ms'
      from ${newRuns.from}`,
    values: [limits.debounceMs, limits.debounceCapMs, ...newRuns.values(runs)],
  });
}

/** Moves the pending runs of these traces to when their batches will have been quiet; the ids that had one. */
export async function moveRuns(
  client: pg.PoolClient,
  traceIds: string[],
  limits: ScheduleLimits,
): Promise<Set<string>> {
  const { rows } = await client.query<{ trace_id: string }>({
    name: "move_runs",
    text: `update runs set due_at = least(now() + $2::float8 * interval '1 ms',
        first_batch_at + $3::float8 * interval '1 ms')
      where trace_id = any ($1::uuid[]) and state = ${opaque("pending")} and kind = 'passive' returning trace_id`,
    values: [traceIds, limits.debounceMs, limits.debounceCapMs],
  });
  return new Set(rows.map(row => row.trace_id));
}
