// Narrows an unknown value to a JSON object.

/** True for objects other than null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
