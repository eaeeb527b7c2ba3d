// The redacted places in the texts that lists show of a trace, as its row has them.
import type { PlacesOfRule } from "../../model/redaction.ts";
import { textMax } from "../../model/trace/storable.ts";
import type { Derived } from "../../model/trace/trace.ts";
import { redactionsIn, unmark } from "../marks.ts";

/** Of the texts as they are stored for lists. */
export type TextRedactions = {
  userInputRedactions: PlacesOfRule[];
  responseTextRedactions: PlacesOfRule[];
};

type Texts = Pick<Derived, "userInput" | "responseText">;

/** JSON for a column; null where nothing of the trace was redacted. `marked`: as derived from the trace with marks. */
export function encodeTextRedactions(
  rules: readonly string[],
  derived: Texts,
  marked: Texts | null | undefined,
): string | null {
  if (rules.length === 0) return null;
  const input = placesIn(derived.userInput, marked?.userInput);
  const reply = placesIn(derived.responseText, marked?.responseText);
  return JSON.stringify({ ...(input.length > 0 && { input }), ...(reply.length > 0 && { reply }) });
}

export function readTextRedactions(stored: string | null): TextRedactions {
  const { input = [], reply = [] } = stored === null ? {} : JSON.parse(stored);
  return { userInputRedactions: input, responseTextRedactions: reply };
}

/** Whether a shown text may have a redacted place: it has what stands for a value of one of these rules. */
export function mayBeRedacted(rules: readonly string[], { userInput, responseText }: Texts): boolean {
  return [userInput, responseText].some(found => {
    const text = found?.text.slice(0, textMax);
    return (
      text && rules.some(rule => text.includes(`[${rule}]`) || (rule === "pseudonym" && text.includes("p_")))
    );
  });
}

/** Whether these are the texts, apart from marks. */
export function saysTheSame(marked: Texts, { userInput, responseText }: Texts): boolean {
  return [[userInput, marked.userInput] as const, [responseText, marked.responseText] as const].every(
    ([text, twin]) => text === null || (twin && unmark(twin.text).text === text.text),
  );
}

function placesIn(found: Texts["userInput"], marked: Texts["userInput"] | undefined): PlacesOfRule[] {
  if (!found) return [];
  // A longer text is stored with one character fewer, and the mark of what is left out.
  const max = found.text.length > textMax ? textMax - 1 : textMax;
  return placesWithin(redactionsIn(found.text, marked?.text), max);
}

/** Without places that end behind the first `max` characters. */
export function placesWithin(redactions: PlacesOfRule[], max: number): PlacesOfRule[] {
  const inside = redactions.map(({ rule, places }) => ({
    rule,
    places: places.filter(([, end]) => end <= max),
  }));
  return inside.filter(({ places }) => places.length > 0);
}
