// Parses the rare JSON that JSON.parse would alter: keys with escapes, and integers of many digits.
import { setOwn } from "./set-own.ts";

/**
 * Like JSON.parse, four times slower, for a text that JSON.parse has accepted and whose nesting recursion can
 * handle. `readInteger` gets the digits of integers beyond ±(2^53−1).
 *
 * Keys: V8 up to at least 14.6 can give an escaped key another name once it has seen a certain other key
 * (nodejs/node#63785), so that one client could rename the attributes of the next.
 */
export function parseExactly(text: string, readInteger: (digits: string) => unknown): unknown {
  const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
  let at = 0;

  function readValue(): unknown {
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
        return readNumber();
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
      setOwn(object, key, readValue());
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
    // A bare string has no keys.
    return escaped ? (JSON.parse(text.slice(start, at)) as string) : text.slice(start + 1, at - 1);
  }

  function readNumber(): unknown {
    number.lastIndex = at;
    const [source, fraction, exponent] = number.exec(text)!;
    at += source.length;
    const value = Number(source);
    const exact = Number.isSafeInteger(value) || fraction !== undefined || exponent !== undefined;
    return exact ? value : readInteger(source);
  }

  /** Skips whitespace; returns the next character. */
  function peek(): string | undefined {
    while (text.charCodeAt(at) <= 32) at++;
    return text[at];
  }

  peek();
  return readValue();
}
