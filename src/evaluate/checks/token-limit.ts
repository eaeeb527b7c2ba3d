// token_limit: whether token usage stays within each limit that is set.

import type { RedactedPlace } from "../../model/redaction.ts";
import type { Evidence } from "../../model/run/run.ts";
import type { AssertionOf } from "../../model/test-case/assertion.ts";
import type { Span, Tokens } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import type { CheckOf } from "../check-context.ts";
import { namesOf, placeOf } from "../evidence.ts";
import { evidenceMax, someNames } from "../excerpt.ts";
import { redacted } from "../redacted.ts";
import type { TraceView } from "../trace-view.ts";

const input = "gen_ai.usage.input_tokens";
const output = "gen_ai.usage.output_tokens";
const reasoning = "gen_ai.usage.reasoning.output_tokens";

export const tokenLimit: CheckOf<"token_limit"> = (assertion, { view }) => {
  const usages = usagesOf(assertion, view);
  const attributes = [...new Set(usages.flatMap(usage => usage.attributes))];
  const missing = new Map(usages.flatMap(usage => usage.missing));
  const seen = {
    expected: Object.fromEntries(usages.map(({ limit, max }) => [limit, max])),
    actual: Object.fromEntries(usages.map(({ kind, used }) => [kind, used])),
    evidence: attributes.flatMap(attribute => {
      const turn = missing.get(attribute);
      if (turn === undefined) return view.placesOf(attribute);
      const sent = sentIn(view, attribute, turn);
      return sent.length > 0 ? sent : turnOf(view, turn).rootWithout(attribute);
    }),
  };
  if (missing.size > 0) {
    const turns = [...new Set(missing.values())].filter(turn => turn > 0);
    const all = Map.groupBy(missing, ([attribute, turn]) => sentIn(view, attribute, turn).length > 0);
    const unusable = all.get(true)?.map(([attribute]) => attribute);
    const data = {
      attributes: all.get(false)?.map(([attribute]) => attribute) ?? [],
      ...(unusable ? { unusable } : {}),
      ...(turns.length === 1 ? { turn: turns[0]! } : {}),
    };
    const reason = { code: "no_token_usage", data } as const;
    return { kind: "absent", outcome: "missing_instrumentation", reason, ...seen };
  }
  const exceeded = usages.filter(({ used, max }) => used !== null && used > max);
  const places = usages.flatMap(usage => usage.places);
  if (exceeded.length === 0 && places.length > 0) return { ...redacted(places), ...seen };
  const unmeasured = [...new Set(usages.flatMap(usage => usage.unmeasured))];
  if (exceeded.length === 0 && unmeasured.length > 0) {
    const spans = unmeasured.flatMap(spanId => view.spanOf({ spanId }) ?? []);
    const data = { spans: someNames(namesOf(spans)), calls: unmeasured.length };
    return {
      kind: "absent",
      outcome: "missing_instrumentation",
      reason: { code: "unmeasured_calls", data },
      ...seen,
      evidence: spans
        .slice(0, evidenceMax)
        .flatMap(span => attributes.map(attribute => placeWithout(span, attribute))),
    };
  }
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
  /** The absent attributes without which the comparison is undecided, each with the turn without it; 0: all turns. */
  missing: [attribute: string, turn: number][];
  /** The model calls that tell none, where the numbers are summed. */
  unmeasured: string[];
  /** What was redacted in the numbers. */
  places: RedactedPlace[];
};

const sides = { input, output, reasoning };
type Side = keyof typeof sides;

function usagesOf(assertion: AssertionOf<"token_limit">, view: TraceView): Usage[] {
  const { tokens } = view.derived;
  const usages: Usage[] = [];
  const add = (limit: string, kind: keyof Tokens, max: number | undefined, of: Side[]) => {
    if (max === undefined) return;
    const unknown = new Map(of.map(side => [side, view.redactedNumber(sides[side])]));
    const places = [...unknown.values()].flat();
    const known = of.filter(side => unknown.get(side)!.length === 0);
    const used = places.length > 0 ? (known[0] ? tokens[known[0]] : null) : tokens[kind];
    const missing = known.flatMap((side): Usage["missing"] => {
      if (tokens[side] === null) return [[sides[side], 0]];
      const turn = 1 + (view.turns ?? []).findIndex(({ derived }) => isUnknownIn(derived.tokens, side));
      return turn === 0 ? [] : [[sides[side], turn]];
    });
    // What is known can show that the limit is exceeded, never that it is not.
    const settled = used !== null && used > max;
    usages.push({
      limit,
      kind,
      max,
      used,
      attributes: of.map(side => sides[side]),
      missing: settled ? [] : missing,
      unmeasured: settled ? [] : of.flatMap(side => view.derived.unmeasured[side]),
      places,
    });
  };
  add("max_total", "total", assertion.max_total, ["input", "output"]);
  add("max_input", "input", assertion.max_input, ["input"]);
  add("max_output", "output", assertion.max_output, ["output"]);
  add("max_reasoning", "reasoning", assertion.max_reasoning, ["reasoning"]);
  return usages;
}

/** Where a missing number was sent as something that is no count of tokens. */
function sentIn(view: TraceView, attribute: string, turn: number): Evidence[] {
  return turnOf(view, turn).placesOf(attribute);
}

/** A count as sent; without a value where none was. */
function placeWithout(span: Span, attribute: string): Evidence {
  const isSent = attributeOf(span, attribute) !== undefined;
  return isSent ? placeOf(span, attribute) : { spanId: span.span_id, attribute };
}

function turnOf(view: TraceView, turn: number): TraceView {
  return view.turns?.[turn - 1] ?? view;
}

/** Whether a turn is without the number. Where models do not reason, they tell the other numbers alone. */
function isUnknownIn(turn: Tokens, side: Side): boolean {
  return turn[side] === null && (side !== "reasoning" || turn.output === null);
}
