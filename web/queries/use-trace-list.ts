// The list of traces that an address asks for, kept for whoever comes back to it, and live while it is looked at.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { Page } from "../../src/http/schemas.ts";
import type { ListedTrace } from "../../src/http/traces/schemas.ts";
import { read } from "../api.ts";
import { type LiveState, useLive } from "../live.ts";
import { type Shown, TraceList } from "./trace-list.ts";
import { type TraceSearch, traceQuery } from "./trace-search.ts";

/** What a row shows; of the texts only their beginning, as a list may grow to 100,000 rows. */
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
      // By the cache for what it does about failures; the rows are the list's to keep.
      const { items, nextCursor } = await queries.fetchQuery({
        queryKey: ["agents", agentId, "trace-page", path],
        queryFn: ({ signal }) => read<Page<ListedTrace>>(path, signal),
        staleTime: 0,
        gcTime: 0,
      });
      return { items: items.map(toRow), nextCursor };
    });
  };
  const { data } = useQuery({
    queryKey: ["agents", agentId, "trace-list", search],
    queryFn: make,
    initialData: make,
    enabled: false,
    structuralSharing: false,
    gcTime: keptMs,
  });
  return data;
}

/** The list follows what happens, unless it is paused or the page is hidden. */
export function useLiveTraces(list: Traces, agentId: string, paused: boolean): LiveState | "paused" {
  const state = useLive({ agentId }, event => list.hear(event));
  const hidden = useHidden();
  const asleep = paused || hidden;
  useEffect(() => {
    if (asleep) return;
    list.wake();
    return () => list.sleep();
  }, [list, asleep]);
  useEffect(() => {
    // What happened between the first reading and now was not heard.
    if (state === "live") list.hear({ type: "refresh", agentId: null });
  }, [list, state]);
  return paused ? "paused" : state;
}

export function useShownTraces(list: Traces) {
  const shown = useSyncExternalStore(list.subscribe, list.shown);
  const { rows, busy } = shown;
  useEffect(() => {
    // What is rare may take many pages until its first row; further rows are read as they come near.
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
