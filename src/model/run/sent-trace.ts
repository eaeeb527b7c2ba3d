// The W3C trace context that a turn of a manual run sends, and the agent's root below it.
import type { Span } from "../trace/trace.ts";

/** Part of the trace id, so that whoever knows that id recognizes the span that the agent was called by. */
function sentSpanId(w3cTraceId: string): string {
  return w3cTraceId.slice(16);
}

export function traceparentOf(w3cTraceId: string): string {
  return `00-${w3cTraceId}-${sentSpanId(w3cTraceId)}-01`;
}

/** Whether the agent's root has arrived: it ends last, so the rest of the trace is there or about to be. */
export function hasRoot(spans: Span[], w3cTraceId: string): boolean {
  const sent = sentSpanId(w3cTraceId);
  return spans.some(({ parent_span_id: parent }) => !parent || parent === sent);
}
