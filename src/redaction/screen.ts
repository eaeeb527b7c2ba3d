// Screens the bytes of a text for the built-in rules, without decoding it: most texts have nothing that any rule finds.
import type { BuiltInRule } from "../model/redaction.ts";
import { BytesText } from "./bytes-text.ts";
import { isIbanCountry } from "./cards.ts";
import { isHex } from "./ips.ts";
import { SecretScreen } from "./screen-secrets.ts";

/** What a byte may begin, or be the first of. */
const [
  digit,
  atSign,
  colon,
  equals,
  joint,
  bearerLetter,
  wordLetter,
  cloudLetter,
  tokenLetter,
  backslash,
  wide,
] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

function kindsFor(active: ReadonlySet<BuiltInRule>): Uint8Array {
  const kinds = new Uint8Array(256);
  const mark = (chars: string, kind: number) => {
    for (const char of chars) kinds[char.charCodeAt(0)] = kind;
  };
  mark("0123456789", digit);
  mark("\\", backslash);
  mark("\u00d9\u00db\u00e0\u00ef", wide);
  if (active.has("email") || active.has("secret")) mark("@", atSign);
  if (active.has("ip") || active.has("secret")) mark(":", colon);
  if (active.has("secret")) {
    mark("=", equals);
    mark("-_", joint);
    mark("Bb", bearerLetter);
    mark("wW", wordLetter);
    mark("I", cloudLetter);
    mark("J", tokenLetter);
  }
  return kinds;
}

/** No number with fewer digits is looked for, and no address has fewer groups. */
const [digitsMin, groupsMin] = [7, 4];

const [open, plus] = [40, 43];

/** Look no farther ahead for the colons of an address. */
const addressMax = 46;

/**
 * Looks at the characters that may begin something, as `BuiltInFinder` does, but only as far as it takes to see that mostly
 * they do not. What it says holds for the text, for the texts in its JSON on all levels, and for those in JSON in JSON: an
 * escape is taken for all that it may stand for.
 */
export class Screen {
  readonly #kinds: Uint8Array;
  readonly #findsSecrets: boolean;
  readonly #findsIps: boolean;
  readonly #text = new BytesText();
  readonly #secrets = new SecretScreen(this.#text);
  /** Of the groups of digits that are being looked at. */
  readonly #starts = new Int32Array(groupsMin + 1);

  constructor(active: readonly BuiltInRule[]) {
    this.#kinds = kindsFor(new Set(active));
    this.#findsSecrets = active.includes("secret");
    this.#findsIps = active.includes("ip");
  }

  /**
   * True: no rule finds anything in the text from `from` to `to`, in UTF-8, as it is or as JSON writes it. False: it has to be
   * decoded to tell. Leaves out what the key of an attribute says. Linear in the text, whatever it is.
   */
  isClean(bytes: Uint8Array, from: number, to: number): boolean {
    const text = this.#text;
    text.bytes = bytes;
    text.from = from;
    text.to = to;
    this.#secrets.reset();
    for (let at = this.#next(bytes, from, to); at < to; at = this.#next(bytes, at, to)) {
      const kind = this.#kinds[bytes[at]!]!;
      // Most of all: JSON in JSON has one before each quote. The escape of a letter may stand for anything.
      if (kind === backslash) {
        if (text.at(++at) === 117) return false;
        continue;
      }
      at = this.#after(at, kind);
      if (at === found) return false;
    }
    return true;
  }

