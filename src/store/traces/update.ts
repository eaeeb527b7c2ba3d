// Stores batches of existing traces: merges OTLP, replaces canonical, and reschedules their runs.
import type pg from "pg";
import type { ContentGone } from "../../model/content.ts";
import { Refusal } from "../../model/refusal.ts";
import type { TraceKind, TracePath } from "../../model/trace/trace.ts";
import { type Deadline, forgetAfter, noteDeadlines } from "../content/deadlines.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../multi-row.ts";
import { addCalls, deleteUnusedCalls } from "./call-values.ts";
import {
  conventionsOf,
  derivedAssignments,
  derivedColumns,
  hasOtherConventions,
  keepsNames,
} from "./derived-columns.ts";
import { liveKeys, revoked } from "./live-keys.ts";
import { storeOtlpIds } from "./otlp-ids.ts";
import { countRedactions, noRedactions } from "./redactions.ts";
import { findRepeated } from "./repetition.ts";
import { moveRuns, type ScheduleLimits, scheduleRuns } from "./schedule.ts";
import { storeResources } from "./shared-resources.ts";
import { findSuperseded } from "./span-keys.ts";
import { fitsSettings, IntakeChanged, type Stored, type TraceWrite, type WriteOutcome } from "./write.ts";

export type MergeLimits = ScheduleLimits & {
  /** Distinct spans and uncompressed bytes that one merged trace may hold. */
  traceSpansMax: number;
  traceBytesMax: number;
};

type Locked = {
  id: string;
  agent_id: string;
  external_id: string;
  kind: TraceKind;
  path: TracePath;
  revision: number;
  batch_count: number;
  batch_spans: number;
  batch_bytes: number;
  is_forgotten: boolean;
  /** What a batch appended now lacks. */
  lacks?: ContentGone;
  intake_key: string;
  privacy_revision: number;
  /** Seconds; null: its content is kept. */
  forget_after_s: number | null;
};

type Append = { write: TraceWrite; trace: Locked; seq: number; outcome: Stored };

/**
 * Writes to stored traces, in order, in one transaction that locks them in the order of their ids, so that two of these
 * never deadlock. Of a trace whose retention time is over nothing is stored, as of a repetition. An outcome is `undefined` if
 * the trace was deleted, a Refusal if the key ended or the trace would grow too large, IntakeChanged if what may be stored
 * changed.
 */
export function updateTraces(
  db: Database,
  writes: TraceWrite[],
  limits: MergeLimits,
): Promise<WriteOutcome[]> {
  return transaction(db, async client => {
    const live = await liveKeys(client, writes);
    const traces = await lockTraces(client, writes);
    const gone = await findGone(client, writes, traces);
    const repeated = await findRepetitions(client, writes, traces);
    const changed = new Set<Locked>();
    const appends: Append[] = [];
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      const trace = traces.get(identity(write.agentId, write.externalId));
      if (write.keyId !== null && !live.has(write.keyId)) outcomes.push(revoked());
      else if (!trace) outcomes.push(gone.get(identity(write.agentId, write.externalId)));
      else if (trace.id === write.traceId) outcomes.push(await storedBefore(client, write));
      else if (!fitsSettings(write, trace)) outcomes.push(new IntakeChanged(false));
      else if (trace.is_forgotten && write.content !== "forgotten") outcomes.push(new IntakeChanged(true));
      else if (repeated.has(write) && !changed.has(trace)) {
        outcomes.push(await leave(client, write, trace, limits));
      } else if (write.path === "canonical") {
        changed.add(trace);
        await appendAll(client, appends.splice(0), limits);
        outcomes.push(await replace(client, write, trace));
      } else {
        // Near the limit, batches that are not appended yet must count too.
        if (!fits(write, trace, limits)) await appendAll(client, appends.splice(0), limits);
        const append = await admit(client, write, trace, limits);
        if (!(append instanceof Refusal)) {
          appends.push(append);
          changed.add(trace);
        }
        outcomes.push(append instanceof Refusal ? append : append.outcome);
      }
    }
    await appendAll(client, appends, limits);
    await noteDeadlines(client, [...changed].flatMap(deadlineOf));
    return outcomes;
  });
}

/** Of a trace that is to be forgotten; one that was stays as it is. */
export function deadlineOf(
  trace: Pick<Locked, "id" | "agent_id" | "is_forgotten" | "forget_after_s">,
): Deadline[] {
  const { id: subjectId, agent_id: agentId, is_forgotten, forget_after_s: afterSeconds } = trace;
  return is_forgotten || afterSeconds === null ? [] : [{ agentId, subjectId, afterSeconds }];
}

