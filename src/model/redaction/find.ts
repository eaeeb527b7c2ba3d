// Finds what the built-in rules find in one text without JSON: one pass, which stops only at characters that may begin something.

import { ibanAt } from "./cards.ts";
import { isLatin } from "./characters.ts";
import { emailAt } from "./emails.ts";
import type { Found } from "./found.ts";
import { endOfIpv4, ipv6At } from "./ips.ts";
import { bearerAt, cloudKeyAt, jwtAt, keyAt, pemAt } from "./known-keys.ts";
import { numbersAt } from "./numbers.ts";
import type { BuiltInRule } from "./rules.ts";
import { isPartOfValue, secretAt, secretIn, startOfValue, urlPasswordAt } from "./secrets.ts";

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

export class BuiltInFinder {
  readonly #kinds: Uint8Array;
  /** The rank of each rule that is active. */
  readonly #ranks: ReadonlyMap<BuiltInRule, number>;

  constructor(active: readonly BuiltInRule[]) {
    this.#ranks = new Map(active.map((rule, rank) => [rule, rank]));
    this.#kinds = kindsFor(new Set(active));
  }

  /** `key`: of the field that the text is in. */
  find(text: string, key: string): Found[] {
    const found: Found[] = [];
    if (this.#ranks.has("secret") && key !== "" && text.length < 2_048) {
      const whole = secretIn(text, key);
      if (whole) this.#add(found, "secret", whole);
    }
    const kinds = this.#kinds;
    const { length } = text;
    for (let at = 0; at < length; at++) {
      const kind = kinds[text.charCodeAt(at)]!;
      if (kind !== 0) at = this.#at(text, at, kind, found) - 1;
    }
    return found;
  }

  #add(found: Found[], rule: BuiltInRule, { start, end }: { start: number; end: number }): void {
    const rank = this.#ranks.get(rule);
    if (rank !== undefined) found.push({ start, end, rule: rank });
  }

  /** Returns where to look on, after the position. */
  #at(text: string, at: number, kind: number, found: Found[]): number {
    if (kind === digit) return this.#digits(text, at, found);
    if (kind === atSign) return this.#atSign(text, at, 1, found);
    if (kind === colon) return this.#colon(text, at, found);
    const place = this.#secretBy(text, at, kind);
    if (!place) return at + 1;
    this.#add(found, "secret", place);
    // A value after a word may contain others; a key of a known shape does not.
    return kind === equals || kind === wordLetter ? at + 1 : Math.max(place.end, at + 1);
  }

  #secretBy(text: string, at: number, kind: number): { start: number; end: number } | null {
    if (kind === keyLetter)
      return text.charCodeAt(at + 1) === 73 || text.charCodeAt(at - 1) === 73 ? cloudKeyAt(text, at) : null;
    if (kind === jwtLetter) return text.startsWith("eyJ", at - 2) ? jwtAt(text, at) : null;
    if (kind === bearerLetter) return bearerAt(text, at);
    if (kind === equals) return this.#secretAfter(text, at + 1);
    if (kind === wordLetter) return passwordAt(text, at);
    if (kind === hyphen && text.startsWith("-----BEGIN ", at)) return pemAt(text, at);
    return keyAt(text, at);
  }

  #atSign(text: string, at: number, size: number, found: Found[]): number {
    const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at + size)];
    // NaN at either end.
    if (!(before > 32 && before !== 64 && after > 32 && after !== 64)) return at + size;
    const password = this.#ranks.has("secret") ? urlPasswordAt(text, at) : null;
    if (password) {
      this.#add(found, "secret", password);
      return at + size;
    }
    const email = emailAt(text, at, size);
    if (!email) return at + size;
    this.#add(found, "email", email);
    return email.end;
  }

  #colon(text: string, at: number, found: Found[]): number {
    if (this.#ranks.has("ip")) {
      const ip = ipv6At(text, at);
      if (ip) {
        this.#add(found, "ip", ip);
        return ip.end;
      }
    }
    const secret = this.#ranks.has("secret") ? this.#secretAfter(text, at + 1) : null;
    if (secret) this.#add(found, "secret", secret);
    return at + 1;
  }

  /** After a colon or an equals sign, blanks and quotes. */
  #secretAfter(text: string, from: number): { start: number; end: number } | null {
    let start = from;
    while (start < from + 4 && " \"'`*\\".includes(text[start] ?? "_")) start++;
    return secretAt(text, start).place;
  }

  #digits(text: string, at: number, found: Found[]): number {
    if (text.charCodeAt(at - 1) === 37 && text.startsWith("40", at) && this.#ranks.has("email")) {
      const email = emailAt(text, at - 1, 3);
      if (email) {
        this.#add(found, "email", email);
        return email.end;
      }
    }
    if (this.#ranks.has("ip")) {
      const end = endOfIpv4(text, at);
      if (end !== -1) {
        this.#add(found, "ip", { start: at, end });
        return end;
      }
    }
    const isAfterLetter = isLatin(text.charCodeAt(at - 1));
    if (isAfterLetter && this.#ranks.has("iban")) {
      const iban = ibanAt(text, at);
      if (iban) {
        this.#add(found, "iban", iban);
        return iban.end;
      }
    }
    let end = numbersAt(text, at, {
      wants: kind => this.#ranks.has(kind),
      add: (kind, start, to) => this.#add(found, kind, { start, end: to }),
      last: () => {
        const last = found.at(-1);
        return { end: last?.end ?? 0, isPhone: last !== undefined && last.rule === this.#ranks.get("phone") };
      },
    });
    if (this.#ranks.has("secret") && isPartOfValue(text, at, end)) end = this.#token(text, at, end, found);
    return end;
  }

  /** Letters and digits mixed, which may be a secret without a colon before it. */
  #token(text: string, at: number, end: number, found: Found[]): number {
    const start = startOfValue(text, at);
    if (found.length > 0 && found[found.length - 1]!.end > start) return end;
    const secret = secretAt(text, start);
    if (secret.place) this.#add(found, "secret", secret.place);
    return end;
  }
}

const password =
  /(?:passw(?:or[dt]|d)|kennwort|wachtwoord|pwd)["'`]?(?:\s{1,2}(?:is|was|ist|lautet|to|auf)){1,2}:?\s{1,2}["'`]?/iy;

/** “The password is …”, by the w. */
function passwordAt(text: string, at: number): { start: number; end: number } | null {
  const before = text.charCodeAt(at - 1) | 32;
  const start = before === 115 ? at - 4 : before === 112 ? at - 1 : before === 110 ? at - 4 : at;
  if (start < 0 || !"pkw".includes(text[start]!.toLowerCase())) return null;
  password.lastIndex = start;
  return password.test(text) ? secretAt(text, password.lastIndex).place : null;
}
