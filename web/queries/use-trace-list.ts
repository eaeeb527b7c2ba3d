// Hooks for the trace list of a URL: cached for Back, and updated live while visible.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { ListedTrace, TracePage } from "../../src/http/traces/schemas.ts";
import { read } from "../api.ts";
import { useLive } from "../live.ts";
import type { LiveState } from "../live-state.ts";
import { TraceList } from "./trace-list.ts";
import { traceListKey } from "./trace-lists.ts";
import type { ListKind, Shown } from "./trace-pages.ts";
import { searchesSpans, type TraceSearch, traceQuery } from "./trace-search.ts";

/** A row, with texts truncated, because a list may grow to 100,000 rows. */
export type TraceRow = Omit<ListedTrace, "responseText">;
export type Traces = TraceList<TraceRow>;
export type ShownTraces = Shown<TraceRow>;

const keptMs = 30 * 60_000;
const inputMax = 200;

export function useTraceList(agentId: string, search: TraceSearch): Traces {
  const queries = useQueryClient();
  const make = () => {
    const filters = Object.fromEntries(traceQuery(search));
    return new TraceList<TraceRow>(async query => {
      const path = `/api/agents/${agentId}/traces?${new URLSearchParams({ ...filters, ...query })}`;
      // Through the query client for its retries; the list itself keeps the rows.
      const page = await queries.fetchQuery({
        queryKey: ["agents", agentId, "trace-page", path],
        queryFn: ({ signal }) => read<TracePage>(path, signal),
        staleTime: 0,
        gcTime: 0,
      });
      return { ...page, items: page.items.map(toRow) };
    }, kindOf(search));
  };
  const { data } = useQuery({
    queryKey: [...traceListKey(agentId), search],
    queryFn: make,
    initialData: make,
    enabled: false,
    structuralSharing: false,
    gcTime: keptMs,
  });
  return data;
}

function kindOf(search: TraceSearch): ListKind {
  if (searchesSpans(search)) return "searched";
  return search.order === undefined || search.order === "newest" ? "live" : "sorted";
}

/** Updates the list live, unless it is paused or the page is hidden. */
export function useLiveTraces(list: Traces, agentId: string, paused: boolean): LiveState | "paused" {
  const state = useLive({ agentId }, event => list.onEvent(event));
  const hidden = useHidden();
  const asleep = paused || hidden;
  useEffect(() => {
    if (asleep) return;
    list.wake();
    return () => list.sleep();
  }, [list, asleep]);
  useEffect(() => {
    // Events between the first fetch and now were missed.
    if (state === "live") list.onEvent({ type: "refresh", agentId: null });
  }, [list, state]);
  return paused ? "paused" : state;
}

export function useShownTraces(list: Traces) {
  const shown = useSyncExternalStore(list.subscribe, list.shown);
  const { rows, busy } = shown;
  useEffect(() => {
    // With a rare filter the first match may be many pages away; later pages load on scroll.
    if (rows.length === 0 && !busy) void list.more();
  }, [list, rows, busy]);
  return shown;
}

function useHidden(): boolean {
  const [hidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return hidden;
}

function toRow({ responseText: _, ...trace }: ListedTrace): TraceRow {
  return { ...trace, userInput: trace.userInput?.slice(0, inputMax) ?? null };
}
