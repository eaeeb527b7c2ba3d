// The filters of a test's results as read from the URL. What cannot be used is named, and ignored.
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { instantOf, type Within } from "../../instant.ts";
import { noTimeText, unknownValueText } from "../../unknown-value.ts";

export type ResultsSearch = {
  kind?: string | undefined;
  outcome?: string | undefined;
  fullyEvaluated?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

/** In the order of their tabs. */
export const resultOutcomes: readonly Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];

const flags = ["true", "false"] as const;

export type ResultFilters = {
  /** Test runs, which have no filters. */
  isManual: boolean;
  outcome: Outcome | undefined;
  fullyEvaluated: "true" | "false" | undefined;
  period: Within | undefined;
};

export function filtersOf({ kind, outcome, fullyEvaluated, from, to }: ResultsSearch): ResultFilters {
  const isManual = kind === "manual";
  return {
    isManual,
    outcome: isManual ? undefined : resultOutcomes.find(one => one === outcome),
    fullyEvaluated: isManual ? undefined : flags.find(one => one === fullyEvaluated),
    period: isManual ? undefined : periodOf(instantOf(from), instantOf(to)),
  };
}

/** What is wrong with the URL: values that the page does not know, or does not use. */
export function faultsOf(search: ResultsSearch): string[] {
  const { kind, outcome, fullyEvaluated } = search;
  const { isManual, ...filters } = filtersOf(search);
  const times = (["from", "to"] as const).map(name => ({ label: timeLabels[name], value: search[name] }));
  if (isManual) {
    const given = [
      { label: "Outcome", value: outcome },
      { label: "Fully evaluated", value: fullyEvaluated },
      ...times,
    ].filter(({ value }) => value);
    return given.map(({ label }) => `${label}: not available for test runs.`);
  }
  const noTimes = times.flatMap(({ label, value }) =>
    value && instantOf(value) === undefined ? [noTimeText(label, value)] : [],
  );
  const isEmpty = filters.period === undefined && times.every(({ value }) => instantOf(value) !== undefined);
  return [
    ...(kind ? [unknownValueText("Kind", kind)] : []),
    ...(outcome && filters.outcome === undefined ? [unknownValueText("Outcome", outcome)] : []),
    ...(fullyEvaluated && filters.fullyEvaluated === undefined
      ? [unknownValueText("Fully evaluated", fullyEvaluated)]
      : []),
    ...noTimes,
    ...(isEmpty ? ["To: must be later than “From”."] : []),
  ];
}

const timeLabels = { from: "From", to: "To" };

/** Undefined without a time, or if the period is empty. */
function periodOf(from: string | undefined, to: string | undefined): Within | undefined {
  if (from === undefined) return to === undefined ? undefined : { to };
  if (to === undefined) return { from };
  return Date.parse(from) < Date.parse(to) ? { from, to } : undefined;
}
