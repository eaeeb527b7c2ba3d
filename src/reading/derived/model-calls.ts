// The calls of models in a trace, each with its tokens once: agents and workflows repeat the usage of what they call.

import { ancestorsOf, isBelow, type SpanTree } from "../../model/trace/span-tree.ts";
import type { CallTokens, ModelCall, Span } from "../../model/trace/trace.ts";
import { type CountedUsage, hasInputOrOutput } from "../conventions/counted-usage.ts";
import type { TraceReading } from "../conventions/read-trace.ts";
import { attributeOf, isOrchestrator } from "../span/conversation.ts";
import type { ReadSpan } from "../span/reading.ts";
import { wholeNumber } from "../span/whole-number.ts";
import { cachedKey, inputOf, outputOf } from "./tokens.ts";
import { promptBounds } from "./usage.ts";

type Names = { provider: string | null; model: string | null };
type Sent = { input: number | null; output: number | null; cached: number | null; written: number | null };
/** A call without usage has none. */
type Found = Names & { at: number; sent: Sent | null };

/**
 * Usage counts on the deepest spans that have any. `from`: what conventions gave, else the spans with documented usage.
 * `rootCounts`: whether the tokens of the trace are those that its root says, if it says any; what they exceed its calls by
 * is an entry of its own, or the cost would be of fewer tokens.
 */
export function modelCallsOf(
  tree: SpanTree,
  from: TraceReading | number[],
  rootCounts: boolean,
): ModelCall[] {
  const counted = Array.isArray(from) ? documentedCalls(tree, from) : readCalls(from.counted, true);
  const silent = silentCalls(tree, Array.isArray(from) ? unmeasuredIn(tree, from) : unreadIn(from), counted);
  const calls: ModelCall[] = [];
  for (const found of counted) calls.push(callOf(tree.spans[found.at]!, found));
  for (const found of silent) calls.push(callOf(tree.spans[found.at]!, found));
  const beyond = Array.isArray(from) ? [] : readCalls(from.counted, false);
  for (const found of beyond) calls.push({ ...callOf(tree.spans[found.at]!, found), calls: 0 });
  const root = rootCounts && !counted.some(({ at }) => at === tree.root) ? tree.spans[tree.root] : undefined;
  const rest = root && restOf(root, calls);
  if (rest) calls.push(rest);
  return withSoleModel(calls);
}

/** `whole`: those that no call below them repeats, else what others count beyond their calls. */
function readCalls(counted: CountedUsage[], whole: boolean): Found[] {
  return counted.flatMap(({ read, usage, isWhole }) => {
    const counts = isWhole || usage.input !== null || usage.output !== null;
    return isWhole === whole && counts ? [foundIn(read, usage)] : [];
  });
}

function foundIn({ at, model, provider }: ReadSpan, sent: Sent | null): Found {
  return { at, model: model?.value ?? null, provider: provider?.value ?? null, sent };
}

function documentedCalls(tree: SpanTree, bearers: number[]): Found[] {
  const found: Found[] = [];
  for (const at of bearers) {
    const span = tree.spans[at]!;
    const [input, output] = [inputOf(span), outputOf(span)];
    if (input === null && output === null) continue;
    const sent = { input, output, cached: wholeNumber(span, cachedKey), written: writtenOf(span) };
    found.push({ at, model: modelIn(span), provider: providerIn(span), sent });
  }
  if (found.length < 2) return found;
  const above = ancestorsOf(
    tree,
    found.map(({ at }) => at),
  );
  return found.filter(({ at }) => !above.has(at));
}

/** By the current name, or the one before it. */
function writtenOf(span: Span): number | null {
  return (
    wholeNumber(span, "gen_ai.usage.cache_write.input_tokens") ??
    wholeNumber(span, "gen_ai.usage.cache_creation.input_tokens")
  );
}

/** The model that answered, else the one that was asked: the first is dated, and a deployment may have any name. */
function modelIn(span: Span): string | null {
  return textIn(span, "gen_ai.response.model") ?? textIn(span, "gen_ai.request.model");
}

