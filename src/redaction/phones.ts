// Tells which groups of digits are a phone number: international ones by country and length, national ones by their form.
import { isOneDigit } from "./cards.ts";
import type { DigitGroups } from "./digit-groups.ts";

/** `likely`: without a word that says otherwise; `possible`: only with a word before that says it is one. */
export type PhoneForm = "sure" | "likely" | "possible" | null;

const [digitsMin, digitsMax] = [7, 15];

/**
 * What the groups from one to another, that one excluded, are. `isSaid`: a word says that a phone number follows; without it,
 * what is only possible is none.
 */
export function phoneForm(groups: DigitGroups, from: number, to: number, isSaid: boolean): PhoneForm {
  const { digits, before } = groups;
  const first = groups.from[from]!;
  const count = groups.digitCount(from, to);
  if (count < digitsMin || count > digitsMax + 3) return null;
  if (groups.hasBrackets && !areBracketsClosed(groups, from, to)) return null;
  if (before[from]!.hasPlus) return isInternational(groups, from, to, 0) ? "sure" : null;
  if (isOneDigit(digits, first, count) || isDate(groups, from, to)) return null;
  if (digits[first] === 0 && digits[first + 1] === 0 && digits[first + 2] !== 0) {
    return count >= 10 && isInternational(groups, from, to, 2) ? "likely" : null;
  }
  const isAbroad = digits[first] === 0 && digits[first + 1] === 1 && digits[first + 2] === 1;
  if (isAbroad && count >= 12 && groups.size[from] === 3) {
    return isInternational(groups, from, to, 3) ? "likely" : null;
  }
  const form = nationalForm(groups, from, to, count);
  return form === "possible" && !isSaid ? null : form;
}

export const formBase = 20;

/** How many digits each group has, packed: 3-3-4 is 3 · 400 + 3 · 20 + 4. At most seven groups of fewer than 20. */
export function formOf({ size }: DigitGroups, from: number, to: number): number {
  let form = 0;
  for (let at = from; at < to; at++) form = form * formBase + size[at]!;
  return form;
}

const packed = (...sizes: number[]) => sizes.reduce((form, size) => form * formBase + size, 0);

/** Of country codes: the fewest and the most digits that follow. Others have 6 to 12. */
const lengths = new Map<number, [number, number]>(
  Object.entries<[number, number]>({
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
  }).map(([code, most]) => [Number(code), most]),
);

const codes: ReadonlySet<number> = new Set(
  (
    "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 " +
    "92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 " +
    "241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 " +
    "298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 379 380 381 382 383 385 386 387 389 " +
    "420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 " +
    "678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 850 852 853 855 856 880 886 960 961 962 963 964 965 966 967 " +
    "968 970 971 972 973 974 975 976 977 992 993 994 995 996 998"
  )
    .split(" ")
    .map(Number),
);

/** `prefix`: how many digits stand for the +. A trunk zero, as in +44 (0)20, may follow the code. */
function isInternational(groups: DigitGroups, from: number, to: number, prefix: number): boolean {
  const { digits } = groups;
  const first = groups.from[from]! + prefix;
  const count = groups.digitCount(from, to) - prefix;
  let code = 0;
  for (let size = 1; size <= 3; size++) {
    code = code * 10 + digits[first + size - 1]!;
    if (code === 0 || !codes.has(code)) continue;
    const [least, most] = lengths.get(code) ?? defaultLengths;
    const rest = count - size;
    const trunk = digits[first + size] === 0 && to - from > 1 ? 1 : 0;
    return rest >= least && rest <= most + trunk && count <= digitsMax + trunk;
  }
  return false;
}

const defaultLengths: [number, number] = [6, 12];

/** Also a bracket that only closes, after an area code: 02)123-4567. */
function areBracketsClosed({ before }: DigitGroups, from: number, to: number): boolean {
  let open = 0;
  if (to - from > 1 && before[from + 1]!.isClosing && !before[from]!.hasOpening) open = 1;
  for (let at = from; at < to; at++) {
    const { opened, openedMin, openedMax } = before[at]!;
    if (open + openedMin < 0 || open + openedMax > 1) return false;
    open += opened;
  }
  return open === 0;
}

/** 2024-01-15, 15.01.2024, 01/15/24, also with a time after it. */
function isDate(groups: DigitGroups, from: number, to: number): boolean {
  if (to - from < 3) return false;
  const { size } = groups;
  const isPart = (at: number) => {
    const part = numberOf(groups, at);
    return size[at]! <= 2 && part >= 1 && part <= 31;
  };
  if (size[from] === 4) return isYear(groups, from) && isPart(from + 1) && isPart(from + 2);
  return (
    size[from + 2] === 4 && isPart(from) && isPart(from + 1) && isYear(groups, from + 2) && to - from <= 5
  );
}

