// Sentences about a list of traces: its order, and how far it was searched.
import type { TracePage } from "../../../src/http/traces/schemas.ts";
import { momentText } from "../../format.ts";
import { counted } from "../../labels.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { isFiltered } from "./filters.ts";

type About = { [N in "ordered" | "searched"]: NonNullable<TracePage[N]> };

const sortedBy: Record<string, string> = {
  longest: "duration",
  shortest: "duration",
  most_tokens: "tokens",
  fewest_tokens: "tokens",
  most_expensive: "cost",
  least_expensive: "cost",
};

/** Undefined if the whole list is in this order. */
export function orderedText(search: TraceSearch, { traces, from }: About["ordered"]): string | undefined {
  const by = sortedBy[search.order ?? ""];
  if (from === null || by === undefined) return undefined;
  const since = `received since ${momentText(from)}`;
  if (traces === 0) return `No match among the traces ${since}. Sort by time to search older traces.`;
  const noun = isFiltered(search) || search.kind ? "matching trace" : "trace";
  const newest = traces === 1 ? noun : counted(traces, noun);
  return `Sorted by ${by}: the newest ${newest}, ${since}.`;
}

/** `newest`: the search goes from the newest trace to older ones. */
export function searchedText({ traces, tooLarge, from }: About["searched"], order: "newest" | "oldest") {
  const were = tooLarge === 1 ? "was" : "were";
  const large = tooLarge > 0 ? ` ${counted(tooLarge, "trace")} ${were} too large to search.` : "";
  if (from === null && traces === 0) return "No traces to search.";
  if (from === null) {
    return `Searched ${traces === 1 ? "1 trace" : `all ${counted(traces, "trace")}`}.${large}`;
  }
  const direction = order === "newest" ? "back to" : "up to";
  return `Searched ${counted(traces, "trace")}, ${direction} ${momentText(from)}.${large}`;
}
