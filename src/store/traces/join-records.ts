// Joins waiting log records to the traces that have their span: copies them as batches, and moves or schedules runs.
import type pg from "pg";
import type { TraceKind } from "../../model/trace/trace.ts";
import { forgetAfter, noteDeadlines } from "../content/deadlines.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../multi-row.ts";
import { newId } from "../new-id.ts";
import { partsOf } from "../scale/places.ts";
import type { MergeLimits } from "./append.ts";
import { type NamedTrace, named } from "./otlp-ids.ts";
import { moveRuns, type Pending, scheduleFurther } from "./schedule.ts";
import { batchesOf, keysIn } from "./span-keys.ts";
import { deadlineOf } from "./update.ts";

/** A trace that got log records. `scheduled`: it has a pending run now. */
export type JoinedTrace = { agentId: string; traceId: string; scheduled: boolean };

/** `refused`: the records that did not fit into their trace. */
export type JoinOutcome = { joined: JoinedTrace[]; refused: (NamedTrace & { records: number })[] };

type Locked = {
  id: string;
  agent_id: string;
  /** What the records call it; a trace with several such ids has a row for each. */
  otlp_trace_id: string;
  kind: TraceKind;
  revision: number;
  batch_count: number;
  batch_bytes: number;
  has_input: boolean;
  has_reply: boolean;
  tools: string[];
  is_forgotten: boolean;
  /** Seconds; null: its content is kept. */
  forget_after_s: number | null;
};

type Waiting = {
  agent_id: string;
  otlp_trace_id: string;
  id: string;
  span_key: Buffer;
  record_keys: Buffer;
  raw_length: number;
  has_input: boolean;
  has_reply: boolean;
  tools: string[];
};

/** A trace with what it has so far. */
type Open = { trace: Locked; spans: Set<string>; records: Set<string>; brings: boolean; changed: boolean };

type Append = { traceId: string; seq: number; waiting: Waiting };

const tracesAtOnce = 128;

/**
 * Call it after the commit of records, and after the commit of spans whose agent has conventions: whichever of the two is
 * committed last finds the other. Records whose span is not stored stay as they are.
 */
export async function joinWaiting(
  db: Database,
  traces: NamedTrace[],
  limits: MergeLimits,
): Promise<JoinOutcome> {
  const distinct = new Map(traces.map(trace => [`${trace.agentId} ${trace.otlpTraceId}`, trace]));
  const outcome: JoinOutcome = { joined: [], refused: [] };
  for (const [place, part] of await partsOf(db, [...distinct.values()])) {
    const { joined, refused } = await joinIn(place, part, limits);
    outcome.joined.push(...joined);
    outcome.refused.push(...refused);
  }
  return outcome;
}

async function joinIn(db: Database, asked: NamedTrace[], limits: MergeLimits): Promise<JoinOutcome> {
  const outcome: JoinOutcome = { joined: [], refused: [] };
  for (let at = 0; at < asked.length; at += tracesAtOnce) {
    const expected = await listWaiting(db.pool, asked.slice(at, at + tracesAtOnce));
    if (expected.length === 0) continue;
    const { joined, refused } = await transaction(db, client => join(client, expected, limits));
    outcome.joined.push(...joined);
    outcome.refused.push(...refused);
  }
  return outcome;
}

/** Those of the traces for which records wait. Almost always none: an index that is nearly empty. */
async function listWaiting(pool: pg.Pool, traces: NamedTrace[]): Promise<NamedTrace[]> {
  const { rows } = await pool.query<NamedTrace>({
    name: "list_waiting",
    text: `select distinct agent_id as "agentId", otlp_trace_id as "otlpTraceId" from waiting_records
      where (agent_id, otlp_trace_id) in (select * from ${named(1).from})`,
    values: named(1).values(traces),
  });
  return rows;
}

