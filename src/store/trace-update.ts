// Stores batches of traces that exist already: OTLP merges, canonical replaces, and both move what is scheduled.
import type pg from "pg";
import { Refusal } from "../model/refusal.ts";
import type { TracePath } from "../model/trace.ts";
import { type Database, transaction } from "./db.ts";
import { findAdded, findSuperseded } from "./span-keys.ts";
import { concatenate, revoked } from "./trace-insert.ts";
import type { Stored, TraceWrite, WriteOutcome } from "./trace-writer.ts";

export type MergeLimits = {
  debounceMs: number;
  debounceCapMs: number;
  /** Distinct spans and uncompressed bytes that one merged trace may hold (A11). */
  traceSpansMax: number;
  traceBytesMax: number;
};

type Locked = {
  id: string;
  agent_id: string;
  external_id: string;
  path: TracePath;
  revision: number;
  batch_count: number;
  batch_spans: number;
  batch_bytes: number;
};

type Append = { write: TraceWrite; trace: Locked; seq: number; outcome: Stored };

/**
 * Writes to traces that are stored, in order, in one transaction that locks them by id so that two of these never
 * wait for each other in a ring. An outcome is `undefined` where the trace is gone, a Refusal where the key ended
 * or the trace would grow too large.
 */
export function updateTraces(
  db: Database,
  writes: TraceWrite[],
  limits: MergeLimits,
): Promise<WriteOutcome[]> {
  return transaction(db, async client => {
    const live = await liveKeys(client, writes);
    const traces = await lockTraces(client, writes);
    const appends: Append[] = [];
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      const trace = traces.get(identity(write.agentId, write.externalId));
      if (!live.has(write.keyId)) outcomes.push(revoked());
      else if (!trace) outcomes.push(undefined);
      else if (trace.id === write.traceId) outcomes.push(await storedBefore(client, write));
      else if (write.path === "canonical") {
        await appendAll(client, appends.splice(0), limits);
        outcomes.push(await replace(client, write, trace));
      } else {
        // What is still to be appended counts too when the trace is near its limit.
        if (!fits(write, trace, limits)) await appendAll(client, appends.splice(0), limits);
        const append = await admit(client, write, trace, limits);
        if (!(append instanceof Refusal)) appends.push(append);
        outcomes.push(append instanceof Refusal ? append : append.outcome);
      }
    }
    await appendAll(client, appends, limits);
    return outcomes;
  });
}

const identity = (agentId: string, externalId: string) => `${agentId} ${externalId}`;

async function liveKeys(client: pg.PoolClient, writes: TraceWrite[]): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: "live_keys",
    text: "select id from keys where id = any ($1::uuid[]) and (expires_at is null or expires_at > now()) for key share",
    values: [[...new Set(writes.map(write => write.keyId))]],
  });
  return new Set(rows.map(row => row.id));
}

async function lockTraces(client: pg.PoolClient, writes: TraceWrite[]): Promise<Map<string, Locked>> {
  const { rows } = await client.query<Locked>({
    name: "lock_traces",
    text: `select id, agent_id, external_id, path, revision, batch_count, batch_spans, batch_bytes from traces
      where (agent_id, external_id) in (select * from unnest($1::uuid[], $2::text[])) order by id for update`,
    values: [writes.map(write => write.agentId), writes.map(write => write.externalId)],
  });
  return new Map(rows.map(row => [identity(row.agent_id, row.external_id), row]));
}

/** This very write was committed before, and its answer lost on the way: what it did then is its outcome. */
async function storedBefore(client: pg.PoolClient, write: TraceWrite): Promise<Stored> {
  const { rowCount } = await client.query("select from runs where id = $1", [write.runId]);
  return {
    traceId: write.traceId,
    state: "created",
    revision: 1,
    evaluation: rowCount ? "scheduled" : "none",
  };
}

async function replace(client: pg.PoolClient, write: TraceWrite, trace: Locked): Promise<Stored> {
  const { columns } = write;
  await client.query("delete from trace_batches where trace_id = $1", [trace.id]);
  await client.query({
    name: "replace_trace",
    text: `update traces set path = 'canonical', revision = revision + 1, updated_at = now(), batch_count = 1,
        batch_spans = $2, batch_bytes = $3, derived_revision = revision + 1, name = $4, duration_ms = $5,
        http_status = $6, input_tokens = $7, output_tokens = $8, reasoning_tokens = $9, failed = $10,
        span_count = $11, user_input = $12, response_text = $13
      where id = $1`,
    values: [
      trace.id,
      write.spanCount,
      write.rawLength,
      columns.name,
      columns.durationMs,
      columns.httpStatus,
      columns.inputTokens,
      columns.outputTokens,
      columns.reasoningTokens,
      columns.failed,
      columns.spanCount,
      columns.userInput,
      columns.responseText,
    ],
  });
  await client.query(
    "insert into trace_batches (trace_id, seq, raw_length, span_keys, spans) values ($1, 1, $2, $3, $4)",
    [trace.id, write.rawLength, write.spanKeys, write.bytes],
  );
  trace.path = "canonical";
  trace.revision++;
  trace.batch_count = 1;
  trace.batch_spans = write.spanCount;
  trace.batch_bytes = write.rawLength;
  return { traceId: trace.id, state: "replaced", revision: trace.revision, evaluation: "none" };
}

function fits(
  write: TraceWrite,
  trace: Pick<Locked, "batch_spans" | "batch_bytes">,
  limits: MergeLimits,
): boolean {
  return (
    trace.batch_spans + write.spanCount <= limits.traceSpansMax &&
    trace.batch_bytes + write.rawLength <= limits.traceBytesMax
  );
}

