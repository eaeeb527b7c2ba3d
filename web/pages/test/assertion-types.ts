// The texts of the nine assertion types: what each checks, its rule, and the negated rule.
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";

type Words = { about: string; must: string; mustNot: string };

export const assertionTypes: Record<AssertionType, Words> = {
  semantic: {
    about: "Asks the judge whether the reply does what you describe.",
    must: "The reply must meet the criteria",
    mustNot: "The reply must not meet the criteria",
  },
  tool_call: {
    about: "Counts calls of a tool, optionally with certain arguments.",
    must: "The tool must be called",
    mustNot: "The tool must not be called",
  },
  node_call: {
    about: "Counts steps whose name contains a text (case-insensitive).",
    must: "The step must run",
    mustNot: "The step must not run",
  },
  response_regex: {
    about: "Looks for a pattern in the reply.",
    must: "The pattern must match",
    mustNot: "The pattern must not match",
  },
  json_match: {
    about: "Compares a span attribute with a value.",
    must: "The attribute must equal the value",
    mustNot: "The attribute must not equal the value",
  },
  json_schema: {
    about: "Validates a span attribute, parsed as JSON, against a schema.",
    must: "The attribute must match the schema",
    mustNot: "The attribute must not match the schema",
  },
  http_status: {
    about: "Checks the HTTP status that the trace ended with.",
    must: "The status must be one of these",
    mustNot: "The status must not be one of these",
  },
  response_time: {
    about: "Limits how long the trace may take.",
    must: "The trace must take at most this long",
    mustNot: "The trace must take longer than this",
  },
  token_limit: {
    about: "Limits the tokens that a trace may use.",
    must: "Token use must stay within the limits",
    mustNot: "Token use must exceed a limit",
  },
};

export function isAssertionType(type: unknown): type is AssertionType {
  return typeof type === "string" && Object.hasOwn(assertionTypes, type);
}
