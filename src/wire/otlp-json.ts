// Decodes an OTLP trace export in JSON: validates the envelope strictly and converts spans to canonical spans.
import { isRecord } from "../model/record.ts";
import { setOwn } from "../model/set-own.ts";
import type { Attributes, Span } from "../model/trace/trace.ts";
import { readAnyValue } from "./any-value.ts";
import { malformed, readId, readUint64 } from "./fields.ts";
import type { DecodeLimits } from "./limits.ts";
import {
  composeResourceExtras,
  composeScope,
  composeStatus,
  Grouping,
  type Origin,
  type OtlpGroup,
  type SentIds,
  setExtras,
} from "./otlp-groups.ts";

export type Json = Record<string, unknown>;

const kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map(
  name => `SPAN_KIND_${name}`,
);
const statusCodes = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

const noIds: SentIds = { traceId: null, spanId: null, parentSpanId: null };

/** Throws VALIDATION_ERROR for a malformed envelope, OTLP_NO_SPANS, or PAYLOAD_TOO_LARGE. */
export function readOtlpJson(body: Json, limits: DecodeLimits, bodyBytes: number): OtlpGroup[] {
  const grouping = new Grouping(limits, bodyBytes);
  const resourceSpansList = readList(body, "resourceSpans", "");
  for (let r = 0; r < resourceSpansList.length; r++) {
    const resourcePath = `resourceSpans[${r}]`;
    const resourceSpans = asObject(resourceSpansList[r], resourcePath);
    const described = readResource(resourceSpans, resourcePath);
    const scopeSpansList = readList(resourceSpans, "scopeSpans", resourcePath);
    for (let s = 0; s < scopeSpansList.length; s++) {
      const scopePath = `${resourcePath}.scopeSpans[${s}]`;
      const scopeSpans = asObject(scopeSpansList[s], scopePath);
      const origin = { ...described, scope: readScope(scopeSpans, scopePath) };
      const spans = readList(scopeSpans, "spans", scopePath);
      for (let i = 0; i < spans.length; i++) addSpan(grouping, origin, spans[i], `${scopePath}.spans[${i}]`);
    }
  }
  return grouping.finish();
}

function addSpan(grouping: Grouping, origin: Origin, sent: unknown, path: string): void {
  // A JSON span has its ids under the field names of SentIds.
  const ids = isRecord(sent) ? (sent as SentIds) : noIds;
  grouping.add(origin, ids, path, () => readSpan(asObject(sent, path), path));
}

function readSpan(sent: Json, path: string): Span {
  const span: Span = {
    span_id: "",
    parent_span_id: null,
    name: readText(sent, "name", path),
    attributes: readAttributes(sent, path),
    start_time_unix_nano: readTime(sent, "startTimeUnixNano", path),
    end_time_unix_nano: readTime(sent, "endTimeUnixNano", path),
    status: readStatus(sent, path),
    events: readList(sent, "events", path).map((event, i) => readEvent(event, `${path}.events[${i}]`)),
  };
  const kind = readEnum(sent, "kind", kinds, path);
  if (kind !== 0) span.kind = kind;
  const links = readList(sent, "links", path);
  setExtras(span, {
    dropped_attributes_count: readUint32(sent["droppedAttributesCount"]),
    dropped_events_count: readUint32(sent["droppedEventsCount"]),
    dropped_links_count: readUint32(sent["droppedLinksCount"]),
    trace_state: textIn(sent["traceState"]),
    flags: readUint32(sent["flags"]),
  });
  if (links.length > 0) span.links = links.map((link, i) => readLink(link, `${path}.links[${i}]`));
  return span;
}

/** `envelope`: the resource and its spans, or its log records. */
export function readResource(envelope: Json, path: string): Omit<Origin, "scope"> {
  const sent = envelope["resource"] ?? null;
  const schemaUrl = textIn(envelope["schemaUrl"]);
  if (sent === null) {
    return { serviceName: null, resource: {}, resourceExtras: composeResourceExtras(schemaUrl, 0) };
  }
  const resourcePath = `${path}.resource`;
  const object = asObject(sent, resourcePath);
  const resource = readAttributes(object, resourcePath);
  // The last of repeated keys wins, as in attributes. Only a string counts, while attributes read other types as text.
  const named = readList(object, "attributes", resourcePath).findLast(
    entry => isRecord(entry) && entry["key"] === "service.name",
  ) as Json | undefined;
  const value = named?.["value"];
  const name = isRecord(value) ? value["stringValue"] : null;
  return {
    serviceName: typeof name === "string" && name !== "" ? name : null,
    resource,
    resourceExtras: composeResourceExtras(schemaUrl, readUint32(object["droppedAttributesCount"])),
  };
}

