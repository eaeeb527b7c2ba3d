// Validates what the shape of an assertion cannot express: consistent limits, usable patterns and schemas.

import { step } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { stripInvisible } from "../strip-invisible.ts";
import type { Assertion, AssertionOf } from "./assertion.ts";
import { schemaIssues } from "./json-schema.ts";
import { argumentIssues } from "./operators.ts";
import { patternFault, unknownFlags } from "./pattern.ts";

const expectedBytesMax = 64 * 1024;

/** Paths start at the assertion, such as `.pattern`. The shape must be valid, with at most 200 levels. */
export function assertionIssues(assertion: Assertion): Issue[] {
  switch (assertion.type) {
    case "node_call":
      return rangeIssues(assertion);
    case "tool_call":
      return [
        ...rangeIssues(assertion),
        ...sizeIssues(assertion.expected_arguments, ".expected_arguments"),
        ...numberIssues(assertion.expected_arguments, ".expected_arguments"),
        ...argumentIssues(assertion.expected_arguments, ".expected_arguments"),
      ];
    case "token_limit":
      return limitIssues(assertion);
    case "response_regex":
      return patternIssues(assertion.pattern, assertion.flags ?? "");
    case "json_match":
      return [
        ...sizeIssues(assertion.expected_value, ".expected_value"),
        ...numberIssues(assertion.expected_value, ".expected_value"),
      ];
    case "json_schema":
      return [
        ...schemaIssues(assertion.schema).map(({ path, message }) => ({ path: `.schema${path}`, message })),
        ...numberIssues(assertion.schema, ".schema"),
      ];
    case "semantic":
      return [...criteriaIssues(assertion.criteria), ...restsOnIssues(assertion)];
    case "http_status":
    case "response_time":
      return [];
  }
}

/** A judge that is asked nothing would still answer. */
function criteriaIssues(criteria: string | string[]): Issue[] {
  const message = "Must not be blank.";
  if (typeof criteria === "string") return isBlank(criteria) ? [{ path: ".criteria", message }] : [];
  return criteria.flatMap((criterion, at) =>
    isBlank(criterion) ? { path: `.criteria[${at}]`, message } : [],
  );
}

function isBlank(text: string): boolean {
  return stripInvisible(text).trim() === "";
}

function restsOnIssues({ criteria, rests_on }: AssertionOf<"semantic">): Issue[] {
  const count = [criteria].flat().length;
  if (!Array.isArray(rests_on) || rests_on.length === count) return [];
  const message = `Expected one entry per criterion: ${count}, not ${rests_on.length}.`;
  return [{ path: ".rests_on", message }];
}

function rangeIssues({ min, max }: { min: number; max?: number }): Issue[] {
  if (max === undefined || max >= min) return [];
  const way = max === 0 ? ' For "never", set min to 0 as well.' : "";
  return [{ path: ".max", message: `max is smaller than min, which is ${min}.${way}` }];
}

function limitIssues(assertion: Assertion & { type: "token_limit" }): Issue[] {
  const { max_total, max_input, max_output, max_reasoning } = assertion;
  if ([max_total, max_input, max_output, max_reasoning].some(limit => limit !== undefined)) return [];
  return [{ path: "", message: "Set at least one of max_total, max_input, max_output, max_reasoning." }];
}

function patternIssues(pattern: string, flags: string): Issue[] {
  if (unknownFlags(flags).length > 0) {
    return [
      {
        path: ".flags",
        message: "Only the flags i (ignore case), m (multiline) and s (dot matches newline) are supported.",
      },
    ];
  }
  const fault = patternFault(pattern, flags);
  return fault === null ? [] : [{ path: ".pattern", message: fault }];
}

function sizeIssues(value: unknown, path: string): Issue[] {
  if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= expectedBytesMax) return [];
  return [{ path, message: `Expected at most ${expectedBytesMax / 1024} KB as JSON text.` }];
}

/** A number such as 1e999 would be stored as null. */
function numberIssues(value: unknown, path: string): Issue[] {
  if (typeof value === "number") {
    return Number.isFinite(value) ? [] : [{ path, message: "The number is too large." }];
  }
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => numberIssues(item, path + step(at)));
  return Object.entries(value).flatMap(([key, inner]) => numberIssues(inner, path + step(key)));
}
