// Parses single fields of a span in JSON: times, ids, enums.
import { Refusal } from "../model/refusal.ts";

const uint64Max = 2n ** 64n - 1n;

/**
 * Decimal text of a uint64, from decimal text or from an exact JSON integer.
 * Undefined for anything else.
 */
export function readUint64(value: unknown): string | undefined {
  if (typeof value === "string") {
    if (!/^\d{1,20}$/.test(value)) return undefined;
    // The largest uint64 has 20 digits: shorter text needs no comparison.
    if (value.length < 20 && (value[0] !== "0" || value === "0")) return value;
    return readUint64(BigInt(value));
  }
  if (typeof value === "bigint") return value >= 0n && value <= uint64Max ? value.toString() : undefined;
  // A larger number was not written as an integer: parseJson reads those as bigints.
  if (typeof value === "number" && Number.isSafeInteger(value)) return readUint64(BigInt(value));
  return undefined;
}

/** A non-zero id of `digits` hexadecimal characters, lower-case; null for anything else. */
export function readId(value: unknown, digits: 16 | 32): string | null {
  if (typeof value !== "string" || value.length !== digits || !/^[0-9a-fA-F]+$/.test(value)) return null;
  return /[^0]/.test(value) ? value.toLowerCase() : null;
}

/** A Refusal about one field. */
export function malformed(path: string, message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues: [{ path, message }] });
}
