// Chooses the tests with which a trace is evaluated again: those of its last evaluation, in the versions used then.
import type { TestCase } from "../test-case/document.ts";
import type { Applicability, Result } from "./run.ts";

/** Why a trace is not evaluated again. */
export const againRefusals = [
  "not_found",
  "test_run",
  "in_progress",
  "never_evaluated",
  "tests_deleted",
  "content_not_stored",
] as const;
export type AgainRefusal = (typeof againRefusals)[number];

/** Of the last completed run. `plan`: its tests, kept if the judge was unavailable. */
export type LastEvaluation = {
  agentId: string;
  results: Result[];
  tests: Applicability[];
  plan?: TestCase[];
};

const leftOut = new Set<Applicability["why"]>(["no_user_input", "routing_unavailable"]);

/**
 * A plan that the judge's outage left unfinished is finished as it is, as for all such traces of an agent. Otherwise deleted
 * tests are left out; results have their test as it was. Tests that were left out because there was no user input or no judge
 * count as used; their version is not stored, so the current one is taken. `current`: the agent's tests by id.
 */
export function testsAgain(
  { agentId, results, tests, plan }: LastEvaluation,
  current: ReadonlyMap<string, TestCase>,
): { used: number; tests: TestCase[] } {
  if (plan) return { used: plan.length, tests: plan };
  const used = [
    ...results.map(({ testId }) => testId),
    ...tests.filter(({ why }) => leftOut.has(why)).map(({ testId }) => testId),
  ];
  const known = new Map(
    results.map(({ testId, test, testVersion }) => {
      const version = testVersion ?? current.get(testId)?.version ?? 1;
      return [testId, { ...test, id: testId, agentId, version }] as const;
    }),
  );
  const existing = used.filter(id => current.has(id));
  return { used: used.length, tests: existing.map(id => known.get(id) ?? current.get(id)!) };
}
