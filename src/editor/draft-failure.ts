// Assertions that a failed trace should fail, for tests drafted from it: a draft must not expect the failure.

import { isDeepStrictEqual } from "node:util";
import type { Result } from "../model/run/run.ts";
import type { Assertion, AssertionInput } from "../model/test-case/assertion.ts";
import { isThreshold } from "../model/test-case/test-case.ts";
import type { Derived } from "../model/trace/trace.ts";

const failedChecksMax = 20;

/** Whether the trace broke: an error status of a span, or of HTTP. */
export function isBroken({ failed, httpStatus }: Derived): boolean {
  return failed || isErrorStatus(httpStatus?.value);
}

export function isErrorStatus(status: number | undefined): status is number {
  return status !== undefined && status >= 400;
}

/** Not the status of this trace alone: another 5xx is the same failure. */
export function noSuchStatus(status: number): AssertionInput {
  return { type: "http_status", expected_status: `${Math.floor(status / 100)}xx`, negate: true };
}

/** What the trace itself shows to be wrong. */
export function brokenAssertions(derived: Derived): AssertionInput[] {
  const status = derived.httpStatus?.value;
  return [
    ...(isErrorStatus(status) && status < 600 ? [noSuchStatus(status)] : []),
    ...(derived.failed && derived.judgedText === null
      ? [{ type: "response_regex" as const, pattern: "\\S", description: "The reply is not empty." }]
      : []),
  ];
}

/** The checks that failed, as they were evaluated, each once: without dependencies on others and without turns. */
export function failedAssertions(results: readonly Result[]): AssertionInput[] {
  const found: AssertionInput[] = [];
  for (const { test, checks } of results) {
    const failed = new Set(checks.filter(({ outcome }) => outcome === "failed").map(({ id }) => id));
    for (const assertion of test.assertions.filter(({ id }) => failed.has(id))) {
      const one = independent(assertion, test.threshold);
      if (!found.some(other => isDeepStrictEqual(other, one))) found.push(one);
    }
  }
  return found.slice(0, failedChecksMax);
}

function independent(assertion: Assertion, ofTest: unknown): AssertionInput {
  const { id: _, turn: __, depends_on: ___, negate, ...rest } = assertion;
  // Without it, the strictness of the new test would count.
  const threshold =
    rest.type === "semantic" && rest.threshold === undefined && isThreshold(ofTest) && ofTest !== 0.7
      ? { threshold: ofTest }
      : {};
  return { ...rest, ...threshold, ...(negate && { negate }) } as AssertionInput;
}

/** Whether both are about the same thing, so that what was seen of it is what failed. */
export function isSameSubject(one: AssertionInput, other: AssertionInput): boolean {
  return one.type === other.type && subjectOf(one) === subjectOf(other);
}

function subjectOf(assertion: AssertionInput): string {
  switch (assertion.type) {
    case "tool_call":
    case "node_call":
      return assertion.expected_name.toLowerCase();
    case "json_match":
    case "json_schema":
      return JSON.stringify([assertion.target_node.toLowerCase(), assertion.field]);
    case "response_regex":
    case "semantic":
      return JSON.stringify(assertion);
    case "http_status":
    case "response_time":
    case "token_limit":
      return "";
  }
}
