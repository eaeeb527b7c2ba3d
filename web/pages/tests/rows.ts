// Filters and sorts the rows of the test case list by the URL parameters.

import type { TestInsights } from "../../../src/http/projects/insights-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { Counts, Outcome } from "../../../src/model/run/outcome.ts";
import type { PassiveBehavior } from "../../../src/model/test-case/document.ts";
import { sumOf, sumOfOthers } from "../../queries/test-insights.ts";

export type Row = {
  test: ListedTest;
  /** Undefined while loading. */
  insights: TestInsights | undefined;
  /** Null: never evaluated. */
  last: Last | null;
  /** The last 30 days. */
  counts: Counts;
  /** Those of them that are not fully evaluated. */
  others: number;
  /** passed / (passed + failed) in the last 30 days; null without either. */
  rate: number | null;
};

/** The last verdict on a live trace; if there is none, the verdict of the last test run. */
export type Last = {
  outcome: Outcome;
  at: string;
  manual: boolean;
  /** Of a manual run with inputs or repeats. */
  passRate: TestInsights["lastManualPassRate"];
  fullyEvaluated: boolean | null;
};

/** URL parameters of the list; invalid values count as absent. */
export type ListFilters = Partial<
  Record<"text" | "status" | "behavior" | "last" | "sort", string | undefined>
>;

/** Clears every filter. */
export const noFilters: ListFilters = {
  text: undefined,
  status: undefined,
  behavior: undefined,
  last: undefined,
};

export const sorts = {
  newest: "Newest first",
  name: "Name, A to Z",
  "-name": "Name, Z to A",
  last: "Last verdict, worst first",
  "-last": "Last verdict, best first",
  rate: "Pass rate, lowest first",
  "-rate": "Pass rate, highest first",
} as const;
export type Sort = keyof typeof sorts;

const severity: Record<Outcome, number> = { failed: 0, missing_instrumentation: 1, skipped: 2, passed: 3 };
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export function rowsOf(tests: readonly ListedTest[], insights: readonly TestInsights[]): Row[] {
  const known = new Map(insights.map(of => [of.id, of]));
  return tests.map(test => {
    const of = known.get(test.id);
    const counts = sumOf(of?.days ?? []);
    const counting = counts.passed + counts.failed;
    const rate = counting === 0 ? null : counts.passed / counting;
    return {
      test,
      insights: of,
      last: of ? lastOf(of) : null,
      counts,
      others: sumOfOthers(of?.days ?? []),
      rate,
    };
  });
}

function lastOf(of: TestInsights): Last | null {
  const { lastOutcome, lastRunAt, lastManualOutcome, lastManualRunAt, lastManualPassRate: passRate } = of;
  if (lastOutcome && lastRunAt) {
    const fullyEvaluated = of.lastFullyEvaluated;
    return { outcome: lastOutcome, at: lastRunAt, manual: false, passRate: null, fullyEvaluated };
  }
  const fullyEvaluated = of.lastManualFullyEvaluated;
  if (!lastManualOutcome || !lastManualRunAt) return null;
  return { outcome: lastManualOutcome, at: lastManualRunAt, manual: true, passRate, fullyEvaluated };
}

/** The effective behavior: a test with several turns runs manually only. */
export function behaviorOf({ turns, passiveBehavior }: ListedTest): PassiveBehavior {
  return turns.length > 1 ? "manual_only" : passiveBehavior;
}

export function shownRows(rows: readonly Row[], filters: ListFilters): Row[] {
  const { text = "", status, behavior, last: outcome } = filters;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(({ test, insights, last }) => {
    const searched = `${test.name}\n${test.scenario}`.toLowerCase();
    return (
      words.every(word => searched.includes(word)) &&
      (status === undefined || test.status === status) &&
      (behavior === undefined || behaviorOf(test) === behavior) &&
      (outcome === undefined ||
        (outcome === "failing" ? insights?.failing != null : (last?.outcome ?? "none") === outcome))
    );
  });
  return sorted(shown, sortOf(filters));
}

export function sortOf({ sort }: ListFilters): Sort {
  return sort !== undefined && Object.hasOwn(sorts, sort) ? (sort as Sort) : "newest";
}

/** Tests without a verdict or rate come last in both directions; equal ones stay newest first. */
function sorted(rows: Row[], sort: Sort): Row[] {
  const direction = sort.startsWith("-") ? -1 : 1;
  const rankOf = ({ last, rate }: Row) => {
    if (sort.endsWith("rate")) return rate;
    return last ? severity[last.outcome] : null;
  };
  switch (sort) {
    case "newest":
      return rows;
    case "name":
    case "-name":
      return rows.toSorted((one, other) => direction * collator.compare(one.test.name, other.test.name));
    default:
      return rows.toSorted((one, other) => {
        const [a, b] = [rankOf(one), rankOf(other)];
        if (a === null || b === null) return Number(a === null) - Number(b === null);
        return direction * (a - b);
      });
  }
}
