// Mastra's OpenTelemetry exporter 1.0: `input` and `output`; a model's steps lie below the span that sums them up.

import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";

export const mastra = preset({
  name: "mastra",
  title: "Mastra",
  writes: "Mastra’s OpenTelemetry exporter.",
  marks: ["mastra.span.type"],
  signs: [
    { attributes: { "mastra.span.type": textsOfTurn, "gen_ai.tool.input": ["toolArguments"] }, claims: true },
  ],
  role: span => {
    const type = textOrNone(attributeOf(span, "mastra.span.type"));
    if (type === "model_generation" || type === "llm_generation") return "model";
    if (type === "tool_call" || type === "mcp_tool_call") return "tool";
    return type === "agent_run" || type === "workflow_run" ? "agent" : "other";
  },
  input: ["input", "gen_ai.prompt"],
  output: ["output", "gen_ai.completion"],
  toolArguments: ["gen_ai.tool.input", "input"],
  toolResult: ["gen_ai.tool.output", "output"],
  conversationId: ["sessionId", "threadId", "mastra.metadata.threadId", "mastra.metadata.sessionId"],
  userId: ["userId", "mastra.metadata.userId"],
});
