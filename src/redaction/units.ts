// A text with its UTF-16 units in an array, where scanners read them several times as fast as in a string.
import { endianness } from "node:os";

/** How far beyond either end scanners may read: they get 0 there. */
const margin = 32;

export type Units = Uint16Array;

/** Gives the units of a text, with a margin of zeros before and after them. */
export type UnitsOf = (text: string) => Units;

export class Text {
  readonly string: string;
  readonly length: number;
  readonly units: Units;

  /** By default the units are those of the latest text only, until the next one is read. */
  constructor(text: string, unitsOf: UnitsOf = sharedUnitsOf) {
    this.string = text;
    this.length = text.length;
    this.units = unitsOf(text);
  }

  slice(start: number, end: number): string {
    return this.string.slice(start, end);
  }

  startsWith(search: string, at: number): boolean {
    return this.string.startsWith(search, at);
  }
}

/** The unit at a position; 0 outside of the text. */
export function codeAt(text: Text, at: number): number {
  return text.units[at + margin]!;
}

/** A longer text gets an array of its own, which is freed with it. */
const sharedMax = 65_536;
const shared = new Uint16Array(sharedMax + 2 * margin);
const sharedBytes = Buffer.from(shared.buffer);

function sharedUnitsOf(text: string): Units {
  if (text.length > sharedMax) return ownUnitsOf(text);
  write(text, shared, sharedBytes);
  shared.fill(0, margin + text.length, 2 * margin + text.length);
  return shared;
}

export function ownUnitsOf(text: string): Units {
  const units = new Uint16Array(text.length + 2 * margin);
  write(text, units, Buffer.from(units.buffer));
  return units;
}

/** Calling the native copy takes as long as reading about 20 units. */
const loopMax = 20;
const isSwapped = endianness() === "BE";

function write(text: string, units: Units, bytes: Buffer): void {
  const { length } = text;
  if (length > loopMax && !isSwapped) bytes.write(text, 2 * margin, "utf16le");
  else for (let at = 0; at < length; at++) units[margin + at] = text.charCodeAt(at);
}

/** Copying fewer units one by one takes as long as calling the native copy. */
const copyMin = 64;

/** Makes a text of units and parts of another text. */
export class TextBuilder {
  readonly #units: Units;
  #length = 0;

  constructor(lengthMax: number) {
    this.#units = lengthMax > sharedMax ? new Uint16Array(lengthMax) : sharedBuilt;
  }

  get length(): number {
    return this.#length;
  }

  add(unit: number): void {
    this.#units[this.#length++] = unit;
  }

  copy(text: Text, from: number, to: number): void {
    if (to - from < copyMin) for (let at = from; at < to; at++) this.add(codeAt(text, at));
    else {
      this.#units.set(text.units.subarray(margin + from, margin + to), this.#length);
      this.#length += to - from;
    }
  }

  toString(): string {
    if (!isSwapped) return Buffer.from(this.#units.buffer, 0, 2 * this.#length).toString("utf16le");
    let text = "";
    for (let at = 0; at < this.#length; at++) text += String.fromCharCode(this.#units[at]!);
    return text;
  }
}

/** Of the latest builder of a short text. */
const sharedBuilt = new Uint16Array(sharedMax);
