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
  return /\d{16}|[eE]\+?\d{3}/.test(text) ? JSON.parse(text, asText as Reviver) : JSON.parse(text);
}

const asText: Reviver = (key, value, context) => {
  const read = exact(key, value, context);
  if (typeof read === "bigint") return context!.source;
  if (typeof read === "number" && !Number.isFinite(read)) throw new NumberTooLarge();
  return read;
};

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
