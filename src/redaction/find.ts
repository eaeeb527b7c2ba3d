// Finds what the built-in rules find in one text without JSON: one pass, which stops only at characters that may begin something.

import type { BuiltInRule } from "../model/redaction.ts";
import { ibanAt } from "./cards.ts";
import { isDigit, isLatin } from "./characters.ts";
import { mayGoOn } from "./digit-groups.ts";
import { emailAt } from "./emails.ts";
import type { Found } from "./found.ts";
import { endOfIpv4, ipv6At, isHex } from "./ips.ts";
import { bearerAt, cloudKeyAt, jwtAt, KeySearch } from "./known-keys.ts";
import { NumberSearch } from "./numbers.ts";
import { type Ranks, ranksOf } from "./ranks.ts";
import { blankMark, jointMark, lastLetterMark, leadMark, markOf } from "./secret-marks.ts";
import { isPartOfValue, SecretSearch, secretIn } from "./secrets.ts";
import { codeAt, type Text } from "./units.ts";
import { urlPasswordAt } from "./url-password.ts";

/** What a character may begin. */
const [digit, atSign, colon, equals, hyphen, underscore, keyLetter, jwtLetter, bearerLetter, wordLetter] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];

/** Kinds of the characters that any of the rules needs, by their codes. */
function kindsFor(active: ReadonlySet<BuiltInRule>): Uint8Array {
  const kinds = new Uint8Array(65_536);
  const mark = (chars: string, kind: number) => {
    for (const char of chars) kinds[char.charCodeAt(0)] = kind;
  };
  mark("0123456789", digit);
  if (active.has("phone") || active.has("card") || active.has("ssn")) {
    for (const zero of [0xff10, 0x660, 0x6f0, 0x966])
      for (let at = 0; at < 10; at++) kinds[zero + at] = digit;
  }
  if (active.has("email") || active.has("secret")) mark("@＠", atSign);
  if (active.has("ip") || active.has("secret")) mark(":：", colon);
  if (active.has("secret")) {
    mark("=", equals);
    mark("-", hyphen);
    mark("_", underscore);
    mark("KSz", keyLetter);
    mark("J", jwtLetter);
    mark("Bb", bearerLetter);
    mark("wW", wordLetter);
  }
  return kinds;
}

/** No rule finds anything shorter. */
export const lengthMin = 3;

export class BuiltInFinder {
  readonly #kinds: Uint8Array;
  readonly #ranks: Ranks;

  constructor(active: readonly BuiltInRule[]) {
    this.#ranks = ranksOf(active);
    this.#kinds = kindsFor(new Set(active));
  }

  /** `key`: of the field that the text is in. Null once more than `most` are found. Linear in the text, whatever it is. */
  find(text: Text, key: string, most: number): Found[] | null {
    return text.length < lengthMin ? [] : new Search(text, this.#kinds, this.#ranks).run(key, most);
  }
}

/** One pass through one text. */
class Search {
  readonly #text: Text;
  readonly #kinds: Uint8Array;
  readonly #ranks: Ranks;
  readonly #found: Found[] = [];
  #secrets: SecretSearch | null = null;
  #keys: KeySearch | null = null;
  #numbers: NumberSearch | null = null;

  constructor(text: Text, kinds: Uint8Array, ranks: Ranks) {
    this.#text = text;
    this.#kinds = kinds;
    this.#ranks = ranks;
  }

  run(key: string, most: number): Found[] | null {
    const text = this.#text;
    if (key !== "" && this.#ranks.secret !== -1) {
      const whole = secretIn(text.string, key);
      if (whole) this.#add("secret", whole);
    }
    const { length } = text;
    for (let at = this.#next(0); at < length; ) {
      at = this.#next(this.#at(at, this.#kinds[codeAt(text, at)]!));
      if (this.#found.length > most) return null;
    }
    return this.#found;
  }

  /** The position of the next character that may begin something; the end if there is none. Calls nothing, which makes it fast. */
  #next(from: number): number {
    const kinds = this.#kinds;
    const text = this.#text;
    const { length } = text;
    let at = from;
    while (at < length && kinds[codeAt(text, at)] === 0) at++;
    return at;
  }

  #add(rule: BuiltInRule, { start, end }: { start: number; end: number }): void {
    const rank = this.#ranks[rule];
    if (rank !== -1) this.#found.push({ start, end, rule: rank });
  }

