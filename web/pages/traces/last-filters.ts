// The last filters of each agent's trace list, so that the link back from a trace restores them.
import type { TraceSearch } from "../../queries/trace-search.ts";

/** By agent id. Lost on reload. */
export const lastFiltersByAgent = new Map<string, TraceSearch>();
