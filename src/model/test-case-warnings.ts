// What can be saved as a test case and may still not do what its author meant.
import type { Assertion } from "./assertion.ts";
import { compilePattern } from "./pattern.ts";
import type { Issue } from "./refusal.ts";
import { isThreshold, readinessIssues, type TestCaseDocument } from "./test-case.ts";

/** Warnings about a document that is valid; paths as in the issues of one that is not. */
export function testCaseWarnings(document: TestCaseDocument): Issue[] {
  const warnings: Issue[] = [];
  if (!isThreshold(document.threshold)) warnings.push({ path: "threshold", message: unusableThreshold });
  if (document.turns.length > 1 && document.passiveBehavior !== "manual_only") {
    warnings.push({
      path: "turns",
      message:
        "With several turns the test runs manually only: real conversations are judged by a single one.",
    });
  }
  if (document.status === "disabled") warnings.push(...readinessIssues(document));
  const ofAssertions = document.assertions.flatMap((assertion, at) =>
    assertionWarnings(assertion).map(({ path, message }) => ({ path: `assertions[${at}]${path}`, message })),
  );
  return [...warnings, ...ofAssertions];
}

const unusableThreshold = "Not a number from 0 to 1: semantic checks that go by this threshold are skipped.";

function assertionWarnings(assertion: Assertion): Issue[] {
  const comesTo = assertion.negate ? "never passes" : "always passes";
  switch (assertion.type) {
    case "semantic":
      return !Object.hasOwn(assertion, "threshold") || isThreshold(assertion.threshold)
        ? []
        : [{ path: ".threshold", message: unusableThreshold }];
    case "node_call":
    case "tool_call":
      return assertion.min > 0 || assertion.max !== undefined
        ? []
        : [{ path: ".min", message: `Any number fits 0 and no max, so this ${comesTo}.` }];
    case "response_regex":
      return compilePattern(assertion.pattern, assertion.flags).occursIn("")
        ? [{ path: ".pattern", message: `This pattern occurs in every text, so this ${comesTo}.` }]
        : [];
    default:
      return [];
  }
}
