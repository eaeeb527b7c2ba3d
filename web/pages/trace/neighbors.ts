// The previous and the next trace in the order of the list, with the filters last used there.
import { useEffect } from "react";
import { useShownTraces, useTraceList } from "../../queries/use-trace-list.ts";
import { lastFiltersByAgent } from "../traces/last-filters.ts";

export type Neighbors = { previous: string | undefined; next: string | undefined };

/** Both are undefined if the trace is not among the rows that the list has loaded. */
export function useNeighbors(agentId: string, traceId: string): Neighbors {
  const list = useTraceList(agentId, lastFiltersByAgent.get(agentId) ?? {});
  const { rows, nextCursor, busy, failure } = useShownTraces(list);
  const at = rows.findIndex(({ id }) => id === traceId);
  const isLast = at !== -1 && at === rows.length - 1;
  useEffect(() => {
    if (isLast && nextCursor !== null && !busy && !failure) void list.more();
  }, [list, isLast, nextCursor, busy, failure]);
  return at === -1
    ? { previous: undefined, next: undefined }
    : { previous: rows[at - 1]?.id, next: rows[at + 1]?.id };
}
