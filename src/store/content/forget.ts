// Drops the content of traces and manual runs, with every copy of it (drop-copies.ts), in one transaction.
import type pg from "pg";
import { nameSeparator } from "../../model/trace/storable.ts";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import { partsOf, partsOfRows } from "../cluster/routing.ts";
import { isDue, stateOfDeadlines } from "../content-deadlines.ts";
import { type Database, transaction } from "../db.ts";
import { spanOf } from "../listing.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { addCalls, deleteUnusedCalls } from "../traces/call-values.ts";
import { derivedAssignments, derivedColumns, keepsNames, listOf } from "../traces/derived-columns.ts";
import { dropCopies, dropResults, dropTurns, type QuotingRun } from "./drop-copies.ts";
import type { ForgettingSettings } from "./settings.ts";

/** What replaces the batches of a trace. */
export type StructureBatch = {
  bytes: Buffer;
  rawLength: number;
  spanCount: number;
  spanKeys: Buffer;
};

/** The names and ids that lists show. */
export type StructureNames = Pick<
  TraceColumns,
  "tools" | "models" | "providers" | "userId" | "conversationId"
>;

/**
 * `revision`: of what it was made of; `settings`: those by which. `names`: what the structure still has. `columns` null: the
 * row's others stay, but for their texts.
 */
export type TraceStructure = {
  traceId: string;
  agentId: string;
  revision: number;
  settings: Pick<ForgettingSettings, "intakeKey" | "privacyRevision">;
  batches: StructureBatch[];
  columns: TraceColumns | null;
  names: StructureNames;
};

/**
 * Forgets traces that are due, and have not changed since they were read. Returns their ids: the others are looked at again
 * when their leases end. `runIds`: of manual runs without traces.
 */
export async function forgetContent(
  db: Database,
  structures: TraceStructure[],
  runIds: string[] = [],
): Promise<Forgotten> {
  const runsIn = new Map(await partsOfRows(db, "runs", runIds));
  const tracesIn = new Map(await partsOf(db, structures));
  const forgotten: Forgotten = { traceIds: [], runIds: [] };
  for (const place of new Set([...tracesIn.keys(), ...runsIn.keys()])) {
    const part = await forgetIn(place, tracesIn.get(place) ?? [], runsIn.get(place) ?? []);
    forgotten.traceIds.push(...part.traceIds);
    forgotten.runIds.push(...part.runIds);
  }
  return forgotten;
}

type Forgotten = { traceIds: string[]; runIds: string[] };

async function forgetIn(db: Database, structures: TraceStructure[], runIds: string[]): Promise<Forgotten> {
  return transaction(db, async client => {
    const unchanged = await lockTraces(client, structures);
    const subjects = [...unchanged.map(({ traceId }) => traceId), ...runIds];
    const runs = await lockRuns(client, subjects);
    const due = await listDue(client, subjects);
    const traces = unchanged.filter(({ traceId }) => due.has(traceId));
    const traceIds = traces.map(({ traceId }) => traceId);
    const dueRunIds = runIds.filter(id => due.has(id));
    if (due.size === 0) return { traceIds: [], runIds: [] };
    await replaceBatches(client, traces);
    await replaceColumns(client, traces);
    const ofDue = new Set([...traceIds, ...dueRunIds]);
    const quoting = runs.filter(({ subjectIds }) => subjectIds.some(id => ofDue.has(id)));
    await dropResults(client, quoting);
    const manual = quoting.filter(({ kind }) => kind === "manual").map(({ id }) => id);
    await dropTurns(client, manual);
    await dropCopies(client, { traceIds, manualIds: manual, subjectIds: [...ofDue] });
    return { traceIds, runIds: dueRunIds };
  });
}

/**
 * In the order of their ids, as merges lock them; those at the revision that was read, and not forgotten yet. What may be
 * stored of them has not changed since either: a change waits for this commit, or is seen here.
 */
async function lockTraces(client: pg.PoolClient, structures: TraceStructure[]): Promise<TraceStructure[]> {
  if (structures.length === 0) return [];
  type Locked = { id: string; revision: number; intakeKey: string; privacyRevision: number };
  const { rows } = await client.query<Locked & { is_forgotten: boolean }>({
    name: "lock_traces_to_forget",
    text: `select t.id, t.revision, coalesce(t.content = 'forgotten', false) as is_forgotten,
        a.intake_key as "intakeKey", a.privacy_revision as "privacyRevision"
      from traces t join agents a on a.id = t.agent_id
      where t.id = any ($1::uuid[]) order by t.id for update of t for key share of a`,
    values: [structures.map(({ traceId }) => traceId)],
  });
  const locked = new Map(rows.flatMap(row => (row.is_forgotten ? [] : [[row.id, row]])));
  return structures.filter(({ traceId, revision, settings }) => {
    const now = locked.get(traceId);
    return (
      now?.revision === revision &&
      now.intakeKey === settings.intakeKey &&
      now.privacyRevision === settings.privacyRevision
    );
  });
}

