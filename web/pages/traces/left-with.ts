// With which filters each agent's list of traces was last looked at, for whoever comes back from one of them.
import type { TraceSearch } from "../../queries/trace-search.ts";

/** By the agents' ids; for as long as the page stays open. */
export const leftWith = new Map<string, TraceSearch>();
