// Finds the text values of JSON in a text, decoded, with the places of their characters in the text they were found in.
import { codeAt, Text, TextBuilder, type UnitsOf } from "./units.ts";

/** A text value, decoded when it is first read: most are short, and there may be millions. */
export class JsonText {
  /** Of the field it is in, or of the list that it is in; "" if there is none. */
  readonly key: string;
  /** Whether it is a field of the outermost object. */
  readonly isField: boolean;
  readonly #outer: string;
  readonly #unitsOf: UnitsOf | undefined;
  readonly #start: number;
  readonly #end: number;
  #text: string | null = null;
  #places: OuterPlaces | null = null;

  constructor(
    outer: string,
    unitsOf: UnitsOf | undefined,
    start: number,
    end: number,
    key: string,
    isField: boolean,
  ) {
    this.#outer = outer;
    this.#unitsOf = unitsOf;
    this.#start = start;
    this.#end = end;
    this.key = key;
    this.isField = isField;
  }

  /** As it is written: the text is not longer. */
  get lengthMax(): number {
    return this.#end - this.#start;
  }

  get text(): string {
    if (this.#text === null) {
      const raw = this.#outer.slice(this.#start, this.#end);
      if (raw.includes("\\")) {
        const { text, places } = decode(new Text(raw, this.#unitsOf));
        this.#text = text;
        this.#places = places;
      } else this.#text = raw;
    }
    return this.#text;
  }

  /** The position in the outer text of a position in this one, its end included. */
  at(position: number): number {
    // The places are known once the text is decoded.
    const places = this.text === "" ? null : this.#places;
    return this.#start + (places ? rawPosition(places, position) : position);
  }
}

const [tab, lineFeed, carriageReturn, space, quote, comma, minus, point] = [9, 10, 13, 32, 34, 44, 45, 46];
const [colon, openBracket, backslash, closeBracket, openBrace, closeBrace] = [58, 91, 92, 93, 123, 125];

/** What may come next. */
const value = 0;
const valueOrEnd = 1;
const keyOrEnd = 2;
const key = 3;
const afterKey = 4;
const afterValue = 5;
const afterAll = 6;

/**
 * Null if the text is no JSON of a list, an object or a text. Several of them one after the other count as well, and so does
 * JSON that was cut off, if a text was read: then numbers are no longer looked at. Linear, whatever the text is.
 */
export function jsonTextsIn(outer: string, unitsOf?: UnitsOf): JsonText[] | null {
  const first = skipBlanks(outer);
  const opening = first < outer.length ? outer.charCodeAt(first) : 0;
  if (opening !== openBrace && opening !== openBracket && opening !== quote) return null;
  const read = new Text(outer, unitsOf);
  const texts: JsonText[] = [];
  const open = new Nesting();
  let lastKey = "";
  let state = value;
  let at = first;
  while (at < outer.length) {
    const code = codeAt(read, at);
    if (code === space || code === lineFeed || code === carriageReturn || code === tab) {
      at++;
      continue;
    }
    if (code === quote) {
      const isKey = state === keyOrEnd || state === key;
      if (!isKey && state !== value && state !== valueOrEnd) return null;
      const end = endOfText(read, at + 1);
      if (end < 0) return null;
      if (isKey) {
        lastKey = outer.slice(at + 1, Math.min(end, at + 1 + keyMax));
        state = afterKey;
      } else {
        if (end > at + 1)
          texts.push(new JsonText(outer, unitsOf, at + 1, end, lastKey, open.depth === 1 && open.isObject));
        state = open.depth === 0 ? afterAll : afterValue;
      }
      at = end + 1;
      continue;
    }
    if (state === value || state === valueOrEnd || (state === afterAll && open.depth === 0)) {
      if (code === openBrace || code === openBracket) {
        const isObject = code === openBrace;
        open.push(isObject, lastKey);
        state = isObject ? keyOrEnd : valueOrEnd;
        at++;
        continue;
      }
      if (state === afterAll) return null;
    }
    if (code === closeBrace || code === closeBracket) {
      if (open.depth === 0) return null;
      const { isObject } = open;
      if (isObject !== (code === closeBrace)) return null;
      if (state !== afterValue && state !== (isObject ? keyOrEnd : valueOrEnd)) return null;
      open.pop();
      lastKey = open.key;
      state = open.depth === 0 ? afterAll : afterValue;
      at++;
      continue;
    }
    if (state === afterKey) {
      if (code !== colon) return null;
      state = value;
      at++;
      continue;
    }
    if (state === afterValue) {
      if (code !== comma) return null;
      const { isObject } = open;
      if (!isObject) lastKey = open.key;
      state = isObject ? key : value;
      at++;
      continue;
    }
    if (state !== value && state !== valueOrEnd) return null;
    const end = endOfWord(read, at);
    if (end === at) return null;
    state = open.depth === 0 ? afterAll : afterValue;
    at = end;
  }
  return state === afterAll || texts.length > 0 ? texts : null;
}

/** The open objects and lists, of which a text may have millions. */
class Nesting {
  depth = 0;
  #areObjects = new Uint8Array(64);
  /** The keys, and from which depth each counts: a list in a list has the same. */
  readonly #keys = [""];
  readonly #from = [0];

  /** Whether the innermost is an object. */
  get isObject(): boolean {
    return this.depth > 0 && this.#areObjects[this.depth - 1] === 1;
  }

  /** The key of the innermost; a list has that of its field. */
  get key(): string {
    return this.#keys[this.#keys.length - 1]!;
  }

  push(isObject: boolean, key: string): void {
    if (this.depth === this.#areObjects.length) {
      const larger = new Uint8Array(2 * this.depth);
      larger.set(this.#areObjects);
      this.#areObjects = larger;
    }
    this.#areObjects[this.depth++] = isObject ? 1 : 0;
    if (key === this.key) return;
    this.#keys.push(key);
    this.#from.push(this.depth);
  }

  pop(): void {
    if (this.#from[this.#from.length - 1] === this.depth) {
      this.#keys.pop();
      this.#from.pop();
    }
    this.depth--;
  }
}

/** A longer key says no more. */
const keyMax = 64;

function skipBlanks(text: string): number {
  let at = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== space && code !== lineFeed && code !== carriageReturn && code !== tab) break;
  }
  return at;
}

/** The position of the closing quote, or the end of the text; negative if an escape is none of JSON's. */
function endOfText(text: Text, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = codeAt(text, at);
    if (code === quote) return at;
    if (code === backslash) {
      at++;
      if (at < text.length && !isEscape(codeAt(text, at))) return -1;
    }
  }
  return text.length;
}

