// traceAI by Future AGI, 0.1: OpenInference's shapes under OpenTelemetry's names.
import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import type { SpanRole } from "../span/reading.ts";
import { preset } from "../span/table.ts";
import { kindsOfOpenInference } from "./openinference.ts";

const kinds: Record<string, SpanRole> = { ...kindsOfOpenInference, workflow: "agent", conversation: "step" };

export const traceAi = preset({
  name: "traceai",
  title: "traceAI",
  writes: "traceAI, Future AGI’s instrumentations.",
  marks: ["gen_ai.span.kind", "fi.span.kind"],
  scope: /^traceai/i,
  signs: [
    {
      attributes: {
        "gen_ai.input.messages.": ["input"],
        "gen_ai.output.messages.": ["reply"],
        "fi.": ["input", "reply"],
      },
    },
  ],
  role: span =>
    kinds[
      textOrNone(attributeOf(span, "gen_ai.span.kind") ?? attributeOf(span, "fi.span.kind")).toLowerCase()
    ] ?? null,
  input: ["gen_ai.input.messages.", "llm.input_messages.", "input.value"],
  output: ["gen_ai.output.messages.", "llm.output_messages.", "output.value"],
  toolName: ["gen_ai.tool.name", "tool.name"],
  toolArguments: ["gen_ai.tool.call.arguments", "input.value"],
  toolResult: ["gen_ai.tool.call.result", "output.value"],
  usage: { input: ["llm.token_count.prompt"], output: ["llm.token_count.completion"] },
  model: ["llm.model_name"],
  conversationId: ["session.id", "gen_ai.conversation.id"],
});
