// Redaction: its rules, and the places in a trace where they found something.

export const builtInRules = ["email", "phone", "card", "iban", "ip", "ssn", "secret"] as const;
export type BuiltInRule = (typeof builtInRules)[number];

/** The rule of a value that became a pseudonym. */
export const pseudonymRule = "pseudonym";
/** The rule, and in brackets the stored text, of what could not be finished within its work. */
export const uncheckedRule = "unchecked";
export const uncheckedText = `[${uncheckedRule}]`;

/** In the order of the table, each once. */
export function activeBuiltIn(chosen: readonly string[]): BuiltInRule[] {
  return builtInRules.filter(name => chosen.includes("*") || chosen.includes(name));
}

export type OwnRule = { name: string; pattern: string; flags?: string | undefined };

export const ownRulesMax = 20;

export type RedactionRules = {
  /** Names of built-in rules, or "*". */
  builtIn: readonly string[];
  rules: readonly OwnRule[];
  /** Attribute keys whose values become pseudonyms, whatever they are. */
  pseudonyms: readonly string[];
};

/** Where a value was in a span, or in the body of the trace. */
export type RedactionIn = "attributes" | "events" | "resource" | "scope" | "status" | "metadata" | "log";

/** Start and end, in UTF-16 units of the text as it is stored. */
export type Place = [start: number, end: number];

/** The places of one rule in a text; `unchecked` and `pseudonym` are rules, too. */
export type PlacesOfRule = { rule: string; places: Place[] };

/** The places of one rule in one text of a span, or of the trace. */
export type Redaction = {
  /** Null for the resource and the metadata of a batch. */
  spanId: string | null;
  in: RedactionIn;
  /**
   * Of the text: the attribute's key, then steps into its value, such as `gen_ai.input.messages[0].content`. In events and
   * log records it begins with the position, `[0].attributes["exception.message"]`; of a status it is `message`.
   */
  path: string;
  /** A rule's name; `pseudonym`; `unchecked` for a text that was not finished. */
  rule: string;
  places: Place[];
};

/** `value`: the same object if nothing was found, else a copy that shares what did not change. */
export type Redacted<T> = { value: T; redactions: Redaction[] };

export type RedactedText = { text: string; found: PlacesOfRule[] };
