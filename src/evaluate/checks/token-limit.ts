// token_limit: whether token usage stays within each limit that is set.
import type { AssertionOf } from "../../model/test-case/assertion.ts";
import type { Tokens } from "../../model/trace/trace.ts";
import type { CheckOf } from "../finding.ts";
import { type RedactedPlace, redacted } from "../redacted.ts";
import type { TraceView } from "../trace-view.ts";

const input = "gen_ai.usage.input_tokens";
const output = "gen_ai.usage.output_tokens";
const reasoning = "gen_ai.usage.reasoning.output_tokens";

export const tokenLimit: CheckOf<"token_limit"> = (assertion, { view }) => {
  const usages = usagesOf(assertion, view);
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
  const exceeded = usages.filter(({ used, max }) => used !== null && used > max);
  const places = usages.flatMap(usage => usage.places);
  if (exceeded.length === 0 && places.length > 0) return { ...redacted(places), ...seen };
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
  /** What was redacted in the numbers. */
  places: RedactedPlace[];
};

function usagesOf(assertion: AssertionOf<"token_limit">, view: TraceView): Usage[] {
  const { tokens } = view.derived;
  const usages: Usage[] = [];
  const add = (
    limit: string,
    kind: keyof Tokens,
    max: number | undefined,
    sides: [string, number | null][],
  ) => {
    if (max === undefined) return;
    const unknown = new Map(sides.map(([attribute]) => [attribute, view.redactedNumber(attribute)]));
    const places = [...unknown.values()].flat();
    const known = sides.filter(([attribute]) => unknown.get(attribute)!.length === 0);
    const used = places.length > 0 ? (known[0]?.[1] ?? null) : tokens[kind];
    const absent = known.filter(([, value]) => value === null).map(([attribute]) => attribute);
    // One side alone can show that the total is exceeded, never that it is not.
    const settled = absent.length === 0 || (absent.length < sides.length && used !== null && used > max);
    usages.push({
      limit,
      kind,
      max,
      used,
      attributes: sides.map(([name]) => name),
      missing: settled ? [] : absent,
      places,
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
