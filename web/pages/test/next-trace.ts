// Says what this test will do with the next live trace.
import { counted, ineligibilities } from "../../labels.ts";
import type { Validated } from "../../queries/editor.ts";
import { assertionsOf, type Doc } from "./document.ts";

/** `isUnsaved`: the sentence holds once the test is saved. */
export function nextTraceText(
  validated: Validated | undefined,
  document: Doc,
  hasJudge: boolean,
  isUnsaved: boolean,
): string {
  if (!validated) return "";
  if (!validated.valid) return "Cannot be saved yet: fields are empty or invalid.";
  if (validated.eligibility) return ineligibilities[validated.eligibility];
  const isConditional = (document["passiveBehavior"] ?? "run_when_relevant") === "run_when_relevant";
  if (isConditional && !hasJudge) return "Does not evaluate new live traces: no judge is configured.";
  const once = isUnsaved ? " once saved" : "";
  const checks = counted(assertionsOf(document).length, "check");
  return isConditional
    ? `Evaluates new live traces${once}, with ${checks}, if the scenario matches.`
    : `Evaluates new live traces${once}: every one, with ${checks}.`;
}
