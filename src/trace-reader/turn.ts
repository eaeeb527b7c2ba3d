// What a trace adds to its conversation: the user's text, the reply and the names of the tools called, within bounds.

import type { LoadedTrace } from "../load.ts";
import { roleOf } from "../reading/span/span-role.ts";

export type TurnPart = {
  userInput: string | null;
  reply: string | null;
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
  const texts = [userInput?.text, responseText?.text];
  const spans = new Map(read.spans.map(span => [span.span_id, span]));
  return {
    userInput: bounded(userInput?.text),
    reply: bounded(responseText?.text),
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
