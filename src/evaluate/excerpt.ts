// Shortened copies of values, names and texts of a trace, to be kept with every result.
import type { SomeNames } from "../model/run/reason.ts";
import type { Match } from "../model/run/run.ts";
import { shorten } from "../model/shorten.ts";

const excerptMax = 500;

/** How many places of evidence, or names, a check keeps at most. */
export const evidenceMax = 20;

/** The value itself if its JSON is short, else the beginning of its JSON. The work is bounded, however large the value. */
export function excerpt(value: unknown, max: number = excerptMax): unknown {
  if (typeof value === "string") return shorten(value, max);
  if (typeof value !== "object" || value === null) return value;
  const text = print(value, max + 1);
  return text.length <= max ? value : shorten(text, max);
}

/** A name, short enough for a sentence. */
export function shortName(name: string): string {
  return shorten(name, 80);
}

const namesMax = 5;

/** The first five names, and the number of the others. */
export function someNames(names: string[]): SomeNames {
  const more = names.length - namesMax;
  return { names: names.slice(0, namesMax).map(shortName), ...(more > 0 ? { more } : {}) };
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

/** JSON, cut off once it is longer than `max`. Each level prints a character, so the depth is bounded too. */
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
