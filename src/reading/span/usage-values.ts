// Reads counts of tokens from attributes and from JSON, whatever names and buckets the SDK has for them.

import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";
import type { Sourced, SourcedUsage, Usage } from "./reading.ts";
import { countOf } from "./values.ts";

export type UsageKeys = Record<keyof Usage, string[]> & { total: string[] };

/** Usage from attributes: the first of each list that has a count; null without input, output and reasoning. */
export function usageOf(span: Span, keys: UsageKeys): SourcedUsage | null {
  const [input, output] = [countedName(span, keys.input), countedName(span, keys.output)];
  const reasoning = countedName(span, keys.reasoning);
  const attribute = input ?? output ?? reasoning;
  if (attribute === undefined) return null;
  const from = {
    input,
    output,
    reasoning,
    cached: countedName(span, keys.cached),
    written: countedName(span, keys.written),
  };
  const counted = {
    input: countAt(span, input),
    output: countAt(span, output),
    reasoning: countAt(span, reasoning),
    cached: countAt(span, from.cached),
    written: countAt(span, from.written),
  };
  const hasKinds = counted.cached ?? counted.written ?? counted.reasoning;
  const value = hasKinds ? withKinds(counted, countAt(span, countedName(span, keys.total))) : counted;
  return { value, spanId: span.span_id, attribute, from };
}

/** The first of these attributes that has a count. */
function countedName(span: Span, names: readonly string[]): string | undefined {
  for (const name of names) if (countAt(span, name) !== null) return name;
  return undefined;
}

function countAt(span: Span, name: string | undefined): number | null {
  if (name === undefined) return null;
  const sent = attributeOf(span, name);
  return sent === undefined ? null : countOf(sent);
}

/** Usage in one JSON attribute, under any of the names in use. */
export function usageIn(found: Sourced<unknown> | null): Sourced<Usage> | null {
  if (!found || !isRecord(found.value)) return null;
  const { value: usage, ...source } = found;
  const pick = (names: readonly string[]) => {
    for (const name of names) {
      const count = countOf(
        name.split(".").reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), usage),
      );
      if (count !== null) return count;
    }
    return null;
  };
  const counted = {
    input: pick(jsonNames.input),
    output: pick(jsonNames.output),
    reasoning: pick(jsonNames.reasoning),
    cached: pick(jsonNames.cached),
    written: pick(jsonNames.written),
  };
  const value = withKinds(counted, pick(jsonNames.total), bucketsIn(usage as Attributes));
  const { input, output, reasoning } = value;
  return [input, output, reasoning].every(count => count === null) ? null : { ...source, value };
}

const jsonNames = {
  input: [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
    "input",
  ],
  output: [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "output",
  ],
  reasoning: [
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_token_details.reasoning",
    "reasoningTokens",
    "reasoning_tokens",
    "thoughtsTokenCount",
    "thoughts_token_count",
    "output_reasoning",
    "output_reasoning_tokens",
  ],
  cached: [
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "input_token_details.cache_read",
    "cache_read_input_tokens",
    "cachedContentTokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "cachedInputTokens",
    "input_cached_tokens",
    "input_cache_read",
    "cache_read_tokens",
  ],
  written: [
    "cache_creation_input_tokens",
    "input_token_details.cache_creation",
    "input_cache_creation",
    "input_tokens_details.cache_write_tokens",
    "cache_write_tokens",
  ],
  total: ["total_tokens", "totalTokens", "totalTokenCount", "total_token_count", "total"],
};

/** Counts of one side beside the counts known by name: `input_audio`, `output_modality_1`. */
type Buckets = { input: number[]; output: number[] };

function bucketsIn(usage: Attributes): Buckets {
  const buckets: Buckets = { input: [], output: [] };
  for (const [key, sent] of Object.entries(usage)) {
    const side = /^(?:input|prompt)_/.test(key)
      ? "input"
      : /^(?:output|completion)_/.test(key)
        ? "output"
        : null;
    const count = side && !known.has(key) ? countOf(sent) : null;
    if (side && count && buckets[side].length < bucketsMax) buckets[side].push(count);
  }
  return buckets;
}