  /** Calls nothing, which makes it fast. */
  #next(bytes: Uint8Array, from: number, to: number): number {
    const kinds = this.#kinds;
    let at = from;
    while (at < to && kinds[bytes[at]!] === 0) at++;
    return at;
  }

  /** Where to look on; `found` if something may be here. */
  #after(at: number, kind: number): number {
    if (kind === digit) return this.#digits(at);
    return this.#mayBegin(at, kind) ? found : at + 1;
  }

  #mayBegin(at: number, kind: number): boolean {
    const text = this.#text;
    switch (kind) {
      case joint:
        return this.#secrets.isKey(at);
      case bearerLetter:
        return this.#secrets.isScheme(at);
      case wordLetter:
        return this.#secrets.isPasswordWord(at);
      case cloudLetter:
        return this.#secrets.isCloudKey(at);
      case tokenLetter:
        return text.at(at - 1) === 121 && text.at(at - 2) === 101;
      case equals:
        return this.#secrets.isSaidBefore(at);
      case colon:
        return this.#isColonOfAny(at);
      case atSign:
        return !isBlank(text.at(at - 1)) && !isBlank(text.at(at + 1));
      default:
        return this.#isWide(at);
    }
  }

  #isColonOfAny(at: number): boolean {
    if (this.#findsIps && this.#mayBeAddress(at)) return true;
    return this.#findsSecrets && (this.#secrets.isSaidBefore(at) || this.#secrets.isLongKey(at));
  }

  /** IPv6: two colons in a row, or at least six of them. */
  #mayBeAddress(first: number): boolean {
    const text = this.#text;
    const next = text.at(first + 1);
    if (next !== 58 && !isHex(next)) return false;
    let start = first;
    while (first - start < 5 && isHex(text.at(start - 1))) start--;
    const before = text.at(start - 1);
    const isInWord = before < 128 && (isHex(before) || isWord(before) || before === 58 || before === 46);
    if (isInWord && !text.isEscaped(start - 1)) return false;
    let colons = 0;
    for (let at = first; at < first + addressMax; at++) {
      const code = text.at(at);
      if (code === 58) {
        colons++;
        if (colons === 6 || text.at(at + 1) === 58) return true;
      } else if (!isHex(code) && code !== 46) break;
    }
    return false;
  }

  /** Digits, an @ and a colon of other scripts. */
  #isWide(at: number): boolean {
    const text = this.#text;
    const [lead, second, third] = [text.at(at), text.at(at + 1), text.at(at + 2)];
    switch (lead) {
      case 0xd9:
        return second >= 0xa0 && second <= 0xa9;
      case 0xdb:
        return second >= 0xb0 && second <= 0xb9;
      case 0xe0:
        return second === 0xa5 && third >= 0xa6 && third <= 0xaf;
      default:
        if (lead !== 0xef || second !== 0xbc) return false;
        if (third === 0x9a) return this.#findsSecrets && this.#secrets.isSaidBefore(at);
        return (third >= 0x90 && third <= 0x99) || third === 0xa0;
    }
  }

  /** Groups of digits, with separators between them. */
  #digits(first: number): number {
    const text = this.#text;
    if (text.at(first - 1) === 37 && text.at(first) === 52 && text.at(first + 1) === 48) return found;
    if (isIbanCountry(text.at(first - 2), text.at(first - 1)) && isDigit(text.at(first + 1))) return found;
    const starts = this.#starts;
    let [at, groups, count] = [first, 0, 0];
    let isPart = false;
    for (let next = first; next !== -1; next = this.#endOfGap(at)) {
      at = next;
      while (isDigit(text.at(at))) at++;
      count += at - next;
      starts[groups++] = next;
      if ((count >= digitsMin || groups >= groupsMin) && !this.#isInDate(groups, at)) return found;
      isPart ||= this.#findsSecrets && this.#secrets.isPartOfValue(next, at);
    }
    // Which of them a value goes on from depends on what is between them.
    if (isPart) {
      for (let group = 0; group < groups; group++) if (this.#secrets.isAround(starts[group]!)) return found;
    }
    return at;
  }

  /** Whether three groups are a date such as 2026-11-26, and a fourth the hour after it: no number begins in them. */
  #isInDate(groups: number, end: number): boolean {
    const text = this.#text;
    const first = this.#starts[0]!;
    const [lead, earlier] = [text.at(first - 1), text.at(first - 2)];
    const mayLead = lead >= 128 || lead === plus || lead === open;
    if (mayLead || (lead === 32 && (earlier >= 128 || earlier === plus || earlier === open))) return false;
    if (groups < 3 || groups > 4 || (groups === 4 && (end - first !== 13 || text.at(first + 10) !== 32)))
      return false;
    if ((groups === 3 && end - first !== 10) || text.at(first + 4) !== 45 || text.at(first + 7) !== 45)
      return false;
    const [year, month, day] = [
      this.#twoDigits(first),
      this.#twoDigits(first + 5),
      this.#twoDigits(first + 8),
    ];
    return (year === 19 || year === 20) && month >= 1 && month <= 31 && day >= 1 && day <= 31;
  }

  #twoDigits(at: number): number {
    return (this.#text.at(at) - 48) * 10 + this.#text.at(at + 1) - 48;
  }

  /** The next digit, if only what may stand between groups is before it; else -1. */
  #endOfGap(from: number): number {
    const text = this.#text;
    for (let at = from; at < text.to; ) {
      const code = text.at(at);
      if (isDigit(code)) return at;
      if (code < 128 ? gapBytes[code] === 0 : !isWideGap(code) || this.#isWide(at)) return -1;
      at += code >= 0xe0 ? 3 : code >= 0xc0 ? 2 : 1;
    }
    return -1;
  }
}

const found = -1;

/** Between groups of digits. A backslash may be there, since \/ stands for a slash. */
const gapBytes = new Uint8Array(128);
for (const char of " -./()+\\") gapBytes[char.charCodeAt(0)] = 1;

/** The first byte of a blank, hyphen or bracket of Unicode. */
function isWideGap(lead: number): boolean {
  return lead === 0xc2 || lead === 0xe2 || lead === 0xef;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWord(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || isDigit(code) || code === 95;
}

/** A blank, a control character or an end of the text. */
function isBlank(code: number): boolean {
  return code <= 32;
}
