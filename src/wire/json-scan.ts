// Checks the nesting and size of JSON before it is parsed: one pass over the bytes, no allocation.
import { type DecodeLimits, tooDeep, tooManyElements } from "./limits.ts";

const quote = 34;
const backslash = 92;
const colon = 58;
const zero = 48;

/** Integers of so many digits are within ±(2^53−1). */
const exactDigits = 15;

const other = 0;
const string = 1;
const comma = 2;
const open = 3;
const close = 4;
const digit = 5;

const kinds = new Uint8Array(256);
kinds[quote] = string;
for (const char of ",") kinds[char.charCodeAt(0)] = comma;
for (const char of "{[") kinds[char.charCodeAt(0)] = open;
for (const char of "}]") kinds[char.charCodeAt(0)] = close;
for (const char of "0123456789") kinds[char.charCodeAt(0)] = digit;

/**
 * Throws if the text is nested too deep or contains too many values, which a parser would notice only after building
 * them. `exactNeeded`: whether JSON.parse could alter the text: it has a key with an escape, or a number that may have 16
 * or more digits before its point, written with an exponent or without. `elements`: objects, lists and commas. For
 * invalid JSON the result is arbitrary; the parser rejects it.
 * About 0.5 ns a byte: 14 µs for 27 KB, 16 ms for 30 MB.
 */
export function scanJson(
  bytes: Uint8Array,
  limits: DecodeLimits,
): { exactNeeded: boolean; elements: number } {
  const end = bytes.length;
  let depth = 0;
  let elements = 0;
  let exactNeeded = false;
  let i = 0;
  while (i < end) {
    const kind = kinds[bytes[i++]!]!;
    if (kind === other) continue;
    if (kind === string) {
      let escaped = false;
      while (i < end) {
        const byte = bytes[i++]!;
        if (byte === quote) break;
        if (byte === backslash) {
          escaped = true;
          i++;
        }
      }
      if (escaped && isKey(bytes, i)) exactNeeded = true;
    } else if (kind === comma) {
      if (++elements > limits.elementsMax) throw tooManyElements(limits);
    } else if (kind === open) {
      if (++elements > limits.elementsMax) throw tooManyElements(limits);
      if (++depth > limits.nestingMax) throw tooDeep(limits);
    } else if (kind === close) {
      depth--;
    } else {
      const integerEnd = skipDigits(bytes, i);
      const integerDigits = integerEnd - i + 1;
      if (integerDigits > exactDigits) exactNeeded = true;
      i = integerEnd;
      if (bytes[i] === 46) i = skipDigits(bytes, i + 1);
      if (bytes[i] === 101 || bytes[i] === 69) {
        i++;
        const isNegative = bytes[i] === 45;
        if (isNegative || bytes[i] === 43) i++;
        let exponent = 0;
        for (; i < end && kinds[bytes[i]!] === digit; i++) exponent = exponent * 10 + bytes[i]! - zero;
        if (!isNegative && integerDigits + exponent > exactDigits) exactNeeded = true;
      }
    }
  }
  return { exactNeeded, elements };
}

/** Whether a colon follows the string that ends before `after`. */
function isKey(bytes: Uint8Array, after: number): boolean {
  let i = after;
  while (i < bytes.length && bytes[i]! <= 32) i++;
  return bytes[i] === colon;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let i = from;
  while (i < bytes.length && kinds[bytes[i]!] === digit) i++;
  return i;
}
