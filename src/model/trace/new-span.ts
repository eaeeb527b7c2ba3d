// The span that decoders fill in.
import type { Span } from "./trace.ts";

/** A span of which nothing is known yet. */
export function newSpan(): Span {
  return {
    span_id: "",
    parent_span_id: null,
    name: "",
    attributes: {},
    start_time_unix_nano: null,
    end_time_unix_nano: null,
    status: null,
    events: [],
  };
}
