// Names the statements of the usual lists of traces, so that connections keep their plans.
import { countFilters } from "./conditions.ts";
import type { Plan } from "./sql.ts";

/** A plan takes about 0.2 MB of each connection that has used it. */
export const namesMax = 40;

const names = new Map<string, string>();

/**
 * The name of a list's statement, one for each text. Undefined for more than one filter, or one with the oldest first:
 * there are too many of these. Also where traces are joined to runs or turns: with statistics older than nearly all traces, a
 * plan for any values read all of them (295 ms instead of 4.5).
 */
export function nameOfList(text: string, { filters, order, path }: Plan): string | undefined {
  if (path.join !== "" || countFilters(filters) > (order === "newest" ? 1 : 0)) return undefined;
  const known = names.get(text);
  if (known !== undefined || names.size === namesMax) return known;
  const name = `list_traces_${names.size + 1}`;
  names.set(text, name);
  return name;
}
