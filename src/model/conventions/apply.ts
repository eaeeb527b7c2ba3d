// Puts what conventions gave in place of the values that a trace lacks, or that its instrumentation writes in its own shape.
import { modelsIn } from "../conversation/conversation.ts";
import type { Derived, FoundText, Span, Tokens, ToolCall } from "../trace/trace.ts";
import type { TraceReading } from "./read-trace.ts";
import type { CallReading, Sourced } from "./reading.ts";
import { isRuled } from "./sources.ts";
import { usageKeys } from "./usage-keys.ts";

type Conversation = Pick<Derived, "userInput" | "responseText" | "judgedText">;

/** A trace, and how its documented attributes are read on some of its spans. */
type Documented = Pick<Derived, "rootSpanId" | "tokens"> & {
  spans: Span[];
  conversationOf: (spans: Span[]) => Conversation;
  callsOf: (spans: Span[]) => ToolCall[];
};

/**
 * Documented attributes on spans that no convention recognizes count before the reading: somebody set them on purpose. On
 * the others they count for what the reading lacks. Sources are named by the documented attribute that a value stands for;
 * see translate.ts.
 */
export function applyReading(
  { spans, rootSpanId, tokens, conversationOf, callsOf }: Documented,
  reading: TraceReading,
): Conversation & Pick<Derived, "tokens" | "toolCalls" | "models"> {
  const own = new Set(reading.spans.flatMap(({ convention, span }) => (convention ? [span] : [])));
  const others = spans.filter(span => !own.has(span));
  const before = conversationOf(others);
  const after = reading.userInput && reading.reply ? before : conversationOf(spans);
  const textOf = (field: keyof Conversation, read: Sourced<string> | null) =>
    before[field] ?? (read ? foundAt(read, field) : after[field]);
  return {
    userInput: textOf("userInput", reading.userInput),
    responseText: textOf("responseText", reading.reply),
    judgedText: textOf("judgedText", reading.reply),
    tokens: tokensOf({ tokens, rootSpanId }, reading),
    toolCalls: reading.calls.length > 0 ? mergedCalls(callsOf(others), reading) : callsOf(spans),
    models: modelsOf(spans, reading),
  };
}

function foundAt({ value, spanId, attribute }: Sourced<string>, field: keyof Conversation): FoundText {
  const isPlain = attribute === "gen_ai.response.text";
  const messages = field === "userInput" ? "gen_ai.input.messages" : "gen_ai.output.messages";
  return { text: value, spanId, attribute: isPlain ? attribute : messages };
}

function tokensOf(
  { tokens, rootSpanId }: Pick<Derived, "tokens" | "rootSpanId">,
  { usage, spans }: TraceReading,
): Tokens {
  const root = spans.find(({ span }) => span.span_id === rootSpanId);
  const ruled = usageKeys.filter(([, key]) => root && isRuled(root.span, key));
  if (root?.convention === null && root.usage !== null && ruled.length === 0) return tokens;
  const onRoot = Object.fromEntries(ruled.map(([kind]) => [kind, root!.usage?.value[kind] ?? null]));
  const { input, output, reasoning, cached } = { ...usage, ...onRoot };
  if (input === null && output === null) return tokens;
  const total = Math.min((input ?? 0) + (output ?? 0), Number.MAX_SAFE_INTEGER);
  return { input, output, reasoning, cached, total };
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
function modelsOf(spans: Span[], reading: TraceReading): string[] {
  const read = new Map(
    reading.spans.flatMap(({ role, span, model }) =>
      role === "model" && model ? [[span, model.value] as const] : [],
    ),
  );
  return [
    ...new Set(
      spans.flatMap(span => {
        const documented = modelsIn(span);
        return documented.length > 0 ? documented : (read.get(span) ?? []);
      }),
    ),
  ];
}
