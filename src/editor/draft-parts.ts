// Parts of drafted assertions: limits with headroom above observed values, and tool calls with their short arguments.
import type { AssertionInput } from "../model/test-case/assertion.ts";

/** Factor from observed token usage to a drafted limit. */
export const tokenHeadroom = 1.5;

/** Rounds up to two significant digits; the result is a safe integer. */
export function roundUp(value: number): number {
  const whole = Math.ceil(Math.min(value, Number.MAX_SAFE_INTEGER));
  const unit = 10 ** Math.max(0, String(whole).length - 2);
  return Math.min(Math.ceil(whole / unit) * unit, Number.MAX_SAFE_INTEGER);
}

/** Expects at least one call of the tool, with at least these arguments if given. */
export function toolCallAssertion(name: string, expected?: unknown): AssertionInput {
  return expected === undefined
    ? { type: "tool_call", expected_name: name }
    : { type: "tool_call", expected_name: name, expected_arguments: expected };
}

const fieldsMax = 20;
const levelsMax = 3;
const textMax = 200;

/**
 * The short values among arguments, as partial arguments; undefined if there are none. Leaves out lists, and keys that
 * would be read as operators.
 */
export function shortValues(value: unknown, levels = levelsMax): unknown {
  if (typeof value === "string") return value.length <= textMax ? value : undefined;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value) || levels === 0) return undefined;
  const part: [string, unknown][] = [];
  for (const key of Object.keys(value).slice(0, fieldsMax)) {
    if (key.startsWith("$") || key.length > textMax) continue;
    const short = shortValues((value as Record<string, unknown>)[key], levels - 1);
    if (short !== undefined) part.push([key, short]);
  }
  return part.length === 0 ? undefined : Object.fromEntries(part);
}
