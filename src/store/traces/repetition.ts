// Which batches a trace holds already, byte for byte: a retry changes nothing, so it raises no revision (B5).
import type pg from "pg";
import { concatenate } from "./insert.ts";
import { sharesKey } from "./span-keys.ts";
import type { TraceWrite } from "./write.ts";

// A retry comes soon; further back nothing is looked for, so that a long trace costs each batch no more than a short
// one. A repetition from further back is stored again, which is right too.
const latestBatches = 64;

export type Candidate = { write: TraceWrite; trace: { id: string; batch_count: number } };

/**
 * Of writes to stored traces, those whose very batch is among the trace's latest with nothing later for its spans.
 * Equal batches are equal at rest: they are compared compressed.
 */
export async function findRepeated(client: pg.PoolClient, candidates: Candidate[]): Promise<Set<TraceWrite>> {
  const { data, places } = concatenate(candidates.map(({ write }) => write));
  const { rows } = await client.query<{ at: number; seq: number }>({
    name: "repeated_batches",
    text: `select item.at::int - 1 as at, max(b.seq) as seq
      from unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
        with ordinality as item (id, after, raw_length, keys_at, keys_length, bytes_at, bytes_length, at)
      join trace_batches b on b.trace_id = item.id and b.seq > item.after and b.raw_length = item.raw_length
        and b.span_keys = substring($8::bytea from keys_at for keys_length)
        and b.spans = substring($8::bytea from bytes_at for bytes_length)
      group by item.at`,
    values: [
      candidates.map(({ trace }) => trace.id),
      candidates.map(({ trace }) => trace.batch_count - latestBatches),
      candidates.map(({ write }) => write.rawLength),
      places.map(place => place.keysAt),
      candidates.map(({ write }) => write.spanKeys.length),
      places.map(place => place.bytesAt),
      candidates.map(({ write }) => write.bytes.length),
      data,
    ],
  });
  const repeated = new Set<TraceWrite>();
  for (const { at, seq } of rows) {
    const { write, trace } = candidates[at]!;
    if (!(await isOverwritten(client, trace.id, seq, write.spanKeys))) repeated.add(write);
  }
  return repeated;
}

/** Whether a batch after `seq` holds one of the spans: then the older content, sent again, is the newer one (C6). */
async function isOverwritten(
  client: pg.PoolClient,
  traceId: string,
  seq: number,
  spanKeys: Buffer,
): Promise<boolean> {
  const { rows } = await client.query<{ span_keys: Buffer }>(
    "select span_keys from trace_batches where trace_id = $1 and seq > $2",
    [traceId, seq],
  );
  return rows.some(row => sharesKey(row.span_keys, spanKeys));
}
