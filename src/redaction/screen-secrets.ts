// Screens the bytes of a text for words that say a secret follows: says yes too often, and no only where none is found.
import { type BytesText, malformed } from "./bytes-text.ts";
import { prefixesEndingWith } from "./known-keys.ts";
import { joins, words } from "./said.ts";
import { blankMark, closeMark, jointMark, markOf, numberMark, openMark } from "./secret-marks.ts";

const [quote, hyphen, slash, backslash, underscore] = [34, 45, 47, 92, 95];

/** Farther back is not looked: what has more marks or longer values there is read as a whole. */
const reach = 64;

/** Up to two of `is`, colons and the like stand between a word and a value. */
const joinsMax = 2;

/** How much of a key is looked at. */
const keyMax = 64;

const valueMin = 6;
const tokenMin = 8;
/** Of tokens, beside letters, digits and underscores. 2: where \/ stands for a slash. */
const tokenMarks = new Uint8Array(256);
for (const char of ".~+/-=") tokenMarks[char.charCodeAt(0)] = 1;
tokenMarks[backslash] = 2;

/** The letters of escapes that become one character each. */
const escapeLetters = new Uint8Array(128);
for (const char of "bfnrt") escapeLetters[char.charCodeAt(0)] = 1;

/** The secrets of a text, asked for by increasing positions. */
export class SecretScreen {
  readonly #text: BytesText;
  /** In the last value around a digit, nothing is said before it. */
  #unsaid = -1;

  constructor(text: BytesText) {
    this.#text = text;
  }

  /** Another text is read. */
  reset(): void {
    this.#unsaid = -1;
  }

  /** Whether a word may be said before a colon or an equals sign. */
  isSaidBefore(mark: number): boolean {
    return this.#saysBefore(mark, joinsMax);
  }

  /** Whether a run of digits may be only a part of a value. */
  isPartOfValue(start: number, end: number): boolean {
    return this.#isAttachedBefore(start) || this.#isAttachedAfter(end);
  }

  /** Whether the value in which a digit is may be a secret. */
  isAround(digit: number): boolean {
    const text = this.#text;
    let at = digit;
    for (; at > text.from; at = text.start) {
      if (at === this.#unsaid) break;
      if (digit - at > reach) return true;
      const code = text.before(at);
      if (code === malformed) return true;
      if (code === backslash) {
        // An escape of a slash or a control character begins no value, if it is one.
        if (escapeBreaks(text.at(at))) break;
        return true;
      }
      if (code > 0x24f || markOf(code) & openMark) break;
    }
    const isClean = at === this.#unsaid || this.#isShort(at) || !this.#saysBefore(at, joinsMax);
    if (isClean) this.#unsaid = digit;
    return !isClean;
  }

  /** Whether a known key may begin with what ends in this hyphen or underscore. */
  isKey(mark: number): boolean {
    const text = this.#text;
    const prefixes = prefixesEndingWith(text.at(mark - 2), text.at(mark - 1), text.at(mark));
    if (prefixes?.some(({ prefix }) => this.#isPrefix(prefix, mark + 1))) return true;
    return text.at(mark) === hyphen && text.at(mark + 1) === hyphen && text.at(mark + 5) === 66;
  }

  #isPrefix(prefix: string, end: number): boolean {
    const text = this.#text;
    if (!text.endsWith(prefix, end)) return false;
    const start = end - prefix.length;
    const before = text.at(start - 1);
    if (!isWordByte(before)) return true;
    return escapeLetters[before] === 1 && text.isEscaped(start - 1);
  }

  /** `Bearer` or `Basic` in a header, by its b. */
  isScheme(b: number): boolean {
    const text = this.#text;
    // The r of bearer and the i of basic: most other words differ here.
    const fourth = text.at(b + 3) | 32;
    if (fourth === 114) return text.startsWith("bearer", b) && this.#mayBeToken(b + 6);
    if (fourth !== 105 || !text.startsWith("basic", b) || !this.#mayBeToken(b + 5)) return false;
    let at = b;
    for (; at > text.from && !this.#isWordByte(at - 1); at--) if (b - at > reach) return true;
    return text.endsWith("authorization", at);
  }

  /** “The password is …”, by the w. */
  isPasswordWord(w: number): boolean {
    const text = this.#text;
    const next = text.at(w + 1) | 32;
    if (next === 111) return text.endsWith("pass", w) || text.endsWith("kenn", w);
    if (next === 100) return text.endsWith("pass", w) || text.endsWith("p", w);
    return next === 97 && text.startsWith("wachtw", w);
  }

  /** AKIA…, ASIA… and AIza…, by the I. */
  isCloudKey(i: number): boolean {
    const text = this.#text;
    const before = text.at(i - 1);
    if (before === 65) return text.at(i + 1) === 122 && text.at(i + 2) === 97;
    return (before === 75 || before === 83) && text.at(i - 2) === 65 && text.at(i + 1) === 65;
  }

  /** Whether blanks, quotes and colons follow, and then as many characters as a token has. */
  #mayBeToken(from: number): boolean {
    const text = this.#text;
    let start = from;
    while (start < text.to && !this.#isWordByte(start) && tokenMarks[text.at(start)] !== 1) {
      if (start++ - from > reach) return true;
    }
    if (start === from) return false;
    let end = start;
    while (end < start + tokenMin && (isWordByte(text.at(end)) || tokenMarks[text.at(end)]! > 0)) end++;
    return end === start + tokenMin;
  }

  /** A letter of an escape is none. */
  #isWordByte(at: number): boolean {
    const code = this.#text.at(at);
    return isWordByte(code) && !(escapeLetters[code] === 1 && this.#text.isEscaped(at));
  }

  #isAttachedBefore(start: number): boolean {
    const text = this.#text;
    if (start === text.from) return false;
    const code = text.before(start);
    if (code > 0x24f) return false;
    if (code === malformed) return true;
    return !(markOf(code) & openMark) && code !== 46 && code !== hyphen && code !== slash;
  }

  #isAttachedAfter(end: number): boolean {
    const text = this.#text;
    if (end >= text.to) return false;
    const code = text.at(end);
    // From here on, all bytes begin characters beyond Latin.
    if (code >= 0xca) return false;
    if (code >= 0x80) return !(code === 0xc2 && text.at(end + 1) === 0xa0);
    if (code === backslash) return isControlEscape(text.afterBackslashes(end));
    return !(markOf(code) & (closeMark | numberMark));
  }

  /** Whether a value ends so early that it is none. */
  #isShort(start: number): boolean {
    const text = this.#text;
    for (let at = start; at < start + valueMin; at++) {
      const code = text.at(at);
      if (at >= text.to) return true;
      if (code === backslash) return escapeBreaks(text.afterBackslashes(at));
      if (code < 0x80 && markOf(code) & closeMark) return true;
    }
    return false;
  }

