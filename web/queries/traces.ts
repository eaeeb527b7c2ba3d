// Queries for one trace: outline, spans, conversation and raw JSON; and for the names to filter traces by.

import { queryOptions } from "@tanstack/react-query";
import type { Conversation } from "../../src/http/traces/conversation-schemas.ts";
import type {
  ResultStateView,
  SpanDetail,
  TraceOutline,
  TraceValues,
} from "../../src/http/traces/schemas.ts";
import { read, readStart } from "../api.ts";

export const outlineQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "outline"],
    queryFn: ({ signal }) => read<TraceOutline>(`/api/traces/${traceId}/outline`, signal),
  });

/** Where its failed results stand. */
export const resultStatesQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "result-states"],
    queryFn: ({ signal }) =>
      read<{ items: ResultStateView[] }>(`/api/traces/${traceId}/result-states`, signal),
  });

/** `whole`: long texts are not truncated. */
export const spanQuery = (traceId: string, spanId: string, whole = false) =>
  spanQueryOf(traceId, spanId, whole ? "?whole=true" : "");

/** The whole span with the attributes that conventions gave: the paths of passages lead through it. */
export const readSpanQuery = (traceId: string, spanId: string) =>
  spanQueryOf(traceId, spanId, "?whole=true&read=true");

const spanQueryOf = (traceId: string, spanId: string, search: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "spans", spanId, search],
    queryFn: ({ signal }) =>
      read<SpanDetail>(`/api/traces/${traceId}/spans/${encodeURIComponent(spanId)}${search}`, signal),
  });

export const conversationQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "conversation"],
    queryFn: ({ signal }) => read<Conversation>(`/api/traces/${traceId}/conversation`, signal),
  });

/** How much of a trace's raw JSON the page shows; the download has all of it. */
export const rawBytesMax = 200_000;

export const rawPath = (traceId: string) => `/api/traces/${traceId}/raw`;

export const rawQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "raw"],
    queryFn: ({ signal }) => readStart(rawPath(traceId), rawBytesMax, signal),
  });

/** The tools, models and providers of an agent's traces. */
export const traceValuesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "trace-values"],
    queryFn: ({ signal }) => read<TraceValues>(`/api/agents/${agentId}/trace-values`, signal),
  });
