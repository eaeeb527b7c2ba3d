// The rows of the list of test cases: which are shown and in which order, as the address says.
import type { TestInsights } from "../../../src/http/projects/insights-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { Counts, Outcome } from "../../../src/model/run/run.ts";
import type { PassiveBehavior } from "../../../src/model/test-case/test-case.ts";
import { sumOf } from "../../queries/test-insights.ts";

export type Row = {
  test: ListedTest;
  /** Undefined: not read yet. */
  insights: TestInsights | undefined;
  /** Null: it has judged nothing yet. */
  last: Last | null;
  /** Of thirty days. */
  counts: Counts;
  /** passed / (passed + failed) of thirty days; null where nothing counted. */
  rate: number | null;
};

/** The last verdict on a real conversation; of a test that never judged any, that of its last manual run. */
export type Last = { outcome: Outcome; at: string; manual: boolean };

/** What of it the address holds; a value of no meaning counts as absent. */
export type Wanted = Partial<Record<"text" | "status" | "behavior" | "last" | "sort", string | undefined>>;

/** What takes every filter back. */
export const unfiltered: Wanted = {
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
    return { test, insights: of, last: of ? lastOf(of) : null, counts, rate };
  });
}

function lastOf({ lastOutcome, lastRunAt, lastManualOutcome, lastManualRunAt }: TestInsights): Last | null {
  if (lastOutcome && lastRunAt) return { outcome: lastOutcome, at: lastRunAt, manual: false };
  if (lastManualOutcome && lastManualRunAt) {
    return { outcome: lastManualOutcome, at: lastManualRunAt, manual: true };
  }
  return null;
}

/** What it is in effect: with several turns a test runs manually only, whatever it is set to. */
export function behaviorOf({ turns, passiveBehavior }: ListedTest): PassiveBehavior {
  return turns.length > 1 ? "manual_only" : passiveBehavior;
}

export function shownRows(rows: readonly Row[], wanted: Wanted): Row[] {
  const { text = "", status, behavior, last: outcome } = wanted;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(({ test, last }) => {
    const said = `${test.name}\n${test.scenario}`.toLowerCase();
    return (
      words.every(word => said.includes(word)) &&
      (status === undefined || test.status === status) &&
      (behavior === undefined || behaviorOf(test) === behavior) &&
      (outcome === undefined || (last?.outcome ?? "none") === outcome)
    );
  });
  return sorted(shown, sortOf(wanted));
}

export function sortOf({ sort }: Wanted): Sort {
  return sort !== undefined && Object.hasOwn(sorts, sort) ? (sort as Sort) : "newest";
}

/** What has no verdict or no rate comes last either way; equals stay newest first. */
function sorted(rows: Row[], sort: Sort): Row[] {
  const way = sort.startsWith("-") ? -1 : 1;
  const rankOf = ({ last, rate }: Row) => {
    if (sort.endsWith("rate")) return rate;
    return last ? severity[last.outcome] : null;
  };
  switch (sort) {
    case "newest":
      return rows;
    case "name":
    case "-name":
      return rows.toSorted((one, other) => way * collator.compare(one.test.name, other.test.name));
    default:
      return rows.toSorted((one, other) => {
        const [a, b] = [rankOf(one), rankOf(other)];
        if (a === null || b === null) return Number(a === null) - Number(b === null);
        return way * (a - b);
      });
  }
}
