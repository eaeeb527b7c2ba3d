// What conventions gave a trace, for those who look at it: the values with their sources, and which conventions would give more.

import { allConventions, type ReadBy } from "../../model/agent/read-by.ts";
import type { ShownSwitch, Source, TranslatedValue } from "../../model/trace/shown.ts";
import type { Derived, FoundText, Identity, MergedTrace, Span, Tokens } from "../../model/trace/trace.ts";
import { recognizedIn } from "../conventions/conventions.ts";
import { readTraceBy } from "../conventions/read-by.ts";
import type { TraceReading } from "../conventions/read-trace.ts";
import { contentSwitchesIn } from "../presets/content-switch.ts";
import { attributeOf } from "../span/conversation.ts";
import type { Sourced } from "../span/reading.ts";
import type { Lack } from "../span/signs.ts";
import { isRuled, sourceOf } from "../span/sources.ts";
import { usageKeys } from "../span/usage-keys.ts";
import { derive, lacksOf } from "./derive.ts";
import { boundedId, identityOf } from "./identity.ts";

/** With the rules and conventions that the trace was read by, whether or not they say anything about it. */
export type ConventionReport = Identity &
  ReadBy & {
    translated: TranslatedValue[];
    /** Conventions that are off, recognize spans, and would give an input, a reply, tokens or tool calls that are missing in the trace. */
    readable: string[];
    /** Where the trace has neither an input nor a reply, however it is read: how what wrote it is told to write messages. */
    contentSwitches: ShownSwitch[];
  };

/** A trace and how it was read. */
export type Read = ReadBy & {
  trace: MergedTrace;
  read: MergedTrace;
  derived: Derived;
  reading: TraceReading | null;
};

export function reportOf(read: Read): ConventionReport {
  const { conventions, conventionRules, reading } = read;
  const isRead = reading !== null || read.read.spans.some(span => span.translated);
  // Without a convention, the spans that were read have nothing more than rules gave them.
  const identity = identityOf(reading ? read.trace.spans : read.read.spans, reading);
  return {
    ...bounded(identity),
    conventions,
    conventionRules,
    translated: isRead ? translatedIn(read, identity) : [],
    ...offersOf(read),
  };
}

function bounded({ conversationId, userId, ...rest }: Identity): Identity {
  return {
    ...rest,
    conversationId: conversationId && boundedId(conversationId),
    userId: userId && boundedId(userId),
  };
}

