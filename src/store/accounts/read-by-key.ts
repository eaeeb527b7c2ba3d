// The key by which statements compare what an agent's traces are read by with what a trace was read by.

import { hash } from "node:crypto";
import { type ReadBy, textOfRules } from "../../model/agent/read-by.ts";

/** The same for the same conventions and rules; "" for none. `agents.read_by_key` has it. */
export function readByKey({ conventions, conventionRules, readFrom }: ReadBy): string {
  // No name of a convention has an @.
  const names = conventions.join(" ") + (readFrom ? `@${hash("sha256", readFrom.spanName)}` : "");
  return conventionRules.length === 0 ? names : `${names}#${digestOf(conventionRules)}`;
}

/** Rules may be 25 KB of text, and are the same object in all writes of a request. */
const digests = new WeakMap<object, string>();

function digestOf(rules: ReadBy["conventionRules"]): string {
  const digest = digests.get(rules) ?? hash("sha256", textOfRules(rules));
  digests.set(rules, digest);
  return digest;
}
