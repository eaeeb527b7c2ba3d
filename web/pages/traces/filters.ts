// The filters of the list of traces: labels, choices, and the text of an active filter.
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { momentText, numberText } from "../../format.ts";
import { checkTypes, outcomes, resultStates, routings, runStates, tracePaths } from "../../labels.ts";
import {
  searchesSpans,
  spansOfTime,
  type TraceSearch,
  type TraceSearchName,
} from "../../queries/trace-search.ts";
import { unknownValueText } from "../../unknown-value.ts";

type Choice = { value: string; label: string };

/** Where the names come from that an input suggests. */
export type Suggested = "tools" | "models" | "providers" | "redacted" | "spans" | "attributes";

export type FilterInput = {
  name: TraceSearchName;
  label: string;
  type: "text" | "number" | "datetime-local";
  required?: boolean;
  min?: number;
  step?: string;
  maxLength?: number;
  suggested?: Suggested;
  hint?: string;
};

export type Filter = {
  label: string;
  /** Its query parameters. */
  names: readonly TraceSearchName[];
  /** `test`: one of the agent's test cases, with an outcome and a version. `key`: a key, with a value. */
  by:
    | { kind: "choice"; choices: readonly Choice[] }
    | { kind: "test" }
    | { kind: "range"; unit: string }
    | { kind: "time" }
    | { kind: "input" }
    | { kind: "key" };
  /** The fields of its form, if it has one. */
  inputs?: readonly FilterInput[];
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
  [min, max]: readonly [TraceSearchName, TraceSearchName],
  unit: string,
  step: string,
): Filter => ({
  ...{ label, names: [min, max], by: { kind: "range", unit } },
  inputs: [
    { name: min, label: `At least (${unit})`, type: "number", step },
    { name: max, label: `At most (${unit})`, type: "number", step },
  ],
});

export const timeInputs: readonly FilterInput[] = [
  { name: "receivedFrom", label: "From", type: "datetime-local", step: "any" },
  { name: "receivedTo", label: "Before", type: "datetime-local", step: "any" },
];

/** The longest name, key and value that the API takes. */
const nameMax = 500;
const idMax = 10_000;

const input = (label: string, name: TraceSearchName, more: Partial<FilterInput> = {}): Filter => ({
  ...{ label, names: [name], by: { kind: "input" } },
  inputs: [{ name, label, type: "text", ...more }],
});

const keyed = (
  label: string,
  [key, value]: readonly [TraceSearchName, TraceSearchName],
  more: Partial<FilterInput>,
): Filter => ({
  ...{ label, names: [key, value], by: { kind: "key" } },
  inputs: [
    { name: key, label: "Key", type: "text", required: true, maxLength: nameMax, ...more },
    {
      ...{ name: value, label: "Value (optional)", type: "text", maxLength: nameMax },
      hint: "The whole value. Leave it empty to find any value.",
    },
  ],
});

type Group = { label: string; filters: readonly Filter[] };

export const filterGroups: readonly Group[] = [
  {
    label: "Results",
    filters: [
      choice("Verdict", "verdict", [...choicesOf(outcomes), { value: "none", label: "No test applied" }]),
      { label: "Test case", names: ["testId", "testOutcome", "testVersion"], by: { kind: "test" } },
      choice("Check type", "checkType", choicesOf(checkTypes)),
      choice("Evaluation", "state", choicesOf(runStates)),
      choice("Failures", "resultState", choicesOf(resultStates)),
      choice("Routing", "routing", choicesOf(routings)),
      choice("Judge", "outage", [{ value: "true", label: "Unavailable" }]),
      choice("Fully evaluated", "fullyEvaluated", [
        { value: "true", label: "Yes" },
        { value: "false", label: "No" },
      ]),
    ],
  },
  {
    label: "Searched in spans (slower)",
    filters: [
      input("Span name", "spanName", {
        suggested: "spans",
        maxLength: nameMax,
        hint: "Part of the name, ignoring case.",
      }),
      keyed("Attribute", ["attribute", "attributeValue"], {
        suggested: "attributes",
        hint: "The whole key, of a span or a resource.",
      }),
      keyed("Metadata", ["metadata", "metadataValue"], { hint: "The whole key, or a path such as a.b." }),
    ],
  },
  {
    label: "Trace",
    filters: [
      { label: "Received", names: ["within", "receivedFrom", "receivedTo"], by: { kind: "time" } },
      range("Duration", ["durationMinMs", "durationMaxMs"], "ms", "any"),
      range("Tokens", ["tokensMin", "tokensMax"], "tokens", "1"),
      input("Tool", "tool", { suggested: "tools", maxLength: nameMax, hint: "The whole name." }),
      input("Model", "model", { suggested: "models", maxLength: nameMax, hint: "The whole name." }),
      input("Provider", "provider", {
        suggested: "providers",
        maxLength: nameMax,
        hint: "The whole name, as traces send it.",
      }),
      input("Redacted", "redacted", {
        suggested: "redacted",
        maxLength: 100,
        hint: "The name of a privacy rule.",
      }),
      choice("Noise", "noise", [{ value: "true", label: "Shown" }]),
      choice("Failed spans", "failed", [
        { value: "true", label: "Yes" },
        { value: "false", label: "No" },
      ]),
      input("HTTP status", "httpStatus", { type: "number", min: 100, step: "1" }),
      choice("Path", "path", choicesOf(tracePaths)),
      input("External ID", "externalId"),
      input("Conversation ID", "conversationId", { maxLength: idMax, hint: "The whole ID." }),
      input("User ID", "userId", { maxLength: idMax, hint: "The whole ID." }),
    ],
  },
];

