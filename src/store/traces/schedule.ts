// Schedules the evaluation of a stored trace: an accepted batch moves its pending run, or creates one.
import type pg from "pg";
import type { RunCause } from "../../model/run/run.ts";
import type { ContentGone, TraceKind } from "../../model/trace/trace.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { idAfterRunsOf } from "../runs/of-traces.ts";
import { eligibleSql } from "../test-cases.ts";
import { findAdded } from "./span-keys.ts";

export type ScheduleLimits = {
  /** A run waits until no batch has come for this long, in ms. */
  debounceMs: number;
  /** But no longer than this after the first, in ms. */
  debounceCapMs: number;
};

/** A batch about to be appended, and the id of the run that it may create, unless the trace has a run with a higher one. */
export type AppendedBatch = {
  traceId: string;
  kind: TraceKind;
  agentId: string;
  runId: string;
  spanKeys: Buffer;
  /** Of a trace that was noise: no run is scheduled while it is, and one as soon as it is not. */
  noise?: "goes on" | "stopped";
  /** Of a trace whose content was dropped no run is scheduled: its verdict stays. */
  content?: ContentGone | undefined;
};

type NewRun = Pick<AppendedBatch, "runId" | "traceId" | "agentId">;

const newRuns = multiRow<NewRun>(3, {
  id: ["uuid", run => run.runId],
  trace_id: ["uuid", run => run.traceId],
  agent_id: ["uuid", run => run.agentId],
});

type OfTrace = Pick<NewRun, "traceId" | "agentId">;

const ofTraces = multiRow<OfTrace>(3, {
  agent_id: ["uuid", trace => trace.agentId],
  trace_id: ["uuid", trace => trace.traceId],
});
const isPending =
  "queue.agent_id = item.agent_id and queue.state = 'pending' and queue.trace_id = item.trace_id";

/** The pending runs of traces, by the trace's id. */
export type Pending = ReadonlyMap<string, RunCause>;

/**
 * Every batch moves a pending run. Only where none is pending, or one that was asked for, does it matter whether the batch adds
 * a span, so only then are the stored span keys read: a trace of 500 batches costs each of them the same as one of ten.
 * Returns the ids of the traces that have a pending run now.
 */
export async function scheduleRuns(
  client: pg.PoolClient,
  batches: AppendedBatch[],
  limits: ScheduleLimits,
): Promise<Set<string>> {
  const pending = await moveRuns(client, batches, limits);
  const scheduled = new Set(pending.keys());
  // A trace of a manual run is evaluated by that run.
  const open = batches.filter(
    batch =>
      batch.kind === "live" &&
      batch.noise !== "goes on" &&
      batch.content !== "forgotten" &&
      pending.get(batch.traceId) !== "traffic",
  );
  if (open.length === 0) return scheduled;
  const judged = await eligibleAgents(client, open);
  const candidates = open.filter(batch => judged.has(batch.agentId));
  if (candidates.length === 0) return scheduled;
  const added = await findAdded(client, candidates);
  const runs = new Map(
    candidates
      .filter(({ traceId, noise }) => noise === "stopped" || added.has(traceId))
      .map(batch => [batch.traceId, batch]),
  );
  await addRuns(client, [...runs.values()], pending, limits);
  for (const id of runs.keys()) scheduled.add(id);
  return scheduled;
}

/** Schedules a run for each of these traces whose agent has a test for it, unless traffic did before. Returns their ids. */
export async function scheduleFurther(
  client: pg.PoolClient,
  traces: NewRun[],
  pending: Pending,
  limits: ScheduleLimits,
): Promise<string[]> {
  const runs = await withoutRun(client, traces, pending);
  if (runs.length > 0) await addRuns(client, runs, pending, limits);
  return runs.map(({ traceId }) => traceId);
}

/** Those whose agent has a test for them, and for which traffic scheduled no run that is pending. */
export async function withoutRun<Trace extends OfTrace>(
  client: pg.PoolClient,
  traces: Trace[],
  pending: Pending,
): Promise<Trace[]> {
  const open = traces.filter(({ traceId }) => pending.get(traceId) !== "traffic");
  if (open.length === 0) return [];
  const judged = await eligibleAgents(client, open);
  return open.filter(({ agentId }) => judged.has(agentId));
}

async function eligibleAgents(
  client: pg.PoolClient,
  traces: Pick<NewRun, "agentId">[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ agent_id: string }>({
    name: "eligible_agents",
    text: `select distinct agent_id from test_cases where agent_id = any ($1::uuid[]) and ${eligibleSql}`,
    values: [[...new Set(traces.map(({ agentId }) => agentId))]],
  });
  return new Set(rows.map(row => row.agent_id));
}

/** A trace has one pending run, so one that was asked for becomes the trace's own, with the tests as they will be. */
async function addRuns(
  client: pg.PoolClient,
  runs: NewRun[],
  pending: Pending,
  limits: ScheduleLimits,
): Promise<void> {
  const [asked, others] = [true, false].map(is => runs.filter(run => pending.has(run.traceId) === is));
  if (asked!.length > 0) await takeAskedFor(client, asked!, limits);
  if (others!.length > 0) await insertRuns(client, others!, limits);
}

async function takeAskedFor(client: pg.PoolClient, runs: NewRun[], limits: ScheduleLimits): Promise<void> {
  await client.query({
    name: "take_asked_for",
    text: `update queue set cause = 'traffic', detail = null, first_batch_at = now(),
        due_at = now() + least($1::float8, $2::float8) * interval '1 ms'
      from ${ofTraces.from} where ${isPending}`,
    values: [limits.debounceMs, limits.debounceCapMs, ...ofTraces.values(runs)],
  });
}

async function insertRuns(client: pg.PoolClient, runs: NewRun[], limits: ScheduleLimits): Promise<void> {
  await client.query({
    name: "schedule_runs",
    text: `insert into queue (id, trace_id, agent_id, due_at)
      select ${idAfterRunsOf("item.agent_id", "item.trace_id", "item.id")}, trace_id, agent_id,
        now() + least($1::float8, $2::float8) * interval '1 ms'
      from ${newRuns.from}`,
    values: [limits.debounceMs, limits.debounceCapMs, ...newRuns.values(runs)],
  });
}

/** Moves the pending runs of these traces to when their batches will have been quiet. */
export async function moveRuns(
  client: pg.PoolClient,
  traces: OfTrace[],
  limits: ScheduleLimits,
): Promise<Pending> {
  const distinct = [...new Map(traces.map(trace => [trace.traceId, trace])).values()];
  const { rows } = await client.query<{ trace_id: string; cause: RunCause }>({
    name: "move_runs",
    text: `update queue set due_at = least(now() + $1::float8 * interval '1 ms',
        first_batch_at + $2::float8 * interval '1 ms')
      from ${ofTraces.from} where ${isPending}
      returning queue.trace_id, cause`,
    values: [limits.debounceMs, limits.debounceCapMs, ...ofTraces.values(distinct)],
  });
  return new Map(rows.map(row => [row.trace_id, row.cause]));
}
