// The names of redaction rules: built-in ones, and those that stand for no rule.

export const builtInRules = ["email", "phone", "card", "iban", "ip", "ssn", "secret"] as const;
export type BuiltInRule = (typeof builtInRules)[number];

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

/** The rule of a value that became a pseudonym. */
export const pseudonymRule = "pseudonym";
/** The rule, and in brackets the stored text, of what could not be finished within its work. */
export const uncheckedRule = "unchecked";
export const uncheckedText = `[${uncheckedRule}]`;
