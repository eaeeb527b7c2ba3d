// Tells what was redacted in the spans of a merged trace, from what was redacted in its batches.
import type { Redaction } from "../redaction.ts";
import { contentOf } from "./join-records.ts";
import { isSameResource } from "./same-resource.ts";
import type { Attributes, Batch, LogRecord, Span } from "./trace.ts";

/** Beyond it, the first of each rule. */
const redactionsMax = 20_000;

/**
 * Those whose text the merged trace has. `batches`: the batches of spans that count; `all`: with those of log records.
 * `resource`: as the trace has it, beside the resources that spans have of their own.
 */
export function joinRedactions(
  batches: Batch[],
  all: Batch[],
  { spans, resource }: { spans: Span[]; resource: Attributes | null },
): Redaction[] {
  const newest = new Map<string, Batch>();
  for (const batch of batches) for (const { span_id } of batch.spans) newest.set(span_id, batch);
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const withMetadata = batches.findLast(({ metadata }) => metadata !== null);
  const ofTrace = batches.find(batch => isSameResource(batch.resource, resource));
  const joined: Redaction[] = [];
  const rules = new Set<string>();
  const add = (redaction: Redaction) => {
    if (joined.length >= redactionsMax && rules.has(redaction.rule)) return;
    rules.add(redaction.rule);
    joined.push(redaction);
  };
  for (const batch of all) {
    for (const redaction of batch.redactions ?? []) {
      const { spanId } = redaction;
      if (redaction.in === "log") addRecord(batch, redaction, byId, add);
      else if (spanId !== null) {
        if (newest.get(spanId) === batch) add(redaction);
      } else if (redaction.in === "metadata") {
        if (batch === withMetadata) add(redaction);
      } else if (batch === ofTrace) add(redaction);
      else if (!isSameResource(batch.resource, resource)) {
        for (const { span_id } of batch.spans) {
          if (newest.get(span_id) === batch) add({ ...redaction, spanId: span_id });
        }
      }
    }
  }
  return joined;
}

/** A record's position among those of its span, which are sorted by time. */
function addRecord(
  batch: Batch,
  redaction: Redaction,
  byId: Map<string, Span>,
  add: (redaction: Redaction) => void,
): void {
  const place = /^\[(\d+)\]/.exec(redaction.path);
  const record = place && batch.logRecords?.records[Number(place[1])];
  const records: LogRecord[] = byId.get(redaction.spanId ?? "")?.log_records ?? [];
  if (!record) return;
  const content = contentOf(record);
  const own = records.indexOf(record);
  const at = own >= 0 ? own : records.findIndex(one => contentOf(one) === content);
  if (at >= 0) add({ ...redaction, path: `[${at}]${redaction.path.slice(place[0].length)}` });
}
