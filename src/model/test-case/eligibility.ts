// Eligibility: which tests evaluate incoming traces automatically.

/** Why a test does not evaluate incoming traces. */
import type { TestCaseDocument } from "./document.ts";
export const ineligibilities = ["disabled", "manual_only", "multi_turn"] as const;
export type Ineligibility = (typeof ineligibilities)[number];

type Deciding = Pick<TestCaseDocument, "status" | "passiveBehavior" | "turns">;

/** Null if the test evaluates incoming traces. `eligibleSql` in the store is the same rule as SQL. */
export function whyNotEligible(test: Deciding): Ineligibility | null {
  if (test.status !== "active") return "disabled";
  if (test.passiveBehavior === "manual_only") return "manual_only";
  return test.turns.length === 1 ? null : "multi_turn";
}

/** Whether the judge decides by the scenario, for each trace, if the test runs. */
export function isScenarioMatched(test: Deciding): boolean {
  return whyNotEligible(test) === null && test.passiveBehavior === "run_when_relevant";
}