const identity = (agentId: string, externalId: string) => `${agentId} ${externalId}`;

const identities = multiRow<TraceWrite>(1, {
  agent_id: ["uuid", write => write.agentId],
  external_id: ["text", write => write.externalId],
});

async function lockTraces(client: pg.PoolClient, writes: TraceWrite[]): Promise<Map<string, Locked>> {
  const { rows } = await client.query<Locked>({
    name: "lock_traces",
    text: `select t.id, t.agent_id, t.external_id, kind, path, revision, batch_count, batch_spans, batch_bytes,
        coalesce(t.content = 'forgotten', false) as is_forgotten, a.intake_key, a.privacy_revision,
        ${forgetAfter} as forget_after_s
      from ${identities.from} cross join lateral trace_named(item.agent_id, item.external_id) named
        join traces t on t.id = named.trace_id join agents a on a.id = t.agent_id
      order by t.id for update of t for key share of a`,
    values: identities.values(writes),
  });
  return new Map(rows.map(row => [identity(row.agent_id, row.external_id), row]));
}

/** Of identities whose traces are gone, but which stay. Undefined for one that is new, or whose trace was deleted. */
async function findGone(
  client: pg.PoolClient,
  writes: TraceWrite[],
  traces: Map<string, Locked>,
): Promise<Map<string, Stored>> {
  const missing = writes.filter(({ agentId, externalId }) => !traces.has(identity(agentId, externalId)));
  if (missing.length === 0) return new Map();
  const { rows } = await client.query<{ agentId: string; externalId: string; traceId: string }>({
    name: "find_gone",
    text: `select item.agent_id as "agentId", item.external_id as "externalId", named.trace_id as "traceId"
      from ${identities.from} cross join lateral trace_named(item.agent_id, item.external_id) named
      where not exists (select from traces t where t.id = named.trace_id)`,
    values: identities.values(missing),
  });
  const paths = new Map(
    missing.map(({ agentId, externalId, path }) => [identity(agentId, externalId), path]),
  );
  return new Map(
    rows.map(({ agentId, externalId, traceId }) => {
      const name = identity(agentId, externalId);
      const state = paths.get(name) === "canonical" ? "replaced" : "merged";
      return [name, { traceId, state, revision: 1, evaluation: "none", isExpired: true }];
    }),
  );
}

/** The writes that change nothing: a batch of a merged trace, or a whole canonical trace, sent again. */
async function findRepetitions(
  client: pg.PoolClient,
  writes: TraceWrite[],
  traces: Map<string, Locked>,
): Promise<Set<TraceWrite>> {
  const candidates = writes.flatMap(write => {
    const trace = traces.get(identity(write.agentId, write.externalId));
    return trace?.path === write.path && (write.path === "otlp" || trace.batch_count === 1)
      ? [{ write, trace }]
      : [];
  });
  return candidates.length > 0 ? findRepeated(client, candidates) : new Set();
}

/** A repetition stores nothing, but like any accepted batch it moves a pending run. */
async function leave(
  client: pg.PoolClient,
  write: TraceWrite,
  trace: Locked,
  limits: MergeLimits,
): Promise<Stored> {
  const { id: traceId, revision } = trace;
  if (write.path === "canonical") return { traceId, state: "replaced", revision, evaluation: "none" };
  await client.query("update traces set updated_at = now() where id = $1", [traceId]);
  const moved = await moveRuns(client, [traceId], limits);
  return { traceId, state: "merged", revision, evaluation: moved.has(traceId) ? "scheduled" : "none" };
}

/** This write was committed before but its answer was lost: the outcome is what it did then. */
async function storedBefore(client: pg.PoolClient, write: TraceWrite): Promise<Stored> {
  const { rowCount } = await client.query("select from runs where id = $1", [write.runId]);
  return {
    traceId: write.traceId,
    state: "created",
    revision: 1,
    evaluation: rowCount ? "scheduled" : "none",
  };
}

const derived = multiRow<TraceWrite>(6, derivedColumns);

