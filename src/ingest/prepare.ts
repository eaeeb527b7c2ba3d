// Prepares a body for storage: decodes, derives and compresses it, without I/O.
import { hash } from "node:crypto";
import { Refusal } from "../model/refusal.ts";
import { columnsOf, type TraceColumns } from "../model/trace/columns.ts";
import { derive } from "../model/trace/derive.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import type { Batch, Span, TracePath } from "../model/trace/trace.ts";
import { encodeBatch } from "../wire/batch.ts";
import { type DecodeLimits, decodeBody, type PlatformHint } from "../wire/body.ts";
import type { MediaType } from "../wire/media-type.ts";
import { allocateDense } from "../wire/slab.ts";

/** A batch as it is stored, and the columns of its trace as derived from this batch alone. */
export type PreparedBatch = {
  /** Distinct spans. */
  spanCount: number;
  /** Eight bytes for each distinct span id. */
  spanKeys: Buffer;
  /** Compressed. */
  bytes: Buffer;
  /** Bytes before compression. */
  rawLength: number;
  columns: TraceColumns;
};

/** One trace of an OTLP request; refused as a whole or ready as a whole. */
export type PreparedGroup = { serviceName: string; traceId: string; spanCount: number; batch: PreparedBatch };
export type RefusedGroup = {
  /** Null if missing or unreadable. */
  serviceName: string | null;
  spanCount: number;
  refusal: Refusal;
};

export type PreparedBody =
  | { path: "canonical"; platformHint: PlatformHint | null; batch: PreparedBatch }
  | { path: "otlp"; groups: (PreparedGroup | RefusedGroup)[] };

/** Throws the Refusal of a body that is refused as a whole. */
export function prepareBody(bytes: Buffer, mediaType: MediaType, limits: DecodeLimits): PreparedBody {
  const body = decodeBody(bytes, mediaType, limits);
  if (body.path === "canonical") {
    return {
      path: "canonical",
      platformHint: body.platformHint,
      batch: prepareBatch(body.batch, "canonical"),
    };
  }
  return {
    path: "otlp",
    groups: body.groups.map(({ serviceName, traceId, spanCount, batch, refusal }) =>
      refusal || serviceName === null || traceId === null
        ? { serviceName, spanCount, refusal: refusal ?? new Refusal("OTLP_ID_INVALID") }
        : { serviceName, traceId, spanCount, batch: prepareBatch(batch, "otlp") },
    ),
  };
}

/** For batches created by the service; request bodies go through `prepareBody`. */
export function prepareBatch(batch: Batch, path: TracePath): PreparedBatch {
  const { bytes, rawLength } = encodeBatch(batch);
  return {
    spanCount: batch.spans.length,
    spanKeys: spanKeysOf(batch.spans),
    bytes,
    rawLength,
    columns: columnsOf(derive(mergeBatches([batch], path))),
  };
}

const otlpSpanId = /^[0-9a-f]{16}$/;

/** The key of an OTLP span id is the id; of any other id, the first bytes of its hash. */
function spanKeysOf(spans: Span[]): Buffer {
  const keys = allocateDense(spans.length * 8);
  spans.forEach(({ span_id }, index) => {
    if (otlpSpanId.test(span_id)) keys.write(span_id, index * 8, "hex");
    else hash("sha256", Buffer.from(span_id, "utf16le"), "buffer").copy(keys, index * 8, 0, 8);
  });
  return keys;
}
