// The lists of traces that are kept for Back, when traces were deleted while no list was shown.
import type { QueryClient } from "@tanstack/query-core";
import type { TraceList } from "./trace-list.ts";

/** One list for each set of filters. */
export const traceListKey = (agentId: string) => ["agents", agentId, "trace-list"];

/** Removes traces that were deleted from every list of the agent. */
export function removeFromLists(queries: QueryClient, agentId: string, ids: readonly string[]): void {
  type Kept = Pick<TraceList<never>, "remove">;
  for (const [, list] of queries.getQueriesData<Kept>({ queryKey: traceListKey(agentId) })) list?.remove(ids);
}

/** Drops the lists of all agents, for example after an erasure: they would show texts that are gone. */
export function dropLists(queries: QueryClient): void {
  const [all, , list] = traceListKey("");
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === all && queryKey[2] === list });
}
