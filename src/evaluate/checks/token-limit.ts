// token_limit: whether token usage stays within each limit that is set.
import type { AssertionOf } from "../../model/test-case/assertion.ts";
import type { Tokens } from "../../model/trace/trace.ts";
import type { CheckOf } from "../finding.ts";

const input = "gen_ai.usage.input_tokens";
const output = "gen_ai.usage.output_tokens";
const reasoning = "gen_ai.usage.reasoning.output_tokens";

export const tokenLimit: CheckOf<"token_limit"> = (assertion, { view }) => {
  const usages = usagesOf(assertion, view.derived.tokens);
  const attributes = [...new Set(usages.flatMap(usage => usage.attributes))];
  const missing = [...new Set(usages.flatMap(usage => usage.missing))];
  const seen = {
    expected: Object.fromEntries(usages.map(({ limit, max }) => [limit, max])),
    actual: Object.fromEntries(usages.map(({ kind, used }) => [kind, used])),
    evidence: attributes.flatMap(attribute =>
      missing.includes(attribute) ? view.rootWithout(attribute) : view.placesOf(attribute),
    ),
  };
  if (missing.length > 0) {
    const reason = { code: "no_token_usage", data: { attributes: missing } } as const;
    return { kind: "absent", outcome: "missing_instrumentation", reason, ...seen };
  }
  const exceeded = usages.filter(({ used, max }) => used! > max);
  const reported = exceeded.length > 0 ? exceeded : usages;
  const data = { usages: reported.map(({ kind, used, max }) => ({ kind, used: used!, max })) };
  return { kind: "compared", holds: exceeded.length === 0, reason: { code: "token_usage", data }, ...seen };
};

type Usage = {
  limit: string;
  kind: string;
  max: number;
  used: number | null;
  attributes: string[];
  /** The absent attributes without which the comparison is undecided. */
  missing: string[];
};

function usagesOf(assertion: AssertionOf<"token_limit">, tokens: Tokens): Usage[] {
  const usages: Usage[] = [];
  const add = (
    limit: string,
    kind: keyof Tokens,
    max: number | undefined,
    sides: [string, number | null][],
  ) => {
    if (max === undefined) return;
    const used = tokens[kind];
    const absent = sides.filter(([, value]) => value === null).map(([attribute]) => attribute);
    // One side alone can show that the total is exceeded, never that it is not.
    const settled = absent.length === 0 || (absent.length < sides.length && used !== null && used > max);
    usages.push({
      limit,
      kind,
      max,
      used,
      attributes: sides.map(([name]) => name),
      missing: settled ? [] : absent,
    });
  };
  add("max_total", "total", assertion.max_total, [
    [input, tokens.input],
    [output, tokens.output],
  ]);
  add("max_input", "input", assertion.max_input, [[input, tokens.input]]);
  add("max_output", "output", assertion.max_output, [[output, tokens.output]]);
  add("max_reasoning", "reasoning", assertion.max_reasoning, [[reasoning, tokens.reasoning]]);
  return usages;
}