function providerIn(span: Span): string | null {
  return textIn(span, "gen_ai.provider.name") ?? textIn(span, "gen_ai.system");
}

function textIn(span: Span, key: string): string | null {
  const value = attributeOf(span, key);
  return typeof value === "string" && /\S/.test(value) ? value : null;
}

/** Documented calls that say nothing of their usage, or nothing that can be read. */
function unmeasuredIn(tree: SpanTree, bearers: number[]): Found[] {
  const found: Found[] = [];
  let next = 0;
  for (let at = 0; at < tree.spans.length; at++) {
    const span = tree.spans[at]!;
    const isBearer = bearers[next] === at;
    if (isBearer) next++;
    if (isBearer && (inputOf(span) ?? outputOf(span)) !== null) continue;
    if (isCall(span)) found.push({ at, model: modelIn(span), provider: providerIn(span), sent: null });
  }
  return found;
}

function unreadIn({ spans }: TraceReading): Found[] {
  const found: Found[] = [];
  for (const read of spans)
    if (read.role === "model" && !hasInputOrOutput(read)) found.push(foundIn(read, null));
  return found;
}

function isCall(span: Span): boolean {
  const operation = attributeOf(span, "gen_ai.operation.name");
  const isModel = operation === undefined ? isOrchestrator(span) : callOperations.includes(operation);
  return isModel && attributeOf(span, "gen_ai.tool.name") === undefined;
}

const callOperations: readonly unknown[] = ["chat", "text_completion", "generate_content"];

/** Of calls without usage, those that did not fail, and that no span above or below them counts. */
function silentCalls(tree: SpanTree, unmeasured: Found[], counted: Found[]): Found[] {
  const open = unmeasured.filter(({ at }) => tree.spans[at]!.status?.code !== 2);
  if (open.length === 0) return open;
  const measured = new Set(counted.map(({ at }) => at));
  const above = ancestorsOf(tree, [...measured, ...open.map(({ at }) => at)]);
  return open.filter(({ at }) => !above.has(at) && !isBelow(tree, at, measured));
}

function callOf(span: Span, { provider, model, sent }: Omit<Found, "at">): ModelCall {
  const tokens = sent && tokensOf(sent);
  const promptAbove = tokens ? boundBelow(tokens.input) : 0;
  return { spanId: span.span_id, provider, model, promptAbove, calls: 1, tokens };
}

function boundBelow(input: number): number {
  let below = 0;
  for (const bound of promptBounds) if (input > bound) below = bound;
  return below;
}

/** Cached tokens are part of the input; where they are more than all of it, they were left out. */
function tokensOf({ input, output, cached, written }: Sent): CallTokens {
  const [read, cacheWrite, sent] = [cached ?? 0, written ?? 0, input ?? 0];
  const isLeftOut = read + cacheWrite > sent;
  const whole = isLeftOut ? Math.min(sent + read + cacheWrite, Number.MAX_SAFE_INTEGER) : sent;
  return { input: whole, cached: read, cacheWrite, output: output ?? 0 };
}

function restOf(root: Span, calls: ModelCall[]): ModelCall | undefined {
  let [input, output] = [inputOf(root) ?? 0, outputOf(root) ?? 0];
  for (const { tokens } of calls) {
    input -= tokens?.input ?? 0;
    output -= tokens?.output ?? 0;
  }
  if (input <= 0 && output <= 0) return undefined;
  const sent = { input: Math.max(0, input), output: Math.max(0, output), cached: null, written: null };
  return { ...callOf(root, { provider: providerIn(root), model: modelIn(root), sent }), calls: 0 };
}

/** Usage without a model is that of the only model of the trace, if there is one. */
function withSoleModel(calls: ModelCall[]): ModelCall[] {
  if (calls.every(({ model }) => model !== null)) return calls;
  const named = calls.filter(({ model }) => model !== null);
  const [first, ...others] = named;
  if (!first || others.some(({ model }) => model !== first.model)) return calls;
  return calls.map(call =>
    call.model === null ? { ...call, model: first.model, provider: call.provider ?? first.provider } : call,
  );
}
