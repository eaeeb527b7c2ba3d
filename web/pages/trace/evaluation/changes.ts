// Which parts of a test case have changed since a run used it.
import type { TestCaseDocument } from "../../../../src/model/test-case/document.ts";
import { isRecord } from "../../../record.ts";

const parts = {
  name: "its name",
  status: "its status",
  passiveBehavior: "its passive behavior",
  scenario: "its scenario",
  threshold: "its threshold",
  turns: "its turn",
  assertions: "its checks",
} satisfies Record<Exclude<keyof TestCaseDocument, "inputs" | "repeats" | "draftedFrom">, string>;

/** In words: "its scenario", "its checks". Empty if nothing changed. */
export function changesOf(judged: TestCaseDocument, now: TestCaseDocument): string[] {
  const keys = Object.keys(parts) as (keyof typeof parts)[];
  // The copy of a run with one of several inputs has that input as its turn.
  const [turn] = judged.turns;
  const isInput = judged.turns.length === 1 && now.inputs?.some(({ input }) => input === turn?.input);
  const same = isInput ? { ...now, turns: judged.turns } : now;
  return keys.filter(key => ordered(judged[key]) !== ordered(same[key])).map(key => parts[key]);
}

/** As JSON with sorted keys: the stored test and the copy in the result may order them differently. */
function ordered(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
    ) ?? ""
  );
}
