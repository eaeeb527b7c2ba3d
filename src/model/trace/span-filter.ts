// Whether a trace has a span of a name, an attribute or metadata with a value.
import { isRecord } from "../record.ts";
import type { Attributes, MergedTrace, Span } from "./trace.ts";

/** `value`: the whole value as text; undefined for any. */
export type KeyFilter = { key: string; value?: string | undefined };

export type SpanFilter = {
  /** Part of the span's name, ignoring case. */
  spanName?: string;
  /** Of a span with that name, or of a resource. */
  attribute?: KeyFilter;
  metadata?: KeyFilter;
};

type Content = Pick<MergedTrace, "spans" | "resource" | "metadata">;

export function matchesSpans(trace: Content, { spanName, attribute, metadata }: SpanFilter): boolean {
  if (metadata && !hasMetadata(trace.metadata, metadata)) return false;
  if (!attribute && spanName === undefined) return true;
  const name = spanName?.toLowerCase();
  const ofResource = attribute !== undefined && hasKey(trace.resource, attribute);
  return trace.spans.some(
    span =>
      (name === undefined || span.name.toLowerCase().includes(name)) &&
      (!attribute || ofResource || hasAttribute(span, attribute)),
  );
}

function hasAttribute(span: Span, attribute: KeyFilter): boolean {
  return hasKey(span.attributes, attribute) || hasKey(span.resource, attribute);
}

function hasKey(attributes: Attributes | null | undefined, { key, value }: KeyFilter): boolean {
  if (!attributes || !Object.hasOwn(attributes, key)) return false;
  const found = attributes[key];
  return found !== null && found !== undefined && (value === undefined || isValue(found, value));
}

/** The key itself, or a path of keys separated by dots. */
function hasMetadata(metadata: Attributes | null, { key, value }: KeyFilter): boolean {
  if (hasKey(metadata, { key, value })) return true;
  let at: unknown = metadata;
  const keys = key.split(".");
  for (const part of keys.slice(0, -1)) {
    if (!isRecord(at) || !Object.hasOwn(at, part)) return false;
    at = at[part];
  }
  return isRecord(at) && hasKey(at, { key: keys.at(-1)!, value });
}

/** A list has the value if one of its entries does. */
function isValue(found: unknown, value: string): boolean {
  if (typeof found === "string") return found === value;
  if (Array.isArray(found) && found.some(entry => isValue(entry, value))) return true;
  return JSON.stringify(found) === value;
}

export type NeededText = { text: string; isKey: boolean };

/** Texts of which each is in a trace that matches: most traces are ruled out by them without being parsed. */
export function neededTexts({ attribute, metadata }: SpanFilter): NeededText[] {
  const keys = [attribute?.key, ...(metadata?.key.split(".") ?? [])].filter(key => key !== undefined);
  const values = [attribute?.value, metadata?.value].filter(value => value !== undefined);
  // A value that is no text itself, such as a number or an object, is spelled as it was stored.
  return [
    ...keys.map(text => ({ text, isKey: true })),
    ...values.filter(isPlain).map(text => ({ text, isKey: false })),
  ];
}

/** Whether a text is spelled in JSON as it is, whether it stands in quotes or not. */
function isPlain(value: string): boolean {
  return /^[\w .:/@-]*$/.test(value) && !/^-?\d/.test(value);
}
