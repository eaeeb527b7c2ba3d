// What stands between groups of digits, such as ") " and " - ": classified once for each of the few that there are.
import { codeAt, type Text } from "./units.ts";

export type Gap = {
  text: string;
  hasPlus: boolean;
  /** A number may begin after it in the middle of others. */
  mayPrecede: boolean;
  /** A number may end before it in the middle of others. */
  mayFollow: boolean;
  /** Between the groups of a card. */
  isCard: boolean;
  isHyphen: boolean;
  /** Between the groups of a national phone number. */
  isNational: boolean;
  /** Only its brackets, as ( and ). */
  brackets: string;
};

const known = new Map<string, Gap>();
/** Gaps of one character, by their codes. */
const single: (Gap | undefined)[] = [];

/** From `start` to `end`, at most a few separators. */
export function gapOf(text: Text, start: number, end: number): Gap {
  if (end === start + 1) {
    const code = codeAt(text, start);
    if (code < 128) {
      single[code] ??= gapOfText(text.slice(start, end));
      return single[code];
    }
  }
  return gapOfText(text.slice(start, end));
}

export function gapOfText(text: string): Gap {
  let gap = known.get(text);
  if (!gap) {
    gap = classified(text);
    known.set(text, gap);
  }
  return gap;
}

function classified(text: string): Gap {
  return {
    text,
    hasPlus: /[+＋]/.test(text),
    mayPrecede: /[ \u00a0\u202f\u2009+＋]/.test(text),
    mayFollow: /^[ \u00a0\u202f(+/.-]+$/.test(text) && text !== ".",
    isCard: /^(?:[ \u00a0\u202f.\u2010-\u2013-]| - )$/.test(text),
    isHyphen: /^[-\u2010\u2011\u2013]$/.test(text),
    isNational:
      /^(?:[ \u00a0\u202f\u2009]|[)）]?[ \u00a0]?[-./\u2010-\u2013\u2212\uff0d]?[ \u00a0]?|[ \u00a0]?[(（]|[)）][ \u00a0]?)$/.test(
        text,
      ),
    brackets: text
      .replace(/[^()（）]/g, "")
      .replaceAll("（", "(")
      .replaceAll("）", ")"),
  };
}
