// Payment cards and IBANs, by their beginnings, lengths and check digits.

/** First digits of issuers, and how many digits their cards have. */
const issuers =
  /^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|220[0-4]\d{12,15}|3[47]\d{13}|3(?:[689]\d|0[0-5])\d{11}(?:\d\d)?|35(?:2[89]|[3-8]\d)\d{12,15}|6(?:011|2|5|4[4-9])\d{12,17}|(?:60|8[12])\d{14}|(?:50|5[6-9]|6\d)\d{14,17})$/;

export function hasIssuer(digits: string): boolean {
  return issuers.test(digits);
}

/** Of a card, by the last digit. */
export function hasCheckDigit(digits: Uint8Array, from: number, count: number): boolean {
  let sum = 0;
  for (let at = 0; at < count; at++) {
    const digit = digits[from + count - 1 - at]!;
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

/** How many characters an IBAN of this country has; undefined if it has none. */
export function ibanLength(country: string): number | undefined {
  return ibanLengths.get(country.toUpperCase());
}

/** `iban`: letters and digits only. */
export function isIban(iban: string): boolean {
  let remainder = 0;
  for (const char of (iban.slice(4) + iban.slice(0, 4)).toUpperCase()) {
    const value = char <= "9" ? Number(char) : char.charCodeAt(0) - 55;
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
