// Decodes the escapes of a text in JSON, and keeps where they were.
import { codeAt, Text, TextBuilder, type UnitsOf } from "./units.ts";

/** What an escaped text stands for. */
export function decode(raw: string, unitsOf?: UnitsOf): { text: string; places: OuterPlaces } {
  return hasFewEscapes(raw) ? joined(raw, unitsOf) : built(new Text(raw, unitsOf));
}

/** With this many characters for each escape, joining strings is faster than copying units. */
const partMin = 512;

/** Looks at no more backslashes than it takes to tell. */
function hasFewEscapes(raw: string): boolean {
  let left = Math.floor(raw.length / partMin);
  if (left === 0) return false;
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", at + 2)) if (left-- === 0) return false;
  return true;
}

function joined(raw: string, unitsOf: UnitsOf | undefined): { text: string; places: OuterPlaces } {
  const parts: string[] = [];
  const places: OuterPlaces = { after: [], longer: [] };
  let [from, length] = [0, 0];
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", from)) {
    const one = new Text(raw.slice(at, at + 6), unitsOf);
    const size = sizeOfEscape(one, 0);
    parts.push(raw.slice(from, at), String.fromCharCode(unitOf(one, 0, size)));
    length += at - from + 1;
    from = at + size;
    places.after.push(length);
    places.longer.push(from - length);
  }
  parts.push(raw.slice(from));
  return { text: parts.join(""), places };
}

function built(raw: Text): { text: string; places: OuterPlaces } {
  const text = new TextBuilder(raw.length);
  const after: number[] = [];
  const longer: number[] = [];
  let from = 0;
  for (let at = nextBackslash(raw, 0); at !== -1; at = nextBackslash(raw, from)) {
    text.copy(raw, from, at);
    const size = sizeOfEscape(raw, at);
    text.add(unitOf(raw, at, size));
    from = at + size;
    after.push(text.length);
    longer.push(from - text.length);
  }
  text.copy(raw, from, raw.length);
  return { text: text.toString(), places: { after, longer } };
}

/** Often near, where a look is faster than a search. */
function nextBackslash(text: Text, from: number): number {
  for (let at = from; at < from + 16; at++) {
    if (at >= text.length) return -1;
    if (codeAt(text, at) === backslash) return at;
  }
  return text.string.indexOf("\\", from + 16);
}

/** Of each escape: the decoded position after it, and how many characters longer the raw text is up to there. */
export type OuterPlaces = { after: number[]; longer: number[] };

/** The position in the raw text of a position in the decoded one: after the last escape that ends at or before it. */
export function rawPosition({ after, longer }: OuterPlaces, position: number): number {
  let [low, high] = [0, after.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return position + (low === 0 ? 0 : longer[low - 1]!);
}

/** What is cut off or no escape stands for itself. */
function sizeOfEscape(raw: Text, at: number): number {
  if (at + 1 >= raw.length) return 1;
  if (codeAt(raw, at + 1) !== 117) return 2;
  if (at + 6 > raw.length) return 1;
  for (let index = at + 2; index < at + 6; index++) if (hexOf(codeAt(raw, index)) === -1) return 1;
  return 6;
}

function unitOf(raw: Text, at: number, size: number): number {
  if (size === 1) return backslash;
  const code = codeAt(raw, at + 1);
  if (size === 2) return code < 128 && decodedTable[code] !== 0 ? decodedTable[code]! : code;
  let unit = 0;
  for (let index = at + 2; index < at + 6; index++) unit = unit * 16 + hexOf(codeAt(raw, index));
  return unit;
}

function hexOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Whether a backslash before it makes an escape. */
export function isEscape(code: number): boolean {
  return code < 128 && escapeTable[code] === 1;
}

const escapes = '"\\/bfnrtu';
const escapeTable = new Uint8Array(128);
for (const char of escapes) escapeTable[char.charCodeAt(0)] = 1;
const decoded = '"\\/\b\f\n\r\t';
/** What the letter of an escape stands for; 0: for itself. */
const decodedTable = new Uint8Array(128);
for (let at = 0; at < decoded.length; at++) decodedTable[escapes.charCodeAt(at)] = decoded.charCodeAt(at);

const backslash = 92;