function readScope(scopeSpans: Json, path: string): Origin["scope"] {
  const sent = scopeSpans["scope"] ?? {};
  const scopePath = `${path}.scope`;
  const object = asObject(sent, scopePath);
  return composeScope({
    name: readText(object, "name", scopePath),
    version: readText(object, "version", scopePath),
    attributes: readAttributes(object, scopePath),
    droppedAttributes: readUint32(object["droppedAttributesCount"]),
    schemaUrl: textIn(scopeSpans["schemaUrl"]),
  });
}

function readStatus(sent: Json, path: string): Span["status"] {
  const status = sent["status"] ?? null;
  if (status === null) return null;
  const statusPath = `${path}.status`;
  const object = asObject(status, statusPath);
  return composeStatus(
    readEnum(object, "code", statusCodes, statusPath),
    readText(object, "message", statusPath),
  );
}

function readEvent(sent: unknown, path: string): Json {
  const event = asObject(sent, path);
  const known = {
    name: readText(event, "name", path),
    time_unix_nano: readTime(event, "timeUnixNano", path),
    attributes: readAttributes(event, path),
  };
  return setExtras(known, { dropped_attributes_count: readUint32(event["droppedAttributesCount"]) });
}

function readLink(sent: unknown, path: string): Json {
  const link = asObject(sent, path);
  const known = {
    trace_id: readId(link["traceId"], 32),
    span_id: readId(link["spanId"], 16),
    attributes: readAttributes(link, path),
  };
  return setExtras(known, {
    dropped_attributes_count: readUint32(link["droppedAttributesCount"]),
    trace_state: textIn(link["traceState"]),
    flags: readUint32(link["flags"]),
  });
}

export function readAttributes(from: Json, path: string): Attributes {
  const attributes: Attributes = {};
  const list = readList(from, "attributes", path);
  for (let i = 0; i < list.length; i++) {
    const entry: unknown = list[i];
    const key = isRecord(entry) ? (entry["key"] ?? "") : undefined;
    if (typeof key !== "string") {
      throw malformed(`${path}.attributes[${i}]`, "must be an object with a key and a value");
    }
    setOwn(attributes, key, readAnyValue((entry as Json)["value"]));
  }
  return attributes;
}

export function readTime(from: Json, field: string, path: string): string | null {
  const value = from[field] ?? null;
  if (value === null) return null;
  const time = readUint64(value);
  if (time === undefined) throw malformed(`${path}.${field}`, "must be nanoseconds as a uint64");
  return time === "0" ? null : time;
}

/** A number or decimal text. These fields only inform: one that cannot be read refuses nothing. */
export function readUint32(value: unknown): number {
  const number = Number(readUint64(value) ?? 0);
  return number < 2 ** 32 ? number : 0;
}

const textIn = (value: unknown) => (typeof value === "string" ? value : "");

function readEnum(from: Json, field: string, names: string[], path: string): number {
  const value = from[field] ?? 0;
  const number = typeof value === "string" && names.includes(value) ? names.indexOf(value) : value;
  if (Number.isInteger(number)) return number as number;
  throw malformed(`${path}.${field}`, `must be a number or one of ${names.join(", ")}`);
}

export function readText(from: Json, field: string, path: string): string {
  const value = from[field] ?? "";
  if (typeof value === "string") return value;
  throw malformed(`${path}.${field}`, "must be a string");
}

export function readList(from: Json, field: string, path: string): unknown[] {
  const value = from[field] ?? [];
  if (Array.isArray(value)) return value;
  throw malformed(path === "" ? field : `${path}.${field}`, "must be a list");
}

export function asObject(value: unknown, path: string): Json {
  if (isRecord(value)) return value;
  throw malformed(path, "must be an object");
}
