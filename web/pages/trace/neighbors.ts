// The previous and the next trace in the order of the list, with the filters last used there.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { isByTime, type Neighbors, traceNeighbors } from "../../queries/trace-neighbors.ts";
import { useShownTraces, useTraceList } from "../../queries/use-trace-list.ts";
import { lastFiltersByAgent } from "../traces/last-filters.ts";

const none: Neighbors = { previous: undefined, next: undefined };

/** Neighbors of a trace beyond the rows that the list has loaded are found in lists by time only. */
export function useNeighbors(agentId: string, traceId: string): Neighbors {
  const search = lastFiltersByAgent.get(agentId) ?? {};
  const list = useTraceList(agentId, search);
  const { rows, nextCursor, busy, failure } = useShownTraces(list);
  const at = rows.findIndex(({ id }) => id === traceId);
  const isLast = at !== -1 && at === rows.length - 1;
  useEffect(() => {
    if (isLast && nextCursor !== null && !busy && !failure) void list.more();
  }, [list, isLast, nextCursor, busy, failure]);
  const isBeyond = at === -1 && rows.length > 0 && nextCursor !== null && !busy;
  const found = useQuery({
    ...traceNeighbors(agentId, traceId, search),
    enabled: isBeyond && isByTime(search),
  });
  if (at === -1) return found.data ?? none;
  return { previous: rows[at - 1]?.id, next: rows[at + 1]?.id };
}
