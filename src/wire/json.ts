// Bytes to JSON without losing a digit, and refusing what no parser should be given (A5, A11, C5).
import { isUtf8 } from "node:buffer";
import { Refusal } from "../model/refusal.ts";
import { scanJson } from "./json-scan.ts";
import type { DecodeLimits } from "./limits.ts";

/**
 * `value`: what JSON.parse gives, except that integers beyond ±(2^53−1) are bigints. `exact`: whether there may
 * be bigints or infinities in it, so that what is kept of it must pass through `plainNumbers`.
 * Throws VALIDATION_ERROR, or PAYLOAD_TOO_LARGE for too many values.
 */
export function parseJson(bytes: Buffer, limits: DecodeLimits): { value: unknown; exact: boolean } {
  const { exactNeeded } = scanJson(bytes, limits);
  if (!isUtf8(bytes)) throw new Refusal("VALIDATION_ERROR", { message: "The body is not valid UTF-8." });
  const text = bytes.toString("utf8");
  try {
    // The reviver is five times slower than plain parsing: only texts that hold a long number pay for it.
    return { value: exactNeeded ? JSON.parse(text, exactInteger) : JSON.parse(text), exact: exactNeeded };
  } catch (error) {
    // The parser's own sentence quotes the body; its position does not.
    const position = /at position \d+/.exec(String(error))?.[0];
    throw new Refusal("VALIDATION_ERROR", {
      message: `The body is not valid JSON${position ? ` (${position})` : ""}.`,
    });
  }
}

/** In place: bigints become decimal text, infinities their name. Returns the value. */
export function plainNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = plainNumbers(value[i]);
  } else if (isRecord(value)) {
    // Every key is an own property, `__proto__` too, so that assigning to it is harmless.
    for (const key of Object.keys(value)) value[key] = plainNumbers(value[key]);
  }
  return value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own property whatever its key: plain assignment to `__proto__` would set the prototype instead. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** The third argument is newer than TypeScript's library: its source is the number as it was written. */
function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(source ?? "")) return value;
  // A bigint of millions of digits takes seconds to make and to write; nothing that long is a time or a count.
  return source!.length > 1_000 ? source : BigInt(source!);
}
