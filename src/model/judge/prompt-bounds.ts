// How much of each text reaches the judge, and how a longer text is shortened.
import { stripInvisible } from "../strip-invisible.ts";

/** Characters of each text that reach the judge; of a longer one only the beginning and the end, and it says so. */
export const promptBounds = {
  userInput: 8_000,
  /** Longer replies are judged in parts, which overlap by so many characters. */
  reply: 24_000,
  replyOverlap: 1_000,
  replyParts: 8,
  scenario: 4_000,
  criterion: 8_000,
  /** Of each criterion, where they are repeated after the material. */
  criterionAgain: 300,
  reference: 8_000,
  /**
   * Of the conversation around the reply, and of both together: with the user's input and the answer, a call must fit
   * into a context of 32,000 tokens, which leaves half of it to scripts with more tokens than English.
   */
  conversation: 24_000,
  conversationAndReply: 36_000,
  /** Of these, at most so many are system instructions. */
  systemInstructions: 4_000,
  /** A longer message, call or result is shortened to this, and gets what the others leave. */
  conversationItem: 8_000,
  /** The oldest item that is shown is shortened to what is left, but not below this. */
  conversationItemMin: 400,
  conversationItems: 200,
  /** Of the names of tools and agents. */
  name: 100,
  /** Of the names of the tools that the agent could call, together. */
  offeredTools: 4_000,
  /** Of the earlier messages that go along with a scenario, in all and each. */
  earlierMessages: 4_000,
  earlierMessage: 1_500,
  earlierMessageMin: 200,
};

/** A text as it is shown. */
export type Bounded = string | { start: string; end: string; characters_left_out: number };

/** Stands in a text where its middle was left out; no text that is shown has it. */
export const gap = "\0";

// Says by its shape that something is missing: a note inside the text could be forged by the text.
export function bounded(text: string, max: number): Bounded {
  return cut(condensed(text, max), max);
}

/** Shortens a text that has been condensed. */
function cut(dense: string, max: number): Bounded {
  if (dense.length <= max) return dense;
  const start = dense.slice(0, Math.ceil((max * 2) / 3)).toWellFormed();
  const end = dense.slice(dense.length - Math.floor(max / 3)).toWellFormed();
  return { start, end, characters_left_out: dense.length - max };
}

/** Cleaned before it is measured, and of long blanks too, so that nobody fills what is shown with what is not seen. */
export function condensed(text: string, max: number): string {
  const whole = stripInvisible(text);
  return whole.length <= max ? whole : whole.replace(/(\s{16})\s+/g, "$1");
}

/** What can be quoted of it. */
export function quotable(shown: Bounded): string {
  return typeof shown === "string" ? shown : `${shown.start}${gap}${shown.end}`;
}

/** How many characters are shown of it. */
export function shownLength(shown: Bounded): number {
  return typeof shown === "string" ? shown.length : shown.start.length + shown.end.length;
}

/** Characters in all, of each text at first, of the oldest at least; and how many texts. */
type Room = { total: number; each: number; min: number; count: number };

/** `from`: the index of the first text that is shown; `texts`: from there on, of the empty ones nothing. */
export type Fitted = { from: number; texts: Bounded[] };

/** The newest texts that fit; room that is left goes to those that were shortened, the newest first. */
export function fitNewest(texts: string[], { total, each, min, count }: Room): Fitted {
  const shown: { dense: string; length: number }[] = [];
  let left = total;
  for (let at = texts.length - 1; at >= 0 && shown.length < count; at--) {
    const dense = condensed(texts[at]!, each);
    const wanted = Math.min(dense.length, each);
    if (wanted > left && left < min) break;
    const length = Math.min(wanted, left);
    shown.push({ dense, length });
    left -= length;
    if (length < wanted) break;
  }
  for (const one of shown) {
    const more = Math.min(one.dense.length - one.length, left);
    one.length += more;
    left -= more;
  }
  return {
    from: texts.length - shown.length,
    texts: shown.reverse().map(({ dense, length }) => cut(dense, length)),
  };
}
