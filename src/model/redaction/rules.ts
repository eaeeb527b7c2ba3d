// The names of redaction rules: built-in ones, and those that stand for no rule.

export const builtInRules = ["email", "phone", "card", "iban", "ip", "ssn", "secret"] as const;
export type BuiltInRule = (typeof builtInRules)[number];

/** The rule of a value that became a pseudonym. */
export const pseudonymRule = "pseudonym";
/** The rule, and in brackets the stored text, of what could not be finished within its work. */
export const uncheckedRule = "unchecked";
export const uncheckedText = `[${uncheckedRule}]`;
