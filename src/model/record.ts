// Narrows an unknown value to a JSON object or to text.

/** True for objects other than null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is text, else "". Not `String`: it throws where a trace has an object with a field such as `toString`. */
export function textOrNone(value: unknown): string {
  return typeof value === "string" ? value : "";
}
