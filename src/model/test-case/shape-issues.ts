// The issues of a test case whose fields have the wrong shape, each as a sentence.
import type { z } from "zod";
import { pathText } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { assertionSchema } from "./assertion.ts";

/** The issues with their paths; of a union, those of the member that the client meant. */
export function shapeIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(key => ({
      path: pathText([...issue.path, key]),
      message: `Unknown field "${key}".`,
    }));
  }
  if (issue.code === "invalid_union") {
    // Reports the issues of the union member that the client meant.
    const meant = issue.errors.find(
      branch => branch.length > 0 && branch.every(({ path }) => path.length > 0),
    );
    if (meant)
      return meant.flatMap(within => shapeIssues({ ...within, path: [...issue.path, ...within.path] }));
  }
  return [{ path: pathText(issue.path), message: issue.message }];
}

const expectations: Record<string, string> = {
  object: "an object",
  array: "a list",
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
};

/** Undefined: zod's own sentence stays. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code === "invalid_type") return "This field is required.";
  if (issue.code === "invalid_type") return `Expected ${expectations[issue.expected] ?? issue.expected}.`;
  if (issue.code === "invalid_union" && issue.discriminator !== undefined) {
    return `Expected one of ${assertionSchema.options.map(({ def }) => def.shape.type.value).join(", ")}.`;
  }
  if (issue.code === "invalid_value") {
    return `Expected one of ${issue.values.map(value => JSON.stringify(value)).join(", ")}.`;
  }
  if (issue.code === "too_small" && issue.origin === "string") return "Must not be empty.";
  if (issue.code === "too_small") return `${boundOf(issue)} at least ${issue.minimum}.`;
  if (issue.code === "too_big" && issue.origin === "string") {
    return `Must have at most ${issue.maximum} characters.`;
  }
  if (issue.code === "too_big") return `${boundOf(issue)} at most ${issue.maximum}.`;
  return undefined;
}

function boundOf({ origin }: { origin: string }): string {
  return origin === "array" ? "The number of entries must be" : "Must be";
}
