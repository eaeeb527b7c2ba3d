// Words for what shows that a criterion is met, and the editor's automatic choice, which is what the judge found.
import type { RestsOn } from "../src/model/judge/call.ts";

/** What shows that a criterion is met. */
export const restsOnWords: Record<RestsOn, string> = {
  passage: "One passage",
  whole: "The whole reply",
  absence: "Something that is absent",
};

/** `details`: criterion by criterion, if the judge found different things, or has not been asked about all. */
export type AutomaticChoice = { option: string; details: string | null };

export function automaticChoice(
  criteria: unknown,
  known: ReadonlyMap<string, RestsOn | null>,
): AutomaticChoice {
  const found = [criteria].flat().map(criterion => {
    const restsOn = known.get(String(criterion));
    if (restsOn === undefined) return null;
    return restsOn === null ? "not sure" : restsOnWords[restsOn].toLowerCase();
  });
  const [first] = found;
  if (first && found.every(word => word === first)) return { option: `Judge: ${first}`, details: null };
  const option = "Let the judge decide";
  if (found.every(word => word === null)) return { option, details: null };
  const words = found.map((word, at) => `criterion ${at + 1}: ${word ?? "not asked yet"}`);
  return { option, details: `The judge found ${words.join("; ")}.` };
}
