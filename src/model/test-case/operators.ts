// Operators such as `$regex` that may replace a leaf in the expected arguments of a tool call.

import { magnitudeOf } from "../long-integers.ts";
import { step } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { patternFault } from "./pattern.ts";

/** The operators of one object; all of them must match. Limits are text if they are integers beyond ±(2^53−1). */
export type Operators = {
  $regex?: string;
  $in?: unknown[];
  $gt?: number | string;
  $gte?: number | string;
  $lt?: number | string;
  $lte?: number | string;
  $exists?: boolean;
};

const names: readonly string[] = ["$regex", "$in", "$gt", "$gte", "$lt", "$lte", "$exists"];
const literal = "$literal";

/** The value as operators; null when it is a literal. */
export function operatorsOf(expected: unknown): Operators | null {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) return null;
  const keys = Object.keys(expected);
  return keys.length > 0 && keys.every(key => names.includes(key)) ? expected : null;
}

/** `{"$literal": value}`: an object of that one field, whose value has no operators; undefined for any other. */
export function literalOf(expected: unknown): { value: unknown } | undefined {
  if (typeof expected !== "object" || expected === null || !Object.hasOwn(expected, literal))
    return undefined;
  return Object.keys(expected).length === 1 ? { value: (expected as Fields)[literal] } : undefined;
}

type Fields = Record<string, unknown>;

/** Why expected arguments cannot be compared. The value must be at most 200 levels deep. */
export function argumentIssues(expected: unknown, path: string): Issue[] {
  if (typeof expected !== "object" || expected === null) return [];
  if (Array.isArray(expected)) return expected.flatMap((item, at) => argumentIssues(item, path + step(at)));
  if (literalOf(expected)) return [];
  const entries = Object.entries(expected);
  const isOperators = entries.some(([key]) => key.startsWith("$"));
  return entries.flatMap(([key, value]) => {
    const at = path + step(key);
    if (!isOperators) return argumentIssues(value, at);
    const fault = operatorFault(key, value);
    return fault ? [{ path: at, message: fault }] : [];
  });
}

function operatorFault(name: string, operand: unknown): string | null {
  switch (name) {
    case "$regex":
      return typeof operand === "string" ? patternFault(operand) : "Expected a pattern as text.";
    case "$in":
      return Array.isArray(operand) ? null : "Expected a list of values.";
    case "$exists":
      return typeof operand === "boolean" ? null : "Expected true or false.";
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      return magnitudeOf(operand) !== undefined ? null : "Expected a number.";
    case literal:
      return `${literal} must be the only field of its object.`;
    default:
      return name.startsWith("$")
        ? `Unknown operator "${name}". Use ${names.join(", ")}, or {"${literal}": …} around an object with such a field.`
        : `Operators and plain fields cannot be mixed. Put {"${literal}": …} around an object that has both.`;
  }
}
