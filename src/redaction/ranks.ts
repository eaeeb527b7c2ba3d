// The order of the built-in rules where several find the same.
import type { BuiltInRule } from "../model/redaction.ts";

/** Of each rule: lower goes first; -1 if it is not active. */
export type Ranks = Readonly<Record<BuiltInRule, number>>;

export function ranksOf(active: readonly BuiltInRule[]): Ranks {
  const rank = (rule: BuiltInRule) => active.indexOf(rule);
  return {
    email: rank("email"),
    phone: rank("phone"),
    card: rank("card"),
    iban: rank("iban"),
    ip: rank("ip"),
    ssn: rank("ssn"),
    secret: rank("secret"),
  };
}
