// What is stored of a batch: its bytes, the keys of its spans, and the columns of its trace as derived from it.

import { type ReadBy, readByOf } from "../model/agent/read-by.ts";
import type { Intake } from "../model/content.ts";
import { type RuleCounts, rulesOf } from "../model/redaction.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import type { Batch, ContentGone, TracePath } from "../model/trace/trace.ts";
import { readTraceBy } from "../reading/conventions/read-by.ts";
import { columnsOf, type TraceColumns } from "../reading/derived/columns.ts";
import { derive } from "../reading/derived/derive.ts";
import { spanKeysOf } from "../store/traces/span-keys.ts";
import type { Encoded } from "../wire/batch.ts";
import type { IntakeBy } from "./intake.ts";

/** A batch as it is stored, and the columns of its trace as derived from this batch alone. */
export type PreparedBatch = {
  /** Distinct spans. */
  spanCount: number;
  /** Eight bytes for each distinct span id. */
  spanKeys: Buffer;
  /** Compressed. */
  bytes: Buffer;
  /** Bytes before compression, including those of a resource that is stored apart. */
  rawLength: number;
  columns: TraceColumns;
  /** What the columns were derived with. */
  readBy: ReadBy;
  /** The settings by which it was changed before; absent: it is as it arrived. */
  intake?: Intake | undefined;
  /** Set where it is without content. */
  content?: ContentGone | undefined;
  /** Absent: nothing was redacted. */
  redactions?: RuleCounts | undefined;
};

export function prepared(
  batch: Batch,
  path: TracePath,
  { bytes, rawLength }: Encoded,
  by: IntakeBy,
): PreparedBatch {
  const { intake } = by;
  const readBy = readByOf(by);
  const { trace, reading } = readTraceBy(mergeBatches([batch], path), readBy, undefined, "columns");
  const { redactions } = batch;
  return {
    spanCount: batch.spans.length,
    spanKeys: spanKeysOf(batch.spans),
    bytes,
    rawLength,
    columns: columnsOf(derive(trace, undefined, reading, "columns"), rulesOf(redactions)),
    readBy,
    ...(intake && { intake }),
    ...(batch.content && { content: batch.content }),
    ...(redactions && { redactions }),
  };
}
