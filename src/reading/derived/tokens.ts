// The tokens of a trace: the root's, else the sum over its spans, each kind separately.

import { ancestorsOf, isBelow, type SpanTree } from "../../model/trace/span-tree.ts";
import type { ModelCall, Span, TokenSpans, Tokens } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import { wholeNumber } from "../span/whole-number.ts";

const inputKey = "gen_ai.usage.input_tokens";
const outputKey = "gen_ai.usage.output_tokens";
const reasoningKey = "gen_ai.usage.reasoning.output_tokens";
export const cachedKey = "gen_ai.usage.cache_read.input_tokens";
const usageKeys = [inputKey, outputKey, reasoningKey, cachedKey];

/** The positions of spans with usage: few, and everything that follows reads only these. */
export function usageBearers(spans: Span[]): number[] {
  const bearers: number[] = [];
  for (let at = 0; at < spans.length; at++) {
    const { attributes } = spans[at]!;
    for (const key of usageKeys) {
      if (attributes[key] === undefined) continue;
      bearers.push(at);
      break;
    }
  }
  return bearers;
}

export function inputOf(span: Span): number | null {
  return wholeNumber(span, inputKey);
}

export function outputOf(span: Span): number | null {
  return wholeNumber(span, outputKey);
}

/** Reasoning tokens are part of the output tokens and cached ones of the input, so the total adds neither. */
export function readTokens(tree: SpanTree, bearers: number[]): { tokens: Tokens; tokenSpans: TokenSpans } {
  const tokenSpans: TokenSpans = { input: [], output: [], reasoning: [] };
  const input = readUsage(tree, bearers, inputKey, tokenSpans.input);
  const output = readUsage(tree, bearers, outputKey, tokenSpans.output);
  const reasoning = readUsage(tree, bearers, reasoningKey, tokenSpans.reasoning);
  const cached = readUsage(tree, bearers, cachedKey, []);
  return { tokens: { input, output, reasoning, cached, total: totalOf(input, output) }, tokenSpans };
}

/**
 * The model calls that tell no usable number of a kind that is summed: neither they nor a span above or below them. Models that
 * do not reason tell their output alone.
 */
export function unmeasuredCalls(tree: SpanTree, calls: ModelCall[], counted: TokenSpans): TokenSpans {
  const [input, output] = [silentIn(tree, calls, counted.input), silentIn(tree, calls, counted.output)];
  const known = new Set(counted.reasoning);
  return { input, output, reasoning: output.filter(id => !known.has(id)) };
}

function silentIn(tree: SpanTree, calls: ModelCall[], counted: string[]): string[] {
  const measured = new Set(counted);
  // Most traces have their usage on the root, or on every call.
  if (measured.has(tree.spans[tree.root]?.span_id ?? "")) return [];
  const silent = new Set(
    calls.flatMap(({ calls, spanId }) => (calls === 0 || measured.has(spanId) ? [] : spanId)),
  );
  if (silent.size === 0) return [];
  const positionsOf = (ids: Set<string>) =>
    tree.spans.flatMap(({ span_id }, at) => (ids.has(span_id) ? at : []));
  const measuredAt = new Set(positionsOf(measured));
  const above = ancestorsOf(tree, [...measuredAt]);
  return positionsOf(silent)
    .filter(at => tree.spans[at]!.status?.code !== 2 && !above.has(at) && !isBelow(tree, at, measuredAt))
    .map(at => tree.spans[at]!.span_id);
}

export function totalOf(input: number | null, output: number | null): number | null {
  return input === null ? output : output === null ? input : safeSum(input, output);
}

/**
 * One kind of usage: the root's, else the sum over the other spans, without those that repeat a descendant's usage. A root that
 * says 0 where others say more was not told. Adds to `from` the spans that count.
 */
function readUsage(tree: SpanTree, bearers: number[], attribute: string, from: string[]): number | null {
  const root = tree.spans[tree.root];
  const own = root ? wholeNumber(root, attribute) : null;
  if (own !== null && own > 0) {
    from.push(root!.span_id);
    return own;
  }
  const below = sumBelow(tree, bearers, attribute, from);
  // A 0 on the root counts as absent where its calls say more.
  if (own === null || below) return below;
  from.splice(0, from.length, root!.span_id);
  return own;
}

function sumBelow(tree: SpanTree, bearers: number[], attribute: string, from: string[]): number | null {
  let sum: number | null = null;
  const add = ({ span_id }: Span, count: number) => {
    sum = safeSum(sum ?? 0, count);
    from.push(span_id);
  };
  const counted: number[] = [];
  const repeaters: number[] = [];
  for (const at of bearers) {
    if (at === tree.root) continue;
    const span = tree.spans[at]!;
    const count = wholeNumber(span, attribute);
    if (count === null) continue;
    counted.push(at);
    if (repeatingOperations.includes(attributeOf(span, "gen_ai.operation.name"))) repeaters.push(at);
    else add(span, count);
  }
  if (repeaters.length === 0) return sum;

  const above = ancestorsOf(tree, counted);
  for (const at of repeaters) {
    if (!above.has(at)) add(tree.spans[at]!, wholeNumber(tree.spans[at]!, attribute) ?? 0);
  }
  return sum;
}

/** Operations whose span repeats the usage of its descendants. */
const repeatingOperations: readonly unknown[] = ["invoke_agent", "invoke_workflow", "agent_step"];

function safeSum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
