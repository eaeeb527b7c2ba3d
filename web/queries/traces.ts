// Traces: their list, and one by its parts.

import { queryOptions } from "@tanstack/react-query";
import type { Conversation } from "../../src/http/traces/conversation-schemas.ts";
import type { SpanDetail, TraceOutline } from "../../src/http/traces/schemas.ts";
import { read, readStart } from "../api.ts";

export const outlineQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "outline"],
    queryFn: ({ signal }) => read<TraceOutline>(`/api/traces/${traceId}/outline`, signal),
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

/** What a page can show of a trace at once, of the file that holds all of it. */
export const rawBytesMax = 200_000;

export const rawPath = (traceId: string) => `/api/traces/${traceId}/raw`;

export const rawQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "raw"],
    queryFn: ({ signal }) => readStart(rawPath(traceId), rawBytesMax, signal),
  });
