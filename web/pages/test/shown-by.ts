// Words for what the judge found that criteria are shown by, as the automatic choice of the editor.
import type { RestsOn } from "../../../src/model/judge/call.ts";
import { restsOnWords } from "../../labels.ts";
import { assertionsOf, type Doc, isRecord } from "./document.ts";

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

/** The criteria whose class the judge chooses, each once. */
export function criteriaLeftToJudge(document: Doc): string[] {
  const texts = assertionsOf(document).flatMap(assertion =>
    isRecord(assertion) && assertion["type"] === "semantic" ? [assertion["criteria"]].flat() : [],
  );
  return [...new Set(texts.filter(text => typeof text === "string" && text !== ""))] as string[];
}
