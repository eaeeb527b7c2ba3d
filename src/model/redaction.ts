// Redaction: its rules, and the placeholders that stand for what they found.

export const builtInRules = ["email", "phone", "card", "iban", "ip", "ssn", "secret"] as const;
export type BuiltInRule = (typeof builtInRules)[number];

/** The rule of a value that became a pseudonym. */
export const pseudonymRule = "pseudonym";
/** The rule, and in brackets the stored text, of what could not be finished within its work. */
export const uncheckedRule = "unchecked";
export const uncheckedText = `[${uncheckedRule}]`;

/** What stands in a stored text for a value that the rule found. */
export function placeholderOf(rule: string): string {
  return `⟦${rule}⟧`;
}

/** Every placeholder in a text, of any rule: the first group is its name. */
export const placeholders = /⟦([a-z0-9_-]{1,32})⟧/g;

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

/** How many values each rule redacted; `unchecked` and `pseudonym` are rules, too. */
export type RuleCounts = Record<string, number>;

/** Without a prototype, because an own rule may be called __proto__. */
export function noCounts(): RuleCounts {
  return Object.create(null);
}

export function addCount(counts: RuleCounts, rule: string, count: number): void {
  counts[rule] = (counts[rule] ?? 0) + count;
}

/** Undefined if nothing was counted in any of them. */
export function sumOf(all: readonly (Readonly<RuleCounts> | null | undefined)[]): RuleCounts | undefined {
  const sums = noCounts();
  for (const counts of all)
    for (const [rule, count] of Object.entries(counts ?? {})) addCount(sums, rule, count);
  return Object.keys(sums).length > 0 ? { ...sums } : undefined;
}

const byName = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** The rules that are counted, sorted. */
export function rulesOf(counts: Readonly<RuleCounts> = {}): string[] {
  return Object.keys(counts).sort(byName);
}

/** What stands in a text for a redacted value: UTF-16 units, the end is exclusive. */
export type RedactedPlace = { start: number; end: number; rule: string };

/** In their order. `rules`: those that redacted something in the text. */
export function placesOf(rules: readonly string[], text: string): RedactedPlace[] {
  if (rules.length === 0) return [];
  return Array.from(text.matchAll(patternOf(rules)), match => ({
    start: match.index,
    end: match.index + match[0].length,
    rule: ruleOf(match),
  }));
}

/** How many values these rules redacted in the texts of a value. */
export function countIn(value: unknown, rules: readonly string[]): RuleCounts {
  const counts = noCounts();
  if (rules.length === 0) return counts;
  const pattern = patternOf(rules);
  const count = (one: unknown) => {
    if (typeof one === "string")
      for (const match of one.matchAll(pattern)) addCount(counts, ruleOf(match), 1);
    else if (typeof one === "object" && one !== null) for (const item of Object.values(one)) count(item);
  };
  count(value);
  return counts;
}

/** Names of rules need no escapes. */
function patternOf(rules: readonly string[]): RegExp {
  const named = rules.filter(rule => rule !== pseudonymRule && rule !== uncheckedRule);
  const parts = named.length > 0 ? [placeholderOf(`(${named.join("|")})`)] : [];
  if (rules.includes(pseudonymRule)) parts.push(String.raw`\bp_[\w-]{22}(?![\w-])`);
  if (rules.includes(uncheckedRule)) parts.push(String.raw`\[${uncheckedRule}\]`);
  return new RegExp(parts.join("|"), "g");
}

function ruleOf({ 0: found, 1: name }: RegExpExecArray): string {
  return name ?? (found === uncheckedText ? uncheckedRule : pseudonymRule);
}
