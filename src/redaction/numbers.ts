// Tells what digits with separators between are: a payment card, a US social security number, a phone number, or neither.
import { hasCheckDigit, hasIssuer, isEan13 } from "./check-digits.ts";
import { type Finding, isSaidAfter, type Scan, saidBefore } from "./context.ts";
import { digits, digitsMax, Groups, isDigit, separators } from "./digit-groups.ts";

/** Seven digits and more, but none in the middle of digits with points between. */
export const numberPattern = new RegExp(
  `(?<![${digits}]|[${digits}]\\.)(?:[+＋] ?)?[(（]?[+＋]?(?!(?:[0-9]{1,3}\\.){5})[${digits}](?:[${separators}]{0,3}[+＋]?[${digits}]){6,23}`,
  "y",
);

const groups = new Groups();

/** How many groups of a run are tried as the beginning of a phone number. */
const triesMax = 3;
const [cardMin, cardMax] = [13, 19];

/** What is in a run of digits; if nothing, where to look on. */
export function numberIn(scan: Scan, from: number, to: number): Finding | number {
  groups.read(scan.text, from, to);
  const { count } = groups;
  const isLong = groups.digitCount(0, count) > digitsMax - 2;
  for (let first = 0; first < count; first++) {
    const mayBeCard = groups.size(first) >= 4;
    // Of a long list, a card may begin here that ends beyond it.
    if (isLong && first > 0 && mayBeCard && groups.digitCount(first, count) < cardMax)
      return groups.start[first]!;
    const found =
      (mayBeCard ? cardIn(scan, first) : null) ??
      ssnIn(scan, first) ??
      (first < triesMax ? phoneIn(scan, first) : null);
    if (found) return found;
  }
  // An address after a number.
  const dotted = dottedPattern.exec(scan.text.slice(from + 1, to));
  return dotted ? from + 1 + dotted.index : to;
}

const dottedPattern = /(?<!\d|\.)\d{1,3}\.\d{1,3}\.\d{1,3}\./;

function cardIn(scan: Scan, first: number): Finding | null {
  const { text, count, gap } = groups;
  const start = groups.start[first]!;
  if (groups.digit(first) < 2 || groups.digitCount(first, count) < cardMin) return null;
  let found: Finding | null = null;
  for (let last = first; last < count && (last === first || gap[last]!.isCard); last++) {
    const size = groups.digitCount(first, last + 1);
    if (size > cardMax) break;
    const end = groups.end[last]!;
    if (size < cardMin || !hasCheckDigit(groups.digits, groups.from[first]!, size) || isAttached(text, end))
      continue;
    const all = groups.all(first, last + 1);
    // %B: of a magnetic stripe.
    const isStripe = text.startsWith("%B", start - 2);
    if (isOneDigit(all) || (isAttachedBefore(text, start) && !isStripe)) continue;
    const isUsual = hasIssuer(all) && !(size === cardMin && isEan13(all));
    if (isUsual || saidBefore(scan, start)?.kind === "card") found = { rule: "card", start, end };
  }
  return found;
}

function isOneDigit(digits: string): boolean {
  return digits === digits[0]!.repeat(digits.length);
}

const ssnRange = /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/;

function ssnIn(scan: Scan, first: number): Finding | null {
  const { text, count, gap } = groups;
  const size = groups.size(first);
  const isWhole = size === 9;
  if (!isWhole && (size !== 3 || first + 3 > count || groups.form(first, first + 3) !== 324)) return null;
  const last = isWhole ? first : first + 2;
  if (!isWhole && (gap[last] !== gap[last - 1] || !gap[last]!.isSsn)) return null;
  const [start, end] = [groups.start[first]!, groups.end[last]!];
  if (!ssnRange.test(groups.all(first, last + 1)) || isAttached(text, end) || isAttachedBefore(text, start))
    return null;
  const said = saidBefore(scan, start);
  const isOther = said?.kind === "other" && !/\p{L}/u.test(said.gap);
  const isHyphenated = !isWhole && !gap[last]!.hasBlank;
  return said?.kind === "ssn" || (isHyphenated && !isOther) || isSaidAfter(text, end, ["ssn"])
    ? { rule: "ssn", start, end }
    : null;
}

