// Warnings about valid test cases that may not do what their author meant.

import type { Issue } from "../refusal.ts";
import type { Assertion, AssertionOf } from "./assertion.ts";
import { wordingWarnings } from "./criterion-warnings.ts";
import type { TestCaseDocument } from "./document.ts";
import { compilePattern } from "./pattern.ts";
import { asciiWarning } from "./pattern-ascii.ts";
import { patternsOf } from "./pattern-cost.ts";
import { searchedPattern } from "./pattern-invisible.ts";
import { schemaWarnings } from "./schema-warnings.ts";
import { isThreshold, readinessIssues } from "./test-case.ts";

/** Warnings about a valid document, with paths like those of validation issues. */
export function testCaseWarnings(document: TestCaseDocument): Issue[] {
  const warnings: Issue[] = [];
  if (!isThreshold(document.threshold)) warnings.push({ path: "threshold", message: unusableThreshold });
  if (document.threshold === 0 && document.assertions.some(goesByTest)) {
    warnings.push({ path: "threshold", message: unmissable });
  }
  if (document.turns.length > 1 && document.passiveBehavior !== "manual_only") {
    warnings.push({
      path: "turns",
      message: "With several turns the test is limited to manual runs: live traces have a single turn.",
    });
  }
  if (document.status === "disabled") warnings.push(...readinessIssues(document));
  const ofAssertions = document.assertions.flatMap((assertion, at) =>
    [...assertionWarnings(assertion), ...patternWarnings(assertion)].map(({ path, message }) => ({
      path: `assertions[${at}]${path}`,
      message,
    })),
  );
  return [...warnings, ...ofAssertions];
}

const unusableThreshold = "Not a number from 0 to 1: semantic checks with this threshold are skipped.";

const unmissable = "Every score reaches 0, so semantic checks with this threshold always come out the same.";

function goesByTest(assertion: Assertion): boolean {
  return assertion.type === "semantic" && !Object.hasOwn(assertion, "threshold");
}

function assertionWarnings(assertion: Assertion): Issue[] {
  const comesTo = assertion.negate ? "never passes" : "always passes";
  switch (assertion.type) {
    case "semantic":
      return semanticWarnings(assertion, comesTo);
    case "node_call":
    case "tool_call":
      return assertion.min > 0 || assertion.max !== undefined
        ? []
        : [{ path: ".min", message: `Any number is at least 0 and there is no max, so this ${comesTo}.` }];
    case "response_regex":
      return [
        ...matchWarnings(assertion),
        ...(compilePattern(searchedPattern(assertion.pattern).source, assertion.flags).occursIn("")
          ? [{ path: ".pattern", message: `This pattern matches every text, so this ${comesTo}.` }]
          : []),
      ];
    case "json_schema":
      return schemaWarnings(assertion.schema).map(({ path, message }) => ({
        path: `.schema${path}`,
        message,
      }));
    default:
      return [];
  }
}

function patternWarnings(assertion: Assertion): Issue[] {
  return patternsOf(assertion, "").flatMap(({ path, pattern }) => {
    const message = asciiWarning(pattern);
    return message === undefined ? [] : [{ path, message }];
  });
}

function matchWarnings({ match, target_node }: AssertionOf<"response_regex" | "semantic">): Issue[] {
  if (match === undefined || target_node !== undefined) return [];
  return [
    { path: ".match", message: "Without target_node only the reply is checked, so this has no effect." },
  ];
}

function semanticWarnings(assertion: AssertionOf<"semantic">, comesTo: string): Issue[] {
  const { criteria, negate, threshold } = assertion;
  const warnings = matchWarnings(assertion);
  if (Object.hasOwn(assertion, "threshold") && !isThreshold(threshold)) {
    warnings.push({ path: ".threshold", message: unusableThreshold });
  }
  if (threshold === 0) {
    warnings.push({ path: ".threshold", message: `Every score reaches 0, so this ${comesTo}.` });
  }
  const list = [criteria].flat();
  for (const [at, criterion] of list.entries()) {
    const path = Array.isArray(criteria) ? `.criteria[${at}]` : ".criteria";
    warnings.push(...wordingWarnings(criterion, negate).map(message => ({ path, message })));
  }
  const said = list.map(criterion => criterion.trim().toLowerCase());
  const again = said.findIndex((text, at) => said.indexOf(text) < at);
  if (again > 0) {
    const message = "This repeats an earlier criterion, which then counts twice.";
    warnings.push({ path: `.criteria[${again}]`, message });
  }
  return warnings;
}
