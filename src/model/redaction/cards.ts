// Payment cards and IBANs, by their check digits and lengths.
import { isDigit, isLatinOrDigit } from "./characters.ts";

/** Whether the digits are the number of a card: an issuer's beginning and length, and the check digit. */
export function isCard(digits: string): boolean {
  return hasIssuer(digits) && hasCheckDigit(digits) && !/^(\d)\1+$/.test(digits);
}

/** First digits of issuers, and how many digits their cards have. */
function hasIssuer(digits: string): boolean {
  const { length } = digits;
  if (length < 13 || length > 19) return false;
  const [two, four] = [Number(digits.slice(0, 2)), Number(digits.slice(0, 4))];
  if (digits[0] === "4") return length === 16 || length === 19 || length === 13;
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

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** A product's number, which may pass as a card by chance. */
export function isEan13(digits: string): boolean {
  if (digits.length !== 13) return false;
  let sum = 0;
  for (let at = 0; at < 13; at++) sum += (digits.charCodeAt(at) - 48) * (at % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

/** The IBAN whose first digit is here; null if there is none. */
export function ibanAt(text: string, digit: number): { start: number; end: number } | null {
  const start = digit - 2;
  if (
    start < 0 ||
    (start > 0 && isLatinOrDigit(text.charCodeAt(start - 1)) && text.charCodeAt(start - 2) !== 92)
  )
    return null;
  const length = ibanLengths.get(text.slice(start, digit).toUpperCase());
  if (length === undefined || !isDigit(text.charCodeAt(digit + 1))) return null;
  let compact = "";
  let at = start;
  for (; at < text.length && compact.length < length; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 122)) compact += text[at];
    else if (!isGap(code) || isGap(text.charCodeAt(at - 1))) return null;
  }
  if (compact.length < length || isLatinOrDigit(text.charCodeAt(at))) return null;
  return remainderOf(compact.slice(4) + compact.slice(0, 4)) === 1 ? { start, end: at } : null;
}

/** Space, no-break spaces, hyphen, point. */
function isGap(code: number): boolean {
  return code === 32 || code === 0xa0 || code === 0x202f || code === 45 || code === 46;
}

/** Of the division by 97, letters counting as 10 to 35. */
function remainderOf(text: string): number {
  let remainder = 0;
  for (const char of text.toUpperCase()) {
    const value = Number.parseInt(char, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}

const ibanLengths = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 " +
    "FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
    "LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map(entry => [entry.slice(0, 2), Number(entry.slice(2))]),
);
