// Finds payment cards, US social security numbers and phone numbers in groups of digits.

import { isCard, isEan13 } from "./cards.ts";
import { isDigit, isLatin, isLatinOrDigit } from "./characters.ts";
import { type DigitGroup, digitGroupsAt } from "./digit-groups.ts";
import { saysCard, saysSsn, wordsBefore } from "./number-words.ts";
import { phoneForm } from "./phones.ts";

export type NumberKind = "card" | "phone" | "ssn";

/** What is looked for, and what was found in the text so far. */
export type NumberSearch = {
  wants(kind: NumberKind): boolean;
  add(kind: NumberKind, start: number, end: number): void;
  last(): { end: number; isPhone: boolean };
};

const phoneGroupsMax = 7;
const [phoneDigitsMin, phoneDigitsMax] = [7, 18];
const cardGroupsMax = 6;

const blankOrPlus = /[ \u00a0\u202f\u2009+＋]/;

/** Reports what begins with the digit or in the groups after it; returns where to look on. */
export function numbersAt(text: string, first: number, search: NumberSearch): number {
  const groups = digitGroupsAt(text, first);
  const end = groups[groups.length - 1]!.end;
  if (groups.length === 1 && groups[0]!.digits.length < 7) return end;
  if (isUuid(groups)) return end;
  for (let from = 0; from < groups.length; ) {
    const to = found(text, groups, from, search);
    from = to === from ? from + 1 : to;
  }
  return end;
}

/** The position after the groups that are something, or `from`. */
function found(text: string, groups: DigitGroup[], from: number, search: NumberSearch): number {
  const first = groups[from]!;
  if (!mayBegin(text, groups, from)) return from;
  if (search.wants("card")) {
    const to = endOfCard(text, groups, from, search);
    if (to > from) {
      search.add("card", first.start, groups[to - 1]!.end);
      return to;
    }
  }
  if (search.wants("ssn") && isSsn(text, groups, from, search)) {
    const to = first.digits.length === 9 ? from + 1 : from + 3;
    search.add("ssn", first.start, groups[to - 1]!.end);
    return to;
  }
  if (!search.wants("phone")) return from;
  const to = endOfPhone(text, groups, from, search);
  if (to > from) search.add("phone", startOfPhone(first), endWithExtension(text, groups[to - 1]!.end));
  return to;
}

/** The digits at the end of a UUID, whatever is before them. */
function isUuid(groups: DigitGroup[]): boolean {
  return (
    groups.length >= 2 &&
    groups.length <= 5 &&
    groups.at(-1)!.digits.length >= 12 &&
    groups.at(-2)!.digits.length === 4
  );
}

function mayBegin(text: string, groups: DigitGroup[], from: number): boolean {
  if (from > 0) return blankOrPlus.test(groups[from]!.before);
  const { start, before: lead } = groups[0]!;
  const at = start - lead.length;
  const previous = text.charCodeAt(at - 1);
  if (at === 0) return true;
  if (previous === 95 || isDigit(previous)) return false;
  if (isLatin(previous)) return text.charCodeAt(at - 2) === 92 && "nrt".includes(text[at - 1]!);
  if (previous === 36 || previous === 0x20ac || previous === 0xa3 || previous === 37) return false;
  // Attached to a name or a number: 550e8400-e29b, v-12, 0.5
  const isMark = previous === 45 || previous === 46 || previous === 47 || previous === 44;
  if (!isMark) return true;
  const earlier = text.charCodeAt(at - 2);
  if (previous === 46 || previous === 47) return !isDigit(earlier) && (lead !== "" || previous === 46);
  return !isLatinOrDigit(earlier);
}