/** Locked before it is asked whether one is open: none becomes so again. */
async function lockRuns(client: pg.PoolClient, subjectIds: string[]): Promise<QuotingRun[]> {
  const { rows } = await client.query<QuotingRun>({
    name: "lock_runs_to_forget",
    text: `select id, kind, detail,
        array(
          select u.trace_id from run_turns u
          where u.agent_id = runs.agent_id and u.run_id = runs.id and u.trace_id is not null
        )
          || coalesce(trace_id, id) || id as "subjectIds"
      from runs where id = any (array(
        select id from runs where trace_id = any ($1::uuid[])
        union select run_id from run_turns where trace_id = any ($1::uuid[])
        union select id from runs where id = any ($1::uuid[])
      ))
      order by id for update`,
    values: [subjectIds],
  });
  return rows;
}

async function listDue(client: pg.PoolClient, subjectIds: string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ subject_id: string }>({
    name: "list_due_content",
    text: `with d as materialized (
        select d.* from content_deadlines d
        where (d.agent_id, d.subject_id) in (
          select agent_id, id from traces where id = any ($1::uuid[])
          union all select agent_id, id from runs where id = any ($1::uuid[])
        )
      ), state as (${stateOfDeadlines})
      select subject_id from state where ${isDue("state")}`,
    values: [subjectIds],
  });
  return new Set(rows.map(row => row.subject_id));
}

type Placed = StructureBatch & { agentId: string; traceId: string; seq: number };

const batches = multiRow<Placed>(1, {
  agent_id: ["uuid", ({ agentId }) => agentId],
  trace_id: ["uuid", ({ traceId }) => traceId],
  seq: ["int", ({ seq }) => seq],
  raw_length: ["int", ({ rawLength }) => rawLength],
  span_keys: ["bytes", ({ spanKeys }) => spanKeys],
  spans: ["bytes", ({ bytes }) => bytes],
});

/** Deleted and inserted, since the deletion of a batch deletes a resource that no other batch shares. */
async function replaceBatches(client: pg.PoolClient, traces: TraceStructure[]): Promise<void> {
  if (traces.length === 0) return;
  const ids = traces.map(({ traceId }) => traceId);
  await client.query({
    name: "delete_batches_to_forget",
    text: "delete from trace_batches where trace_id = any ($1::uuid[]) and trace_id >= $2 and trace_id <= $3",
    values: [ids, ...spanOf(ids)],
  });
  const placed = traces.flatMap(({ agentId, traceId, batches: left }) =>
    left.map((batch, at) => ({ ...batch, agentId, traceId, seq: at + 1 })),
  );
  await client.query({
    name: "insert_structures",
    text: `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans)
      select agent_id, trace_id, seq, raw_length, ${batches.bytes("span_keys")}, ${batches.bytes("spans")}
      from ${batches.from}`,
    values: batches.values(placed),
  });
}

const sums = multiRow<TraceStructure>(1, {
  id: ["uuid", ({ traceId }) => traceId],
  batch_count: ["int", trace => trace.batches.length],
  batch_spans: ["int", trace => trace.batches.reduce((sum, { spanCount }) => sum + spanCount, 0)],
  batch_bytes: ["bigint", trace => trace.batches.reduce((sum, { rawLength }) => sum + rawLength, 0)],
  is_read: ["bool", ({ columns }) => columns !== null],
  tools: ["text", ({ names }) => names.tools.join(nameSeparator)],
  models: ["text", ({ names }) => names.models.join(nameSeparator)],
  providers: ["text", ({ names }) => names.providers.join(nameSeparator)],
  user_id: ["text", ({ names }) => names.userId],
  conversation_id: ["text", ({ names }) => names.conversationId],
});

type WithColumns = TraceStructure & { columns: TraceColumns };

const derived = multiRow<WithColumns>(1, { id: ["uuid", ({ traceId }) => traceId], ...derivedColumns });

/** Nothing is derived again: the columns are at the trace's revision from now on. */
async function replaceColumns(client: pg.PoolClient, traces: TraceStructure[]): Promise<void> {
  if (traces.length === 0) return;
  const read = traces.filter((trace): trace is WithColumns => trace.columns !== null);
  const { rows } = await client.query<{ traceId: string; keeps: boolean }>({
    name: "replace_columns_of_forgotten",
    text: `update traces set ${derivedAssignments} from ${derived.from}, traces old
      where traces.id = item.id and old.id = traces.id returning traces.id as "traceId", ${keepsNames} as keeps`,
    values: derived.values(read),
  });
  await addCalls(client, read);
  await client.query({
    name: "mark_forgotten",
    text: `update traces set content = 'forgotten', content_forgotten_at = now(), derived_revision = revision,
        user_input = null, response_text = null, redacted = case when item.is_read then traces.redacted end,
        ${["tools", "models", "providers"].map(name => `${name} = ${listOf(name)}`).join(", ")},
        user_id = item.user_id, conversation_id = item.conversation_id,
        turn_at = case when item.conversation_id is not null then traces.turn_at end, batch_count = item.batch_count, batch_spans = item.batch_spans, batch_bytes = item.batch_bytes
      from ${sums.from} where traces.id = item.id`,
    values: sums.values(traces),
  });
  const kept = new Set(rows.filter(row => row.keeps).map(row => row.traceId));
  const lost = traces.filter(({ traceId }) => !kept.has(traceId));
  if (lost.length > 0) await deleteUnusedCalls(client, lost);
}
