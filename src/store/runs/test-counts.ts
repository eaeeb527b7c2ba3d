// Counts the results of runs by hour, test, version and check.
import type { Counts, Outcome, Tally } from "../../model/run/outcome.ts";
import type { TestChanges } from "./asked-for.ts";
import type { Outcomes } from "./completed-run.ts";

/** `hour`: in which it was created. */
type RunOfTests = { agentId: string; hour: Date; verdict: Pick<Outcomes, "results"> } & TestChanges;

/** What runs counted in an hour for one of their tests; without `ran`, only of runs before them. */
type OfTest = {
  agentId: string;
  testId: string;
  hour: Date;
  counts: Tally;
  lastOutcome: Outcome;
  lastFullyEvaluated: boolean;
  ran: boolean;
  versions: Map<number, Tally & { ran: boolean }>;
  /** By version of the test; 0: not known. */
  checks: Map<number, Map<string, Counts>>;
};

// By hour first: a text of both for each result would take longer than counting it.
type Hours = Map<number, Map<string, OfTest>>;

export function testsOf(runs: RunOfTests[]): OfTest[] {
  const hours: Hours = new Map();
  for (const { agentId, hour, verdict, countsTests, before } of runs) {
    if (before) addResults(hours, { agentId, hour: before.hour }, before.results, before.by, false);
    if (countsTests) addResults(hours, { agentId, hour }, verdict.results, 1, true);
  }
  return [...hours.values()].flatMap(tests => [...tests.values()]);
}

function addResults(
  hours: Hours,
  { agentId, hour }: Pick<RunOfTests, "agentId" | "hour">,
  results: Outcomes["results"],
  by: 1 | -1,
  ran: boolean,
): void {
  const tests = entry(hours, hour.getTime(), () => new Map<string, OfTest>());
  for (const { testId, testVersion, outcome, fullyEvaluated, checks } of results) {
    const test = entry(tests, testId, () => ({
      ...{ agentId, testId, hour, counts: { ...nothing } },
      ...{ lastOutcome: outcome, lastFullyEvaluated: fullyEvaluated, ran },
      versions: new Map(),
      checks: new Map(),
    }));
    const counted = countedAs(outcome, fullyEvaluated);
    test.counts[counted] += by;
    if (ran) Object.assign(test, { lastOutcome: outcome, lastFullyEvaluated: fullyEvaluated });
    test.ran ||= ran;
    if (typeof testVersion === "number") {
      const version = entry(test.versions, testVersion, () => ({ ...nothing, ran }));
      version[counted] += by;
      version.ran ||= ran;
    }
    const ofVersion = entry(test.checks, testVersion ?? 0, () => new Map<string, Counts>());
    for (const { id, outcome } of checks) entry(ofVersion, id, zero)[outcome] += by;
  }
}

/** What counts a verdict or a result. */
export function countedAs(outcome: Outcome, fullyEvaluated: boolean): keyof Tally {
  return fullyEvaluated ? outcome : "not_fully_evaluated";
}

const zero = (): Counts => ({ passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 });

export const nothing: Tally = { ...zero(), not_fully_evaluated: 0 };

export function entry<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known) return known;
  const made = make();
  map.set(key, made);
  return made;
}
