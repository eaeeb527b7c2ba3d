// Inputs and repeats of a test case: limits, validation, and how many runs they add up to in a manual run.

import type { Issue } from "../refusal.ts";
import type { TestCaseDocument } from "./document.ts";

export const inputsMax = 1_000;
/** A test is read and saved as a whole, and lists answer several at once. */
export const inputsCharsMax = 1_000_000;
export const repeatsMax = 20;
export const runsOfTestMax = 1_000;

type Expandable = Pick<TestCaseDocument, "turns" | "inputs" | "repeats">;

type Optional = "inputs" | "repeats" | "draftedFrom";

/** Absent instead of empty or 1, so that equal documents are equal as JSON. */
export function withoutDefaults({
  inputs,
  repeats,
  draftedFrom,
}: { [N in Optional]: TestCaseDocument[N] | undefined }): Pick<TestCaseDocument, Optional> {
  const sources = sourcesOf({ draftedFrom });
  return {
    ...(inputs && inputs.length > 0 && { inputs }),
    ...(repeats !== undefined && repeats > 1 && { repeats }),
    ...(sources.length > 0 && { draftedFrom: sources.length > 1 ? sources : sources[0]! }),
  };
}

/** The ids of the traces that a test was drafted from, each once. */
export function sourcesOf({
  draftedFrom,
}: {
  draftedFrom?: TestCaseDocument["draftedFrom"] | undefined;
}): string[] {
  return [...new Set([draftedFrom ?? []].flat())];
}

/** Rules that concern several fields of a document. */
export function inputIssues({ turns, inputs, repeats = 1 }: Expandable): Issue[] {
  if (!inputs) return [];
  const issues: Issue[] = [];
  if (turns.length !== 1) issues.push({ path: "inputs", message: "Inputs need exactly one turn." });
  const chars = inputs.reduce((sum, { input }) => sum + input.length, 0);
  if (chars > inputsCharsMax) {
    const message = `The inputs have ${counted(chars)} characters together; the limit is ${counted(inputsCharsMax)}.`;
    issues.push({ path: "inputs", message });
  }
  const tooMany = tooManyRuns(inputs.length, repeats);
  if (tooMany) issues.push({ path: "repeats", message: tooMany });
  return issues;
}

/** Undefined if the test may have that many runs. */
export function tooManyRuns(inputCount: number, repeats: number): string | undefined {
  const runs = inputCount * repeats;
  if (runs <= runsOfTestMax) return undefined;
  return `${counted(inputCount)} inputs × ${repeats} repeats are ${counted(runs)} runs. The limit is ${counted(runsOfTestMax)} runs of a test: use fewer inputs or repeats.`;
}

/** `inputCount` is 0 for a test without inputs. */
export function runCountOf(inputCount: number, repeats: number): number {
  return Math.max(1, inputCount) * repeats;
}

function counted(number: number): string {
  return number.toLocaleString("en-US");
}