/** Takes the batch into the trace's running sums, or refuses it because the trace would grow too large. */
async function admit(
  client: pg.PoolClient,
  write: TraceWrite,
  trace: Locked,
  limits: MergeLimits,
): Promise<Append | Refusal> {
  if (!fits(write, trace, limits)) {
    const { superseded, spans, bytes } = await findSuperseded(client, trace.id, write.spanKeys);
    if (!fits(write, { batch_spans: spans, batch_bytes: bytes }, limits)) {
      return new Refusal("PAYLOAD_TOO_LARGE", {
        message: `The merged trace would exceed ${limits.traceSpansMax} spans or ${limits.traceBytesMax} bytes.`,
        hint: "End the trace and go on under a new traceId.",
      });
    }
    // Only now: a batch that is refused supersedes nothing.
    await client.query("delete from trace_batches where trace_id = $1 and seq = any ($2::int[])", [
      trace.id,
      superseded,
    ]);
    trace.batch_spans = spans;
    trace.batch_bytes = bytes;
  }
  trace.batch_spans += write.spanCount;
  trace.batch_bytes += write.rawLength;
  trace.batch_count++;
  trace.revision++;
  const outcome: Stored = {
    traceId: trace.id,
    state: "merged",
    revision: trace.revision,
    evaluation: "none",
  };
  return { write, trace, seq: trace.batch_count, outcome };
}

/** Appends the batches, then moves or makes the runs of their traces (F2, C6). */
async function appendAll(client: pg.PoolClient, appends: Append[], limits: MergeLimits): Promise<void> {
  if (appends.length === 0) return;
  const traces = [...new Set(appends.map(append => append.trace))];
  const scheduled = await schedule(client, appends, limits);
  const { data, places } = concatenate(appends.map(append => append.write));
  await client.query({
    name: "append_batches",
    text: `insert into trace_batches (trace_id, seq, raw_length, span_keys, spans)
      select id, seq, raw_length, substring($8::bytea from keys_at for keys_length),
        substring($8::bytea from bytes_at for bytes_length)
      from unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
        as item (id, seq, raw_length, keys_at, keys_length, bytes_at, bytes_length)`,
    values: [
      appends.map(append => append.trace.id),
      appends.map(append => append.seq),
      appends.map(append => append.write.rawLength),
      places.map(place => place.keysAt),
      appends.map(append => append.write.spanKeys.length),
      places.map(place => place.bytesAt),
      appends.map(append => append.write.bytes.length),
      data,
    ],
  });
  await client.query({
    name: "raise_revisions",
    text: `update traces set path = 'otlp', revision = item.revision, updated_at = now(),
        batch_count = item.batch_count, batch_spans = item.batch_spans, batch_bytes = item.batch_bytes
      from unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::bigint[])
        as item (id, revision, batch_count, batch_spans, batch_bytes)
      where traces.id = item.id`,
    values: [
      traces.map(trace => trace.id),
      traces.map(trace => trace.revision),
      traces.map(trace => trace.batch_count),
      traces.map(trace => trace.batch_spans),
      traces.map(trace => trace.batch_bytes),
    ],
  });
  for (const { trace, outcome } of appends) {
    trace.path = "otlp";
    if (scheduled.has(trace.id)) outcome.evaluation = "scheduled";
  }
}

/**
 * Every batch moves a pending run. Only where none is pending does it matter whether the batch adds a span, so only
 * then are the stored span keys read: a trace of 500 batches costs each of them the same as one of ten.
 */
async function schedule(client: pg.PoolClient, appends: Append[], limits: MergeLimits): Promise<Set<string>> {
  const ids = [...new Set(appends.map(append => append.trace.id))];
  const moved = await client.query<{ trace_id: string }>({
    name: "move_runs",
    text: `update runs set due_at = least(now() + $2::float8 * interval '1 ms',
        first_batch_at + $3::float8 * interval '1 ms')
      where state = 'pending' and kind = 'passive' and trace_id = any ($1::uuid[]) returning trace_id`,
    values: [ids, limits.debounceMs, limits.debounceCapMs],
  });
  const scheduled = new Set(moved.rows.map(row => row.trace_id));
  const open = appends.filter(append => !scheduled.has(append.trace.id));
  if (open.length === 0) return scheduled;
  const eligible = await client.query<{ agent_id: string }>({
    name: "eligible_agents",
    text: `select distinct agent_id from test_cases where agent_id = any ($1::uuid[])
      and status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1`,
    values: [[...new Set(open.map(append => append.write.agentId))]],
  });
  const judged = new Set(eligible.rows.map(row => row.agent_id));
  const candidates = open.filter(append => judged.has(append.write.agentId));
  if (candidates.length === 0) return scheduled;
  const added = await findAdded(
    client,
    candidates.map(({ trace, write }) => ({ traceId: trace.id, spanKeys: write.spanKeys })),
  );
  const runs = new Map(
    candidates.filter(({ trace }) => added.has(trace.id)).map(append => [append.trace.id, append]),
  );
  await client.query({
    name: "schedule_runs",
    text: `insert into runs (id, trace_id, agent_id, kind, state, due_at)
      select id, trace_id, agent_id, 'passive', 'pending',
        now() + least($4::float8, $5::float8) * interval '1 ms'
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as item (id, trace_id, agent_id)`,
    values: [
      [...runs.values()].map(append => append.write.runId),
      [...runs.keys()],
      [...runs.values()].map(append => append.write.agentId),
      limits.debounceMs,
      limits.debounceCapMs,
    ],
  });
  for (const id of runs.keys()) scheduled.add(id);
  return scheduled;
}
