// Joins the log records of a trace to the spans that they are about.
import { compareNanos } from "./times.ts";
import type { Batch, LogRecord, Span } from "./trace.ts";

/**
 * The spans, with copies of those that have records. The same record sent again counts once; those of one batch were
 * different when they were sent, also where redaction made them alike.
 */
export function joinRecords(spans: Span[], batches: Batch[]): Span[] {
  const bySpan = new Map<string, Map<string, LogRecord>>();
  for (const { logRecords } of batches) {
    if (!logRecords) continue;
    const known = bySpan.get(logRecords.spanId) ?? new Map<string, LogRecord>();
    bySpan.set(logRecords.spanId, known);
    for (const [identity, record] of identified(logRecords.records)) {
      if (!known.has(identity)) known.set(identity, record);
    }
  }
  return spans.map(span => {
    const records = bySpan.get(span.span_id);
    return records ? { ...span, log_records: [...records.values()].sort(compareTimes) } : span;
  });
}

/** Each record of a batch with what tells it from all others: its content, and how many before it are alike. */
export function identified(records: LogRecord[]): [identity: string, record: LogRecord][] {
  const alike = new Map<string, number>();
  return records.map(record => {
    const content = contentOf(record);
    const before = alike.get(content) ?? 0;
    alike.set(content, before + 1);
    return [before === 0 ? content : `${before} ${content}`, record];
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
