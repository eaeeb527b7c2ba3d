// The filters of the list of traces: their words, how each is chosen, and what a chosen one says.
import { checkTypes, outcomes, routings, runStates, tracePaths } from "../../labels.ts";
import { spansOfTime, type TraceSearch, type TraceSearchName } from "../../queries/trace-search.ts";

type Choice = { value: string; label: string };

export type Filter = {
  label: string;
  /** What it asks of the address. */
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
  choice("Verdict", "verdict", choicesOf(outcomes)),
  choice("Run", "state", choicesOf(runStates)),
  choice("Routing", "routing", choicesOf(routings)),
  choice("Judge", "outage", [{ value: "true", label: "Skipped by an outage" }]),
  { label: "Test case", names: ["testId"], by: { kind: "tests" } },
  choice("Check type", "checkType", choicesOf(checkTypes)),
  { label: "Received", names: ["within", "receivedFrom", "receivedTo"], by: { kind: "time" } },
  range("Duration", ["durationMinMs", "durationMaxMs"], "ms", "any"),
  range("Tokens", ["tokensMin", "tokensMax"], "tokens", "1"),
  choice("Spans", "failed", [
    { value: "true", label: "One failed" },
    { value: "false", label: "None failed" },
  ]),
  {
    label: "HTTP status",
    names: ["httpStatus"],
    by: { kind: "input", name: "httpStatus", type: "number" },
  },
  choice("Path", "path", choicesOf(tracePaths)),
  {
    label: "External id",
    names: ["externalId"],
    by: { kind: "input", name: "externalId", type: "text" },
  },
];

/** Everything that is narrowed by, the text included; the tab is not a filter. */
export function isFiltered({ kind: _, ...search }: TraceSearch): boolean {
  return Object.values(search).some(Boolean);
}

/** Without this filter, or without any. The tab stays. */
export function without(search: TraceSearch, filter?: Filter): TraceSearch {
  if (!filter) return { kind: search.kind };
  const removed = Object.fromEntries(filter.names.map(name => [name, undefined]));
  return { ...search, ...removed };
}

/** What the filter says at the moment; undefined: it is not set. */
export function textOf(filter: Filter, search: TraceSearch, testName: (id: string) => string) {
  const [first, second] = filter.names.map(name => search[name]);
  const { by } = filter;
  switch (by.kind) {
    case "choice":
      return first && (by.choices.find(({ value }) => value === first)?.label ?? first);
    case "tests":
      return first && testName(first);
    case "range":
      if (first && second) return `${number(first)} to ${number(second)} ${by.unit}`;
      if (first) return `at least ${number(first)} ${by.unit}`;
      return second && `at most ${number(second)} ${by.unit}`;
    case "time":
      return timeText(search);
    case "input":
      return first;
  }
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function timeText({ within, receivedFrom, receivedTo }: TraceSearch): string | undefined {
  const said = (at: string) => (Number.isNaN(Date.parse(at)) ? at : moment.format(new Date(at)));
  if (receivedFrom && receivedTo) return `${said(receivedFrom)} to ${said(receivedTo)}`;
  if (receivedFrom) return `since ${said(receivedFrom)}`;
  if (receivedTo) return `before ${said(receivedTo)}`;
  return within && (spansOfTime[within]?.text.toLowerCase() ?? within);
}

function number(text: string): string {
  const value = Number(text);
  return Number.isFinite(value) ? value.toLocaleString("en") : text;
}
