// Mastra's OpenTelemetry exporter: `input` and `output` in its 1.0, `mastra.<type>.input` and `.output` since.

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
    if (["model_generation", "llm_generation", "model_inference"].includes(type)) return "model";
    if (type === "tool_call" || type === "mcp_tool_call") return "tool";
    return type === "agent_run" || type === "workflow_run" ? "agent" : "other";
  },
  input: [
    "mastra.agent_run.input",
    "mastra.workflow_run.input",
    "mastra.model_generation.input",
    "input",
    "gen_ai.prompt",
  ],
  output: [
    "mastra.agent_run.output",
    "mastra.workflow_run.output",
    "mastra.model_generation.output",
    "output",
    "gen_ai.completion",
  ],
  toolArguments: ["gen_ai.tool.input", "gen_ai.tool.call.arguments", "mastra.tool_call.input", "input"],
  toolResult: ["gen_ai.tool.output", "gen_ai.tool.call.result", "mastra.tool_call.output", "output"],
  conversationId: ["sessionId", "threadId", "mastra.metadata.threadId", "mastra.metadata.sessionId"],
  userId: ["userId", "mastra.metadata.userId"],
});
