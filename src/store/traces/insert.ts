// One statement that stores any number of new traces with their first batch and their scheduled run.
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../db.ts";
import type { TraceWrite, WriteOutcome } from "./write.ts";

// The batches travel as one binary parameter and are cut apart by position: an array of bytea would travel as
// hexadecimal text, twice the size. `for key share` makes a revocation wait for this commit, or this statement
// see the revocation: no acceptance is committed after a revocation was answered (G3). Inserted in the order of
// their identities: two of these that hold the same ones wait for each other in turn and never in a ring. A trace
// that a manual run waits for is that run's: nothing is scheduled for it.
const statement = `
with item as materialized (
  select * from unnest(
    $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::int[], $8::bigint[],
    $9::text[], $10::float8[], $11::int[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bool[],
    $16::int[], $17::text[], $18::text[], $19::int[], $20::int[], $21::int[], $22::int[]
  ) as item (
    id, run_id, key_id, agent_id, external_id, path, batch_spans, batch_bytes,
    name, duration_ms, http_status, input_tokens, output_tokens, reasoning_tokens, failed,
    span_count, user_input, response_text, bytes_at, bytes_length, keys_at, keys_length
  )
), live as materialized (
  select id from keys where id = any ($3::uuid[]) and (expires_at is null or expires_at > now()) for key share
), made as (
  insert into traces (
    id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision, name, duration_ms,
    http_status, input_tokens, output_tokens, reasoning_tokens, failed, span_count, user_input, response_text
  )
  select item.id, agent_id, external_id,
    case when exists (
      select from expected_traces e where e.agent_id = item.agent_id and e.external_id = item.external_id
    ) then 'test_run' else 'live' end,
    path, batch_spans, batch_bytes, 1, name, duration_ms,
    http_status, input_tokens, output_tokens, reasoning_tokens, failed, span_count, user_input, response_text
  from item left join live on live.id = item.key_id
  where item.key_id is null or live.id is not null
  order by agent_id, external_id
  on conflict (agent_id, external_id) do nothing
  returning id, agent_id, path, kind
), batch as (
  insert into trace_batches (trace_id, seq, raw_length, span_keys, spans)
  select item.id, 1, batch_bytes, substring($23::bytea from keys_at for keys_length),
    substring($23::bytea from bytes_at for bytes_length)
  from made join item on item.id = made.id
), scheduled as (
  insert into runs (id, trace_id, agent_id, kind, state, due_at)
  select item.run_id, made.id, made.agent_id, 'passive', 'pending',
    now() + case made.path when 'otlp' then $24::float8 * interval '1 ms' else interval '0' end
  from made join item on item.id = made.id
  where made.kind = 'live' and exists (
    select from test_cases
    where test_cases.agent_id = made.agent_id and status = 'active' and passive_behavior <> 'manual_only'
      and turn_count = 1
  )
  returning trace_id
)
select item.id, item.key_id is null or live.id is not null as live, made.id is not null as made, scheduled.trace_id is not null as scheduled
from item
left join live on live.id = item.key_id
left join made on made.id = item.id
left join scheduled on scheduled.trace_id = item.id`;

/**
 * Inserts every write whose identity is not stored yet, in one transaction. An outcome is `undefined` where the
 * identity exists, a Refusal where the key was revoked or expired meanwhile.
 */
export async function insertTraces(
  db: Database,
  writes: TraceWrite[],
  debounceMs: number,
): Promise<WriteOutcome[]> {
  const { data, places } = concatenate(writes);
  const column = <T>(read: (write: TraceWrite) => T): T[] => writes.map(read);
  const { rows } = await db.pool.query<{ id: string; live: boolean; made: boolean; scheduled: boolean }>({
    name: "insert_traces",
    text: statement,
    values: [
      column(write => write.traceId),
      column(write => write.runId),
      column(write => write.keyId),
      column(write => write.agentId),
      column(write => write.externalId),
      column(write => write.path),
      column(write => write.spanCount),
      column(write => write.rawLength),
      column(write => write.columns.name),
      column(write => write.columns.durationMs),
      column(write => write.columns.httpStatus),
      column(write => write.columns.inputTokens),
      column(write => write.columns.outputTokens),
      column(write => write.columns.reasoningTokens),
      column(write => write.columns.failed),
      column(write => write.columns.spanCount),
      column(write => write.columns.userInput),
      column(write => write.columns.responseText),
      places.map(place => place.bytesAt),
      column(write => write.bytes.length),
      places.map(place => place.keysAt),
      column(write => write.spanKeys.length),
      data,
      debounceMs,
    ],
  });
  const byId = new Map(rows.map(row => [row.id, row]));
  return writes.map(write => {
    const row = byId.get(write.traceId)!;
    if (!row.live) return revoked();
    if (!row.made) return undefined;
    return {
      traceId: write.traceId,
      state: "created",
      revision: 1,
      evaluation: row.scheduled ? "scheduled" : "none",
    };
  });
}

/** The refusal of a key that ended between its check and the commit. */
export function revoked(): Refusal {
  return new Refusal("UNAUTHORIZED", {
    message: "This API key is no longer valid.",
    hint: "Send a key that is neither revoked nor expired in the header x-api-key.",
  });
}

/** All bytes of the writes in one buffer; places count from 1, as SQL's substring does. */
export function concatenate(writes: TraceWrite[]): {
  data: Buffer;
  places: { bytesAt: number; keysAt: number }[];
} {
  let at = 1;
  const places = writes.map(({ bytes, spanKeys }) => {
    const place = { bytesAt: at, keysAt: at + bytes.length };
    at += bytes.length + spanKeys.length;
    return place;
  });
  return { data: Buffer.concat(writes.flatMap(({ bytes, spanKeys }) => [bytes, spanKeys])), places };
}
