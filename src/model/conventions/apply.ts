// Puts what conventions gave in place of the values that a trace lacks, or that its instrumentation writes in its own shape.
import { modelOf } from "../conversation/conversation.ts";
import type { Derived, FoundText, Span, Tokens, ToolCall } from "../trace/trace.ts";
import type { CallReading, TraceReading } from "./read-trace.ts";
import type { Sourced } from "./reading.ts";

type Readable = Pick<
  Derived,
  "userInput" | "responseText" | "judgedText" | "tokens" | "toolCalls" | "models"
>;

/**
 * A documented attribute counts before the reading if it is on a span that no convention recognizes: then somebody set it
 * on purpose. Sources are named by the documented attribute that a value stands for; see translate.ts.
 */
export function applyReading(
  documented: Readable & Pick<Derived, "rootSpanId">,
  reading: TraceReading,
  spans: Span[],
): Readable {
  const own = new Set(reading.spans.flatMap(({ convention, span }) => (convention ? [span.span_id] : [])));
  const isForeign = (found: FoundText | null) => found !== null && !own.has(found.spanId);
  const textOf = (found: FoundText | null, read: Sourced<string> | null, attribute: string) => {
    if (isForeign(found) || !read) return found;
    if (found?.text === read.value) return found;
    const isPlain = read.attribute === "gen_ai.response.text";
    return { text: read.value, spanId: read.spanId, attribute: isPlain ? read.attribute : attribute };
  };
  const output = "gen_ai.output.messages";
  return {
    userInput: textOf(documented.userInput, reading.userInput, "gen_ai.input.messages"),
    responseText: textOf(documented.responseText, reading.reply, output),
    judgedText: textOf(documented.judgedText, reading.reply, output),
    tokens: tokensOf(documented, reading),
    toolCalls: callsOf(documented.toolCalls, reading, own),
    models: modelsOf(spans, reading),
  };
}

function tokensOf(
  { tokens, rootSpanId }: Pick<Derived, "tokens" | "rootSpanId">,
  { usage: { input, output, reasoning }, spans }: TraceReading,
): Tokens {
  const isSetOnRoot = spans.some(
    ({ span, convention, usage }) => convention === null && usage !== null && span.span_id === rootSpanId,
  );
  if (isSetOnRoot || (input === null && output === null)) return tokens;
  const total = Math.min((input ?? 0) + (output ?? 0), Number.MAX_SAFE_INTEGER);
  return { input, output, reasoning, total };
}

function callsOf(documented: ToolCall[], { calls, spans }: TraceReading, own: Set<string>): ToolCall[] {
  if (calls.length === 0) return documented;
  const parents = new Map(spans.map(({ span }) => [span.span_id, span.parent_span_id]));
  const foreign = new Map(documented.flatMap(call => (own.has(call.spanId) ? [] : [[call.spanId, call]])));
  return calls.map(call => foreign.get(call.spanId) ?? callOf(call, parents.get(call.spanId) ?? null));
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
  return [...new Set(spans.flatMap(span => modelOf(span) ?? read.get(span) ?? []))];
}
