// The calls of models in a trace, each with its tokens once: agents and workflows repeat the usage of what they call.
import type { TraceReading } from "../conventions/read-trace.ts";
import { attributeOf, isOrchestrator } from "../conversation/conversation.ts";
import { promptBounds } from "../price/usage.ts";
import { storableName } from "./columns.ts";
import { ancestorsOf, type SpanTree } from "./span-tree.ts";
import type { Span } from "./trace.ts";
import { wholeNumber } from "./whole-number.ts";

export type ModelCall = {
  spanId: string;
  /** Truncated like the names in lists; null: not known. */
  provider: string | null;
  model: string | null;
  /** The prompt has more tokens than this: one of `promptBounds`. */
  promptAbove: number;
  /** 0: what the root counts beyond its calls. */
  calls: 0 | 1;
  /** Input includes cached tokens and those written to the cache. Null: the span says nothing of tokens. */
  tokens: CallTokens | null;
};

export type CallTokens = { input: number; cached: number; cacheWrite: number; output: number };

type Found = {
  at: number;
  provider: string | null;
  model: string | null;
  usage: { input: number | null; output: number | null; cached: number | null; written: number | null };
};

/**
 * Usage counts on the deepest spans that have any. `reading`: what conventions gave. `rootCounts`: whether the tokens of
 * the trace are those that its root says; what they exceed its calls by is a call of its own, or the sum would be too low.
 */
export function modelCallsOf(
  tree: SpanTree,
  reading: TraceReading | null,
  rootCounts: { input: number | null; output: number | null } | null,
): ModelCall[] {
  const found = reading ? readCalls(reading) : documentedCalls(tree);
  const silent = silentCalls(
    tree,
    reading,
    found.map(({ at }) => at),
  );
  const calls = found.map(({ at, usage, ...names }) => callOf(tree.spans[at]!, names, tokensOf(usage)));
  for (const { at, ...names } of silent) calls.push(callOf(tree.spans[at]!, names, null));
  const isRootCounted = found.some(({ at }) => at === tree.root);
  if (rootCounts && !isRootCounted && tree.root !== -1) {
    const rest = restOf(rootCounts, calls);
    if (rest)
      calls.push({ ...callOf(tree.spans[tree.root]!, namesOf(tree.spans[tree.root]!), rest), calls: 0 });
  }
  return withSoleModel(calls);
}

function readCalls({ counted }: TraceReading): Found[] {
  return counted.map(({ at, model, provider, usage }) => ({
    at,
    model: model?.value ?? null,
    provider: provider?.value ?? null,
    usage: usage!.value,
  }));
}

function documentedCalls(tree: SpanTree): Found[] {
  const bearers: Found[] = [];
  for (const [at, span] of tree.spans.entries()) {
    const input = wholeNumber(span, "gen_ai.usage.input_tokens");
    const output = wholeNumber(span, "gen_ai.usage.output_tokens");
    if (input === null && output === null) continue;
    const [cached, written] = [wholeNumber(span, cachedKey), firstNumber(span, writtenKeys)];
    bearers.push({ at, ...namesOf(span), usage: { input, output, cached, written } });
  }
  if (bearers.length < 2) return bearers;
  const above = ancestorsOf(
    tree,
    bearers.map(({ at }) => at),
  );
  return bearers.filter(({ at }) => !above.has(at));
}

export const cachedKey = "gen_ai.usage.cache_read.input_tokens";
/** The current name, and the one before it. */
const writtenKeys = ["gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"];

function firstNumber(span: Span, keys: string[]): number | null {
  for (const key of keys) {
    const found = wholeNumber(span, key);
    if (found !== null) return found;
  }
  return null;
}

/** The model that answered, else the one that was asked: the first is dated, and a deployment may have any name. */
function namesOf(span: Span): Pick<Found, "provider" | "model"> {
  return {
    model: textIn(span, "gen_ai.response.model") ?? textIn(span, "gen_ai.request.model"),
    provider: textIn(span, "gen_ai.provider.name") ?? textIn(span, "gen_ai.system"),
  };
}

function textIn(span: Span, key: string): string | null {
  const value = attributeOf(span, key);
  return typeof value === "string" && /\S/.test(value) ? value : null;
}

/** Calls that did not fail, of which neither they nor a span above or below them say what they used. */
function silentCalls(
  tree: SpanTree,
  reading: TraceReading | null,
  counted: number[],
): Pick<Found, "at" | "provider" | "model">[] {
  const candidates = reading
    ? reading.spans
        .filter(({ role, usage }) => role === "model" && !usage)
        .map(({ at, model, provider }) => ({
          at,
          model: model?.value ?? null,
          provider: provider?.value ?? null,
        }))
    : [...tree.spans.entries()]
        .filter(([, span]) => isCall(span))
        .map(([at, span]) => ({ at, ...namesOf(span) }));
  const below = new Set(counted);
  const open = candidates.filter(({ at }) => !below.has(at) && tree.spans[at]!.status?.code !== 2);
  if (open.length === 0) return [];
  const above = ancestorsOf(tree, [...counted, ...open.map(({ at }) => at)]);
  const isBelow = (at: number) => {
    for (let up = at; up !== -1; up = tree.parents[up]!) if (below.has(up)) return true;
    return false;
  };
  return open.filter(({ at }) => !above.has(at) && !isBelow(at));
}

function isCall(span: Span): boolean {
  if (!isOrchestrator(span) || attributeOf(span, "gen_ai.tool.name") !== undefined) return false;
  const operation = attributeOf(span, "gen_ai.operation.name");
  return operation === undefined || callOperations.includes(operation);
}

const callOperations: readonly unknown[] = ["chat", "text_completion", "generate_content"];

function callOf(span: Span, names: Pick<Found, "provider" | "model">, tokens: CallTokens | null): ModelCall {
  return {
    spanId: span.span_id,
    provider: names.provider && storableName(names.provider),
    model: names.model && storableName(names.model),
    promptAbove: tokens ? (promptBounds.findLast(bound => tokens.input > bound) ?? 0) : 0,
    calls: 1,
    tokens,
  };
}

/** Cached tokens are part of the input; where they are more than all of it, they were left out. */
function tokensOf({ input, output, cached, written }: Found["usage"]): CallTokens {
  const [read, cacheWrite] = [cached ?? 0, written ?? 0];
  const isLeftOut = read + cacheWrite > (input ?? 0);
  const whole = isLeftOut
    ? Math.min((input ?? 0) + read + cacheWrite, Number.MAX_SAFE_INTEGER)
    : (input ?? 0);
  return { input: whole, cached: read, cacheWrite, output: output ?? 0 };
}

function restOf(
  { input, output }: { input: number | null; output: number | null },
  calls: ModelCall[],
): CallTokens | null {
  const left = (counted: number | null, kind: "input" | "output") =>
    Math.max(0, (counted ?? 0) - calls.reduce((sum, { tokens }) => sum + (tokens?.[kind] ?? 0), 0));
  const rest = { input: left(input, "input"), cached: 0, cacheWrite: 0, output: left(output, "output") };
  return rest.input + rest.output > 0 ? rest : null;
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