async function replace(client: pg.PoolClient, write: TraceWrite, trace: Locked): Promise<Stored> {
  await client.query("delete from trace_batches where trace_id = $1", [trace.id]);
  const { rows } = await client.query<{ keeps: boolean }>({
    name: "replace_trace",
    text: `update traces set path = 'canonical', revision = traces.revision + 1, updated_at = now(), batch_count = 1,
        batch_spans = $2, batch_bytes = $3, content = $5::text, ${derivedAssignments},
        derived_revision = case
          when $5::text is distinct from 'forgotten' and ${hasOtherConventions("traces.agent_id", "$4")} then 0
          else traces.revision + 1 end
      from ${derived.from}, traces old
      where traces.id = $1 and old.id = traces.id
      returning ${keepsNames} as keeps`,
    values: [
      trace.id,
      write.spanCount,
      write.rawLength,
      conventionsOf(write),
      write.content ?? null,
      ...derived.values([write]),
    ],
  });
  const calls = { agentId: trace.agent_id, traceId: trace.id, columns: write.columns };
  await addCalls(client, [calls]);
  if (!rows[0]!.keeps) await deleteUnusedCalls(client, [calls]);
  const { rawLength, spanKeys, bytes, redactions } = write;
  await client.query(
    `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans, redactions)
      values ($1, $2, 1, $3, $4, $5, $6)`,
    [trace.agent_id, trace.id, rawLength, spanKeys, bytes, redactions?.bytes ?? null],
  );
  await countRedactions(client, [write]);
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

/** Adds the batch to the trace's sums, or refuses it because the trace would grow too large. */
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
        hint: "End the trace and continue with a new traceId.",
      });
    }
    // Only after the check: a refused batch supersedes nothing.
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
  if (write.content) trace.lacks = write.content;
  const { id: traceId, revision } = trace;
  const outcome: Stored = { traceId, state: "merged", revision, evaluation: "none" };
  return { write, trace, seq: trace.batch_count, outcome };
}

const batches = multiRow<Append>(1, {
  agent_id: ["uuid", ({ trace }) => trace.agent_id],
  id: ["uuid", ({ trace }) => trace.id],
  seq: ["int", ({ seq }) => seq],
  raw_length: ["int", ({ write }) => write.rawLength],
  resource_id: ["uuid", ({ write }) => write.resource?.id ?? null],
  redactions: ["bytes", ({ write }) => write.redactions?.bytes ?? noRedactions],
  span_keys: ["bytes", ({ write }) => write.spanKeys],
  spans: ["bytes", ({ write }) => write.bytes],
});

const grown = multiRow<Locked>(1, {
  id: ["uuid", trace => trace.id],
  revision: ["int", trace => trace.revision],
  batch_count: ["int", trace => trace.batch_count],
  batch_spans: ["int", trace => trace.batch_spans],
  batch_bytes: ["bigint", trace => trace.batch_bytes],
  content: ["text", trace => trace.lacks ?? null],
});

/** Appends the batches, then moves the runs of their traces or creates them. */
async function appendAll(client: pg.PoolClient, appends: Append[], limits: MergeLimits): Promise<void> {
  if (appends.length === 0) return;
  const traces = [...new Set(appends.map(append => append.trace))];
  const scheduled = await scheduleRuns(
    client,
    appends.map(({ trace, write }) => ({ ...write, traceId: trace.id, kind: trace.kind })),
    limits,
  );
  await client.query({
    name: "append_batches",
    text: `insert into trace_batches (agent_id, trace_id, seq, raw_length, resource_id, redactions, span_keys, spans)
      select agent_id, id, seq, raw_length, resource_id, nullif(${batches.bytes("redactions")}, ''),
        ${batches.bytes("span_keys")}, ${batches.bytes("spans")} from ${batches.from}`,
    values: batches.values(appends),
  });
  const written = appends.map(({ write }) => write);
  await storeResources(client, written);
  await countRedactions(client, written);
  await storeOtlpIds(
    client,
    appends.map(({ write, trace }) => ({ write, storedAs: trace.id })),
  );
  await client.query({
    name: "raise_revisions",
    text: `update traces set path = 'otlp', revision = item.revision, updated_at = now(),
        batch_count = item.batch_count, batch_spans = item.batch_spans, batch_bytes = item.batch_bytes,
        content = coalesce(item.content, traces.content),
        derived_revision = case when item.content = 'forgotten' then item.revision else traces.derived_revision end
      from ${grown.from}
      where traces.id = item.id`,
    values: grown.values(traces),
  });
  for (const { trace, outcome } of appends) {
    trace.path = "otlp";
    if (scheduled.has(trace.id)) outcome.evaluation = "scheduled";
  }
}