function mayEnd(text: string, groups: DigitGroup[], to: number): boolean {
  const { end } = groups[to - 1]!;
  if (to < groups.length)
    return /^[ \u00a0\u202f(+/.-]+$/.test(groups[to]!.before) && groups[to]!.before !== ".";
  const next = text.charCodeAt(end);
  if (Number.isNaN(next)) return true;
  if (next === 95 || next === 64 || next === 37 || next === 0x20ac) return false;
  if (isLatin(next)) return /^x ?\d{1,5}\b/i.test(text.slice(end, end + 8));
  const after = text.charCodeAt(end + 1);
  if (next === 58 || next === 44) return !isDigit(after);
  return !(next === 45 || next === 46) || !isLatinOrDigit(after) || (next === 46 && isLatin(after));
}

function endOfCard(text: string, groups: DigitGroup[], from: number, search: NumberSearch): number {
  let digits = "";
  const most = Math.min(groups.length, from + cardGroupsMax);
  for (let at = from; at < most; at++) {
    if (at > from && !/^(?:[ \u00a0\u202f.\u2010-\u2013-]| - )$/.test(groups[at]!.before)) break;
    digits += groups[at]!.digits;
    if (digits.length > 19) break;
    if (digits.length < 13) continue;
    if (!isCardForm(groups, from, at + 1) || !mayEnd(text, groups, at + 1) || !isCard(digits)) continue;
    if (isEan13(digits) && !saysCard(text, groups[from]!.start, search.last().end)) continue;
    return at + 1;
  }
  return from;
}

function isCardForm(groups: DigitGroup[], from: number, to: number): boolean {
  if (to - from === 1) return true;
  const form = groups
    .slice(from, to)
    .map(({ digits }) => digits.length)
    .join("-");
  return /^(?:4-4-4-[1-4]|4-4-4-4-[1-3]|4-6-[45]|4-4-5|8-8|4-12|6-1[0-3]|4-4-8|4-5-6)$/.test(form);
}

function isSsn(text: string, groups: DigitGroup[], from: number, search: NumberSearch): boolean {
  const [a, b, c] = groups.slice(from, from + 3);
  const digits = a!.digits.length === 9 ? a!.digits : `${a!.digits}${b?.digits}${c?.digits}`;
  if (!/^(?!000|666|9)\d{3}(?!00)\d\d(?!0000)\d{4}$/.test(digits)) return false;
  if (a!.digits.length === 9)
    return mayEnd(text, groups, from + 1) && saysSsn(text, a!.start, search.last().end);
  if (a!.digits.length !== 3 || b!.digits.length !== 2 || c!.digits.length !== 4) return false;
  if (b!.before !== c!.before || !mayEnd(text, groups, from + 3)) return false;
  const isHyphen = /^[-\u2010\u2011\u2013]$/.test(b!.before);
  if (!isHyphen && b!.before !== " ") return false;
  return saysSsn(text, a!.start, search.last().end) || (isHyphen && saidAt(text, a!.start, search) === 0);
}

/** The longest that is a phone number. */
function endOfPhone(text: string, groups: DigitGroup[], from: number, search: NumberSearch): number {
  const first = groups[from]!;
  // Deep in a list of numbers, only what looks like the beginning of one.
  if (from > 2 && first.digits.length < 3 && first.digits[0] !== "0" && first.before === " ") return from;
  let to = from;
  let digits = 0;
  const most = Math.min(groups.length, from + phoneGroupsMax);
  while (to < most && digits + groups[to]!.digits.length <= phoneDigitsMax) {
    if (to > from && groups[to]!.before.includes("+")) break;
    digits += groups[to++]!.digits.length;
  }
  let said: -1 | 0 | 1 | null = null;
  for (; to > from && digits >= phoneDigitsMin; digits -= groups[--to]!.digits.length) {
    const form = phoneForm(groups.slice(from, to));
    if (form === null || !mayEnd(text, groups, to) || isMoney(text, groups[to - 1]!.end)) continue;
    if (form === "sure") return to;
    said ??= saidAt(text, first.start - first.before.length, search);
    if (said === 1 || (form === "likely" && said === 0)) return to;
  }
  return from;
}

function saidAt(text: string, start: number, search: NumberSearch): -1 | 0 | 1 {
  const { end, isPhone } = search.last();
  return wordsBefore(text, start, end, isPhone);
}

function isMoney(text: string, end: number): boolean {
  return /^\s?(?:€|\$|£|¥|EUR|USD|GBP|CHF|PLN|zł|руб|₽|元|円|원|%|km|kg|MB|KB|GB|ms|bytes|tokens)/.test(
    text.slice(end, end + 8),
  );
}

function startOfPhone({ start, before: lead }: DigitGroup): number {
  return start - (lead.length - lead.search(/[+＋(（]/)) * (/[+＋(（]/.test(lead) ? 1 : 0);
}

/** With ` ext. 12` or ` x12`. */
function endWithExtension(text: string, end: number): number {
  const extension =
    /^,? ?(?:ext\.?|x|extension|durchwahl|dw\.?|poste|int\.?|доб\.?|内线|内線) ?\d{1,5}(?!\d)/i.exec(
      text.slice(end, end + 20),
    );
  return extension ? end + extension[0].length : end;
}
