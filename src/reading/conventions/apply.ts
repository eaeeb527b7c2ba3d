// Puts what conventions gave in place of the values that are missing in a trace, or that its instrumentation writes in its own shape.

import type { Derived, FoundText, Span, TokenSpans, ToolCall } from "../../model/trace/trace.ts";
import { modelsIn } from "../span/conversation.ts";
import type { CallReading, ReadSpan, Sourced } from "../span/reading.ts";
import { isRuled } from "../span/sources.ts";
import { usageKeys } from "../span/usage-keys.ts";
import { hasInputOrOutput } from "./counted-usage.ts";
import type { TraceReading } from "./read-trace.ts";

type Conversation = Pick<Derived, "userInput" | "responseText" | "judgedText">;

/** A trace, and how its documented attributes are read on some of its spans. */
type Documented = Pick<Derived, "rootSpanId"> & {
  spans: Span[];
  conversationOf: (spans: Span[]) => Conversation;
  callsOf: (spans: Span[]) => ToolCall[];
};

/**
 * Documented attributes on spans that no convention recognizes count before the reading: somebody set them on purpose. On
 * the others they count for what is missing in the reading. Sources are named by the documented attribute that a value stands for;
 * see translate.ts. `usage`: null if the documented tokens count.
 */
export function applyReading(
  { spans, rootSpanId, conversationOf, callsOf }: Documented,
  reading: TraceReading,
): Conversation & Pick<Derived, "toolCalls" | "models"> & { usage: ReadTokens | null } {
  const readAt = readByPosition(spans, reading);
  const others = spans.filter((_, at) => !readAt[at]?.convention);
  const before = conversationOf(others);
  const isWhole = reading.userInput && reading.reply && !spans.some(hasReplyText);
  const after = isWhole ? before : conversationOf(spans);
  const textOf = (field: keyof Conversation, read: Sourced<string> | null) =>
    before[field] ?? (read ? foundAt(read, field) : after[field]);
  return {
    userInput: textOf("userInput", reading.userInput),
    responseText: textOf("responseText", reading.reply),
    judgedText:
      before.judgedText ??
      (after.judgedText?.attribute === replyText ? after.judgedText : textOf("judgedText", reading.reply)),
    usage: usageOf(rootSpanId, reading),
    toolCalls: reading.calls.length > 0 ? mergedCalls(callsOf(others), reading) : callsOf(spans),
    models: modelsOf(spans, readAt),
  };
}

/** No convention writes it, so it was set on purpose, wherever it is: checks of text take it before messages. */
const replyText = "gen_ai.response.text";

function hasReplyText({ attributes }: Span): boolean {
  return (attributes[replyText] ?? null) !== null;
}

/** Undefined for spans that say nothing. */
function readByPosition(spans: Span[], reading: TraceReading): (ReadSpan | undefined)[] {
  const readAt = new Array<ReadSpan | undefined>(spans.length).fill(undefined);
  for (const read of reading.spans) if (spans[read.at] === read.span) readAt[read.at] = read;
  return readAt;
}

export function foundAt({ value, spanId, attribute }: Sourced<string>, field: keyof Conversation): FoundText {
  const isPlain = attribute === replyText;
  const messages = field === "userInput" ? "gen_ai.input.messages" : "gen_ai.output.messages";
  return { text: value, spanId, attribute: isPlain ? attribute : messages };
}

type ReadTokens = Pick<Derived, "tokens" | "tokenSpans">;

function usageOf(rootSpanId: string | null, { usage, counted, spans }: TraceReading): ReadTokens | null {
  const root = spans.find(({ span }) => span.span_id === rootSpanId);
  const ruled = root?.span.translated ? usageKeys.filter(([, key]) => isRuled(root.span, key)) : [];
  const isOwn = root?.convention === null && hasInputOrOutput(root) && ruled.length === 0;
  // A 0 on the root counts as absent where its calls say more.
  const saysMore =
    root && !root.usage?.value.input && !root.usage?.value.output && (usage.input || usage.output);
  if (isOwn && !saysMore) return null;
  const told = ruled.length > 0 ? ruled : toldByRoot(root, usage, spans);
  const onRoot = Object.fromEntries(told.map(([kind]) => [kind, root!.usage?.value[kind] ?? null]));
  const { input, output, reasoning, cached } = { ...usage, ...onRoot };
  const isMeasured = input !== null || output !== null;
  if (!isMeasured && reasoning === null) return null;
  const total = isMeasured ? Math.min((input ?? 0) + (output ?? 0), Number.MAX_SAFE_INTEGER) : null;
  const spansOf = (kind: keyof TokenSpans) =>
    told.some(([one]) => one === kind)
      ? [root!.span.span_id]
      : counted.flatMap(one => (one.usage[kind] === null ? [] : [one.read.span.span_id]));
  return {
    tokens: { input, output, reasoning, cached, total },
    tokenSpans: { input: spansOf("input"), output: spansOf("output"), reasoning: spansOf("reasoning") },
  };
}

/** What the root says more of than its calls do, where one of them tells no usage: the root's includes that. */
function toldByRoot(
  root: ReadSpan | undefined,
  usage: TraceReading["usage"],
  spans: ReadSpan[],
): (typeof usageKeys)[number][] {
  const isSilent = (one: ReadSpan) => one.role === "model" && one !== root && !hasInputOrOutput(one);
  if (!root?.usage || !spans.some(isSilent)) return [];
  const { value } = root.usage;
  return usageKeys.filter(
    ([kind]) => (kind === "input" || kind === "output") && (value[kind] ?? 0) > (usage[kind] ?? 0),
  );
}

function mergedCalls(foreign: ToolCall[], { calls, spans }: TraceReading): ToolCall[] {
  const parents = new Map(spans.map(({ span }) => [span.span_id, span.parent_span_id]));
  const asSent = new Map(foreign.map(call => [call.spanId, call]));
  return calls.map(call => asSent.get(call.spanId) ?? callOf(call, parents.get(call.spanId) ?? null));
}

function callOf(
  { spanId, name, arguments: args, result }: CallReading,
  parentSpanId: string | null,
): ToolCall {
  return { spanId, parentSpanId, name, arguments: args?.value ?? null, result: result?.value ?? null };
}

/** As documented, and what conventions name on their spans of model calls. */
function modelsOf(spans: Span[], readAt: (ReadSpan | undefined)[]): string[] {
  const models = new Set<string>();
  for (let at = 0; at < spans.length; at++) {
    const documented = modelsIn(spans[at]!);
    for (const name of documented) models.add(name);
    const read = documented.length === 0 ? readAt[at] : undefined;
    const model = read?.role === "model" ? read.model : null;
    if (model) models.add(model.value);
  }
  return [...models];
}
