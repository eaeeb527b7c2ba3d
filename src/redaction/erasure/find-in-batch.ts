// Finds what an erasure looks for in one stored batch: a text anywhere, or an ID in the attributes that have it.

import type { ErasurePlace } from "../../model/erasure.ts";
import { isRecord } from "../../model/record.ts";
import { shorten } from "../../model/shorten.ts";
import type { Attributes, Batch, Span } from "../../model/trace/trace.ts";
import { decode } from "../../reading/span/values.ts";
import { excerptOf, type TextSearch } from "./escaped-text.ts";

/** `attributes`: those that may have the ID; `metadata>user` is a field of JSON in `metadata`. */
export type IdSearch = { values: string[]; attributes: readonly string[] };

export type BatchSearch = { text: TextSearch } | { id: IdSearch };

type In = ErasurePlace["in"];
type Part = { spanId: string | null; in: In; path: string; value: unknown; attributes?: boolean };

export function findInBatch(batch: Batch, search: BatchSearch): ErasurePlace | null {
  for (const part of partsOf(batch)) {
    const found = "text" in search ? textIn(part.value, part.path, search.text) : idIn(part, search.id);
    if (found) return { spanId: part.spanId, in: part.in, ...found };
  }
  return null;
}

function* partsOf({ spans, resource, metadata, logRecords }: Batch): Generator<Part> {
  if (resource) yield { spanId: null, in: "resource", path: "", value: resource, attributes: true };
  if (metadata) yield { spanId: null, in: "metadata", path: "", value: metadata, attributes: true };
  for (const span of spans) yield* partsOfSpan(span);
  if (!logRecords) return;
  const { spanId } = logRecords;
  for (const { event_name, body, attributes } of logRecords.records) {
    yield { spanId, in: "log", path: "event_name", value: event_name };
    yield { spanId, in: "log", path: "attributes", value: attributes, attributes: true };
    yield { spanId, in: "log", path: "body", value: body, attributes: true };
  }
}

function* partsOfSpan(span: Span): Generator<Part> {
  const { span_id: spanId, scope } = span;
  yield { spanId, in: "attributes", path: "", value: span.attributes, attributes: true };
  yield { spanId, in: "span", path: "name", value: span.name };
  yield { spanId, in: "span", path: "span_id", value: spanId };
  yield { spanId, in: "span", path: "parent_span_id", value: span.parent_span_id };
  yield { spanId, in: "span", path: "trace_state", value: span.trace_state };
  yield { spanId, in: "span", path: "schema_url", value: span.resource_schema_url };
  yield { spanId, in: "status", path: "message", value: span.status?.message };
  if (span.resource) yield { spanId, in: "resource", path: "", value: span.resource, attributes: true };
  if (scope) {
    yield { spanId, in: "scope", path: "name", value: scope.name };
    yield { spanId, in: "scope", path: "version", value: scope.version };
    yield { spanId, in: "scope", path: "schema_url", value: scope.schema_url };
    yield { spanId, in: "scope", path: "attributes", value: scope.attributes, attributes: true };
  }
  // Events and links are stored as sent, so only their usual keys are known to be none of the sender's texts.
  for (const [name, list] of [["events", span.events] as const, ["links", span.links ?? []] as const]) {
    for (const [at, item] of list.entries()) {
      if (!isRecord(item)) {
        yield { spanId, in: "events", path: `${name}[${at}]`, value: item };
        continue;
      }
      for (const [key, value] of Object.entries(item)) {
        const path = `${name}[${at}].${key}`;
        if (!usualKeys.has(key)) yield { spanId, in: "events", path, value: key };
        yield { spanId, in: "events", path, value, attributes: key === "attributes" };
      }
    }
  }
}

const usualKeys = new Set([
  ...["name", "attributes", "time_unix_nano", "timeUnixNano", "dropped_attributes_count"],
  ...["trace_id", "span_id", "traceId", "spanId", "trace_state", "traceState", "flags"],
]);

type Found = { path: string; excerpt: string };

function textIn(value: unknown, path: string, search: TextSearch): Found | null {
  if (typeof value === "string") return found(path, excerptOf(value, search));
  if (typeof value === "number") return found(path, excerptOf(String(value), search));
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const inItem = textIn(item, `${path}[${at}]`, search);
      if (inItem) return inItem;
    }
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const below = path === "" ? key : `${path}.${key}`;
    const here = found(below, excerptOf(key, search)) ?? textIn(item, below, search);
    if (here) return here;
  }
  return null;
}

const pathMax = 200;

function found(path: string, excerpt: string | null): Found | null {
  return excerpt === null ? null : { path: path.slice(0, pathMax).toWellFormed(), excerpt };
}

function idIn({ value, attributes, path }: Part, search: IdSearch): Found | null {
  if (!attributes || !isRecord(value)) return null;
  for (const attribute of search.attributes) {
    const id = idAt(value, attribute);
    if (id === null || !search.values.includes(id)) continue;
    const at = path === "" ? attribute : `${path}.${attribute}`;
    return { path: at, excerpt: shorten(id, 80) };
  }
  return null;
}

/** As presets and rules read it: a text, a text in quotes, or a number. */
function idAt(attributes: Attributes, attribute: string): string | null {
  const [key, field] = attribute.split(">") as [string, string | undefined];
  if (!Object.hasOwn(attributes, key)) return null;
  const sent = attributes[key];
  const outer =
    field !== undefined || (typeof sent === "string" && sent.startsWith('"')) ? decode(sent) : sent;
  const value =
    field === undefined ? outer : isRecord(outer) && Object.hasOwn(outer, field) ? outer[field] : null;
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : null;
}
