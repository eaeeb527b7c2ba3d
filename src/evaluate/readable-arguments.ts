// Whether the arguments of a call could be read, so that it says something that they are not the expected ones.

import { isRecord } from "../model/record.ts";
import { operatorsOf } from "../model/test-case/operators.ts";

/** Under which frameworks put the arguments that a tool was called with. */
const wrappers = new Set(["args", "kwargs", "arguments", "input", "input_str", "parameters", "tool_input"]);

/** `isRaw`: they are no JSON, and their text stands under `value`. */
export function areReadable(actual: unknown, isRaw: boolean, expected: unknown): boolean {
  if (actual === null) return false;
  const isObject = isRecord(expected) && operatorsOf(expected) === null;
  // There an author may expect a plain text.
  if (isRaw)
    return (
      isObject && Object.hasOwn(expected, "value") && isRecord(actual) && !looksStructured(actual["value"])
    );
  return !isObject || (isRecord(actual) && !isWrapped(actual, expected) && !hasTextInPlace(actual, expected));
}

/** Whether an argument must be absent, as it seems to be where the arguments cannot be read. */
export function wantsAbsence(expected: unknown): boolean {
  return isRecord(expected) && Object.values(expected).some(value => operatorsOf(value)?.$exists === false);
}

/** Cut JSON, a literal or a call of another language, or `name=value`. */
function looksStructured(text: unknown): boolean {
  return typeof text !== "string" || /^\s*(?:["'([{]|[\w.]+\s*[(:=])/.test(text);
}

/** Whether a text such as JSON stands where an object or a list is expected. */
function hasTextInPlace(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null || operatorsOf(expected)) return false;
  if (typeof actual === "string") return looksStructured(actual);
  if (!isRecord(actual) || !isRecord(expected)) return false;
  return Object.keys(expected).some(
    key => Object.hasOwn(actual, key) && hasTextInPlace(actual[key], expected[key]),
  );
}

/** Whether the actual arguments stand one level deeper, such as in `{ args, kwargs }`. */
function isWrapped(actual: Record<string, unknown>, expected: object): boolean {
  const keys = Object.keys(actual);
  if (keys.length === 0 || keys.some(key => !wrappers.has(key) || Object.hasOwn(expected, key))) return false;
  return keys.some(key => {
    const inner = actual[key];
    return typeof inner === "string" ? /^\s*[[{]/.test(inner) : typeof inner === "object" && inner !== null;
  });
}
