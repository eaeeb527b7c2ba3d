// Copies of what was seen, short enough to keep with every result.
import type { Match } from "../model/run/run.ts";

const excerptMax = 500;

/** More places than these are not worth showing, more names not worth listing. */
export const evidenceMax = 20;

/** The value itself when it is small, else the beginning of its text. Bounded work however large the value is. */
export function excerpt(value: unknown, max: number = excerptMax): unknown {
  if (typeof value === "string") return shorten(value, max);
  if (typeof value !== "object" || value === null) return value;
  const text = print(value, max + 1);
  return text.length <= max ? value : shorten(text, max);
}

/** A name in quotation marks, for a sentence. */
export function quote(name: string): string {
  return `"${shorten(name, 80)}"`;
}

/** Names for a sentence: the first few in quotation marks, the rest as a number. */
export function quoteSome(names: string[], most = 5): string {
  const rest = names.length - most;
  return names.slice(0, most).map(quote).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** The beginning of a text, never ending in half a surrogate pair. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1);
  return `${/[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** A part of a text with up to 120 characters before and after it. */
export function passage(text: string, { start, end }: { start: number; end: number }): Match {
  const from = Math.max(0, start - 120);
  const head = text.slice(from, start).replace(/^[\uDC00-\uDFFF]/, "");
  return {
    before: from > 0 ? `…${head}` : head,
    text: shorten(text.slice(start, end), 200),
    after: shorten(text.slice(end, end + 121), 120),
  };
}

/** JSON, given up once it is longer than `max`. Each level prints a character, so that depth is bounded as well. */
function print(value: unknown, max: number): string {
  if (max <= 0) return "";
  if (typeof value === "string") return JSON.stringify(value.slice(0, max));
  if (typeof value !== "object" || value === null) return String(value);
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const key in value) {
    if (text.length > max) break;
    if (text.length > 1) text += ",";
    if (!isList) text += `${JSON.stringify(key.slice(0, max))}:`;
    text += print((value as Record<string, unknown>)[key], max - text.length);
  }
  return text + (isList ? "]" : "}");
}
