// Names the statements of the usual lists of traces, so that connections keep their plans.
import type { TraceFilters } from "./list.ts";
import { countFilters } from "./list-conditions.ts";
import type { Order } from "./list-path.ts";

/** A plan takes about 0.2 MB of each connection that has used it. */
export const namesMax = 48;

const names = new Map<string, string>();

/**
 * The name of a list's statement, one for each text. Undefined for more than one filter, or one with the oldest first:
 * there are too many of these.
 */
export function nameOfList(text: string, filters: TraceFilters, order: Order): string | undefined {
  if (countFilters(filters) > (order === "newest" ? 1 : 0)) return undefined;
  const known = names.get(text);
  if (known !== undefined || names.size === namesMax) return known;
  const name = `list_traces_${names.size + 1}`;
  names.set(text, name);
  return name;
}
