// Eligibility: which tests evaluate incoming traces without anybody running them.
import type { TestCaseDocument } from "./test-case.ts";

/** Why a test does not evaluate incoming traces. */
export const ineligibilities = ["disabled", "manual_only", "multi_turn"] as const;
export type Ineligibility = (typeof ineligibilities)[number];

type Deciding = Pick<TestCaseDocument, "status" | "passiveBehavior" | "turns">;

/** Null where the test evaluates incoming traces. `eligibleSql` in the store is the same rule over columns. */
export function whyNotEligible(test: Deciding): Ineligibility | null {
  if (test.status !== "active") return "disabled";
  if (test.passiveBehavior === "manual_only") return "manual_only";
  return test.turns.length === 1 ? null : "multi_turn";
}

/** Whether the judge decides for each trace, by the scenario, if the test runs. */
export function isScenarioMatched(test: Deciding): boolean {
  return whyNotEligible(test) === null && test.passiveBehavior === "run_when_relevant";
}