  /** Whether a word ends before a position, with marks, blanks and up to so many of `is` and the like between. */
  #saysBefore(end: number, left: number): boolean {
    const text = this.#text;
    let at = end;
    for (; at > text.from; at = text.start) {
      if (end - at > reach) return true;
      const code = text.before(at);
      if (code === malformed) return true;
      if (code <= 32 || (code <= 0xffff && markOf(code) & (jointMark | blankMark))) continue;
      if (code < 128 && escapeLetters[code] === 1 && text.isEscaped(at - 1)) continue;
      break;
    }
    return at > text.from && (this.#endsWord(at) || (left > 0 && this.#endsJoin(at, left)));
  }

  #endsWord(end: number): boolean {
    const text = this.#text;
    let node = 0;
    for (let at = end; at > text.from; at = text.start) {
      const code = text.before(at);
      if (code === malformed) return true;
      node = code > 0xffff ? 0 : words.next(node, code);
      if (node === 0) return false;
      if (words.valuesOf(node) !== undefined) return true;
    }
    return false;
  }

  #endsJoin(end: number, left: number): boolean {
    const text = this.#text;
    let node = 0;
    for (let at = end; at > text.from; ) {
      const code = text.before(at);
      if (code === malformed) return true;
      at = text.start;
      node = code > 0xffff ? 0 : joins.next(node, code);
      if (node === 0) return false;
      if (joins.valuesOf(node) !== undefined && this.#saysBefore(at, left - 1)) return true;
    }
    return false;
  }

  /**
   * Whether a key of JSON before the colon may be longer than what is looked at, of which only the beginning counts. Its
   * quotes have the same number of backslashes before them, and none within it has.
   */
  isLongKey(colon: number): boolean {
    const text = this.#text;
    let close = colon - 1;
    while (close >= text.from && isBlankOrEscape(text, close)) close--;
    if (text.at(close) !== quote) return false;
    const begin = this.#backslashesBefore(close);
    let open = begin - 1;
    while (open >= text.from && text.bytes[open] !== quote) if (begin - open-- > keyMax) return true;
    return open >= text.from && open - this.#backslashesBefore(open) !== close - begin;
  }

  /** Where the backslashes before a position begin. */
  #backslashesBefore(at: number): number {
    const text = this.#text;
    let start = at;
    while (start > text.from && text.bytes[start - 1] === backslash) start--;
    return start;
  }
}

/** Whether a backslash, or what it stands for before this character, ends a value. */
function escapeBreaks(code: number): boolean {
  return code !== slash && !isControlEscape(code);
}

/** Of the two control characters that are no blanks. */
function isControlEscape(code: number): boolean {
  return code === 98 || code === 102;
}

function isBlankOrEscape(text: BytesText, at: number): boolean {
  const code = text.at(at);
  return code <= 32 || code === backslash || (code < 128 && escapeLetters[code] === 1 && text.isEscaped(at));
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57);
}

function isWordByte(code: number): boolean {
  return isLetterOrDigit(code) || code === underscore;
}