function isEscape(code: number): boolean {
  return code < 128 && escapeTable[code] === 1;
}

const escapes = '"\\/bfnrtu';
const escapeTable = new Uint8Array(128);
for (const char of escapes) escapeTable[char.charCodeAt(0)] = 1;
const decoded = '"\\/\b\f\n\r\t';
/** What the letter of an escape stands for; 0: for itself. */
const decodedTable = new Uint8Array(128);
for (let at = 0; at < decoded.length; at++) decodedTable[escapes.charCodeAt(at)] = decoded.charCodeAt(at);

/** The end of a number, or of true, false or null. */
function endOfWord(text: Text, from: number): number {
  const word = words[codeAt(text, from)];
  if (word !== undefined) return text.startsWith(word, from) ? from + word.length : from;
  let at = from;
  for (; at < text.length; at++) {
    const code = codeAt(text, at);
    const isDigit = code >= 48 && code <= 57;
    if (!isDigit && code !== minus && code !== point && code !== 43 && code !== 69 && code !== 101) break;
  }
  return at;
}

/** By the code of their first letter. */
const words: Record<number, string> = { 116: "true", 102: "false", 110: "null", 78: "NaN" };

/** What an escaped text stands for. */
function decode(raw: Text): { text: string; places: OuterPlaces } {
  const built = new TextBuilder(raw.length);
  const after: number[] = [];
  const longer: number[] = [];
  let from = 0;
  for (let at = nextBackslash(raw, 0); at !== -1; at = nextBackslash(raw, from)) {
    built.copy(raw, from, at);
    const size = sizeOfEscape(raw, at);
    built.add(unitOf(raw, at, size));
    from = at + size;
    after.push(built.length);
    longer.push(from - built.length);
  }
  built.copy(raw, from, raw.length);
  return { text: built.toString(), places: { after, longer } };
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
type OuterPlaces = { after: number[]; longer: number[] };

/** The position in the raw text of a position in the decoded one: after the last escape that ends at or before it. */
function rawPosition({ after, longer }: OuterPlaces, position: number): number {
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
