// Finds secrets by the words before them, such as password and api_key, in prose, settings, URLs and keys of fields.

import { isAfterPlaceholder } from "./characters.ts";
import { mayEndWord, saidBefore, wordEndingAt } from "./said.ts";
import {
  closeMark,
  jointMark,
  lastLetterMark,
  markOf,
  numberMark,
  openMark,
  trailingMark,
} from "./secret-marks.ts";
import { codeAt, ownUnitsOf, Text } from "./units.ts";

type Place = { start: number; end: number };

/** How much of a value it is judged by; it is taken as a whole. */
const lengthMin = 6;
const valueMax = 512;
const tokenMax = 64;

/**
 * The secrets of one text, asked for by increasing positions. It remembers where the values around a position begin and end,
 * because every colon in `a:b:c:…` may be the beginning of one: so all questions together read the text a few times.
 */
export class SecretSearch {
  readonly #text: Text;
  /** Of the last value that was found: what begins in it is part of it. */
  #foundEnd = 0;
  /** There is no end of a value from here … */
  #closeFrom = 0;
  /** … to here. */
  #close = -1;
  /** The same, without points and the like at the end. */
  #trimmed = 0;
  /** The next `***`, `…` or `...` after the first position is at the second. */
  #maskFrom = 0;
  #mask = -1;
  #openSeen = 0;
  #openAfter = 0;
  #tokenStart = -1;
  #asked = -1;

  constructor(text: Text) {
    this.#text = text;
  }

