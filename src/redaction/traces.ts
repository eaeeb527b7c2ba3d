// Redacts the texts of spans, log records and metadata, and puts pseudonyms in place of ids. Keys, names and times stay.

import { isRecord } from "../model/record.ts";
import type { RedactionIn } from "../model/redaction.ts";
import type { Attributes, Batch, LogRecord, Span } from "../model/trace/trace.ts";
import { type Engine, Walk } from "./walk.ts";

/** The same batch if nothing in it changes. */
export function redactBatch(batch: Batch, engine: Engine): Batch {
  const resource = batch.resource && redactResource(batch.resource, null, engine);
  const metadata = batch.metadata && new Walk(engine, null, "metadata").attributes(batch.metadata, "");
  const spans = redactSpans(batch.spans, engine);
  const { logRecords } = batch;
  const records = logRecords && redactRecords(logRecords.spanId, logRecords.records, engine);
  const isSame =
    resource === batch.resource &&
    metadata === batch.metadata &&
    spans === batch.spans &&
    records === logRecords?.records;
  if (isSame) return batch;
  return { ...batch, spans, resource, metadata, ...(records && { logRecords: { ...logRecords, records } }) };
}

/** In the order of their ids, so that the order in which they are sent does not decide what is left unchecked. */
function redactSpans(spans: Span[], engine: Engine): Span[] {
  const order = spans.map((_, index) => index);
  order.sort((a, b) => (spans[a]!.span_id < spans[b]!.span_id ? -1 : 1));
  const changed: Span[] = spans.slice();
  for (const index of order) changed[index] = redactSpan(spans[index]!, engine);
  return changed.some((span, index) => span !== spans[index]) ? changed : spans;
}

function redactSpan(span: Span, engine: Engine): Span {
  let changed: Span | null = null;
  const id = span.span_id;
  const walk = (where: RedactionIn) => new Walk(engine, id, where);
  const set = <Key extends keyof Span>(key: Key, value: Span[Key]) => {
    if (value === span[key]) return;
    changed ??= { ...span };
    changed[key] = value;
  };
  set("attributes", walk("attributes").attributes(span.attributes, ""));
  if (span.events.length > 0) set("events", walk("events").events(span.events));
  const { status, scope, resource, links } = span;
  if (typeof status?.message === "string") {
    const message = walk("status").text(status.message, "message", "");
    if (message !== status.message) set("status", { ...status, message });
  }
  if (scope?.attributes) {
    const attributes = walk("scope").attributes(scope.attributes, "");
    if (attributes !== scope.attributes) set("scope", { ...scope, attributes });
  }
  if (span.log_records) set("log_records", redactRecords(id, span.log_records, engine));
  if (resource) set("resource", redactResource(resource, id, engine));
  if (links && links.length > 0) set("links", walk("attributes").links(links));
  if (span.trace_state) set("trace_state", walk("attributes").text(span.trace_state, "trace_state", ""));
  return changed ?? span;
}

/** The service's name is its identity, and stays. */
export function redactResource(resource: Attributes, spanId: string | null, engine: Engine): Attributes {
  return new Walk(engine, spanId, "resource").attributes(resource, "", "service.name");
}

function redactRecords(spanId: string, records: LogRecord[], engine: Engine): LogRecord[] {
  const walk = new Walk(engine, spanId, "log");
  return walk.list(records, (record, index) => {
    const body = isRecord(record.body)
      ? walk.attributes(record.body, `[${index}].body`)
      : walk.any(record.body, `[${index}].body`, "");
    const attributes = walk.attributes(record.attributes, `[${index}].attributes`, "event.name");
    return body === record.body && attributes === record.attributes
      ? record
      : { ...record, body, attributes };
  });
}
