// Deep equality of JSON values.
import { isSameScalar } from "../model/long-integers.ts";
import type { RunBudget } from "../model/run/budget.ts";
import type { Unknown } from "./redacted.ts";

/**
 * Whether two JSON values are the same; the order of an object's keys does not matter. Recursion goes only as
 * deep as both values do, and what an author expects is at most 200 levels deep. `unknown`: the texts of `a` that privacy
 * rules changed. Throws BudgetSpent.
 */
export function deepEqual(
  a: unknown,
  b: unknown,
  budget?: Pick<RunBudget, "spend">,
  unknown?: Unknown,
): boolean {
  budget?.spend(1);
  if (unknown && typeof a === "string" && unknown.isIn(a)) return unknown.as;
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return isSameScalar(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, at) => deepEqual(item, b[at], budget, unknown))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && deepEqual(own(a, key), own(b, key), budget, unknown))
  );
}

function own(record: object, key: string): unknown {
  return (record as Record<string, unknown>)[key];
}
