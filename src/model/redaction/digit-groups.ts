// Splits numbers as people write them, such as +49 (30) 123-45 67, into groups of digits with what stands between.
import { digitOf } from "./characters.ts";

/** `before`: what stands between this group and the one before it, or before the first: "", "+" or "(" and the like. */
export type DigitGroup = { digits: string; start: number; end: number; before: string };

const groupsMax = 24;
/** A longer run of digits is no number that is looked for; it is taken to its end. */
const digitsMax = 64;
const gapMax = 3;

/** The groups that begin with this digit. Linear: what it took is not looked at again. */
export function digitGroupsAt(text: string, first: number): DigitGroup[] {
  const lead = leadOf(text, first);
  const groups: DigitGroup[] = [];
  let at = first;
  let gap = text.slice(lead, first);
  while (groups.length < groupsMax) {
    const start = at;
    let digits = "";
    for (let digit = digitOf(text.charCodeAt(at)); digit !== -1; digit = digitOf(text.charCodeAt(++at))) {
      if (digits.length < digitsMax) digits += String(digit);
    }
    groups.push({ digits, start, end: at, before: gap });
    const next = endOfGap(text, at);
    if (next === -1) break;
    gap = text.slice(at, next);
    at = next;
  }
  // A bracket around the whole number, or around more than it.
  const isClosed = groups.some(({ before }, index) => index > 0 && /[)）]/.test(before));
  if (!isClosed) groups[0]!.before = groups[0]!.before.replace(/[(（]\s?/g, "");
  return groups;
}

/** Where + and opening brackets before the first digit begin. */
function leadOf(text: string, first: number): number {
  let at = first;
  while (at > 0 && first - at < gapMax) {
    const char = text[at - 1]!;
    const isLead = char === "+" || char === "＋" || char === "(" || char === "（";
    const isBlank = char === " " && at < first && (text[at - 2] === "+" || text[at - 2] === "(");
    if (!isLead && !isBlank) break;
    at--;
  }
  return at;
}

/** The position of the next digit, if only up to three separators stand before it; else -1. */
function endOfGap(text: string, from: number): number {
  for (let at = from; at < from + gapMax + 1; at++) {
    const code = text.charCodeAt(at);
    if (digitOf(code) !== -1) return at > from ? at : -1;
    if (!separators.has(code)) return -1;
  }
  return -1;
}

/** Blanks, - . / ( ) + and the hyphens and brackets of Unicode. */
const separators: ReadonlySet<number> = new Set([
  0x20, 0xa0, 0x202f, 0x2009, 0x2d, 0x2e, 0x2f, 0x28, 0x29, 0x2b, 0x2010, 0x2011, 0x2012, 0x2013, 0x2212,
  0xff08, 0xff09, 0xff0d,
]);
