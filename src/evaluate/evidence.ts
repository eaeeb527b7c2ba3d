// What checks show of a trace: attributes, texts and spans, with short copies of what is in them.

import type { Evidence } from "../model/run/run.ts";
import type { FoundText, Span } from "../model/trace/trace.ts";
import { attributeOf } from "../reading/span/conversation.ts";
import { evidenceMax, excerpt } from "./excerpt.ts";

/** A span's attribute as evidence, with a copy of its value. */
export function placeOf(span: Span, attribute: string): Evidence {
  return { spanId: span.span_id, attribute, value: excerpt(attributeOf(span, attribute)) };
}

/** A text as evidence. */
export function placeOfText({ spanId, attribute, text }: FoundText): Evidence {
  return { spanId, attribute, value: excerpt(text) };
}

/** Spans as evidence, by their names. */
export function placesOfSpans(spans: Span[]): Evidence[] {
  return spans
    .slice(0, evidenceMax)
    .map(span => ({ spanId: span.span_id, attribute: null, value: excerpt(span.name) }));
}

/** The distinct names of spans, at most fifty. */
export function namesOf(spans: Span[]): string[] {
  const names = new Set<string>();
  for (const span of spans) {
    names.add(span.name);
    if (names.size === 50) break;
  }
  return [...names].map(name => String(excerpt(name)));
}
