// Opens the rules of a project, each compiled once: for what is stored, and for what the judge is sent.
import { isDeepStrictEqual } from "node:util";
import { type PrivacySettings, pseudonymOf, type StoringRules } from "../model/privacy.ts";
import { Refusal } from "../model/refusal.ts";
import { openRedactor, type Redactor } from "../redaction.ts";

/** What the judge is shown of a trace. */
export type JudgePolicy = { redactor: Redactor | undefined; seesToolResults: boolean };

const judgeRedactors = new Map<string, Redactor | undefined>();

export function judgePolicyOf({
  judgeRules,
  judgeSeesToolResults,
}: Pick<PrivacySettings, "judgeRules" | "judgeSeesToolResults">): JudgePolicy {
  const name = judgeRules.toSorted().join(" ");
  if (!judgeRedactors.has(name)) {
    // Without pseudonyms; ids are in no text that the judge is sent.
    const rules = { builtIn: judgeRules, rules: [], pseudonyms: [] };
    judgeRedactors.set(
      name,
      openRedactor(rules, value => value),
    );
  }
  return { redactor: judgeRedactors.get(name), seesToolResults: judgeSeesToolResults };
}

const redactors = new Map<string, { storing: StoringRules; redactor: Redactor | undefined }>();
const redactorsMax = 100;

/** Compiled once for each revision of a project; undefined if nothing is redacted. */
export function redactorOf(storing: StoringRules): Redactor | undefined {
  const name = `${storing.projectId} ${storing.revision}`;
  const known = redactors.get(name);
  // A standby that takes over, or a backup, may lack the last changes: then a revision is given again, to other rules.
  if (known && isDeepStrictEqual(known.storing, storing)) return known.redactor;
  const { pseudonymKey } = storing;
  const opened = openRedactor(storing.rules, value => {
    if (pseudonymKey === null) throw unreadableKey();
    return pseudonymOf(pseudonymKey, value);
  });
  redactors.set(name, { storing, redactor: opened });
  if (redactors.size > redactorsMax) redactors.delete(redactors.keys().next().value!);
  return opened;
}

/** Storing without the key would store the value, or break the link with the past unnoticed. */
function unreadableKey(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "The key of this project's pseudonyms was encrypted with another key of the service.",
    hint: "Restore the service's previous SVC_SECRET_KEY.",
  });
}
