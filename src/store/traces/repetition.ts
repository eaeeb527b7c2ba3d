// Recognizes a batch that a trace already has, byte for byte: a retry changes nothing, so it raises no revision.
import type pg from "pg";
import { multiRow } from "../parameters/multi-row.ts";
import { batchesOf, sharesKey } from "./span-keys.ts";
import type { TraceWrite } from "./write.ts";

// A retry comes soon. Older batches are not compared, so that a batch of a long trace costs no more than one of a short
// trace; a repetition of an older one is stored again, which is right too.
const latestBatches = 64;

export type Candidate = { write: TraceWrite; trace: { id: string; batch_count: number } };

const items = multiRow<Candidate>(1, {
  id: ["uuid", ({ trace }) => trace.id],
  at: ["int", (_, index) => index],
  after: ["int", ({ trace }) => trace.batch_count - latestBatches],
  raw_length: ["int", ({ write }) => write.rawLength],
  span_keys: ["bytes", ({ write }) => write.spanKeys],
  spans: ["bytes", ({ write }) => write.bytes],
});

/**
 * The writes whose exact batch is among the latest of its trace, with nothing newer for its spans. Equal batches compress
 * to equal bytes, so they are compared compressed.
 */
export async function findRepeated(client: pg.PoolClient, candidates: Candidate[]): Promise<Set<TraceWrite>> {
  const { rows } = await client.query<{ at: number; seq: number }>({
    name: "repeated_batches",
    text: `select item.at, max(b.seq) as seq
      from ${items.from} cross join ${batchesOf(
        "item.id",
        `seq > item.after and raw_length = item.raw_length and span_keys = ${items.bytes("span_keys")}
          and spans = ${items.bytes("spans")}`,
      )}
      group by item.at`,
    values: items.values(candidates),
  });
  const repeated = new Set<TraceWrite>();
  for (const { at, seq } of rows) {
    const { write, trace } = candidates[at]!;
    if (!(await isOverwritten(client, trace.id, seq, write.spanKeys))) repeated.add(write);
  }
  return repeated;
}

/** Whether a batch after `seq` contains one of the spans: then the older content, sent again, is the newer one. */
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
