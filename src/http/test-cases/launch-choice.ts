// Chooses the tests of a launch, and refuses those that cannot be run and launches with too many runs.
import { type Issue, Refusal } from "../../model/refusal.ts";
import { type LaunchEstimate, runsMax } from "../../model/run/launch.ts";
import { runCountOf, tooManyRuns } from "../../model/test-case/inputs.ts";
import type { RunnableTest } from "../../store/test-cases.ts";

export const testsMax = 1_000;
/** Copying that much takes 4 s; a statement ends after 15 s. */
export const inputBytesMax = 100 * 1024 * 1024;

type Choice = { testIds?: string[] | undefined; repeats?: number | undefined };

/** Each test once, in the order of `testIds`. Throws if a test cannot be run, or if there are too many runs. */
export function chooseTests(tests: RunnableTest[], { testIds, repeats }: Choice): RunnableTest[] {
  const chosen = testIds ? named(tests, testIds) : allActive(tests);
  const repeatsOf = (test: RunnableTest) => repeats ?? test.repeats ?? 1;
  const issues = chosen.flatMap((test): Issue[] => {
    const tooMany = tooManyRuns(test.inputCount, repeatsOf(test));
    return tooMany === undefined ? [] : [{ path: "repeats", message: `“${test.name}”: ${tooMany}` }];
  });
  if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { message: issues[0]!.message, issues });
  const runs = chosen.reduce((sum, test) => sum + runCountOf(test.inputCount, repeatsOf(test)), 0);
  if (runs > runsMax) {
    const message = `These tests are ${runs.toLocaleString("en-US")} runs. The limit is ${runsMax.toLocaleString("en-US")} at a time: run fewer tests, or use fewer repeats.`;
    throw new Refusal("VALIDATION_ERROR", { message, issues: [{ path: "testIds", message }] });
  }
  if (chosen.reduce((sum, test) => sum + test.inputBytes, 0) > inputBytesMax) {
    const message = "The inputs of these tests have more than 100 MB together: run fewer tests at a time.";
    throw new Refusal("VALIDATION_ERROR", { message, issues: [{ path: "testIds", message }] });
  }
  return chosen;
}

/** `repeats`: in place of the tests' own. */
export function estimateOf(tests: readonly RunnableTest[], repeats?: number): LaunchEstimate {
  const estimate: LaunchEstimate = { tests: tests.length, runs: 0, requests: 0, semanticChecks: 0 };
  for (const { inputCount, turns, assertions, ...test } of tests) {
    const runs = runCountOf(inputCount, repeats ?? test.repeats ?? 1);
    estimate.runs += runs;
    estimate.requests += runs * turns.length;
    estimate.semanticChecks += runs * assertions.filter(({ type }) => type === "semantic").length;
  }
  return estimate;
}

function allActive(tests: RunnableTest[]): RunnableTest[] {
  const active = tests.filter(test => test.status === "active");
  if (active.length > testsMax) {
    const message = `The agent has more than ${testsMax} Active tests. Pass some of them.`;
    throw new Refusal("VALIDATION_ERROR", { issues: [{ path: "testIds", message }] });
  }
  if (active.length > 0) return active;
  throw new Refusal("CONFLICT", {
    message: "This agent has no Active test case.",
    hint: "Activate one, or name the tests to run, which may be disabled.",
  });
}

function named(tests: RunnableTest[], testIds: string[]): RunnableTest[] {
  const byId = new Map(tests.map(test => [test.id, test]));
  const issues = testIds.flatMap((id, at): Issue[] => {
    const message = whyNotRunnable(byId.get(id));
    return message === undefined ? [] : [{ path: `testIds[${at}]`, message }];
  });
  if (issues.length > 0) {
    const message =
      testIds.length === 1 ? "This test case cannot be run." : "Some of these test cases cannot be run.";
    throw new Refusal("VALIDATION_ERROR", { message, issues });
  }
  return [...new Set(testIds)].map(id => byId.get(id)!);
}

function whyNotRunnable(test: RunnableTest | undefined): string | undefined {
  if (!test) return "This agent has no test case with this id.";
  if (test.turns.length === 0) return `“${test.name}” has no turns to send.`;
  if (test.assertions.length === 0) return `“${test.name}” has no assertions.`;
  return undefined;
}
