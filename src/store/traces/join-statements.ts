// The statements that join waiting log records to traces: they lock both, copy the records as batches, and delete them.
import type pg from "pg";
import type { TraceKind } from "../../model/trace/trace.ts";
import { forgetAfter } from "../content-deadlines.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { type NamedTrace, named } from "./otlp-ids.ts";
import { batchesOf, keysIn } from "./span-keys.ts";

export type Locked = {
  id: string;
  agent_id: string;
  project_id: string;
  otlp_service_name: string | null;
  /** What the records call it; a trace with several such ids has a row for each. */
  otlp_trace_id: string;
  kind: TraceKind;
  revision: number;
  batch_count: number;
  batch_bytes: number;
  /** By its columns. `is_stale`: they are behind its batches. */
  has_input: boolean;
  has_reply: boolean;
  tools: string[];
  is_stale: boolean;
  is_forgotten: boolean;
  /** Seconds; null: its content is kept. */
  forget_after_s: number | null;
};

export type Waiting = {
  agent_id: string;
  otlp_trace_id: string;
  id: string;
  key_id: string;
  span_key: Buffer;
  record_keys: Buffer;
  raw_length: number;
  has_input: boolean;
  has_reply: boolean;
  tools: string[];
};

/** A trace with what it has so far. `added`: what its new records have. `brings`: something of that is new to its columns. */
export type Open = {
  trace: Locked;
  spans: Set<string>;
  records: Set<string>;
  added: boolean;
  brings: boolean;
  changed: boolean;
};

export type Append = { traceId: string; seq: number; waiting: Waiting };

/** Locked in the order of their ids, as merges lock them. */
export async function lockNamed(client: pg.PoolClient, traces: NamedTrace[]): Promise<Locked[]> {
  const item = named(1);
  const { rows } = await client.query<Locked>({
    name: "lock_named_traces",
    text: `with item as materialized (select * from ${item.from}), named as (
        select n.trace_id as id, item.otlp_trace_id from item
          join trace_identities n on n.agent_id = item.agent_id and n.external_id = item.otlp_trace_id
        union
        select o.trace_id, item.otlp_trace_id from item
          join trace_otlp_ids o on o.agent_id = item.agent_id and o.otlp_trace_id = item.otlp_trace_id
      )
      select t.id, t.agent_id, named.otlp_trace_id, t.kind, t.revision, t.batch_count, t.batch_bytes,
        t.user_input is not null as has_input, t.response_text is not null as has_reply,
        t.tools, t.derived_revision <> t.revision as is_stale,
        a.project_id, a.otlp_service_name, coalesce(t.content = 'forgotten', false) as is_forgotten,
        ${forgetAfter} as forget_after_s
      from named join traces t on t.id = named.id join agents a on a.id = t.agent_id
      order by t.id for update of t for key share of a`,
    values: item.values(traces),
  });
  return rows;
}

/** Without the records themselves: they are copied inside the database. */
export async function lockWaiting(client: pg.PoolClient, locked: Locked[]): Promise<Waiting[]> {
  const item = named(1);
  const traces = locked.map(one => ({ agentId: one.agent_id, otlpTraceId: one.otlp_trace_id }));
  const { rows } = await client.query<Waiting>({
    name: "lock_waiting_records",
    text: `select agent_id, otlp_trace_id, id, key_id, span_key, record_keys, raw_length, has_input, has_reply, tools
      from waiting_records where (agent_id, otlp_trace_id) in (select * from ${item.from}) order by id for update`,
    values: item.values(traces),
  });
  return rows;
}

const opened = multiRow<string>(1, { id: ["uuid", id => id] });

export async function openTraces(client: pg.PoolClient, locked: Locked[]): Promise<Map<string, Open>> {
  const open = new Map<string, Open>();
  for (const trace of locked) {
    if (open.has(trace.id)) continue;
    const has = { spans: new Set<string>(), records: new Set<string>() };
    open.set(trace.id, { trace, ...has, added: false, brings: false, changed: false });
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

export async function copy(client: pg.PoolClient, appends: Append[]): Promise<void> {
  if (appends.length === 0) return;
  await client.query({
    name: "copy_waiting_records",
    text: `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, record_keys, spans)
      select item.agent_id, item.trace_id, item.seq, w.raw_length, '', w.record_keys, w.records
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

export async function deleteWaiting(client: pg.PoolClient, done: Waiting[]): Promise<void> {
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

export async function raiseRevisions(client: pg.PoolClient, traces: Locked[]): Promise<void> {
  if (traces.length === 0) return;
  await client.query({
    name: "raise_revisions_of_records",
    text: `update traces set revision = item.revision, updated_at = now(), batch_count = item.batch_count,
        batch_bytes = item.batch_bytes
      from ${grownRows.from} where traces.id = item.id`,
    values: grownRows.values(traces),
  });
}
