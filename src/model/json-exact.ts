// Parses the rare JSON that JSON.parse would alter: keys with escapes, and integers of many digits.
import { setOwn } from "./set-own.ts";

/**
 * Like JSON.parse, but four times slower. The text must be valid JSON, with nesting that recursion can handle.
 * `readInteger` converts the digits of integers beyond ±(2^53−1). A number with a fraction or an exponent is a double,
 * except as the value of one of `integerFields`, if it denotes an integer.
 *
 * Keys: a bug in V8 up to at least 14.6 can give an escaped key another name after V8 has parsed a certain other key
 * (nodejs/node#63785), so one client could rename the attributes of another.
 */
export function parseExactly(
  text: string,
  readInteger: (digits: string) => unknown,
  integerFields: ReadonlySet<string> = none,
): unknown {
  const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
  let at = 0;

  function readValue(isIntegerField = false): unknown {
    switch (text[at]) {
      case "{":
        return readObject();
      case "[":
        return readList();
      case '"':
        return readString();
      case "t":
        at += 4;
        return true;
      case "f":
        at += 5;
        return false;
      case "n":
        at += 4;
        return null;
      default:
        return readNumber(isIntegerField);
    }
  }

  function readObject(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    at++;
    while (peek() !== "}") {
      if (text[at] === ",") at++;
      peek();
      const key = readString();
      peek();
      at++;
      peek();
      setOwn(object, key, readValue(integerFields.has(key)));
    }
    at++;
    return object;
  }

  function readList(): unknown[] {
    const list: unknown[] = [];
    at++;
    while (peek() !== "]") {
      if (text[at] === ",") at++;
      peek();
      list.push(readValue());
    }
    at++;
    return list;
  }

  function readString(): string {
    const start = at;
    let escaped = false;
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === "\\") {
        escaped = true;
        at++;
      }
    }
    at++;
    // Safe from the bug with keys: this text is a single string.
    return escaped ? (JSON.parse(text.slice(start, at)) as string) : text.slice(start + 1, at - 1);
  }

  function readNumber(isIntegerField: boolean): unknown {
    number.lastIndex = at;
    const [source, fraction, exponent] = number.exec(text)!;
    at += source.length;
    const value = Number(source);
    if (Number.isSafeInteger(value)) return value;
    if (fraction === undefined && exponent === undefined) return readInteger(source);
    const digits = isIntegerField && Number.isInteger(value) ? integerDigits(source) : undefined;
    return digits === undefined ? value : readInteger(digits);
  }

  /** Skips whitespace; returns the next character. */
  function peek(): string | undefined {
    while (text.charCodeAt(at) <= 32) at++;
    return text[at];
  }

  peek();
  return readValue();
}

const none: ReadonlySet<string> = new Set();

/**
 * The digits of the integer that a number with a fraction or an exponent denotes; undefined if it denotes none. The number
 * is not 0, and within the range of a double: so there are at most 309 digits.
 */
function integerDigits(source: string): string | undefined {
  const [, sign, whole, fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(source)!;
  const digits = whole + fraction;
  const zeros = Number(exponent ?? 0) - fraction.length;
  if (zeros < 0 && /[1-9]/.test(digits.slice(zeros))) return undefined;
  const integer = zeros < 0 ? digits.slice(0, zeros) : digits + "0".repeat(zeros);
  return sign + integer.replace(/^0+/, "");
}

/**
 * As JSON.parse, but no key gets another name, and integers beyond ±(2^53−1) are decimal text. Throws a SyntaxError, or a
 * RangeError if it is nested too deeply.
 */
export function parseUnaltered(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayBeAltered(text) ? parseExactly(text, digits => digits) : value;
}

/** An integer beyond ±(2^53−1), which JSON.stringify writes with the digits that it had. */
export type RawInteger = { readonly rawJSON: string };

// TypeScript does not know these two yet.
const raw = JSON as unknown as {
  rawJSON(digits: string): RawInteger;
  isRawJSON(value: unknown): value is RawInteger;
};

export function isRawInteger(value: unknown): value is RawInteger {
  return raw.isRawJSON(value);
}

/** As parseUnaltered, but such integers are `RawInteger`s: for replies of agents. */
export function parseRaw(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayBeAltered(text) ? parseExactly(text, raw.rawJSON) : value;
}

/** As parseUnaltered, but every number stays a number: for stored JSON. */
export function parseNumbers(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? parseExactly(text, Number) : value;
}

/** Whether JSON.parse may alter valid JSON: it has a key with an escape or a run of 16 digits. */
export function mayBeAltered(text: string): boolean {
  return /\d{16}/.test(text) || hasEscapedKey(text);
}

/** Whether valid JSON has a key with an escape, which JSON.parse may give another name. */
export function hasEscapedKey(text: string): boolean {
  let escapeAt = text.indexOf("\\");
  for (let at = text.indexOf('"'); at !== -1 && escapeAt !== -1; ) {
    const end = endOfString(text, at);
    if (escapeAt < end && isKey(text, end)) return true;
    if (escapeAt < end) escapeAt = text.indexOf("\\", end);
    at = text.indexOf('"', end + 1);
  }
  return false;
}

/** Whether a colon follows the string that ends here. */
function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= 32) next++;
  return text[next] === ":";
}

/** The position of the quote that closes the string opened at `start`, else the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

const backslash = 92;
