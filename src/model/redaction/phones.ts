// Tells which groups of digits are a phone number: international ones by country and length, national ones by their form.
import type { DigitGroup } from "./digit-groups.ts";

/** `likely`: without a word that says otherwise; `possible`: only with a word before that says it is one. */
export type PhoneForm = "sure" | "likely" | "possible" | null;

const [digitsMin, digitsMax] = [7, 15];

export function phoneForm(groups: readonly DigitGroup[]): PhoneForm {
  const digits = groups.map(group => group.digits).join("");
  const first = groups[0]!;
  const isPlus = /[+＋]/.test(first.before);
  if (groups.slice(1).some(({ before }) => /[+＋]/.test(before))) return null;
  if (!areBracketsClosed(groups)) return null;
  if (digits.length < digitsMin || digits.length > digitsMax + 3) return null;
  if (isPlus) return isInternational(groups, digits, 0) ? "sure" : null;
  if (/^(\d)\1+$/.test(digits) || isDate(groups)) return null;
  if (digits.startsWith("00") && !digits.startsWith("000")) {
    return digits.length >= 10 && isInternational(groups, digits, 2) ? "likely" : null;
  }
  if (digits.startsWith("011") && digits.length >= 12 && first.digits === "011") {
    return isInternational(groups, digits, 3) ? "likely" : null;
  }
  return nationalForm(groups, digits);
}

/** Of country codes: the fewest and the most digits that follow. Others have 6 to 12. */
const lengths = new Map<string, [number, number]>(
  Object.entries({
    1: [10, 10],
    7: [10, 10],
    20: [8, 10],
    27: [9, 9],
    30: [10, 10],
    31: [9, 9],
    32: [8, 9],
    33: [9, 9],
    34: [9, 9],
    36: [8, 9],
    39: [6, 11],
    40: [9, 9],
    41: [9, 9],
    44: [9, 10],
    45: [8, 8],
    46: [7, 10],
    47: [8, 8],
    48: [9, 9],
    49: [6, 11],
    52: [10, 11],
    55: [10, 11],
    61: [9, 9],
    62: [8, 12],
    81: [9, 10],
    82: [8, 10],
    84: [9, 10],
    86: [10, 11],
    90: [10, 10],
    91: [10, 10],
  }),
);

const codes: ReadonlySet<string> = new Set(
  (
    "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 " +
    "92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 " +
    "241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 " +
    "298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 379 380 381 382 383 385 386 387 389 " +
    "420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 " +
    "678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 850 852 853 855 856 880 886 960 961 962 963 964 965 966 967 " +
    "968 970 971 972 973 974 975 976 977 992 993 994 995 996 998"
  ).split(" "),
);

/** `prefix`: how many digits stand for the +. A trunk zero, as in +44 (0)20, may follow the code. */
function isInternational(groups: readonly DigitGroup[], digits: string, prefix: number): boolean {
  for (const size of [1, 2, 3]) {
    const code = digits.slice(prefix, prefix + size);
    if (!codes.has(code)) continue;
    const [least, most] = lengths.get(code) ?? [6, 12];
    const rest = digits.length - prefix - size;
    const trunk = digits[prefix + size] === "0" && groups.length > 1 ? 1 : 0;
    return rest >= least && rest <= most + trunk && rest + size <= digitsMax + trunk;
  }
  return false;
}

/** Also a bracket that only closes, after an area code: 02)123-4567. */
function areBracketsClosed(groups: readonly DigitGroup[]): boolean {
  let open = /^[)）]/.test(groups[1]?.before ?? "") && !/[(（]/.test(groups[0]!.before) ? 1 : 0;
  for (const { before } of groups) {
    for (const char of before) {
      if (char === "(" || char === "（") open++;
      else if (char === ")" || char === "）") open--;
      if (open < 0 || open > 1) return false;
    }
  }
  return open === 0;
}

