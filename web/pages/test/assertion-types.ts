// The nine types of assertion in words: what each checks, and its rule, straight and turned round.
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";

type Words = { about: string; must: string; mustNot: string };

export const assertionTypes: Record<AssertionType, Words> = {
  semantic: {
    about: "Asks the judge whether the reply does what you describe.",
    must: "The reply must do this",
    mustNot: "The reply must not do this",
  },
  tool_call: {
    about: "Counts the calls of a tool, with certain arguments if you like.",
    must: "The tool must be called",
    mustNot: "The tool must not be called",
  },
  node_call: {
    about: "Counts the steps whose name contains a text; capitals do not matter.",
    must: "The step must run",
    mustNot: "The step must not run",
  },
  response_regex: {
    about: "Looks for a pattern in the text of the reply.",
    must: "The pattern must occur",
    mustNot: "The pattern must not occur",
  },
  json_match: {
    about: "Compares an attribute of a span with a value.",
    must: "The attribute must equal the value",
    mustNot: "The attribute must not equal the value",
  },
  json_schema: {
    about: "Holds an attribute of a span, read as JSON, against a schema.",
    must: "The attribute must fit the schema",
    mustNot: "The attribute must not fit the schema",
  },
  http_status: {
    about: "Checks the HTTP status that the conversation ended with.",
    must: "The status must be one of these",
    mustNot: "The status must not be one of these",
  },
  response_time: {
    about: "Limits how long the whole conversation may take.",
    must: "It must take at most this long",
    mustNot: "It must take longer than this",
  },
  token_limit: {
    about: "Limits the tokens that a conversation may use.",
    must: "The tokens must stay within the limits",
    mustNot: "The tokens must exceed a limit",
  },
};

export function isAssertionType(type: unknown): type is AssertionType {
  return typeof type === "string" && Object.hasOwn(assertionTypes, type);
}