async function join(
  client: pg.PoolClient,
  expected: NamedTrace[],
  limits: MergeLimits,
): Promise<JoinOutcome> {
  const locked = await lockNamed(client, expected);
  if (locked.length === 0) return { joined: [], refused: [] };
  const waiting = await lockWaiting(client, locked);
  const open = await openTraces(client, locked);
  const appends: Append[] = [];
  const done: Waiting[] = [];
  const touched = new Set<Open>();
  const awaiting = new Set<Open>();
  const refused: JoinOutcome["refused"] = [];
  for (const item of waiting) {
    const span = item.span_key.toString("latin1");
    const traces = locked
      .filter(one => one.agent_id === item.agent_id && one.otlp_trace_id === item.otlp_trace_id)
      .map(one => open.get(one.id)!);
    const targets = traces.filter(one => one.spans.has(span));
    if (targets.length === 0) {
      for (const one of traces) awaiting.add(one);
      continue;
    }
    done.push(item);
    for (const target of targets) {
      if (add(target, item, limits, appends)) touched.add(target);
      else {
        const { agent_id: agentId, otlp_trace_id: otlpTraceId } = item;
        refused.push({ agentId, otlpTraceId, records: item.record_keys.length / 8 });
      }
    }
  }
  await copy(client, appends);
  await deleteWaiting(client, done);
  const grown = [...touched].filter(({ changed }) => changed).map(({ trace }) => trace);
  await raiseRevisions(client, grown);
  await noteDeadlines(client, grown.flatMap(deadlineOf));
  // Records whose span has not arrived are a batch of their trace, too.
  const accepted = Array.from(touched.union(awaiting), ({ trace }) => trace.id);
  const pending = await moveRuns(client, accepted, limits);
  return { joined: await schedule(client, [...touched], pending, limits), refused };
}

/** Adds the records to the trace unless it has them; false if they do not fit. */
function add(target: Open, item: Waiting, limits: MergeLimits, appends: Append[]): boolean {
  const { trace, records } = target;
  const added = [...keysIn(item.record_keys)].filter(key => !records.has(key));
  // Of a trace whose content was dropped, records would bring it back.
  if (added.length === 0 || trace.is_forgotten) return true;
  const fits =
    trace.batch_bytes + item.raw_length <= limits.traceBytesMax &&
    records.size + added.length <= limits.traceSpansMax;
  if (!fits) return false;
  for (const key of added) records.add(key);
  trace.batch_bytes += item.raw_length;
  trace.batch_count++;
  target.brings ||=
    (item.has_input && !trace.has_input) ||
    (item.has_reply && !trace.has_reply) ||
    item.tools.some(tool => !trace.tools.includes(tool));
  if (!target.changed) trace.revision++;
  target.changed = true;
  appends.push({ traceId: trace.id, seq: trace.batch_count, waiting: item });
  return true;
}

/** Locked in the order of their ids, as merges lock them. */
async function lockNamed(client: pg.PoolClient, traces: NamedTrace[]): Promise<Locked[]> {
  const item = named(1);
  const { rows } = await client.query<Locked>({
    name: "lock_named_traces",
    text: `with item as materialized (select * from ${item.from}), named as (
        select n.trace_id as id, item.otlp_trace_id from item
          cross join lateral trace_named(item.agent_id, item.otlp_trace_id) n
        union
        select o.trace_id, item.otlp_trace_id from item
          join trace_otlp_ids o on o.agent_id = item.agent_id and o.otlp_trace_id = item.otlp_trace_id
      )
      select t.id, t.agent_id, named.otlp_trace_id, t.kind, t.revision, t.batch_count, t.batch_bytes,
        t.user_input is not null as has_input, t.response_text is not null as has_reply,
        coalesce(t.tools, '{}') as tools, coalesce(t.content = 'forgotten', false) as is_forgotten,
        ${forgetAfter} as forget_after_s
      from named join traces t on t.id = named.id join agents a on a.id = t.agent_id
      order by t.id for update of t for key share of a`,
    values: item.values(traces),
  });
  return rows;
}

/** Without the records themselves: they are copied inside the database. */
async function lockWaiting(client: pg.PoolClient, locked: Locked[]): Promise<Waiting[]> {
  const item = named(1);
  const traces = locked.map(one => ({ agentId: one.agent_id, otlpTraceId: one.otlp_trace_id }));
  const { rows } = await client.query<Waiting>({
    name: "lock_waiting_records",
    text: `select agent_id, otlp_trace_id, id, span_key, record_keys, raw_length, has_input, has_reply, tools
      from waiting_records where (agent_id, otlp_trace_id) in (select * from ${item.from}) order by id for update`,
    values: item.values(traces),
  });
  return rows;
}

