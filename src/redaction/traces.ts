// Redacts the texts of spans, log records and metadata, and puts pseudonyms in place of ids. Keys, names and times stay.

import { isRecord } from "../model/record.ts";
import type { Redacted, Redaction, RedactionIn } from "../model/redaction.ts";
import type { Attributes, Batch, LogRecord, Span } from "../model/trace/trace.ts";
import { type Engine, Walk } from "./walk.ts";

export function redactBatch(batch: Batch, engine: Engine): Redacted<Batch> {
  const all: Redaction[] = [];
  const take = <T>({ value, redactions }: Redacted<T>): T => {
    // Not spread: there may be more than a call may have arguments.
    for (const redaction of redactions) all.push(redaction);
    return value;
  };
  const resource = batch.resource && take(resourceOf(batch.resource, null, engine));
  const metadata = batch.metadata && take(redactAttributes(batch.metadata, at(null, "metadata"), engine));
  const spans = take(redactSpans(batch.spans, engine));
  const records = batch.logRecords;
  const logged = records && take(redactRecords(records.spanId, records.records, engine));
  if (all.length === 0) return { value: batch, redactions: all };
  const value: Batch = { ...batch, spans, resource, metadata };
  if (records && logged) value.logRecords = { ...records, records: logged };
  return { value, redactions: all };
}

function at(spanId: string | null, where: RedactionIn) {
  return { spanId, in: where };
}

/** In the order of their ids, so that the order in which they are sent does not decide what is left unchecked. */
function redactSpans(spans: Span[], engine: Engine): Redacted<Span[]> {
  const order = spans.map((_, index) => index);
  order.sort((a, b) => (spans[a]!.span_id < spans[b]!.span_id ? -1 : 1));
  const changed: Span[] = spans.slice();
  const found: Redaction[][] = [];
  for (const index of order) {
    const { value, redactions } = redactSpan(spans[index]!, engine);
    changed[index] = value;
    found[index] = redactions;
  }
  const redactions = found.flat();
  return { value: redactions.length > 0 ? changed : spans, redactions };
}

function redactSpan(span: Span, engine: Engine): Redacted<Span> {
  const redactions: Redaction[] = [];
  let changed: Span | null = null;
  const id = span.span_id;
  const walk = (where: RedactionIn) => new Walk(engine, id, where, redactions);
  const set = <Key extends keyof Span>(key: Key, value: Span[Key]) => {
    if (value === span[key]) return;
    changed ??= { ...span };
    changed[key] = value;
  };
  set("attributes", walk("attributes").attributes(span.attributes, ""));
  if (span.events.length > 0) set("events", walk("events").events(span.events));
  const { status, scope, resource, links } = span;
  if (typeof status?.message === "string") {
    const message = walk("status").text(status.message, "message", "") as string;
    if (message !== status.message) set("status", { ...status, message });
  }
  if (scope?.attributes) {
    const attributes = walk("scope").attributes(scope.attributes, "");
    if (attributes !== scope.attributes) set("scope", { ...scope, attributes });
  }
  if (resource) {
    const { value, redactions: more } = resourceOf(resource, id, engine);
    for (const redaction of more) redactions.push(redaction);
    set("resource", value);
  }
  if (links && links.length > 0) set("links", walk("attributes").links(links));
  if (span.trace_state) set("trace_state", walk("attributes").text(span.trace_state, "trace_state", ""));
  return { value: changed ?? span, redactions };
}

/** The service's name is its identity, and stays. */
function resourceOf(resource: Attributes, spanId: string | null, engine: Engine): Redacted<Attributes> {
  const redactions: Redaction[] = [];
  const value = new Walk(engine, spanId, "resource", redactions).attributes(resource, "", "service.name");
  return { value, redactions };
}

export function redactAttributes(
  attributes: Attributes,
  { spanId, in: where }: Pick<Redaction, "spanId" | "in">,
  engine: Engine,
): Redacted<Attributes> {
  if (where === "resource") return resourceOf(attributes, spanId, engine);
  const redactions: Redaction[] = [];
  return { value: new Walk(engine, spanId, where, redactions).attributes(attributes, ""), redactions };
}

export function redactRecords(spanId: string, records: LogRecord[], engine: Engine): Redacted<LogRecord[]> {
  const redactions: Redaction[] = [];
  const walk = new Walk(engine, spanId, "log", redactions);
  const value = walk.list(records, (record, index) => {
    const body = isRecord(record.body)
      ? walk.attributes(record.body, `[${index}].body`)
      : walk.any(record.body, `[${index}].body`, "");
    const attributes = walk.attributes(record.attributes, `[${index}].attributes`, "event.name");
    return body === record.body && attributes === record.attributes
      ? record
      : { ...record, body, attributes };
  });
  return { value, redactions };
}