  /** Returns where to look on, after the position. */
  #at(at: number, kind: number): number {
    if (kind === digit) return this.#digits(at);
    if (kind === atSign) return this.#atSign(at, 1);
    if (kind === colon) return this.#colon(at);
    const place = this.#secretBy(at, kind);
    if (!place) return at + 1;
    this.#add("secret", place);
    // A value after a word may contain others; a key of a known shape does not.
    return kind === equals || kind === wordLetter ? at + 1 : Math.max(place.end, at + 1);
  }

  #secretBy(at: number, kind: number): { start: number; end: number } | null {
    const text = this.#text;
    if (kind === keyLetter)
      return codeAt(text, at + 1) === 73 || codeAt(text, at - 1) === 73 ? cloudKeyAt(text, at) : null;
    if (kind === jwtLetter)
      return codeAt(text, at - 1) === 121 && codeAt(text, at - 2) === 101 ? jwtAt(text, at) : null;
    if (kind === bearerLetter) return bearerAt(text, at);
    if (kind === equals) return this.#secretAfter(at);
    if (kind === wordLetter) return this.#passwordAt(at);
    this.#keys ??= new KeySearch(text);
    if (kind === hyphen && codeAt(text, at + 5) === 66 && text.startsWith("-----BEGIN ", at))
      return this.#keys.pemAt(at);
    return this.#keys.at(at);
  }

  #atSign(at: number, size: number): number {
    const text = this.#text;
    const [before, after] = [codeAt(text, at - 1), codeAt(text, at + size)];
    // NaN at either end.
    if (!(before > 32 && after > 32) || isAt(before) || isAt(after)) return at + size;
    const password = this.#ranks.secret !== -1 ? urlPasswordAt(text, at) : null;
    if (password) {
      this.#add("secret", password);
      return at + size;
    }
    const email = this.#ranks.email !== -1 ? emailAt(text, at, size) : null;
    if (!email) return at + size;
    this.#add("email", email);
    return email.end;
  }

  #colon(at: number): number {
    const after = codeAt(this.#text, at + 1);
    if (this.#ranks.ip !== -1 && (after === 58 || isHex(after))) {
      const ip = ipv6At(this.#text, at);
      if (ip) {
        this.#add("ip", ip);
        return ip.end;
      }
    }
    const secret = this.#ranks.secret !== -1 ? this.#secretAfter(at) : null;
    if (secret) this.#add("secret", secret);
    return at + 1;
  }

  /** After a colon or an equals sign, blanks and quotes. */
  #secretAfter(mark: number): { start: number; end: number } | null {
    if (!(markOf(codeAt(this.#text, mark - 1)) & (jointMark | lastLetterMark))) return null;
    let start = mark + 1;
    while (start < mark + 5 && markOf(codeAt(this.#text, start)) & leadMark) start++;
    return this.#secret.at(start);
  }

  get #secret(): SecretSearch {
    this.#secrets ??= new SecretSearch(this.#text);
    return this.#secrets;
  }

  #digits(at: number): number {
    const text = this.#text;
    const previous = codeAt(text, at - 1);
    // Most digits in text are alone, and part of no number.
    if (!mayGoOn(codeAt(text, at + 1)))
      return this.#ranks.secret !== -1 && isPartOfValue(text, at, at + 1) ? this.#token(at, at + 1) : at + 1;
    if (
      previous === 37 &&
      codeAt(text, at) === 52 &&
      codeAt(text, at + 1) === 48 &&
      this.#ranks.email !== -1
    ) {
      const email = emailAt(text, at - 1, 3);
      if (email) {
        this.#add("email", email);
        return email.end;
      }
    }
    if (this.#ranks.ip !== -1 && mayBeIpv4(text, at)) {
      const end = endOfIpv4(text, at);
      if (end !== -1) {
        this.#add("ip", { start: at, end });
        return end;
      }
    }
    // Mostly a few digits, and no number goes on after them.
    const run = endOfShortRun(text, at);
    if (run !== -1 && !isLatin(previous)) {
      return this.#ranks.secret !== -1 && isPartOfValue(text, at, run) ? this.#token(at, run) : run;
    }
    // Like one, but with wrong check digits, it is nothing else either: no phone number and no card.
    const iban = isLatin(previous) ? ibanAt(text, at) : null;
    if (iban) {
      if (iban.isValid) this.#add("iban", iban);
      return iban.end;
    }
    let end = run;
    if (end === -1) {
      this.#numbers ??= new NumberSearch(text, this.#ranks);
      end = this.#numbers.at(at, this.#found);
    }
    if (this.#ranks.secret !== -1 && isPartOfValue(text, at, end)) end = this.#token(at, end);
    return end;
  }

  /** Letters and digits mixed, which may be a secret without a colon before it. */
  #token(at: number, end: number): number {
    const found = this.#found;
    const secret = this.#secret.token(at, found.length > 0 ? found[found.length - 1]!.end : 0);
    if (secret) this.#add("secret", secret);
    return end;
  }

  /** “The password is …”, by the w. */
  #passwordAt(at: number): { start: number; end: number } | null {
    const text = this.#text;
    const before = codeAt(text, at - 1) | 32;
    const start = before === 115 ? at - 4 : before === 112 ? at - 1 : before === 110 ? at - 4 : at;
    if (start < 0 || !passwordLetters.has(codeAt(text, start))) return null;
    // What follows the word: mostly not what the pattern needs.
    let end = at;
    while (end < at + 9 && isLatin(codeAt(text, end))) end++;
    if (!(markOf(codeAt(text, end)) & (blankMark | leadMark))) return null;
    password.lastIndex = start;
    return password.test(text.string) ? this.#secret.at(password.lastIndex) : null;
  }
}

/** The end of fewer digits than a number has, after which none goes on; else -1. */
function endOfShortRun(text: Text, start: number): number {
  let end = start + 1;
  while (end < start + 7 && isDigit(codeAt(text, end))) end++;
  return end < start + 7 && !mayGoOn(codeAt(text, end)) ? end : -1;
}

/** Whether a point follows up to three digits. */
function mayBeIpv4(text: Text, start: number): boolean {
  for (let at = start + 1; at <= start + 3; at++) {
    const code = codeAt(text, at);
    if (!isDigit(code)) return code === 46;
  }
  return false;
}

function isAt(code: number): boolean {
  return code === 64 || code === 0xff20;
}

const passwordLetters: ReadonlySet<number> = new Set(Array.from("pkwPKW", char => char.charCodeAt(0)));
const password =
  /(?:passw(?:or[dt]|d)|kennwort|wachtwoord|pwd)["'`]?(?:\s{1,2}(?:is|was|ist|lautet|to|auf)){1,2}:?\s{1,2}["'`]?/iy;
