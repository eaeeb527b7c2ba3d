// The traces before and after one that the list has not loaded, in the list's order and with its filters.
import { queryOptions } from "@tanstack/react-query";
import type { TracePage } from "../../src/http/traces/schemas.ts";
import { read } from "../api.ts";
import { searchesSpans, type TraceSearch, traceQuery } from "./trace-search.ts";

export type Neighbors = { previous: string | undefined; next: string | undefined };

/** With rare filters a page may be empty; the search for a neighbor ends after this many. */
const pagesMax = 5;

/** Whether a trace's place in the list follows from its id. */
export function isByTime(search: TraceSearch): boolean {
  const { order = "newest" } = search;
  return (order === "newest" || order === "oldest") && !searchesSpans(search);
}

/** For a list that `isByTime`. */
export const traceNeighbors = (agentId: string, traceId: string, search: TraceSearch) =>
  queryOptions({
    queryKey: ["agents", agentId, "trace-neighbors", traceId, search],
    queryFn: async ({ signal }): Promise<Neighbors> => {
      const [newer, older] = await Promise.all(
        ["oldest", "newest"].map(order => firstId(agentId, traceId, { ...search, order }, signal)),
      );
      return search.order === "oldest" ? { previous: older, next: newer } : { previous: newer, next: older };
    },
  });

async function firstId(agentId: string, traceId: string, search: TraceSearch, signal: AbortSignal) {
  let cursor: string | null = cursorAt(traceId);
  for (let page = 0; page < pagesMax && cursor !== null; page++) {
    const query = traceQuery(search);
    query.set("limit", "1");
    query.set("cursor", cursor);
    const found: TracePage = await read<TracePage>(`/api/agents/${agentId}/traces?${query}`, signal);
    if (found.items[0]) return found.items[0].id;
    cursor = found.nextCursor;
  }
  return undefined;
}

/** The cursor of a page in the order of time that ended with this trace. */
function cursorAt(traceId: string): string {
  const bytes = traceId.replaceAll("-", "").match(/../g) ?? [];
  const binary = bytes.map(byte => String.fromCharCode(Number.parseInt(byte, 16))).join("");
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
