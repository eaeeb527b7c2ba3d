// What is stored of a batch: its bytes, the keys of its spans, and the columns of its trace as derived from it.

import { type ReadBy, readByOf } from "../model/agent/read-by.ts";
import type { Intake } from "../model/content.ts";
import type { Redaction } from "../model/redaction.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import type { Batch, ContentGone, Derived, TracePath } from "../model/trace/trace.ts";
import { readTraceBy } from "../reading/conventions/read-by.ts";
import { columnsOf, type TraceColumns } from "../reading/derived/columns.ts";
import { derive } from "../reading/derived/derive.ts";
import { mayBeRedacted, saysTheSame } from "../reading/derived/text-redactions.ts";
import { markBatch } from "../reading/marks.ts";
import { spanKeysOf } from "../store/traces/span-keys.ts";
import type { StoredRedactions } from "../store/traces/write.ts";
import type { Encoded } from "../wire/batch.ts";
import type { IntakeBy } from "./intake.ts";
import type { RedactedBatch } from "./redaction.ts";

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
  /** What it lacks. */
  content?: ContentGone | undefined;
  /** Absent: nothing was redacted. */
  redactions?: StoredRedactions | undefined;
};

export function prepared(
  { batch, redactions, found }: RedactedBatch,
  path: TracePath,
  { bytes, rawLength }: Encoded,
  by: IntakeBy,
): PreparedBatch {
  const { intake } = by;
  const readBy = readByOf(by);
  const read = (redacted: Batch) => {
    const { trace, reading } = readTraceBy(mergeBatches([redacted], path), readBy, undefined, "columns");
    return derive(trace, undefined, reading, "columns");
  };
  const derived = read(batch);
  const rules = Object.keys(redactions?.counts ?? {});
  return {
    spanCount: batch.spans.length,
    spanKeys: spanKeysOf(batch.spans),
    bytes,
    rawLength,
    columns: columnsOf(
      derived,
      rules,
      found && mayBeRedacted(rules, derived) ? readMarked(batch, found, derived, read) : null,
    ),
    readBy,
    ...(intake && { intake }),
    ...(batch.content && { content: batch.content }),
    ...(redactions && { redactions }),
  };
}

/** The spans that the texts are from usually give the same texts by themselves, and reading these costs a fraction of all. */
function readMarked(
  batch: Batch,
  found: Redaction[],
  derived: Derived,
  read: (batch: Batch) => Derived,
): Derived {
  const ids = new Set([derived.userInput?.spanId, derived.responseText?.spanId]);
  const spans = batch.spans.filter(({ span_id }) => ids.has(span_id));
  const part = read(markBatch({ ...batch, spans }, found));
  return saysTheSame(part, derived) ? part : read(markBatch(batch, found));
}