const opened = multiRow<string>(1, { id: ["uuid", id => id] });

async function openTraces(client: pg.PoolClient, locked: Locked[]): Promise<Map<string, Open>> {
  const open = new Map<string, Open>();
  for (const trace of locked) {
    if (open.has(trace.id)) continue;
    open.set(trace.id, { trace, spans: new Set(), records: new Set(), brings: false, changed: false });
  }
  const { rows } = await client.query<{ trace_id: string; span_keys: Buffer; record_keys: Buffer | null }>({
    name: "keys_of_batches",
    text: `select b.trace_id, b.span_keys, b.record_keys from ${opened.from} cross join ${batchesOf("item.id")}`,
    values: opened.values([...open.keys()]),
  });
  for (const { trace_id, span_keys, record_keys } of rows) {
    const { spans, records } = open.get(trace_id)!;
    for (const key of keysIn(span_keys)) spans.add(key);
    if (record_keys) for (const key of keysIn(record_keys)) records.add(key);
  }
  return open;
}

const copied = multiRow<Append>(1, {
  trace_id: ["uuid", append => append.traceId],
  seq: ["int", append => append.seq],
  agent_id: ["uuid", append => append.waiting.agent_id],
  otlp_trace_id: ["text", append => append.waiting.otlp_trace_id],
  id: ["uuid", append => append.waiting.id],
});

async function copy(client: pg.PoolClient, appends: Append[]): Promise<void> {
  if (appends.length === 0) return;
  await client.query({
    name: "copy_waiting_records",
    text: `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, record_keys, spans, redactions)
      select item.agent_id, item.trace_id, item.seq, w.raw_length, '', w.record_keys, w.records, w.redactions
      from ${copied.from} join waiting_records w
        on w.agent_id = item.agent_id and w.otlp_trace_id = item.otlp_trace_id and w.id = item.id`,
    values: copied.values(appends),
  });
}

const joinedRows = multiRow<Waiting>(1, {
  agent_id: ["uuid", waiting => waiting.agent_id],
  otlp_trace_id: ["text", waiting => waiting.otlp_trace_id],
  id: ["uuid", waiting => waiting.id],
});

async function deleteWaiting(client: pg.PoolClient, done: Waiting[]): Promise<void> {
  if (done.length === 0) return;
  await client.query({
    name: "delete_waiting_records",
    text: `delete from waiting_records where (agent_id, otlp_trace_id, id) in (select * from ${joinedRows.from})`,
    values: joinedRows.values(done),
  });
}

const grownRows = multiRow<Locked>(1, {
  id: ["uuid", trace => trace.id],
  revision: ["int", trace => trace.revision],
  batch_count: ["int", trace => trace.batch_count],
  batch_bytes: ["bigint", trace => trace.batch_bytes],
});

async function raiseRevisions(client: pg.PoolClient, traces: Locked[]): Promise<void> {
  if (traces.length === 0) return;
  await client.query({
    name: "raise_revisions_of_records",
    text: `update traces set revision = item.revision, updated_at = now(), batch_count = item.batch_count,
        batch_bytes = item.batch_bytes
      from ${grownRows.from} where traces.id = item.id`,
    values: grownRows.values(traces),
  });
}

/** Records move a pending run, also repeated ones. Where none is pending, they schedule one if they bring what was lacking. */
async function schedule(
  client: pg.PoolClient,
  touched: Open[],
  pending: Pending,
  limits: MergeLimits,
): Promise<JoinedTrace[]> {
  const further = touched
    .filter(({ trace, brings }) => brings && trace.kind === "live")
    .map(({ trace }) => ({ runId: newId(), traceId: trace.id, agentId: trace.agent_id }));
  const scheduled = new Set([
    ...pending.keys(),
    ...(await scheduleFurther(client, further, pending, limits)),
  ]);
  return touched.map(({ trace: { id, agent_id: agentId } }) => ({
    agentId,
    traceId: id,
    scheduled: scheduled.has(id),
  }));
}
