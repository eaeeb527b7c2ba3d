// The key by which statements compare what may be stored of an agent's traces with what a batch was prepared by.
import { hash } from "node:crypto";
import { type Intake, takesEverything } from "../../model/content.ts";

/** The same for settings that store the same; "" where everything is stored. `agents.intake_key` has it. */
export function intakeKey(intake: Intake | undefined): string {
  if (!intake || takesEverything(intake)) return "";
  const known = keys.get(intake);
  if (known !== undefined) return known;
  const { content, attributes } = intake;
  const key = hash("sha256", JSON.stringify([content === "none", attributes.deny, attributes.allow]));
  keys.set(intake, key);
  return key;
}

/** The settings are the same object in all writes of a request. */
const keys = new WeakMap<object, string>();