const bucketsMax = 4;
const known = new Set(Object.values(jsonNames).flat());

/**
 * Cached tokens are part of the input and reasoning tokens of the output. Some providers and SDKs count these and other
 * kinds beside it: then their own total is the sum of all, or there are more cached tokens than input. The kinds that make
 * up the total are added; of what is part of the input or the output already, none is.
 */
function withKinds(usage: Usage, total: number | null, more: Buckets = { input: [], output: [] }): Usage {
  const { input, output, cached, written, reasoning } = usage;
  const kinds = [
    ...[cached, written, ...more.input].map(count => ({ side: "input" as const, count: count ?? 0 })),
    ...[reasoning, ...more.output].map(count => ({ side: "output" as const, count: count ?? 0 })),
  ].filter(({ count }) => count > 0);
  if (input === null && output === null) return usage;
  const missing = total === null ? 0 : total - (input ?? 0) - (output ?? 0);
  const beside = missing > 0 ? (setsOf(kinds).find(set => sumOf(set) === missing) ?? []) : [];
  const added = (side: "input" | "output") => sumOf(beside.filter(kind => kind.side === side));
  const whole = plus(input, added("input"));
  const isLeftOut = added("input") === 0 && whole !== null && (cached ?? 0) + (written ?? 0) > whole;
  return {
    ...usage,
    input: isLeftOut ? plus(whole, (cached ?? 0) + (written ?? 0)) : whole,
    output: plus(output, added("output")),
  };
}

type Kind = { side: "input" | "output"; count: number };

/** All choices, those of most kinds first. */
function setsOf(kinds: Kind[]): Kind[][] {
  let sets: Kind[][] = [[]];
  for (const kind of kinds) sets = [...sets.map(set => [...set, kind]), ...sets];
  return sets.sort((a, b) => b.length - a.length);
}

function sumOf(kinds: Kind[]): number {
  return kinds.reduce((sum, { count }) => sum + count, 0);
}

function plus(count: number | null, more: number): number | null {
  return more === 0 ? count : Math.min((count ?? 0) + more, Number.MAX_SAFE_INTEGER);
}

/** What stands inside an answer as a provider or a framework sends it; the outermost, as answers may quote others. */
export function insideAnswer<T>(value: unknown, read: (record: Attributes) => T | null, depth = 0): T | null {
  if (depth > depthMax) return null;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, itemsMax)) {
      const found = insideAnswer(item, read, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isRecord(value)) return null;
  const own = read(value);
  if (own !== null) return own;
  for (const key of containers) {
    const found = insideAnswer(value[key], read, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

const depthMax = 6;
const itemsMax = 10;
const containers = [
  "meta",
  "raw",
  "response",
  "message",
  "kwargs",
  "response_metadata",
  "llm_output",
  "replies",
  "generations",
  "messages",
  "output",
  "outputs",
];

const usageFields = ["usage", "usage_metadata", "usageMetadata", "token_usage"];

export function usageInside(found: Sourced<unknown> | null): Sourced<Usage> | null {
  return insideAnswer(found?.value, record => {
    for (const key of usageFields) {
      const usage = isRecord(record[key]) ? usageIn({ ...found!, value: record[key] }) : null;
      if (usage) return usage;
    }
    return null;
  });
}

export function modelInside(found: Sourced<unknown> | null): Sourced<string> | null {
  return insideAnswer(found?.value, record => {
    const name = ["model", "model_name", "modelVersion"].map(key => record[key]).find(isText);
    return name === undefined ? null : { ...found!, value: name };
  });
}

const isText = (value: unknown): value is string => typeof value === "string" && /\S/.test(value);
