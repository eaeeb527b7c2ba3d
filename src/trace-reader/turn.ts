// What a trace adds to its conversation: the user's text, the reply and the names of the tools called, within bounds.

import { type LoadedTrace, readMarked } from "../load.ts";
import type { PlacesOfRule } from "../model/redaction.ts";
import { placesWithin } from "../reading/derived/text-redactions.ts";
import { redactionsIn } from "../reading/marks.ts";
import { roleOf } from "../reading/span/span-role.ts";

export type TurnPart = {
  userInput: string | null;
  reply: string | null;
  /** Where privacy rules changed these texts, within what is given of them. */
  userInputRedactions: PlacesOfRule[];
  replyRedactions: PlacesOfRule[];
  /** Whether a text is longer than what is given of it. */
  shortened: boolean;
  /** The first calls. */
  calls: { spanId: string; name: string; failed: boolean }[];
  callCount: number;
};

/** Each text has at most as many characters, and each turn as many calls. */
export const turnTextMax = 8_000;
const callsMax = 20;
const nameMax = 200;

export function turnOf(loaded: LoadedTrace): TurnPart {
  const { derived, read } = loaded;
  const { userInput, responseText, toolCalls } = derived;
  const redactions = redactionsOf(loaded, turnTextMax);
  const texts = [userInput?.text, responseText?.text];
  const spans = new Map(read.spans.map(span => [span.span_id, span]));
  return {
    userInput: bounded(userInput?.text),
    reply: bounded(responseText?.text),
    userInputRedactions: redactions.userInput,
    replyRedactions: redactions.responseText,
    shortened: texts.some(text => text !== undefined && text.length > turnTextMax),
    calls: toolCalls.slice(0, callsMax).map(({ spanId, name }) => {
      const span = spans.get(spanId);
      // Conventions may read a call from the span of the model that asked for it.
      const failed = span?.status?.code === 2 && roleOf(span) === "tool";
      return { spanId, name: name.slice(0, nameMax).toWellFormed(), failed };
    }),
    callCount: toolCalls.length,
  };
}

function bounded(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, turnTextMax).toWellFormed();
}

/** Of the input and the reply of a trace, within the first `max` characters. */
export function redactionsOf(
  loaded: LoadedTrace,
  max = Infinity,
): Record<"userInput" | "responseText", PlacesOfRule[]> {
  const marked = readMarked(loaded)?.derived;
  const places = (name: "userInput" | "responseText") => {
    const text = loaded.derived[name]?.text;
    return text === undefined ? [] : placesWithin(redactionsIn(text, marked?.[name]?.text), max);
  };
  return { userInput: places("userInput"), responseText: places("responseText") };
}
