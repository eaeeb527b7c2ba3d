// Finds redacted places in texts that are derived from a trace: the same is derived from a copy with marks around the places.

import { step } from "../model/path.ts";
import { isRecord } from "../model/record.ts";
import { type Place, type PlacesOfRule, pseudonymRule, type Redaction } from "../model/redaction.ts";
import type { Attributes, Batch, LogRecord, MergedTrace, Span } from "../model/trace/trace.ts";

// Noncharacters: JSON writes them as they are, on every level, and no text should have them. If one has, what is derived
// from it differs from the marked copy without its marks, and its places stay unknown.
const [open, close] = ["\uFDD0", "\uFDD1"];
const marked = /\uFDD0([^\uFDD0\uFDD1]*)\uFDD1/g;

/** Null if nothing in the spans was redacted at a known place. Shares what has no marks with the trace. */
export function markTrace(trace: MergedTrace): MergedTrace | null {
  const spans = markSpans(trace.spans, trace.redactions ?? []);
  return spans === trace.spans ? null : { ...trace, spans };
}

export function markBatch(batch: Batch, redactions: readonly Redaction[]): Batch {
  return { ...batch, spans: markSpans(batch.spans, redactions) };
}

/** The same list if nothing in the spans was redacted at a known place. */
function markSpans(all: Span[], redactions: readonly Redaction[]): Span[] {
  const bySpan = Map.groupBy(redactions, ({ spanId }) => spanId);
  let changed = false;
  const spans = all.map(span => {
    const ofSpan = bySpan.get(span.span_id);
    const copy = ofSpan ? markSpan(span, ofSpan) : span;
    changed ||= copy !== span;
    return copy;
  });
  return changed ? spans : all;
}

/** `redactions`: of the span. */
export function markSpan(span: Span, redactions: readonly Redaction[]): Span {
  const at = placesByPath(redactions);
  const copy = { ...span };
  copy.attributes = markFields(span.attributes, at("attributes"));
  copy.events = markIn(span.events, "", at("events"));
  if (span.log_records) copy.log_records = markIn<LogRecord[]>(span.log_records, "", at("log"));
  const ofMessage = at("status").get("message");
  if (ofMessage && span.status?.message !== undefined) {
    copy.status = { ...span.status, message: markText(span.status.message, ofMessage) };
  }
  const isSame = (Object.keys(copy) as (keyof Span)[]).every(key => copy[key] === span[key]);
  return isSame ? span : copy;
}

/** The redacted places of a derived text; none if its twin, derived from the marked copy, says something else. */
export function redactionsIn(text: string, twin: string | null | undefined): PlacesOfRule[] {
  if (twin === null || twin === undefined || twin.length === text.length) return [];
  const read = unmark(twin);
  return read.text === text ? read.redactions : [];
}

export function unmark(twin: string): { text: string; redactions: PlacesOfRule[] } {
  const places = new Map<string, Place[]>();
  let [text, from] = ["", 0];
  for (const { 0: whole, 1: inner = "", index } of twin.matchAll(marked)) {
    text += twin.slice(from, index);
    from = index + whole.length;
    const rule = /^\[(.*)\]$/s.exec(inner)?.[1] ?? pseudonymRule;
    const place: Place = [text.length, text.length + inner.length];
    const known = places.get(rule);
    if (known) known.push(place);
    else places.set(rule, [place]);
    text += inner;
  }
  return {
    text: text + twin.slice(from),
    redactions: [...places].map(([rule, list]) => ({ rule, places: list })),
  };
}

type Paths = ReadonlyMap<string, Place[]>;

const nowhere: Paths = new Map();

function placesByPath(redactions: readonly Redaction[]): (where: Redaction["in"]) => Paths {
  const byPlace = new Map<string, Map<string, Place[]>>();
  for (const { in: where, path, places } of redactions) {
    const paths = byPlace.get(where) ?? new Map<string, Place[]>();
    byPlace.set(where, paths.set(path, [...(paths.get(path) ?? []), ...places]));
  }
  return where => byPlace.get(where) ?? nowhere;
}

/** Paths begin with the bare key. */
function markFields(attributes: Attributes, paths: Paths): Attributes {
  if (paths.size === 0) return attributes;
  return changeFields(attributes, (value, key) => markIn(value, key, paths));
}

/** The same value if nothing in it was redacted. */
function markIn<T>(value: T, path: string, paths: Paths): T {
  if (paths.size === 0) return value;
  if (typeof value === "string") {
    const places = paths.get(path);
    return (places ? markText(value, places) : value) as T;
  }
  if (Array.isArray(value)) {
    const list = value.map((item, at) => markIn(item, `${path}[${at}]`, paths));
    return list.some((item, at) => item !== value[at]) ? (list as T) : value;
  }
  return isRecord(value)
    ? (changeFields(value, (item, key) => markIn(item, path + step(key), paths)) as T)
    : value;
}

function changeFields(object: Attributes, change: (value: unknown, key: string) => unknown): Attributes {
  const entries = Object.entries(object).map(([key, value]) => [key, change(value, key)] as const);
  // `fromEntries`, because an attribute may be called __proto__.
  return entries.some(([key, value]) => value !== object[key]) ? Object.fromEntries(entries) : object;
}

/** For `unmark`, and for what is derived from the text. */
export function markPlaces(text: string, redactions: readonly PlacesOfRule[]): string {
  return markText(
    text,
    redactions.flatMap(({ places }) => places),
  );
}

function markText(text: string, places: Place[]): string {
  let [out, from] = ["", 0];
  for (const [start, end] of places.toSorted((a, b) => a[0] - b[0])) {
    if (start < from || end <= start || end > text.length) continue;
    out += text.slice(from, start) + open + text.slice(start, end) + close;
    from = end;
  }
  return out + text.slice(from);
}
