// Splits numbers as people write them, such as +49 (30) 123-45 67, into groups of digits with what stands between.
import { digitOf } from "./characters.ts";
import { type Gap, gapOf, gapOfText, withoutOpening } from "./gaps.ts";
import { codeAt, type Text } from "./units.ts";

const groupsMax = 24;
/** A longer run of digits is no number that is looked for; it is taken to its end. */
const digitsMax = 64;
const gapMax = 3;

/** The groups that begin with a digit. One object is used again and again, because texts may have millions. */
export class DigitGroups {
  count = 0;
  /** Of each group, in the text. */
  readonly start = new Int32Array(groupsMax);
  readonly end = new Int32Array(groupsMax);
  /** Before each group: of the first, `+`, `(` and the like. */
  readonly before: Gap[] = [];
  /** The digits of all groups, 0 to 9; those of a group begin at `from`, and there are `size` of them. */
  readonly digits = new Uint8Array(groupsMax * digitsMax);
  readonly from = new Int32Array(groupsMax);
  readonly size = new Int32Array(groupsMax);
  /** Whether a bracket stands before any group. */
  hasBrackets = false;

  /** Linear: what it took is not looked at again. */
  read(text: Text, first: number): void {
    const lead = leadOf(text, first);
    this.count = 0;
    this.hasBrackets = false;
    let at = first;
    let used = 0;
    let isClosed = false;
    let gap = lead === first ? noGap : gapOf(text, lead, first);
    while (this.count < groupsMax) {
      const group = this.count++;
      this.start[group] = at;
      this.from[group] = used;
      this.before[group] = gap;
      if (gap.hasOpening || gap.hasClosing) this.hasBrackets = true;
      let digit = digitOf(codeAt(text, at));
      while (digit !== -1) {
        if (used - this.from[group]! < digitsMax) this.digits[used++] = digit;
        digit = digitOf(codeAt(text, ++at));
      }
      this.end[group] = at;
      this.size[group] = used - this.from[group]!;
      const next = endOfGap(text, at);
      if (next === -1) break;
      gap = gapOf(text, at, next);
      if (gap.hasClosing) isClosed = true;
      at = next;
    }
    const own = this.before[0]!;
    if (!isClosed && own.hasOpening) this.before[0] = withoutOpening(own);
  }

  /** Of groups from one to another, that one excluded. */
  digitCount(from: number, to: number): number {
    return this.from[to - 1]! + this.size[to - 1]! - this.from[from]!;
  }
}

const noGap = gapOfText("");

/** Where + and opening brackets before the first digit begin. */
function leadOf(text: Text, first: number): number {
  let at = first;
  while (at > 0 && first - at < gapMax) {
    const char = codeAt(text, at - 1);
    const isLead = char === plus || char === 0xff0b || char === open || char === 0xff08;
    const earlier = char === 32 ? codeAt(text, at - 2) : 0;
    if (!isLead && earlier !== plus && earlier !== open) break;
    at--;
  }
  return at;
}

const [plus, open] = [43, 40];

/** The position of the next digit, if only up to three separators stand before it; else -1. */
function endOfGap(text: Text, from: number): number {
  for (let at = from; at < from + gapMax + 1; at++) {
    const kind = kinds[codeAt(text, at)];
    if (kind === digitKind) return at > from ? at : -1;
    if (kind !== separatorKind) return -1;
  }
  return -1;
}

/** Whether a number may go on with this after a digit. */
export function mayGoOn(code: number): boolean {
  return kinds[code]! > 0;
}

const [separatorKind, digitKind] = [1, 2];
const kinds = new Uint8Array(65_536);
/** Blanks, - . / ( ) + and the hyphens and brackets of Unicode. */
for (const code of [
  0x20, 0xa0, 0x202f, 0x2009, 0x2d, 0x2e, 0x2f, 0x28, 0x29, 0x2b, 0x2010, 0x2011, 0x2012, 0x2013, 0x2212,
  0xff08, 0xff09, 0xff0d,
])
  kinds[code] = separatorKind;
for (let code = 0; code < kinds.length; code++) if (digitOf(code) !== -1) kinds[code] = digitKind;
