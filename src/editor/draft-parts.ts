// What drafts of assertions are made of: limits with room above what was seen, and calls with the arguments worth naming.
import type { AssertionInput } from "../model/test-case/assertion.ts";

/** A limit drafted from a usage of tokens lies this much above it. */
export const headRoom = 1.5;

/** Up to a number of two digits and zeros, never below the value; a whole, safe number. */
export function roundUp(value: number): number {
  const whole = Math.ceil(Math.min(value, Number.MAX_SAFE_INTEGER));
  const unit = 10 ** Math.max(0, String(whole).length - 2);
  return Math.min(Math.ceil(whole / unit) * unit, Number.MAX_SAFE_INTEGER);
}

/** At least one call of the tool, with these arguments among its own where there are any. */
export function callOf(name: string, expected?: unknown): AssertionInput {
  return expected === undefined
    ? { type: "tool_call", expected_name: name }
    : { type: "tool_call", expected_name: name, expected_arguments: expected };
}

const fieldsMax = 20;
const levelsMax = 3;
const textMax = 200;

/**
 * The short values among arguments, as partial arguments; undefined where there are none. Lists are left out, and
 * keys that the document would read as operators.
 */
export function tellingPart(value: unknown, levels = levelsMax): unknown {
  if (typeof value === "string") return value.length <= textMax ? value : undefined;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value) || levels === 0) return undefined;
  const part: [string, unknown][] = [];
  for (const key of Object.keys(value).slice(0, fieldsMax)) {
    if (key.startsWith("$") || key.length > textMax) continue;
    const telling = tellingPart((value as Record<string, unknown>)[key], levels - 1);
    if (telling !== undefined) part.push([key, telling]);
  }
  return part.length === 0 ? undefined : Object.fromEntries(part);
}