/** 2024-01-15, 15.01.2024, 01/15/24, also with a time after it. */
function isDate(groups: readonly DigitGroup[]): boolean {
  const [a, b, c] = groups.map(({ digits }) => digits);
  if (a === undefined || b === undefined || c === undefined) return false;
  const isYear = (text: string) => /^(?:19|20)\d\d$/.test(text);
  const isPart = (text: string) => text.length <= 2 && Number(text) >= 1 && Number(text) <= 31;
  if (isYear(a) && isPart(b) && isPart(c)) return true;
  return isPart(a) && isPart(b) && isYear(c) && groups.length <= 5;
}

function nationalForm(groups: readonly DigitGroup[], digits: string): PhoneForm {
  const form = groups.map(group => group.digits.length).join("-");
  const isBracketed = /[(（]/.test(groups[0]!.before) && groups.length > 1;
  const gaps = groups.slice(1).map(({ before }) => before);
  if (
    gaps.some(
      gap =>
        !/^(?:[ \u00a0\u202f\u2009]|[)）]?[ \u00a0]?[-./\u2010-\u2013\u2212\uff0d]?[ \u00a0]?|[ \u00a0]?[(（]|[)）][ \u00a0]?)$/.test(
          gap,
        ),
    )
  )
    return null;
  if (isDecimal(groups, gaps)) return null;
  const isNorthAmerican = /^(?:1-)?3-3-4$/.test(form);
  if (isNorthAmerican) {
    const at = form.startsWith("1") ? 1 : 0;
    if (at === 1 && digits[0] !== "1") return null;
    const [area, office] = [groups[at]!.digits, groups[at + 1]!.digits];
    if (/^[2-9]/.test(area) && /^[2-9]/.test(office)) return "likely";
  }
  if (digits[0] === "0" && digits[1] !== "0") return withTrunkZero(groups, digits, isBracketed, gaps);
  if (isBracketed) return digits.length >= 8 && digits.length <= 11 ? "likely" : "possible";
  if (/^1[3-9]\d{9}$/.test(digits) && /^(?:11|3-4-4)$/.test(form)) return "likely";
  if (/^[78]/.test(digits) && /^1-3-3-(?:2-2|4)$/.test(form)) return "likely";
  if (form === "3-3-2-2" && /^[3-9]/.test(digits)) return "likely";
  if (/^(?:2-5-4|2-4-4)$/.test(form) && /-/.test(gaps.at(-1)!)) return "likely";
  if (form === "5-5" && /^[6-9]/.test(digits)) return "likely";
  if (/^(?:3-7|3-6|3-3-4)$/.test(form) && digits[0] === "3") return "likely";
  if (/^3-(?:3-3|2-2-2)$/.test(form) && /^[5-9]/.test(digits))
    return form === "3-3-3" && gaps[0] === " " ? "possible" : "likely";
  return digits.length <= 13 ? "possible" : null;
}

function withTrunkZero(
  groups: readonly DigitGroup[],
  digits: string,
  isBracketed: boolean,
  gaps: readonly string[],
): PhoneForm {
  const { length } = digits;
  const first = groups[0]!.digits.length;
  if (groups.length === 1)
    return length === 10 || length === 11 ? "likely" : length <= 12 ? "possible" : null;
  if (first === 1 && gaps[0] !== " ") return null;
  if (isBracketed) return length >= 7 && length <= 13 ? "likely" : null;
  const isEven = groups.every(group => group.digits.length === 2);
  if (isEven) return length === 10 ? "likely" : "possible";
  return length >= 8 && length <= 13 && first >= 2 && first <= 7 ? "likely" : "possible";
}

/** 12.50, 0.123456, 1.234.567, 1 234 567. */
function isDecimal(groups: readonly DigitGroup[], gaps: readonly string[]): boolean {
  if (gaps.length === 0) return false;
  if (gaps.length === 1 && gaps[0] === ".") return true;
  const isGrouped =
    groups.slice(1).every(({ digits }) => digits.length === 3) && groups[0]!.digits.length <= 3;
  return (
    isGrouped &&
    (gaps.every(gap => gap === ".") || (groups[0]!.digits.length < 3 && gaps.every(gap => gap === " ")))
  );
}
