// Payment cards and IBANs, by their check digits and lengths.
import { isDigit, isLatinOrDigit } from "./characters.ts";
import { codeAt, type Text } from "./units.ts";

/** Whether `count` digits, 0 to 9, are the number of a card: an issuer's beginning and length, and the check digit. */
export function isCard(digits: Uint8Array, from: number, count: number): boolean {
  return (
    hasIssuer(digits, from, count) && hasCheckDigit(digits, from, count) && !isOneDigit(digits, from, count)
  );
}

/** First digits of issuers, and how many digits their cards have. */
function hasIssuer(digits: Uint8Array, from: number, length: number): boolean {
  if (length < 13 || length > 19) return false;
  const two = digits[from]! * 10 + digits[from + 1]!;
  const four = two * 100 + digits[from + 2]! * 10 + digits[from + 3]!;
  if (digits[from] === 4) return length === 16 || length === 19 || length === 13;
  if (two >= 51 && two <= 55) return length === 16;
  if (four >= 2221 && four <= 2720) return length === 16;
  if (four >= 2200 && four <= 2204) return length >= 16;
  if (two === 34 || two === 37) return length === 15;
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059))
    return length === 14 || length === 16;
  if (four >= 3528 && four <= 3589) return length >= 16;
  if (two === 62 || two === 65 || four === 6011 || (four >= 6440 && four <= 6499)) return length >= 16;
  if (two === 60 || two === 81 || two === 82) return length === 16;
  return (two === 50 || (two >= 56 && two <= 69)) && length >= 16;
}

function hasCheckDigit(digits: Uint8Array, from: number, count: number): boolean {
  let sum = 0;
  for (let at = 0; at < count; at++) {
    const digit = digits[from + count - 1 - at]!;
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

export function isOneDigit(digits: Uint8Array, from: number, count: number): boolean {
  for (let at = 1; at < count; at++) if (digits[from + at] !== digits[from]) return false;
  return true;
}

/** A product's number, which may pass as a card by chance. */
export function isEan13(digits: Uint8Array, from: number, count: number): boolean {
  if (count !== 13) return false;
  let sum = 0;
  for (let at = 0; at < 13; at++) sum += digits[from + at]! * (at % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

/** Whether these are the letters of a country that has IBANs, in either case. */
export function isIbanCountry(first: number, second: number): boolean {
  const [one, two] = [first & 0xffdf, second & 0xffdf];
  return one < 128 && two < 128 && ibanLengths[one * 128 + two]! > 0;
}

/**
 * What has the country and the length of an IBAN, and its first digit here; null if there is none. It is an IBAN if its check
 * digits are right.
 */
export function ibanAt(text: Text, digit: number): { start: number; end: number; isValid: boolean } | null {
  const start = digit - 2;
  if (start < 0 || !isDigit(codeAt(text, digit + 1))) return null;
  const [first, second] = [codeAt(text, start) & 0xffdf, codeAt(text, start + 1) & 0xffdf];
  const length = first < 128 && second < 128 ? ibanLengths[first * 128 + second]! : 0;
  if (length === 0) return null;
  if (start > 0 && isLatinOrDigit(codeAt(text, start - 1)) && codeAt(text, start - 2) !== 92) return null;
  // The first four characters count last.
  let [head, remainder, count] = [0, 0, 0];
  let at = start;
  for (; at < text.length && count < length; at++) {
    const code = codeAt(text, at);
    const value = isDigit(code) ? code - 48 : letterValue(code);
    if (value !== -1) {
      if (count < 4) head = appended(head, value);
      else remainder = appended(remainder, value) % 97;
      count++;
    } else if (!isGap(code) || isGap(codeAt(text, at - 1))) return null;
  }
  if (count < length || isLatinOrDigit(codeAt(text, at))) return null;
  return { start, end: at, isValid: (remainder * 1_000_000 + head) % 97 === 1 };
}

function appended(number: number, value: number): number {
  return number * (value > 9 ? 100 : 10) + value;
}

/** 10 for A to 35 for Z, in either case; else -1. */
function letterValue(code: number): number {
  const lower = code | 32;
  return lower >= 97 && lower <= 122 ? lower - 87 : -1;
}

/** Space, no-break spaces, hyphen, point. */
function isGap(code: number): boolean {
  return code === 32 || code === 0xa0 || code === 0x202f || code === 45 || code === 46;
}

/** By the letters of a country, packed. */
const ibanLengths = new Uint8Array(128 * 128);
for (const entry of (
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 " +
  "FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
  "LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
  "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
).split(" "))
  ibanLengths[entry.charCodeAt(0) * 128 + entry.charCodeAt(1)] = Number(entry.slice(2));
