// Leaves of a batch what is no content. What rules and conventions find of it in content is kept as the well-known attribute.

import type { ReadBy } from "../../model/agent/read-by.ts";
import { ValueAllowance } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import { mergeBatches } from "../../model/trace/merge.ts";
import {
  type Attributes,
  type Batch,
  type ContentGone,
  type LogRecord,
  observedMark,
  type Span,
  type TracePath,
} from "../../model/trace/trace.ts";
import type { CountedUsage } from "../conventions/counted-usage.ts";
import { readTraceBy } from "../conventions/read-by.ts";
import { translateSpans } from "../conventions/translate.ts";
import { fieldsOf } from "../span/message-events.ts";
import type { ReadSpan } from "../span/reading.ts";
import { standard } from "../span/table-of-attributes.ts";
import { isKept, keptOfResource } from "./kept.ts";
import { keptCalls, keptCallsOf } from "./kept-calls.ts";

/**
 * The batch without its content. `readBy`: what the agent's traces are read by. A batch of log records may have none left.
 */
export function withoutContent(batch: Batch, path: TracePath, readBy: ReadBy, gone: ContentGone): Batch {
  const read = readSpans(batch, path, readBy);
  const { logRecords } = batch;
  return {
    spans: batch.spans.map(span => structureOf(span, read.get(span.span_id) ?? keptIn(span.attributes))),
    resource: batch.resource && resourceOf(batch.resource),
    metadata: batch.metadata && marksOf(batch.metadata),
    content: gone,
    ...(logRecords && { logRecords: { ...logRecords, records: logRecords.records.flatMap(recordOf) } }),
  };
}

/** What is kept of the attributes of each span, with those that rules and conventions give it. */
function readSpans(batch: Batch, path: TracePath, readBy: ReadBy): Map<string, Attributes> {
  if (readBy.conventions.length === 0 && readBy.conventionRules.length === 0) return new Map();
  const { trace, reading } = readTraceBy(mergeBatches([batch], path), readBy, new ValueAllowance());
  const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
  const found = new Map(spans.map(span => [span.span_id, keptIn(span.attributes)]));
  if (reading) {
    const counted = new Map(reading.counted.map(one => [one.read, one]));
    const calls = keptCalls(reading);
    for (const one of reading.spans) {
      if (one.convention === null) continue;
      const { span_id } = one.span;
      found.set(span_id, {
        ...withRole(one, counted.get(one), found.get(span_id)!),
        ...calls.get(span_id),
      });
    }
  }
  return found;
}

const usageKinds = ["input", "output", "reasoning", "cached", "written"] as const;

const operations: Partial<Record<ReadSpan["role"], string>> = {
  agent: "invoke_agent",
  model: "chat",
  tool: "execute_tool",
};

/** With what the convention says the span is. Usage that repeats that of other spans goes: without the convention it would count. */
function withRole({ role }: ReadSpan, counted: CountedUsage | undefined, attributes: Attributes): Attributes {
  const operation = operations[role];
  const named =
    operation === undefined || attributes["gen_ai.operation.name"] !== undefined
      ? attributes
      : { ...attributes, "gen_ai.operation.name": operation };
  const keys = new Set<string>(
    usageKinds.flatMap(kind => (typeof counted?.usage[kind] === "number" ? standard.usage[kind] : [])),
  );
  return Object.fromEntries(
    Object.entries(named).filter(([key]) => !key.startsWith("gen_ai.usage.") || keys.has(key)),
  );
}

function structureOf(span: Span, attributes: Attributes): Span {
  const { scope, resource, links } = span;
  return {
    span_id: span.span_id,
    parent_span_id: span.parent_span_id,
    name: span.name,
    attributes,
    start_time_unix_nano: span.start_time_unix_nano,
    end_time_unix_nano: span.end_time_unix_nano,
    status: span.status && (span.status.code === undefined ? {} : { code: span.status.code }),
    events: [],
    ...(span.kind !== undefined && { kind: span.kind }),
    ...(links && { links: links.flatMap(linkOf) }),
    ...(scope && { scope: scopeOf(scope) }),
    ...(resource && { resource: resourceOf(resource) }),
  };
}

function keptIn(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([key, value]) => isKept(key, value)));
}

/** Conventions recognize spans by the name of their scope. */
function scopeOf({ name, version }: NonNullable<Span["scope"]>): NonNullable<Span["scope"]> {
  return { ...(name !== undefined && { name }), ...(version !== undefined && { version }) };
}

function resourceOf(resource: Attributes): Attributes {
  const name = resource[keptOfResource];
  return typeof name === "string" ? { [keptOfResource]: name } : {};
}

/** Which span it leads to. */
function linkOf(link: unknown): object[] {
  if (!isRecord(link)) return [];
  const isId = ([key, value]: [string, unknown]) =>
    linkIds.includes(key) && typeof value === "string" && /^[0-9a-f]{1,32}$/i.test(value);
  return [Object.fromEntries(Object.entries(link).filter(isId))];
}

const linkIds = ["traceId", "spanId", "trace_id", "span_id"];

/** The service's own marks of the traces that it makes in manual runs. */
function marksOf(metadata: Attributes): Attributes | null {
  if (metadata[observedMark] !== true) return null;
  const { "svc.run.id": id, "svc.run.turn": turn } = metadata;
  return {
    [observedMark]: true,
    ...(typeof id === "string" && /^[0-9a-f-]{36}$/.test(id) && { "svc.run.id": id }),
    ...(typeof turn === "number" && { "svc.run.turn": turn }),
  };
}

/** Tokens, models, ids and calls may be in the record's attributes or in its body; a record without any is not kept. */
function recordOf(record: LogRecord): LogRecord[] {
  const attributes = { ...keptIn(fieldsOf(record)), ...keptCallsOf(record) };
  if (Object.keys(attributes).length === 0) return [];
  return [{ event_name: record.event_name, time_unix_nano: record.time_unix_nano, body: null, attributes }];
}
