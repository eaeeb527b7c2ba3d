// JSON text read and written without losing a digit: integers that no number can hold are bigints.

/** A reader's third argument and JSON.rawJSON, which the types of the language do not know yet. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
type Raw = { rawJSON?: (text: string) => unknown };

/** Beyond this, text is shown as text. */
const readMax = 20_000_000;
const digitsMax = 1_000;

/** Whether the text may be that of a list or an object. */
export function looksStructured(text: string): boolean {
  return text.length <= readMax && /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text.slice(-64));
}

/** The list or object that the text is; undefined where it is something else. */
export function parseExact(text: string): object | undefined {
  if (!looksStructured(text)) return undefined;
  try {
    // Only then are there digits to lose, and a reviver takes its time.
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

/** As JSON; indented unless told otherwise. */
export function printExact(value: unknown, indent = 2): string {
  const write = (_key: string, item: unknown) =>
    typeof item === "bigint" ? ((JSON as Raw).rawJSON?.(String(item)) ?? String(item)) : item;
  return JSON.stringify(value, write, indent);
}

/** A text as it is, anything else as JSON: what is copied and downloaded. */
export function textOfValue(value: unknown): string {
  return typeof value === "string" ? value : printExact(value);
}
