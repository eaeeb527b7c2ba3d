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
  hasOpening: boolean;
  hasClosing: boolean;
  /** Begins with a closing bracket. */
  isClosing: boolean;
  /** How many more brackets are open after it, and at least and at most on the way. */
  opened: number;
  openedMin: number;
  openedMax: number;
  /** The same without opening brackets. */
  unopened: Gap | null;
  /** Of what is at its end: from the first + or opening bracket on. */
  leadLength: number;
};

const known = new Map<string, Gap>();
/** Gaps by the codes of their characters; of one in ASCII, in a list. */
const byCodes = new Map<number, Gap>();
const single: (Gap | undefined)[] = new Array(128).fill(undefined);

/** From `start` to `end`, one to three separators. */
export function gapOf(text: Text, start: number, end: number): Gap {
  let codes = codeAt(text, start);
  if (end === start + 1 && codes < 128) {
    single[codes] ??= gapOfText(text.slice(start, end));
    return single[codes]!;
  }
  for (let at = start + 1; at < end; at++) codes = codes * 65_536 + codeAt(text, at);
  let gap = byCodes.get(codes);
  if (!gap) {
    gap = gapOfText(text.slice(start, end));
    byCodes.set(codes, gap);
  }
  return gap;
}

export function gapOfText(text: string): Gap {
  let gap = known.get(text);
  if (!gap) {
    gap = classified(text);
    known.set(text, gap);
  }
  return gap;
}

/** A bracket may stand around the whole number, or around more than it. */
export function withoutOpening(gap: Gap): Gap {
  gap.unopened ??= gapOfText(gap.text.replace(/[(（]\s?/g, ""));
  return gap.unopened;
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
    hasOpening: /[(（]/.test(text),
    hasClosing: /[)）]/.test(text),
    isClosing: /^[)）]/.test(text),
    ...openedBy(text),
    unopened: null,
    leadLength: text.length - (text.match(/[+＋(（]/)?.index ?? text.length),
  };
}

function openedBy(text: string): Pick<Gap, "opened" | "openedMin" | "openedMax"> {
  let [opened, openedMin, openedMax] = [0, 0, 0];
  for (const char of text) {
    opened += "(（".includes(char) ? 1 : ")）".includes(char) ? -1 : 0;
    openedMin = Math.min(openedMin, opened);
    openedMax = Math.max(openedMax, opened);
  }
  return { opened, openedMin, openedMax };
}
