// What may be stored of an agent's traces: whether their content, and which attributes.
import type { AttributeRules } from "./content/attribute-rules.ts";
import { sameTexts } from "./same-texts.ts";

/** `none`: content is never stored. `forget`: it is dropped some time after its evaluation has ended. */
export type ContentSetting = "keep" | "none" | "forget";

/** What an agent's batches are changed by before they are stored. */
export type Intake = { content: ContentSetting; attributes: AttributeRules };

export const everything: Intake = { content: "keep", attributes: { deny: [], allow: null } };

/** Seconds until content is dropped. */
export const forgetSeconds = { min: 60, max: 31_536_000 } as const;

/** Whether batches are stored as they arrive. Content that is dropped later arrives like any other. */
export function takesEverything({ content, attributes: { deny, allow } }: Intake): boolean {
  return content !== "none" && deny.length === 0 && allow === null;
}

/** Whether two settings store the same. */
export function sameIntake(one: Intake, other: Intake): boolean {
  const [a, b] = [one.attributes, other.attributes];
  return (
    (one.content === "none") === (other.content === "none") &&
    sameTexts(a.deny, b.deny) &&
    (a.allow === null || b.allow === null ? a.allow === b.allow : sameTexts(a.allow, b.allow))
  );
}