  /** The secret that begins here, after a word that says so. */
  at(start: number): Place | null {
    const text = this.#text;
    if (start < this.#foundEnd || start === this.#asked || isShort(text, start) || !mayBeSaid(text, start))
      return null;
    this.#asked = start;
    const end = this.#endOfValue(start);
    if (end - start < lengthMin || !isMixed(text, start, Math.min(end, start + valueMax))) return null;
    const judged = Math.min(end, start + valueMax);
    if (isStandIn(text, start, judged)) return null;
    const said = saidBefore(text, start);
    if (!said) return null;
    const before = codeAt(text, said.start - 1);
    if (said.start > Math.max(0, start - 48)) {
      if (isAsciiLetter(before) && !hasJoint(text, said.start, said.end)) return null;
      if (before === 91 && codeAt(text, said.end) === 93) return null;
      if (isAfterPlaceholder(text, said.start)) return null;
    }
    // “password reset2024” is no password: without `is` or a colon, the value must look random.
    const isPassword = said.isPassword && (said.isJoined || codeAt(text, said.end - 1) > 0x24f);
    if (this.#isMasked(start, judged) || !looksSecret(text.slice(start, judged), isPassword)) return null;
    this.#foundEnd = end;
    return { start, end };
  }

  /**
   * The secret in which a digit is, without a colon or the like before it, unless something that was found reaches into it, up
   * to `found`. Each value is asked for once.
   */
  token(digit: number, found: number): Place | null {
    const text = this.#text;
    for (; this.#openSeen < digit; this.#openSeen++) {
      const code = codeAt(text, this.#openSeen);
      if (code > 0x24f || markOf(code) & openMark) this.#openAfter = this.#openSeen + 1;
    }
    const start = this.#openAfter;
    if (start === this.#tokenStart || found > start || digit - start > tokenMax) return null;
    this.#tokenStart = start;
    return this.at(start);
  }

  #endOfValue(start: number): number {
    const text = this.#text;
    if (start < this.#closeFrom || start > this.#close) {
      let close = start;
      while (close < text.length && !(markOf(codeAt(text, close)) & closeMark)) close++;
      this.#closeFrom = start;
      this.#close = close;
      this.#trimmed = trimmedEnd(text, start, close);
    }
    return Math.max(start, this.#trimmed);
  }

  /** Whether `***` and the like stand for the value, or a part of it. */
  #isMasked(start: number, end: number): boolean {
    const text = this.#text;
    if (start < this.#maskFrom || start > this.#mask) {
      let at = start;
      while (at < this.#close && !isMask(text, at)) at++;
      this.#maskFrom = start;
      this.#mask = at;
    }
    return this.#mask < end && isMask(text, this.#mask);
  }
}

function trimmedEnd(text: Text, start: number, from: number): number {
  let end = from;
  while (end > start && markOf(codeAt(text, end - 1)) & trailingMark) end--;
  return end;
}

function isMask(text: Text, at: number): boolean {
  const code = codeAt(text, at);
  if (code === 0x2026) return true;
  return (code === 42 || code === 46) && codeAt(text, at + 1) === code && codeAt(text, at + 2) === code;
}

/** What a key of a field, such as `db.password` or `apiKey`, says of its value; null: nothing. */
type Said = { isPassword: boolean } | null;

const knownKeys = new Map<string, Said>();
const knownKeysMax = 2_000;

function saidByKey(key: string): Said {
  if (key.length > 64) return null;
  let known = knownKeys.get(key);
  if (known === undefined) {
    const said = key.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase();
    const word = wordEndingAt(new Text(said, ownUnitsOf), said.length, 0);
    const counts = /(?<![a-z])(?:max|min|num|count|input|output|total|prompt)[._-]?tokens?$/.test(said);
    known = word && !counts ? { isPassword: word.isPassword } : null;
    if (knownKeys.size >= knownKeysMax) knownKeys.clear();
    knownKeys.set(key, known);
  }
  return known;
}

/** Whether a key says that its value is a secret. */
export function isSecretKey(key: string): boolean {
  return saidByKey(key) !== null;
}

/** The secret that a whole text is, in a field whose key says so; null if it looks like none. */
export function secretIn(text: string, key: string): Place | null {
  const said = saidByKey(key);
  if (!said) return null;
  const start = text.length - text.trimStart().length;
  const value = text.trim();
  if (
    /\s/.test(value) ||
    /\*\*\*|…|\.\.\./.test(value) ||
    !looksSecret(value.slice(0, valueMax), said.isPassword)
  )
    return null;
  return { start, end: start + value.length };
}

/** Whether a value ends so early that it is none; most do. */
function isShort(text: Text, start: number): boolean {
  for (let at = start; at < start + lengthMin; at++) if (markOf(codeAt(text, at)) & closeMark) return true;
  return start + lengthMin > text.length;
}

/** Whether the last letter before the value is that of such a word; most are not. */
function mayBeSaid(text: Text, start: number): boolean {
  let at = start - 1;
  const least = Math.max(0, start - 8);
  while (at >= least && markOf(codeAt(text, at)) & jointMark) at--;
  if (at < least) return false;
  const code = codeAt(text, at);
  if (!(markOf(code) & lastLetterMark)) return false;
  return code >= 128 || mayEndWord(code, codeAt(text, at - 1));
}

/** Whether there is more than letters of one case: no word of a language is a secret. */
function isMixed(text: Text, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    const code = codeAt(text, at);
    if (code < 97 || (code > 122 && code < 128)) return true;
  }
  return false;
}

function isAsciiLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

/** Whether a run of digits is only a part of a value: something other than a blank or a quote is at one of its ends. */
export function isPartOfValue(text: Text, start: number, end: number): boolean {
  const [before, after] = [codeAt(text, start - 1), codeAt(text, end)];
  const isAttached = start > 0 && before <= 0x24f && !(markOf(before) & openMark);
  if (isAttached && before !== 46 && before !== 45 && before !== 47) return true;
  return end < text.length && after <= 0x24f && !(markOf(after) & (closeMark | numberMark));
}

/** Whether a word has an underscore or a hyphen. */
function hasJoint(text: Text, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = codeAt(text, at);
    if (code === 95 || code === 45) return true;
  }
  return false;
}

/** `my-key` and `yourPassword`, but not Mystic. */
const standInWords =
  "(?:your|my|the)(?:[^a-z]|pass|api|secret|token|key)|change(?:[^a-z]|me|it|this)|example|redacted|xxx|https?:|s3:|file:|env[.:]|process\\.|p_";
const standIn = new RegExp(`[[<{*]|[$%#]\\{|${standInWords}`, "iy");
const standInWord = new RegExp(`^(?:${standInWords})`, "i");
const standInBegins = new Uint8Array(128);
for (const char of "[<{*$%#ymtcerxhsfpYMTCERXHSFP") standInBegins[char.charCodeAt(0)] = 1;

/** Whether a value begins as what stands for a secret does; the rest is left to `looksSecret`. */
function isStandIn(text: Text, start: number, end: number): boolean {
  const code = codeAt(text, start);
  if (code >= 128 || standInBegins[code] === 0) return false;
  // The x of xxx is often one of x1.
  if ((code | 32) === 120 && (codeAt(text, start + 1) | 32) !== 120) return false;
  standIn.lastIndex = start;
  return standIn.test(text.string) && standIn.lastIndex <= end;
}

/** Not for what stands for a secret: <password>, ${PASSWORD}, your-api-key. */
function looksSecret(value: string, isPassword: boolean): boolean {
  if (
    value.length < lengthMin ||
    value.length > valueMax ||
    /^(?:[[<{*]|[$%#]\{|%[A-Z_]+%|\$[A-Z_]+$)/.test(value)
  )
    return false;
  if (standInWord.test(value)) return false;
  if (isPassword)
    return (
      hasTwoKinds(value) &&
      !/^[A-Za-z]?[a-z]+$/.test(value) &&
      !/^[\d.:/-]+$/.test(value) &&
      !isPlainWords(value)
    );
  if (value.length < 12 || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return entropy(value.slice(0, tokenMax)) >= 3 && !/^[A-Za-z]+[-_./][\d.]+$/.test(value);
}

/** Of small letters, capital letters, digits and anything else. */
function hasTwoKinds(value: string): boolean {
  const first = kindOf(value.charCodeAt(0));
  for (let at = 1; at < value.length; at++) if (kindOf(value.charCodeAt(at)) !== first) return true;
  return false;
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
}

/** `two-factor`, `Login/Passwort`: letters with one mark between. */
function isPlainWords(value: string): boolean {
  return (
    /^[A-Z]?[a-z]+(?:[-_/.'’][A-Z]?[a-z]+)+$/.test(value) ||
    (/[^\u0000-\u024f]/.test(value) && !/\d/.test(value))
  );
}

const counts = new Uint8Array(256);

/** In bits a character, at most 255 of them; those beyond Latin count as by their last byte. */
function entropy(value: string): number {
  counts.fill(0);
  for (let at = 0; at < value.length; at++) counts[value.charCodeAt(at) & 255]!++;
  let bits = 0;
  for (let at = 0; at < value.length; at++) {
    // Each of the n equal characters adds its share.
    bits -= Math.log2(counts[value.charCodeAt(at) & 255]! / value.length) / value.length;
  }
  return bits;
}
