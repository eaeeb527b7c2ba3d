// The filters of the list of traces: labels, choices, and the text of an active filter.
import { momentText, numberText } from "../../format.ts";
import { checkTypes, outcomes, resultStates, routings, runStates, tracePaths } from "../../labels.ts";
import { spansOfTime, type TraceSearch, type TraceSearchName } from "../../queries/trace-search.ts";

type Choice = { value: string; label: string };

export type Filter = {
  label: string;
  /** Its query parameters. */
  names: readonly TraceSearchName[];
  /** `tests`: one of the agent's test cases. */
  by:
    | { kind: "choice"; choices: readonly Choice[] }
    | { kind: "tests" }
    | { kind: "range"; names: readonly [TraceSearchName, TraceSearchName]; unit: string; step: string }
    | { kind: "time" }
    | { kind: "input"; name: TraceSearchName; type: "text" | "number" };
};

const choicesOf = (words: Record<string, string | { text: string }>): Choice[] =>
  Object.entries(words).map(([value, word]) => ({
    value,
    label: typeof word === "string" ? word : word.text,
  }));

const choice = (label: string, name: TraceSearchName, choices: Choice[]): Filter => ({
  label,
  names: [name],
  by: { kind: "choice", choices },
});

const range = (
  label: string,
  names: readonly [TraceSearchName, TraceSearchName],
  unit: string,
  step: string,
): Filter => ({ label, names, by: { kind: "range", names, unit, step } });

export const filters: readonly Filter[] = [
  choice("Verdict", "verdict", [...choicesOf(outcomes), { value: "none", label: "No test applied" }]),
  choice("Evaluation", "state", choicesOf(runStates)),
  choice("Failures", "resultState", choicesOf(resultStates)),
  choice("Routing", "routing", choicesOf(routings)),
  choice("Judge", "outage", [{ value: "true", label: "Unavailable" }]),
  { label: "Test case", names: ["testId"], by: { kind: "tests" } },
  choice("Check type", "checkType", choicesOf(checkTypes)),
  { label: "Received", names: ["within", "receivedFrom", "receivedTo"], by: { kind: "time" } },
  range("Duration", ["durationMinMs", "durationMaxMs"], "ms", "any"),
  range("Tokens", ["tokensMin", "tokensMax"], "tokens", "1"),
  choice("Failed spans", "failed", [
    { value: "true", label: "Yes" },
    { value: "false", label: "No" },
  ]),
  {
    label: "HTTP status",
    names: ["httpStatus"],
    by: { kind: "input", name: "httpStatus", type: "number" },
  },
  choice("Path", "path", choicesOf(tracePaths)),
  {
    label: "External ID",
    names: ["externalId"],
    by: { kind: "input", name: "externalId", type: "text" },
  },
];

/** Whether anything filters, the text included. The tab is not a filter. */
export function isFiltered({ kind: _, ...search }: TraceSearch): boolean {
  return Object.values(search).some(Boolean);
}

/** Removes this filter, or all. The tab stays. */
export function without(search: TraceSearch, filter?: Filter): TraceSearch {
  if (!filter) return { kind: search.kind };
  const removed = Object.fromEntries(filter.names.map(name => [name, undefined]));
  return { ...search, ...removed };
}

/** The chosen value as text; undefined if the filter is not set. */
export function textOf(filter: Filter, search: TraceSearch, testName: (id: string) => string) {
  const [first, second] = filter.names.map(name => search[name]);
  const { by } = filter;
  switch (by.kind) {
    case "choice":
      return first && (by.choices.find(({ value }) => value === first)?.label ?? first);
    case "tests":
      return first && testName(first);
    case "range":
      if (first && second) return `${valueText(first)} to ${valueText(second)} ${by.unit}`;
      if (first) return `at least ${valueText(first)} ${by.unit}`;
      return second && `at most ${valueText(second)} ${by.unit}`;
    case "time":
      return timeText(search);
    case "input":
      return first;
  }
}

function timeText({ within, receivedFrom, receivedTo }: TraceSearch): string | undefined {
  const atText = (at: string) => (Number.isNaN(Date.parse(at)) ? at : momentText(at));
  if (receivedFrom && receivedTo) return `${atText(receivedFrom)} to ${atText(receivedTo)}`;
  if (receivedFrom) return `since ${atText(receivedFrom)}`;
  if (receivedTo) return `before ${atText(receivedTo)}`;
  return within && (spansOfTime[within]?.text.toLowerCase() ?? within);
}

function valueText(text: string): string {
  const value = Number(text);
  return Number.isFinite(value) ? numberText(value) : text;
}
