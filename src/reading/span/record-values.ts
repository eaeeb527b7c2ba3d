// Reads ids, names of models and token counts in the log records of a span, for what is missing in the span itself.
import type { Attributes, LogRecord, Span } from "../../model/trace/trace.ts";
import { fieldsOf } from "./message-events.ts";
import type { Sourced, SourcedUsage } from "./reading.ts";
import { type UsageKeys, usageOf } from "./usage-values.ts";
import { idOf, type Place, textOf } from "./values.ts";

export function textInRecords(span: Span, places: readonly Place[]): Sourced<string> | null {
  return span.log_records ? firstIn(span, fields => textOf(fields, places)) : null;
}

export function idInRecords(span: Span, places: readonly Place[]): Sourced<string> | null {
  return span.log_records ? firstIn(span, fields => idOf(fields, places)) : null;
}

export function usageInRecords(span: Span, keys: UsageKeys): SourcedUsage | null {
  const usage = span.log_records ? firstIn(span, fields => usageOf(fields, keys)) : null;
  return usage && { value: usage.value, spanId: usage.spanId, attribute: usage.attribute };
}

/** The source is named by the event. */
function firstIn<T extends Sourced<unknown>>(span: Span, read: (fields: Span) => T | null): T | null {
  for (const record of span.log_records ?? []) {
    const found = read({ ...span, attributes: attributesOf(record) });
    if (found) return { ...found, attribute: record.event_name };
  }
  return null;
}

/** Only the details of a call are about the call as a whole. */
function attributesOf(record: LogRecord): Attributes {
  return record.event_name === "gen_ai.client.inference.operation.details"
    ? fieldsOf(record)
    : record.attributes;
}
