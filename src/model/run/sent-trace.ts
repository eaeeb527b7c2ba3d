// The W3C trace context that a turn of a manual run sends, and the agent's spans below it.
import { compareNanos } from "../trace/times.ts";
import type { Span } from "../trace/trace.ts";

/** Part of the trace id, so that the span by which the agent was called is recognized. */
function sentSpanId(w3cTraceId: string): string {
  return w3cTraceId.slice(16);
}

export function traceparentOf(w3cTraceId: string): string {
  return `00-${w3cTraceId}-${sentSpanId(w3cTraceId)}-01`;
}

/** Whether the agent's root has arrived: it ends last, so the rest of the trace is there or about to be. */
export function hasRoot(spans: Span[], w3cTraceId: string): boolean {
  return spans.some(span => isRoot(span, w3cTraceId));
}

function isRoot({ parent_span_id: parent }: Span, w3cTraceId: string): boolean {
  return !parent || parent === sentSpanId(w3cTraceId);
}

/**
 * What is known of a span's end. Spans are sent when they end. "open": one that it ran in has not ended. "uncovered": all of
 * these have, but before the span itself, as the one that answers 202 does. "covered": one of them ended after it.
 */
export function standingOf(
  spans: Span[],
  spanId: string,
  w3cTraceId: string,
): "open" | "uncovered" | "covered" {
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const end = byId.get(spanId)?.end_time_unix_nano ?? null;
  const seen = new Set<Span>();
  let isCovered = false;
  for (let span = byId.get(spanId); span && !seen.has(span); span = byId.get(span.parent_span_id ?? "")) {
    seen.add(span);
    const { end_time_unix_nano: until } = span;
    const isItself = span.span_id === spanId;
    if (!isItself) isCovered ||= end === null || until === null || compareNanos(until, end) >= 0;
    if (isRoot(span, w3cTraceId)) return isCovered || isItself ? "covered" : "uncovered";
  }
  return "open";
}