function isYear(groups: DigitGroups, at: number): boolean {
  const year = numberOf(groups, at);
  return groups.size[at] === 4 && year >= 1900 && year <= 2099;
}

/** Of a group of up to four digits. */
function numberOf({ digits, from, size }: DigitGroups, at: number): number {
  let number = 0;
  for (let index = 0; index < size[at]!; index++) number = number * 10 + digits[from[at]! + index]!;
  return number;
}

const [form334, form1334, form11, form344] = [
  packed(3, 3, 4),
  packed(1, 3, 3, 4),
  packed(11),
  packed(3, 4, 4),
];
const [form13322, form3322, form254, form244] = [
  packed(1, 3, 3, 2, 2),
  packed(3, 3, 2, 2),
  packed(2, 5, 4),
  packed(2, 4, 4),
];
const [form55, form37, form36, form333, form3222] = [
  packed(5, 5),
  packed(3, 7),
  packed(3, 6),
  packed(3, 3, 3),
  packed(3, 2, 2, 2),
];

/**
 * Whether `phoneForm` may be more than possible for a number without a plus, told from a few figures: most groups are no phone
 * number.
 */
export function mayBeLikely(
  { digits, from: offsets, before }: DigitGroups,
  from: number,
  form: number,
): boolean {
  const first = digits[offsets[from]!]!;
  if (first === 0 || before[from]!.hasOpening) return true;
  switch (form) {
    case form334:
      return first >= 2;
    case form1334:
      return first === 1 || first === 7 || first === 8;
    case form11:
    case form344:
      return first === 1;
    case form13322:
      return first >= 7;
    case form3322:
      return first >= 3;
    case form254:
    case form244:
      return true;
    case form55:
      return first >= 6;
    case form37:
    case form36:
      return first === 3;
    case form333:
      return first >= 5 && before[from + 1]!.text !== " ";
    case form3222:
      return first >= 5;
    default:
      return false;
  }
}

function nationalForm(groups: DigitGroups, from: number, to: number, count: number): PhoneForm {
  const { digits, before } = groups;
  for (let at = from + 1; at < to; at++) if (!before[at]!.isNational) return null;
  if (isDecimal(groups, from, to)) return null;
  const at = groups.from[from]!;
  const [first, second] = [digits[at]!, digits[at + 1]!];
  const form = formOf(groups, from, to);
  const isBracketed = to - from > 1 && before[from]!.hasOpening;
  if (form === form334 || form === form1334) {
    const area = form === form334 ? from : from + 1;
    if (area > from && first !== 1) return null;
    if (digits[groups.from[area]!]! >= 2 && digits[groups.from[area + 1]!]! >= 2) return "likely";
  }
  if (first === 0 && second !== 0) return withTrunkZero(groups, from, to, count, isBracketed);
  if (isBracketed) return count >= 8 && count <= 11 ? "likely" : "possible";
  if ((form === form11 || form === form344) && first === 1 && second >= 3) return "likely";
  if ((form === form13322 || form === form1334) && (first === 7 || first === 8)) return "likely";
  if (form === form3322 && first >= 3) return "likely";
  if ((form === form254 || form === form244) && before[to - 1]!.text.includes("-")) return "likely";
  if (form === form55 && first >= 6) return "likely";
  if ((form === form37 || form === form36 || form === form334) && first === 3) return "likely";
  if ((form === form333 || form === form3222) && first >= 5)
    return form === form333 && before[from + 1]!.text === " " ? "possible" : "likely";
  return count <= 13 ? "possible" : null;
}

function withTrunkZero(
  { size, before }: DigitGroups,
  from: number,
  to: number,
  count: number,
  isBracketed: boolean,
): PhoneForm {
  const first = size[from]!;
  if (to - from === 1) return count === 10 || count === 11 ? "likely" : count <= 12 ? "possible" : null;
  if (first === 1 && before[from + 1]!.text !== " ") return null;
  if (isBracketed) return count >= 7 && count <= 13 ? "likely" : null;
  let isEven = true;
  for (let at = from; at < to; at++) if (size[at] !== 2) isEven = false;
  if (isEven) return count === 10 ? "likely" : "possible";
  return count >= 8 && count <= 13 && first >= 2 && first <= 7 ? "likely" : "possible";
}

/** 12.50, 0.123456, 1.234.567, 1 234 567. */
function isDecimal({ size, before }: DigitGroups, from: number, to: number): boolean {
  if (to - from < 2) return false;
  if (to - from === 2 && before[to - 1]!.text === ".") return true;
  if (size[from]! > 3) return false;
  let [arePoints, areBlanks] = [true, size[from]! < 3];
  for (let at = from + 1; at < to; at++) {
    if (size[at] !== 3) return false;
    if (before[at]!.text !== ".") arePoints = false;
    if (before[at]!.text !== " ") areBlanks = false;
  }
  return arePoints || areBlanks;
}
