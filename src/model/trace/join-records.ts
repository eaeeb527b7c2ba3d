// Joins the log records of a trace to the spans that they are about.
import { compareNanos } from "./merge.ts";
import type { Batch, LogRecord, Span } from "./trace.ts";

/** The spans, with copies of those that have records. The same record sent again counts once. */
export function joinRecords(spans: Span[], batches: Batch[]): Span[] {
  const bySpan = new Map<string, Map<string, LogRecord>>();
  for (const { logRecords } of batches) {
    if (!logRecords) continue;
    const known = bySpan.get(logRecords.spanId) ?? new Map<string, LogRecord>();
    bySpan.set(logRecords.spanId, known);
    for (const record of logRecords.records) {
      const content = contentOf(record);
      if (!known.has(content)) known.set(content, record);
    }
  }
  return spans.map(span => {
    const records = bySpan.get(span.span_id);
    return records ? { ...span, log_records: [...records.values()].sort(compareTimes) } : span;
  });
}

/** Equal for records that count as the same: of one span, with the same time, event name and content. */
export function contentOf({ event_name, time_unix_nano, body, attributes }: LogRecord): string {
  return JSON.stringify([event_name, time_unix_nano, body, attributes]);
}

/** Records without a time come first. */
function compareTimes(a: LogRecord, b: LogRecord): number {
  return compareNanos(a.time_unix_nano ?? "", b.time_unix_nano ?? "");
}