function translatedIn({ trace, read, derived, reading }: Read, identified: Identity): TranslatedValue[] {
  const spans = new Map(read.spans.map(span => [span.span_id, span]));
  const documented = derive(trace);
  const identity = identityOf(trace.spans, null);
  const textOf = (field: "userInput" | "responseText"): TranslatedValue[] => {
    const text = documented[field]?.text ?? null;
    const replaced = text === derived[field]?.text ? null : text;
    const source =
      placeOf(spans, derived[field]) ?? (replaced === null ? undefined : chosenIn(spans, derived[field]));
    return source ? [{ field, ...source, replaced }] : [];
  };
  const idOf = (field: keyof Identity): TranslatedValue[] => {
    const value = identified[field];
    if (value === null || value === identity[field]) return [];
    const source = reading?.[field]
      ? sourcedAt(reading[field], spans)
      : sourceInRules(read.spans, keysOf[field], value);
    return source ? [{ field, ...source, replaced: identity[field] }] : [];
  };
  return [
    ...textOf("userInput"),
    ...textOf("responseText"),
    ...tokensOf(derived.tokens, documented.tokens, read.spans, reading),
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

/** The place of a documented attribute that a convention chose: without it, the same attribute of another span counts. */
function chosenIn(
  spans: Map<string, Span>,
  found: FoundText | null,
): (Source & { spanId: string }) | undefined {
  const convention = found && spans.get(found.spanId)?.reading?.convention;
  return convention
    ? { attribute: found.attribute, event: null, convention, spanId: found.spanId }
    : undefined;
}

const keysOf: Record<keyof Identity, string[]> = {
  model: ["gen_ai.response.model", "gen_ai.request.model"],
  provider: ["gen_ai.provider.name"],
  conversationId: ["gen_ai.conversation.id"],
  userId: ["user.id"],
};

/** The first span to which a rule gave one of these attributes, with this value unless any will do. */
function sourceInRules(
  spans: Span[],
  keys: readonly string[],
  value?: string,
): (Source & { spanId: string }) | undefined {
  for (const span of spans) {
    const key = keys.find(
      key => isRuled(span, key) && (value === undefined || attributeOf(span, key) === value),
    );
    if (key !== undefined) return { ...sourceOf(span, key)!, spanId: span.span_id };
  }
  return undefined;
}

/** A value that a rule gave has the documented attribute as its place. */
function sourcedAt(
  { spanId, attribute }: Sourced<unknown>,
  spans: Map<string, Span>,
): Source & { spanId: string } {
  const span = spans.get(spanId);
  if (span && isRuled(span, attribute)) return { ...sourceOf(span, attribute)!, spanId };
  const isOwn = Object.hasOwn(span?.attributes ?? {}, attribute) || attribute.endsWith("*");
  return {
    spanId,
    attribute: isOwn ? attribute : null,
    event: isOwn ? null : attribute,
    convention: span?.reading?.convention ?? "",
  };
}

/** The first span with usage stands for all. */
function tokensOf(
  tokens: Tokens,
  documented: Tokens,
  spans: Span[],
  reading: TraceReading | null,
): TranslatedValue[] {
  const kinds = ["input", "output", "reasoning"] as const;
  if (kinds.every(kind => tokens[kind] === documented[kind])) return [];
  const usage = reading?.spans.find(({ usage, convention }) => usage && convention !== null)?.usage;
  const source =
    sourceInRules(spans, countKeys) ??
    (usage && sourcedAt(usage, new Map(spans.map(span => [span.span_id, span]))));
  const replaced = kinds.every(kind => documented[kind] === null) ? null : documented;
  return source ? [{ field: "tokens", ...source, replaced }] : [];
}

const countKeys = usageKeys.map(([, key]) => key);

function offersOf(stored: Read): Pick<ConventionReport, "readable" | "contentSwitches"> {
  const { trace, derived, conventions, conventionRules } = stored;
  const lacks = lacksOf(derived);
  const wanted = offeredFor.filter(lack => lacks.has(lack));
  if (wanted.length === 0) return { readable: [], contentSwitches: [] };
  const recognized = conventions.includes(allConventions)
    ? []
    : recognizedIn(trace.spans).filter(name => !conventions.includes(name));
  const left =
    recognized.length === 0
      ? lacks
      : lacksOf(read(trace, { conventions: [...conventions, ...recognized], conventionRules }).derived);
  const hasContent = !left.has("input") || !left.has("reply");
  return {
    readable: wanted.some(lack => !left.has(lack)) ? recognized : [],
    // Content that was removed here is no matter of the SDK.
    contentSwitches: hasContent || trace.content ? [] : contentSwitchesIn(trace.spans),
  };
}

const offeredFor: Lack[] = ["input", "reply", "usage", "toolName"];

function read(stored: MergedTrace, by: ReadBy): { derived: Derived; identity: Identity; matches: number[] } {
  const { trace, reading, matches } = readTraceBy(stored, by);
  const derived = derive(trace, undefined, reading);
  return { derived, identity: identityOf(trace.spans, reading), matches };
}

/** What rules and conventions would give a trace. Texts are whole. */
export type Preview = Identity & {
  userInput: string | null;
  responseText: string | null;
  tokens: Tokens;
  /** The names of the tools, each once. */
  tools: string[];
  /** For each rule, how many spans it gave its attribute. */
  matches: number[];
};

export function previewOf(trace: MergedTrace, by: ReadBy): Preview {
  const { derived, identity, matches } = read(trace, by);
  const { userInput, responseText, tokens, toolCalls } = derived;
  return {
    ...bounded(identity),
    userInput: userInput?.text ?? null,
    responseText: responseText?.text ?? null,
    tokens,
    tools: [...new Set(toolCalls.map(({ name }) => name))],
    matches,
  };
}
