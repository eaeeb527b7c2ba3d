// What conventions gave a trace, for those who look at it: the values with their sources, and which conventions would give more.
import { derive, lacksOf } from "../trace/derive.ts";
import { boundedId, type Identity, identityOf } from "../trace/identity.ts";
import type { Lack } from "../trace/other-convention.ts";
import type { Derived, FoundText, MergedTrace, Span, Tokens } from "../trace/trace.ts";
import { allConventions, type Conventions, readByConventions, recognizedIn } from "./conventions.ts";
import type { TraceReading } from "./read-trace.ts";
import type { Sourced } from "./reading.ts";
import { type Source, sourceOf } from "./sources.ts";

/** A value of the trace that a convention gave. `replaced`: what the documented attributes give, if anything. */
export type TranslatedValue = Source & {
  field: "userInput" | "responseText" | "tokens" | keyof Identity;
  spanId: string;
  replaced: string | Tokens | null;
};

export type ConventionReport = Identity & {
  /** The conventions that the trace was read by, whether or not they recognize its spans. */
  conventions: string[];
  translated: TranslatedValue[];
  /** Conventions that are off, recognize spans, and would give an input, a reply or tokens that the trace lacks. */
  readable: string[];
};

/** A trace and how it was read. */
export type Read = {
  trace: MergedTrace;
  read: MergedTrace;
  derived: Derived;
  reading: TraceReading | null;
  conventions: string[];
};

export function reportOf(read: Read): ConventionReport {
  return {
    ...boundedIdentity(read.trace.spans, read.reading),
    conventions: read.conventions,
    translated: read.reading ? translatedIn(read, read.reading) : [],
    readable: readableIn(read),
  };
}

function boundedIdentity(spans: Span[], reading: TraceReading | null): Identity {
  const { conversationId, userId, ...rest } = identityOf(spans, reading);
  return {
    ...rest,
    conversationId: conversationId && boundedId(conversationId),
    userId: userId && boundedId(userId),
  };
}

function translatedIn({ trace, read, derived }: Read, reading: TraceReading): TranslatedValue[] {
  const spans = new Map(read.spans.map(span => [span.span_id, span]));
  const documented = derive(trace);
  const identity = identityOf(trace.spans, null);
  const textOf = (field: "userInput" | "responseText"): TranslatedValue[] => {
    const source = placeOf(spans, derived[field]);
    const replaced = documented[field]?.text ?? null;
    return source
      ? [{ field, ...source, replaced: replaced === derived[field]?.text ? null : replaced }]
      : [];
  };
  const idOf = (field: keyof Identity): TranslatedValue[] => {
    const found = reading[field];
    if (!found || found.value === identity[field]) return [];
    return [{ field, ...sourcedAt(found, spans), replaced: identity[field] }];
  };
  return [
    ...textOf("userInput"),
    ...textOf("responseText"),
    ...tokensOf(derived.tokens, documented.tokens, reading, spans),
    ...(["model", "provider", "conversationId", "userId"] as const).flatMap(idOf),
  ];
}

function placeOf(
  spans: Map<string, Span>,
  found: FoundText | null,
): (Source & { spanId: string }) | undefined {
  const span = found ? spans.get(found.spanId) : undefined;
  const source = span && sourceOf(span, found!.attribute);
  return source && { ...source, spanId: found!.spanId };
}

function sourcedAt(
  { spanId, attribute }: Sourced<unknown>,
  spans: Map<string, Span>,
): Source & { spanId: string } {
  const isOwn = Object.hasOwn(spans.get(spanId)?.attributes ?? {}, attribute) || attribute.endsWith("*");
  return {
    spanId,
    attribute: isOwn ? attribute : null,
    event: isOwn ? null : attribute,
    convention: conventionOf(spans.get(spanId)) ?? "",
  };
}

function conventionOf(span: Span | undefined): string | undefined {
  return span?.reading?.convention;
}

/** The first span with usage stands for all. */
function tokensOf(
  tokens: Tokens,
  documented: Tokens,
  { spans: reads }: TraceReading,
  spans: Map<string, Span>,
): TranslatedValue[] {
  if (tokens.input === documented.input && tokens.output === documented.output) return [];
  const bearer = reads.find(({ usage, convention }) => usage && convention !== null);
  if (!bearer?.usage) return [];
  const replaced = documented.total === null ? null : documented;
  return [{ field: "tokens", ...sourcedAt(bearer.usage, spans), replaced }];
}

function readableIn({ trace, derived, conventions }: Read): string[] {
  const lacks = lacksOf(derived);
  const wanted = offeredFor.filter(lack => lacks.has(lack));
  if (wanted.length === 0 || conventions.includes(allConventions)) return [];
  const recognized = recognizedIn(trace.spans).filter(name => !conventions.includes(name));
  if (recognized.length === 0) return [];
  const left = lacksOf(deriveWith(trace, [...conventions, ...recognized]));
  return wanted.some(lack => !left.has(lack)) ? recognized : [];
}

/** Not for tool calls alone: many traces in OpenTelemetry's own convention name them only in messages. */
const offeredFor: Lack[] = ["input", "reply", "usage"];

function deriveWith(trace: MergedTrace, conventions: Conventions): Derived {
  return derive(trace, undefined, readByConventions(trace.spans, conventions));
}

/** What conventions would give a trace. Texts are whole. */
export type Preview = Identity & {
  userInput: string | null;
  responseText: string | null;
  tokens: Tokens;
  /** The names of the tools, each once. */
  tools: string[];
};

export function previewOf(trace: MergedTrace, conventions: Conventions): Preview {
  const reading = readByConventions(trace.spans, conventions);
  const { userInput, responseText, tokens, toolCalls } = derive(trace, undefined, reading);
  return {
    ...boundedIdentity(trace.spans, reading),
    userInput: userInput?.text ?? null,
    responseText: responseText?.text ?? null,
    tokens,
    tools: [...new Set(toolCalls.map(({ name }) => name))],
  };
}