/** Whether a Latin letter, a digit, or a sign that makes it a part of something longer follows. */
function isAttached(text: string, end: number): boolean {
  const code = text.charCodeAt(end);
  if (code === 46) return isDigit(text.charCodeAt(end + 1));
  return code === 45
    ? isLatinOrDigit(text.charCodeAt(end + 1))
    : isLatinOrDigit(code) || code === 95 || code === 64 || code === 37;
}

function isAttachedBefore(text: string, start: number): boolean {
  if (start === 0) return false;
  const [code, earlier] = [text.charCodeAt(start - 1), text.charCodeAt(start - 2)];
  if (code === 46) return isDigit(earlier);
  if (code === 45 || code === 47) return isLatinOrDigit(earlier);
  // In JSON that is read as text, the n of `\n` is no letter.
  if (isLatinOrDigit(code)) return !(earlier === 92 && /[nrt]/.test(text[start - 1]!));
  return code === 95 || code === 36 || code === 0x20ac || code === 0xa3 || code === 37;
}

function isLatinOrDigit(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || (code >= 0xc0 && code <= 0x24f);
}

/** `strong`: whatever is said before. `usual`: unless something else is said. `possible`: only if a phone is said. */
type Form = "strong" | "usual" | "possible" | null;

const [phoneMin, phoneMax] = [7, 16];

function phoneIn(scan: Scan, first: number): Finding | null {
  const { text, count } = groups;
  const gap = groups.gap[first]!;
  if (first > 0 && !gap.hasPlus && !gap.hasBlank) return null;
  for (let end = endOfPhone(first); groups.digitCount(first, end) >= phoneMin; end--) {
    if (groups.digitCount(first, end) > phoneMax) continue;
    const isAll = end === count;
    if (!isAll && !(groups.gap[end]!.mayFollow && mayBeStrong(first, end))) continue;
    const form = formOf(first, end);
    if (form === null || (form !== "strong" && !isAll)) continue;
    const start = groups.start[first]! - leadOf(first, end);
    const to = groups.end[end - 1]!;
    if (isAttachedBefore(text, start)) return null;
    const whole = endWithExtension(text, to);
    if (whole === to && isAttached(text, to)) continue;
    // 10:30, 1,234
    const next = text.charCodeAt(to);
    if (form !== "strong" && (next === 44 || next === 58) && isDigit(text.charCodeAt(to + 1))) continue;
    if (isAmount(text, to)) return null;
    if (isMeant(scan, form, start, to)) return { rule: "phone", start, end: whole };
    if (form !== "strong") return null;
  }
  return null;
}

/** Of groups after which others follow. */
function mayBeStrong(first: number, end: number): boolean {
  const { hasPlus, opened } = groups.gap[first]!;
  if (hasPlus || opened > 0 || (groups.digit(first) === 0 && groups.digit(first, 1) === 0)) return true;
  return (end - first === 3 || end - first === 4) && groups.size(end - 1) === 4 && groups.size(end - 2) === 3;
}

