// Reads attribute values in the forms that SDKs give them: JSON, JSON in quotes, Python literals, numbers as text.

import { parseJson } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";
import { idText } from "./id-text.ts";
import type { Sourced } from "./reading.ts";

/** The value, parsed when it is the JSON of a list, an object or a string; any other text is itself. */
export function decode(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  const parsed = parseJson(value);
  return parsed === undefined ? (pythonLiteral(value) ?? value) : parsed;
}

/** The first of these attributes that has a value, decoded. */
export function sourced(span: Span, ...attributes: string[]): Sourced<unknown> | null {
  for (const attribute of attributes) {
    const value = attributeOf(span, attribute);
    if (value !== undefined && value !== "") return { value: decode(value), spanId: span.span_id, attribute };
  }
  return null;
}

/** An attribute, or a field of the JSON in one. */
export type Place = { key: string; field: string | null };

/** `metadata>user` is the field `user` of the JSON in `metadata`. */
export function placesOf(...lists: (readonly string[] | undefined)[]): Place[] {
  const names = lists.flatMap(list => list ?? []);
  return [...new Set(names)].map(name => {
    const [key, field] = name.split(">");
    return { key: key!, field: field ?? null };
  });
}

export function nameOf({ key, field }: Place): string {
  return field === null ? key : `${key}>${field}`;
}

/** The first of these places that has a text with more than blanks. */
export function textOf(span: Span, places: readonly Place[]): Sourced<string> | null {
  return firstOf(span, places, value => (typeof value === "string" && /\S/.test(value) ? value : null));
}

/** The first of these places that has an ID. */
export function idOf(span: Span, places: readonly Place[]): Sourced<string> | null {
  return firstOf(span, places, idText);
}

function firstOf(
  span: Span,
  places: readonly Place[],
  read: (value: unknown) => string | null,
): Sourced<string> | null {
  for (const { key, field } of places) {
    const sent = attributeOf(span, key);
    if (sent === undefined) continue;
    const outer = field !== null || (typeof sent === "string" && sent.startsWith('"')) ? decode(sent) : sent;
    const value = field === null ? outer : isRecord(outer) ? outer[field] : undefined;
    const text = read(value);
    if (text !== null) return { value: text, spanId: span.span_id, attribute: key };
  }
  return null;
}

/** A whole number sent as a number or as its digits. */
export function countOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** Rebuilds what was flattened under a prefix: `a.0.b` becomes `[{ b }]`. Undefined if nothing is there. */
export function unflatten(attributes: Attributes, prefix: string): unknown[] | undefined {
  const root: Attributes = {};
  let found = false;
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue;
    const path = key.slice(prefix.length).split(".");
    if (path.length > 12 || path[0]!.length > 5 || !isPosition(path[0]!)) continue;
    found = true;
    let at = root;
    const last = path.length - 1;
    for (let step = 0; step < last; step++) {
      const name = path[step]!;
      const next = Object.hasOwn(at, name) ? at[name] : undefined;
      const inner: Attributes = isRecord(next) ? next : Object.create(null);
      at[name] = inner;
      at = inner;
    }
    at[path[last]!] = attributes[key];
  }
  return found ? (asList(root) as unknown[]) : undefined;
}

/** Objects whose keys are all positions become lists in their order. */
function asList(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  if (keys.every(isPosition)) {
    return keys.sort((a, b) => Number(a) - Number(b)).map(key => asList(value[key]));
  }
  return Object.fromEntries(keys.map(key => [key, asList(value[key])]));
}

/** Whether a key is all digits. Much faster than a pattern, for keys this short. */
function isPosition(key: string): boolean {
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return key !== "";
}

const pythonMax = 100_000;
/** NaN and infinities are text, as in traces. */
const pythonWords: Record<string, string> = {
  True: "true",
  False: "false",
  None: "null",
  nan: '"NaN"',
  inf: '"Infinity"',
  "-inf": '"-Infinity"',
  "(": "[",
  ")": "]",
  // The end of a tuple of one value.
  ",)": "]",
};

const pythonWordBegin = /[A-Zin(),-]/;
const pythonWord = /^(?:(?:True|False|None|nan|-?inf)\b|,?\)|\()/;

/** A Python dict or list of simple values and tuples, as `str()` writes it; undefined for anything else. Linear in the text. */
export function pythonLiteral(text: string): unknown {
  if (text.length > pythonMax || !/^\s*[[{]/.test(text)) return undefined;
  let json = "";
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    if (char === "'" || char === '"') {
      const end = endOfPythonString(text, at);
      if (end === -1) return undefined;
      json += jsonString(text.slice(at + 1, end));
      at = end + 1;
      continue;
    }
    const word = pythonWordBegin.test(char) ? pythonWord.exec(text.slice(at, at + 6))?.[0] : undefined;
    json += word ? pythonWords[word] : char;
    at += word?.length ?? 1;
  }
  return parseJson(json);
}

function endOfPythonString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[start]) return at;
  }
  return -1;
}

/** As Python escapes it, with `\'`, `\xHH` and `\UHHHHHHHH`, which JSON does not have. */
function jsonString(inner: string): string {
  const written = inner.replace(
    /\\(?:x([\da-f]{2})|U([\da-f]{8})|(.))|"/gs,
    (whole, short?: string, long?: string, char?: string) => {
      const code = short ?? long;
      if (code !== undefined) return inJson(Number.parseInt(code, 16)) ?? whole;
      return char === "'" ? "'" : char ? whole : '\\"';
    },
  );
  return `"${written}"`;
}

function inJson(code: number): string | null {
  return code <= 0x10ffff ? JSON.stringify(String.fromCodePoint(code)).slice(1, -1) : null;
}
