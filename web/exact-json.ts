// Parses and prints JSON without losing digits: integers beyond 2^53 become bigints, or text in test cases.

/** The reviver's third argument and JSON.rawJSON, which TypeScript's types do not have yet. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
type Raw = { rawJSON?: (text: string) => unknown };

/** Longer text is not parsed. */
const readMax = 20_000_000;
const digitsMax = 1_000;

/** Whether the text may be a JSON array or object, by its first and last characters. */
export function looksStructured(text: string): boolean {
  return text.length <= readMax && /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text.slice(-64));
}

/** Parses a JSON array or object; undefined for anything else. */
export function parseExact(text: string): object | undefined {
  if (!looksStructured(text)) return undefined;
  try {
    // Only long numbers can lose digits; a reviver is slow.
    const parsed: unknown = /\d{16}/.test(text) ? JSON.parse(text, exact as Reviver) : JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const exact: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) && source.length <= digitsMax ? BigInt(source) : value;
};

export class NumberTooLarge extends Error {
  override name = "NumberTooLarge";
  override message = "A number is too large.";
}

/**
 * Parses a test case, or a part of it, as the service does: integers beyond ±(2^53−1) become decimal text. Throws a
 * SyntaxError, or NumberTooLarge for numbers such as 1e999, which would be sent as null.
 */
export function parseTestJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}|[eE]\+?\d{3}/.test(text)) return value;
  // Not by a reviver: Firefox before 135 and Safari before 18.4 do not tell it the digits, and would round them.
  return JSON.parse(withLongIntegersAsText(text));
}

/** The text must be valid JSON. Not one regular expression: long strings would take all of its stack. */
function withLongIntegersAsText(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('"', at);
    const between = start < 0 ? text.slice(at) : text.slice(at, start);
    parts.push(between.replace(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, asText));
    if (start < 0) break;
    let end = start + 1;
    while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    at = end + 1;
    parts.push(text.slice(start, at));
  }
  return parts.join("");
}

function asText(source: string): string {
  const value = Number(source);
  if (Number.isSafeInteger(value)) return source;
  if (/^-?\d+$/.test(source) && source.length <= digitsMax) return `"${source}"`;
  if (!Number.isFinite(value)) throw new NumberTooLarge();
  return source;
}

/** JSON text, indented by default. */
export function printExact(value: unknown, indent = 2): string {
  const write = (_key: string, item: unknown) =>
    typeof item === "bigint" ? ((JSON as Raw).rawJSON?.(String(item)) ?? String(item)) : item;
  return JSON.stringify(value, write, indent);
}

/** For copying and downloading: a string as it is, anything else as JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === "string" ? value : printExact(value);
}
