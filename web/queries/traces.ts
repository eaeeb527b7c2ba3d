// Traces: their list, and one by its parts.
import { queryOptions } from "@tanstack/react-query";
import type { Span } from "../../src/model/trace.ts";
import { read } from "../api.ts";
import type { Conversation, SpanDetail, TraceOutline } from "../shapes.ts";

export const outlineQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "outline"],
    queryFn: async ({ signal }) => {
      const { spans, ...trace } = await read<Omit<TraceOutline, "spans"> & { spans: Span[] }>(
        `/api/traces/${traceId}`,
        signal,
      );
      return {
        ...trace,
        spans: spans.map(({ span_id, parent_span_id, name }) => ({
          spanId: span_id,
          parentSpanId: parent_span_id,
          name,
        })),
      } as TraceOutline;
    },
  });

/** `whole`: without its long texts cut. */
export const spanQuery = (traceId: string, spanId: string, whole = false) =>
  queryOptions({
    queryKey: ["traces", traceId, "spans", spanId, whole],
    queryFn: ({ signal }) =>
      read<SpanDetail>(
        `/api/traces/${traceId}/spans/${encodeURIComponent(spanId)}${whole ? "?whole=true" : ""}`,
        signal,
      ),
  });

export const conversationQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "conversation"],
    queryFn: ({ signal }) => read<Conversation>(`/api/traces/${traceId}/conversation`, signal),
  });
