// Finds the text values of JSON in a text, decoded, with the places of their characters in the text they were found in.
import { decode, isEscape, type OuterPlaces, rawPosition } from "./json-escapes.ts";
import { codeAt, Text, type UnitsOf } from "./units.ts";

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
        const { text, places } = decode(raw, this.#unitsOf);
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

/** A number in a field of the outermost object: its key, and its place in the text. */
export type JsonNumber = { key: string; start: number; end: number };

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
 * `numbers` gets those in fields of the outermost object.
 */
export function jsonTextsIn(outer: string, unitsOf?: UnitsOf, numbers?: JsonNumber[]): JsonText[] | null {
  const first = skipBlanks(outer);
  const opening = first < outer.length ? outer.charCodeAt(first) : 0;
  if (opening !== openBrace && opening !== openBracket && opening !== quote) return null;
  const read = new Text(outer, unitsOf);
  const texts: JsonText[] = [];
  const open = new Nesting();
  const marks = new Marks(outer);
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
      const end = endOfText(read, at + 1, marks);
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
    if (numbers && open.depth === 1 && open.isObject && words[code] === undefined)
      numbers.push({ key: lastKey, start: at, end });
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
function endOfText(text: Text, from: number, marks: Marks): number {
  for (let at = from; at < text.length; ) {
    let code = 0;
    for (const near = at + nearMax; at < near; at++) {
      code = codeAt(text, at);
      if (code === quote) return at;
      if (code === backslash) break;
    }
    if (code !== backslash) at = marks.next(at);
    else {
      if (at + 1 < text.length && !isEscape(codeAt(text, at + 1))) return -1;
      at += 2;
    }
  }
  return text.length;
}

/** The next quote or backslash is often near, where looks are faster than a search. */
const nearMax = 16;

/** Finds quotes and backslashes by increasing positions. */
class Marks {
  readonly #text: string;
  #quote = -1;
  #backslash = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next of either, or the end of the text. */
  next(from: number): number {
    if (this.#quote < from) this.#quote = this.#find('"', from);
    if (this.#backslash < from) this.#backslash = this.#find("\\", from);
    return Math.min(this.#quote, this.#backslash);
  }

  #find(mark: string, from: number): number {
    const at = this.#text.indexOf(mark, from);
    return at === -1 ? this.#text.length : at;
  }
}

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
