// Sentences about a list of traces: its order, how far it was searched, and from when a filter knows the traces.
import type { TracePage } from "../../../src/http/traces/schemas.ts";
import { momentText } from "../../format.ts";
import { counted } from "../../labels.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { isFiltered } from "./filters.ts";

type About = { [N in "knownFrom" | "ordered" | "searched"]: NonNullable<TracePage[N]> };

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

/** Filters whose values are kept since the version that began to, with the words for them in a sentence. */
const kept = [
  ["tool", "tool"],
  ["model", "model"],
  ["provider", "provider"],
  ["redacted", "redaction"],
  ["conversationId", "conversation"],
  ["userId", "user"],
  ["testOutcome", "test outcome"],
  ["testVersion", "test version"],
] as const;

/** Whether old traces may not be found yet by this filter. */
export function isKeptSince(names: readonly string[]): boolean {
  return kept.some(([name]) => names.includes(name));
}

export function knownFromText(search: TraceSearch, knownFrom: About["knownFrom"]): string | undefined {
  const names = kept.filter(([name]) => search[name]).map(([, text]) => text);
  if (names.length === 0) return undefined;
  const text = names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}`;
  return `The ${text} ${names.length === 1 ? "filter finds" : "filters find"} traces received since ${momentText(knownFrom)}. Older traces are still being prepared.`;
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
