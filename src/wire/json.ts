// Parses JSON bytes without altering a digit or a key, within limits checked before parsing.

import { isUtf8 } from "node:buffer";
import { parseExactly } from "../model/json-exact.ts";
import { isRecord } from "../model/record.ts";
import { Refusal } from "../model/refusal.ts";
import { scanJson } from "./json-scan.ts";
import type { DecodeLimits } from "./limits.ts";

/**
 * Fields whose numbers are int64 or uint64, also with a fraction or an exponent: as doubles they would lose digits. Any
 * other such number is a double, as in `doubleValue` and in attributes of the canonical format.
 */
const integerFields: ReadonlySet<string> = new Set([
  ...["intValue", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"],
  ...["start_time_unix_nano", "end_time_unix_nano", "time_unix_nano"],
]);

/**
 * `value`: as from JSON.parse, except that integers beyond ±(2^53−1) are bigints. `exact`: whether it may contain
 * bigints or infinities, which `plainNumbers` must replace before anything is stored.
 * Throws VALIDATION_ERROR, or PAYLOAD_TOO_LARGE for too many values.
 */
export function parseJson(bytes: Buffer, limits: DecodeLimits): { value: unknown; exact: boolean } {
  const { exactNeeded } = scanJson(bytes, limits);
  if (!isUtf8(bytes)) throw new Refusal("VALIDATION_ERROR", { message: "The body is not valid UTF-8." });
  const text = bytes.toString("utf8", startsWithMark(bytes) ? 3 : 0);
  if (!exactNeeded) return { value: parseOrRefuse(text), exact: false };
  // Only validates: parseExactly requires valid JSON.
  parseOrRefuse(text);
  return { value: parseExactly(text, readInteger, integerFields), exact: true };
}

/** A byte order mark, which JSON.parse refuses, and some clients of Windows send. RFC 8259 lets parsers ignore it. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function parseOrRefuse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/^\s*$/.test(text)) {
      throw new Refusal("VALIDATION_ERROR", {
        message: "The body is empty, which is not valid JSON.",
        hint: "Check that the request has a body, and that no proxy drops it.",
      });
    }
    // The parser's own message quotes the body.
    throw new Refusal("VALIDATION_ERROR", { message: "The body is not valid JSON." });
  }
}

/** Longer integers stay text: a bigint of millions of digits takes seconds to parse and print. */
function readInteger(digits: string): unknown {
  return digits.length > 1_000 ? digits : BigInt(digits);
}

/** Replaces bigints by decimal text and infinities by their names, in place. Returns the value. */
export function plainNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = plainNumbers(value[i]);
  } else if (isRecord(value)) {
    // Every key is an own property, even `__proto__`, so assigning to it does not set the prototype.
    for (const key of Object.keys(value)) value[key] = plainNumbers(value[key]);
  }
  return value;
}
