// The derived values stored as columns of a trace, because lists show and filter by them.
import { storable, storableName } from "../../model/trace/storable.ts";
import type { Derived } from "../../model/trace/trace.ts";
import { boundedId } from "./identity.ts";
import { encodeUsage, usageOf } from "./usage.ts";

export type TraceColumns = {
  name: string;
  durationMs: number | null;
  httpStatus: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  reasoningTokens: number | null;
  cachedTokens: number | null;
  failed: boolean;
  noise: Derived["noise"];
  spanCount: number;
  /** At most 500 characters. */
  userInput: string | null;
  /** At most 500 characters. */
  responseText: string | null;
  /** Names of the tools called and of the models, each once, in the order of the spans, at most 50 each. */
  tools: string[];
  models: string[];
  /** Providers of the models, likewise. */
  providers: string[];
  /** The rules that redacted something in it, each once, sorted. */
  redacted: string[];
  /** The tokens of each model: see encodeUsage. */
  usage: string;
  /** As `boundedId` writes them. */
  conversationId: string | null;
  userId: string | null;
  /** When the trace began, in microseconds since 1970; null if unknown. */
  startedAtUs: number | null;
};

export const namesMax = 50;

/** The columns of a trace's row. Valid for PostgreSQL whatever the spans contain. `redacted`: sorted. */
export function columnsOf(derived: Derived, redacted: string[]): TraceColumns {
  return {
    name: storable(derived.name),
    durationMs: derived.durationMs,
    httpStatus: smallInteger(derived.httpStatus?.value ?? null),
    inputTokens: count(derived.tokens.input),
    outputTokens: count(derived.tokens.output),
    reasoningTokens: count(derived.tokens.reasoning),
    cachedTokens: count(derived.tokens.cached),
    failed: derived.failed,
    noise: derived.noise,
    spanCount: derived.spanCount,
    userInput: derived.userInput && storable(derived.userInput.text),
    responseText: derived.responseText && storable(derived.responseText.text),
    tools: names(derived.toolCalls.map(({ name }) => name)),
    models: names(derived.models),
    providers: names(derived.modelCalls.flatMap(({ provider }) => provider ?? [])),
    redacted,
    usage: encodeUsage(usageOf(derived.modelCalls)),
    conversationId: derived.conversationId && boundedId(derived.conversationId),
    userId: derived.userId && boundedId(derived.userId),
    startedAtUs: microseconds(derived.startTimeUnixNano),
  };
}

function names(all: string[]): string[] {
  const found = new Set<string>();
  for (const name of all) {
    if (found.size === namesMax) break;
    found.add(storableName(name));
  }
  return [...found];
}

function smallInteger(value: number | null): number | null {
  return value !== null && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null;
}

function microseconds(nanos: string | null): number | null {
  return nanos === null ? null : count(Number(BigInt(nanos) / 1000n));
}

function count(value: number | null): number | null {
  return value !== null && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : null;
}