const filters = filterGroups.flatMap(group => group.filters);

/** Whether anything filters, the text included. Tab and order are no filters. */
export function isFiltered({ kind: _, order: __, ...search }: TraceSearch): boolean {
  return Object.values(search).some(Boolean);
}

/** Removes this filter, or all. Tab and order stay. */
export function without(search: TraceSearch, filter?: Filter): TraceSearch {
  if (!filter) return { kind: search.kind, order: search.order };
  const removed = Object.fromEntries(filter.names.map(name => [name, undefined]));
  return { ...search, ...removed };
}

/** With this filter set to these values. Lists that search spans have no order by duration or tokens. */
export function withFilter(search: TraceSearch, filter: Filter, values: TraceSearch): TraceSearch {
  const next = { ...without(search, filter), ...values };
  const { order = "newest" } = next;
  return searchesSpans(next) && !isTimeOrder(order) ? { ...next, order: undefined } : next;
}

export function isTimeOrder(order: string): boolean {
  return order === "newest" || order === "oldest";
}

/**
 * A failed trace on which a test has a result need not be one that this test failed: the search by the test's outcome
 * instead. Undefined if these filters are not set.
 */
export function withTestOutcome(search: TraceSearch): TraceSearch | undefined {
  const { testId, testOutcome, verdict } = search;
  if (!testId || testOutcome || !verdict || !Object.hasOwn(outcomes, verdict)) return undefined;
  return { ...search, verdict: undefined, testOutcome: verdict };
}

type TestName = (id: string) => string;

/** `end` follows the text, and is still shown where a long text is cut. */
type ActiveFilter = { filter: Filter; text: string; end: string };

/** The filters that are set, each with its value as text. */
export function activeFilters(search: TraceSearch, testName: TestName): ActiveFilter[] {
  return filters.flatMap(filter => {
    const text = textOf(filter, search, testName);
    return text ? [{ filter, text, end: filter.by.kind === "test" ? testEnd(search) : "" }] : [];
  });
}

/** Undefined if the filter is not set. */
function textOf({ names, by }: Filter, search: TraceSearch, testName: TestName): string | undefined {
  const [first, second] = names.map(name => search[name]);
  switch (by.kind) {
    case "choice":
      return first && (by.choices.find(({ value }) => value === first)?.label ?? first);
    case "test":
      return first && testName(first);
    case "range":
      if (first && second) return `${valueText(first)} to ${valueText(second)} ${by.unit}`;
      if (first) return `at least ${valueText(first)} ${by.unit}`;
      return second && `at most ${valueText(second)} ${by.unit}`;
    case "time":
      return timeText(search);
    case "input":
      return first;
    case "key":
      return first && (second ? `${first} = ${second}` : first);
  }
}

/** What is wrong with the values of two inputs that are a range: the first is above the second. */
export function rangeFault(
  inputs: readonly FilterInput[],
  [from, to]: readonly (string | undefined)[],
): string | undefined {
  const [first, second] = inputs;
  if (!from || !to || !first || second?.type !== first.type) return undefined;
  if (first.type === "number" && Number(from) > Number(to)) return "Must not be less than the minimum.";
  // The time of the second is not part of the range.
  const isEmpty = first.type === "datetime-local" && Date.parse(from) >= Date.parse(to);
  return isEmpty ? "Must be later than “From”." : undefined;
}

/** Why no trace can match: the ranges that are empty, by their filters' labels. */
export function emptyRanges(search: TraceSearch): string[] {
  return filters.flatMap(filter => emptyRange(filter, search) ?? []);
}

function emptyRange(
  { label, by, inputs = by.kind === "time" ? timeInputs : [] }: Filter,
  search: TraceSearch,
): string | undefined {
  const fault = rangeFault(
    inputs,
    inputs.map(({ name }) => search[name]),
  );
  if (fault === undefined) return undefined;
  const why =
    by.kind === "time" ? "“Before” must be later than “From”." : "The maximum is less than the minimum.";
  return `${label}: ${why}`;
}

/** What is wrong with a filter of the URL that the API refused, by the filter's label. */
export function invalidText(
  search: TraceSearch,
  { path, message }: { path: string; message: string },
): string {
  const name = path as TraceSearchName;
  const filter = filters.find(({ names }) => names.includes(name));
  if (!filter) return `${path}: ${message}`;
  const reversed = filter.by.kind === "time" ? emptyRange(filter, search) : undefined;
  if (reversed !== undefined) return reversed;
  return filter.by.kind === "choice" && search[name]
    ? unknownValueText(filter.label, search[name])
    : `${filter.label}: ${message}`;
}

/** What follows the name of the test: " failed, version 3". */
export function testEnd({ testOutcome, testVersion }: TraceSearch): string {
  const outcome = testOutcome ? ` ${outcomeText(testOutcome)}` : "";
  return testVersion ? `${outcome}, version ${testVersion}` : outcome;
}

function outcomeText(outcome: string): string {
  return Object.hasOwn(outcomes, outcome) ? outcomes[outcome as Outcome].text.toLowerCase() : outcome;
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
