// What an agent's traces are read by beside the documented attributes: its own rules, then the conventions it has chosen.

/** Names of presets, or "*". Empty: only the documented attributes are read. */
export type Conventions = readonly string[];

export const allConventions = "*";

/** What a new agent's traces are read by. */
export const conventionsOfNewAgents: string[] = [allConventions];

/** The documented attributes that a rule may give. */
export const ruleTargets = [
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "gen_ai.output.messages",
  "gen_ai.response.text",
  "gen_ai.tool.name",
  "gen_ai.tool.call.id",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "gen_ai.provider.name",
  "gen_ai.conversation.id",
  "user.id",
  "http.response.status_code",
] as const;
export type RuleTarget = (typeof ruleTargets)[number];

export type ConventionRule = {
  /** An attribute; with `.*` at the end, a list that is flattened into attributes such as `messages.0.role`. */
  from: string;
  to: RuleTarget;
  /** The span's exact name, or with `*` at the end its beginning; absent: any span. */
  spanName?: string | undefined;
};

export const rulesMax = 50;

/** The spans to read input and reply from, by their exact name. */
export type ReadFrom = { spanName: string };

/** What an agent's traces are read by, beside the documented attributes. `readFrom`: absent or null: as usual. */
export type ReadBy = {
  conventions: string[];
  conventionRules: ConventionRule[];
  readFrom?: ReadFrom | null | undefined;
};

/** Of anything that has it. */
export function readByOf({ conventions = [], conventionRules = [], readFrom }: Partial<ReadBy>): ReadBy {
  return { conventions, conventionRules, ...(readFrom && { readFrom }) };
}

export const readByNothing: ReadBy = { conventions: [], conventionRules: [] };

export function sameConventions(one: Conventions, other: Conventions): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

export function sameReadBy(one: ReadBy, other: ReadBy): boolean {
  return (
    one.readFrom?.spanName === other.readFrom?.spanName &&
    sameConventions(one.conventions, other.conventions) &&
    sameRules(one.conventionRules, other.conventionRules)
  );
}

/** In the order of the agent, with no field but those of a rule. */
export function normalizedRules(rules: readonly ConventionRule[]): ConventionRule[] {
  return rules.map(({ from, to, spanName }) => ({
    from,
    to,
    ...(spanName === undefined ? {} : { spanName }),
  }));
}

export function sameRules(one: readonly ConventionRule[], other: readonly ConventionRule[]): boolean {
  return textOfRules(one) === textOfRules(other);
}

/** The same for the same rules in the same order; "" for none. */
export function textOfRules(rules: readonly ConventionRule[]): string {
  return rules.length === 0
    ? ""
    : JSON.stringify(rules.map(({ from, to, spanName }) => [from, to, spanName]));
}
