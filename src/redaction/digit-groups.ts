// Splits a run of digits with separators between into its groups.

export const digits = "0-9\uff10-\uff19\u0660-\u0669\u06f0-\u06f9\u0966-\u096f";
/** Blanks, and the hyphens, points, slashes and brackets of phone numbers. */
export const separators = " \u00a0\u202f\u2009.\\-/()（）\u2010-\u2015\u2212\uff0d";

/** Of the separators between two groups. */
export type Gap = {
  text: string;
  isCard: boolean;
  isSsn: boolean;
  isPhone: boolean;
  /** A phone number may begin after it, or end before it. */
  hasBlank: boolean;
  mayFollow: boolean;
  hasPlus: boolean;
  opened: number;
  closed: number;
};

const gaps = new Map<string, Gap>();
/** By the code of a single character of ASCII. */
const single: (Gap | undefined)[] = new Array(128).fill(undefined);

function gapOf(text: string, start: number, end: number): Gap {
  const code = text.charCodeAt(start);
  if (end === start + 1 && code < 128) {
    single[code] ??= gapOfText(text[start]!);
    return single[code];
  }
  const own = text.slice(start, end);
  let gap = gaps.get(own);
  if (!gap) {
    gap = gapOfText(own);
    if (gaps.size < 1_000) gaps.set(own, gap);
  }
  return gap;
}

function gapOfText(text: string): Gap {
  return {
    text,
    isCard: /^(?:[ \u00a0\u202f.\u2010-\u2015-]| - )$/.test(text),
    isSsn: /^[ \u00a0\u2010-\u2013-]$/.test(text),
    isPhone:
      /^(?:[)）]?[ \u00a0\u202f\u2009]?[-./\u2010-\u2015\u2212\uff0d]?[ \u00a0\u202f\u2009]?|[ \u00a0]?[(（]|[)）][ \u00a0]?)$/.test(
        text,
      ),
    hasBlank: /[ \u00a0]/.test(text),
    mayFollow: /^[ \u00a0(+/-]/.test(text),
    hasPlus: /[+＋]/.test(text),
    opened: text.match(/[(（]/g)?.length ?? 0,
    closed: text.match(/[)）]/g)?.length ?? 0,
  };
}

const noGap = gapOfText("");
const zeros = [0xff10, 0x660, 0x6f0, 0x966];

function digitOf(code: number): number {
  if (code < 0x660) return code >= 48 && code <= 57 ? code - 48 : -1;
  for (const zero of zeros) if (code >= zero && code <= zero + 9) return code - zero;
  return -1;
}

export function isDigit(code: number): boolean {
  return digitOf(code) !== -1;
}

export const digitsMax = 24;

/** The groups of the digits that are looked at. One object is used again and again, because texts may have millions. */
export class Groups {
  text = "";
  count = 0;
  /** Of each group, in the text. */
  readonly start = new Int32Array(digitsMax + 1);
  readonly end = new Int32Array(digitsMax + 1);
  /** Where its digits begin in `digits`; also of the end. */
  readonly from = new Int32Array(digitsMax + 1);
  readonly digits = new Uint8Array(digitsMax + 1);
  /** Before each. */
  readonly gap: Gap[] = new Array(digitsMax + 1).fill(noGap);

  read(text: string, from: number, to: number): void {
    this.text = text;
    let [count, used] = [0, 0];
    for (let at = from; at < to; count++) {
      const before = at;
      while (!isDigit(text.charCodeAt(at))) at++;
      this.gap[count] = at === before ? noGap : gapOf(text, before, at);
      this.start[count] = at;
      this.from[count] = used;
      for (
        let digit = digitOf(text.charCodeAt(at));
        digit !== -1 && at < to;
        digit = digitOf(text.charCodeAt(++at))
      )
        this.digits[used++] = digit;
      this.end[count] = at;
    }
    this.from[count] = used;
    // Nothing is found in a group that goes on.
    this.count = isDigit(text.charCodeAt(to)) ? count - 1 : count;
  }

  size(group: number): number {
    return this.from[group + 1]! - this.from[group]!;
  }

  /** How many digits there are from one group to another, that one excluded. */
  digitCount(first: number, end: number): number {
    return this.from[end]! - this.from[first]!;
  }

  digit(group: number, at = 0): number {
    return this.digits[this.from[group]! + at]!;
  }

  all(first: number, end: number): string {
    let all = "";
    for (let at = this.from[first]!; at < this.from[end]!; at++) all += this.digits[at]!;
    return all;
  }

  /** The sizes of the groups as the digits of a number: 334. */
  form(first: number, end: number): number {
    let form = 0;
    for (let at = first; at < end; at++) form = form * 10 + this.size(at);
    return form;
  }

  /** Whether one of several groups is in brackets. */
  isClosed(first: number, end: number): boolean {
    for (let at = first + 1; at < end; at++) if (this.gap[at]!.closed > 0) return true;
    return false;
  }
}
