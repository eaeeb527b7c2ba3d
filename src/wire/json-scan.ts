// Checks the nesting and size of JSON before it is parsed: one pass over the bytes, no allocation.
import { type DecodeLimits, tooDeep, tooManyElements } from "./limits.ts";

const quote = 34;
const backslash = 92;
const colon = 58;

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
 * them. `exactNeeded`: whether JSON.parse could alter the text: it has a key with an escape, a number with 16 or more
 * digits before its point, or an exponent of three or more digits. `elements`: objects, lists and commas. For invalid
 * JSON the result is arbitrary; the parser rejects it.
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
      if (integerEnd - i >= 15) exactNeeded = true;
      i = integerEnd;
      if (bytes[i] === 46) i = skipDigits(bytes, i + 1);
      if (bytes[i] === 101 || bytes[i] === 69) {
        i++;
        if (bytes[i] === 43 || bytes[i] === 45) i++;
        const exponentEnd = skipDigits(bytes, i);
        if (exponentEnd - i >= 3) exactNeeded = true;
        i = exponentEnd;
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
