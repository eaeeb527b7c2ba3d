// Queries for conversations: the list, the turns of one, and the place of a trace in its own.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  ConversationPage,
  ConversationTurns,
  TurnOfTrace,
} from "../../src/http/traces/conversations-schemas.ts";
import { read } from "../api.ts";

export const conversationsQuery = (agentId: string, kind: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["agents", agentId, "conversations", kind],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({
        limit: "50",
        ...(kind && { kind }),
        ...(pageParam && { cursor: pageParam }),
      });
      return read<ConversationPage>(`/api/agents/${agentId}/conversations?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: page => page.nextCursor,
  });

/** Parameters of the request. */
type From = Record<string, string>;

/** `at`: the trace of the turn to begin with, or "end"; undefined: the first turn. */
export const turnsQuery = (agentId: string, conversationId: string, at: string | undefined) => {
  const initialPageParam: From = at === undefined ? {} : at === "end" ? { from: "end" } : { traceId: at };
  return infiniteQueryOptions({
    queryKey: ["agents", agentId, "conversation", conversationId, at],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ conversationId, ...pageParam });
      return read<ConversationTurns>(`/api/agents/${agentId}/conversation?${query}`, signal);
    },
    initialPageParam,
    getNextPageParam: ({ nextCursor }): From | null => (nextCursor === null ? null : { cursor: nextCursor }),
    getPreviousPageParam: ({ previousCursor }): From | null =>
      previousCursor === null ? null : { cursor: previousCursor },
  });
};

export const turnOfTraceQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["traces", traceId, "turn"],
    queryFn: ({ signal }) => read<TurnOfTrace>(`/api/traces/${traceId}/turn`, signal),
  });
