// Reads a text in one of several fields.
import type { Attributes } from "../../model/trace/trace.ts";

/** The first of these fields that is a non-empty string. */
export function fieldText(record: Attributes, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(record, key) ? record[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