function isMeant(scan: Scan, form: Form, start: number, to: number): boolean {
  const { text } = scan;
  if (form === "strong" && /[+＋(（]/.test(text[start]!)) return true;
  const said = saidBefore(scan, start);
  if (said?.kind === "phone") return true;
  const isOther = said !== null && said.kind !== "number";
  if (form === "strong") return !(isOther && !/[\p{L}\d]{4}/u.test(said.gap));
  if (isOther) return false;
  return form === "usual" || isSaidAfter(text, to, ["phone"]);
}

/** Up to a gap that is in no phone number, a plus, or a bracket that was not opened. */
function endOfPhone(first: number): number {
  let open = groups.gap[first]!.opened;
  for (let at = first + 1; at < groups.count; at++) {
    const { opened, closed, hasPlus, isPhone } = groups.gap[at]!;
    open += opened - closed;
    // 02)123-4567
    if (open < 0 && at === first + 1 && groups.digit(first) === 0) open = 0;
    if (open < 0 || open > 1 || hasPlus || !isPhone) return at;
  }
  return groups.count;
}

/** How long the plus and the bracket before the first group are that belong to the number. */
function leadOf(first: number, end: number): number {
  const { opened, hasPlus, text } = groups.gap[first]!;
  if (opened === 0 && !hasPlus) return 0;
  const lead = /(?:[+＋] ?)?[(（]?[+＋]?$/.exec(text)![0];
  return groups.isClosed(first, end) ? lead.length : lead.replace(/[(（]/, "").length;
}

/** National forms without a zero in front: sizes of the groups, and first digits. */
const usual = new Map<number, string>([
  ...[13322, 1334, 137].map(form => [form, "78"] as const),
  [3322, "23456789"],
  [344, "1"],
  [11, "1"],
  [254, "123456789"],
  [244, "123456789"],
  [55, "6789"],
  [37, "3"],
  [36, "356789"],
  [333, "56789"],
  [3222, "56789"],
]);

function formOf(first: number, end: number): Form {
  const { hasPlus, opened } = groups.gap[first]!;
  const size = groups.digitCount(first, end);
  const [digit, second] = [groups.digit(first), groups.digit(first, 1)];
  if (hasPlus) return size >= 8 && digit !== 0 ? "strong" : null;
  if (size >= phoneMax) return null;
  const isOne = end - first === 1;
  const form = isOne ? size : groups.form(first, end);
  if (form === 334 || (form === 1334 && digit === 1)) {
    if (groups.digit(end - 3) >= 2 && groups.digit(end - 2) >= 2) return "strong";
  }
  const all = groups.all(first, end);
  if (isOneDigit(all) || isDate(all, String(form))) return null;
  if (digit === 0 && second === 0)
    return size < 11 || all[2] === "0" ? "possible" : isOne ? "usual" : "strong";
  if (form === 324) return "possible";
  const isBracketed = opened > 0 && groups.isClosed(first, end);
  if (digit === 0) {
    if (isOne) return size >= 9 && size <= 11 ? "usual" : "possible";
    if (isBracketed) return size <= 13 ? "strong" : null;
    return size >= 9 && size <= 12 && /^[2-6](?!.*1)/.test(String(form)) ? "usual" : "possible";
  }
  if (isBracketed) return size >= 8 && size <= 11 ? "strong" : "possible";
  const raw = isOne ? "" : groups.text.slice(groups.start[first]!, groups.end[end - 1]!);
  if (end - first === 2 && /^\d+\.\d+$/.test(raw)) return null;
  return usual.get(form)?.includes(String(digit)) && !isThousands(raw) ? "usual" : "possible";
}

/** 1.234.567, 1 234 567 */
function isThousands(raw: string): boolean {
  return /^\d{1,3}(?:\.\d{3})+$|^\d{1,2}(?: \d{3})+$/.test(raw);
}

/** 2024-01-15, 15.01.2024, 20240115, 01/15/2024 with a time after it. */
function isDate(all: string, sizes: string): boolean {
  if (/^4[12][12]/.test(sizes)) return /^(?:19|20)/.test(all);
  if (/^[12][12]4/.test(sizes)) return /^(?:19|20)/.test(all.slice(Number(sizes[0]) + Number(sizes[1])));
  return (sizes === "8" || sizes === "44") && /^(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d$/.test(all);
}

const amount =
  /\s?(?:€|\$|£|¥|zł|руб|₽|元|円|원|%|(?:EUR|USD|GBP|CHF|PLN|km|kg|MB|KB|GB|ms|bytes|tokens)(?!\p{L}))/uy;

function isAmount(text: string, end: number): boolean {
  amount.lastIndex = end;
  return amount.test(text);
}

const extension = /,? ?(?:ext\.?|x|extension|durchwahl|dw\.?|poste|int\.?|доб\.?|内线|内線) ?\d{1,5}(?!\d)/iy;

/** With ` ext. 12` or ` x12`. */
function endWithExtension(text: string, end: number): number {
  extension.lastIndex = end;
  return extension.test(text) ? extension.lastIndex : end;
}
