// Pipecat 0.0.7x and 1.x: a conversation is one trace, with a span for each turn; `input` and `output` on the calls.
import { preset, standardRole } from "../span/table.ts";

export const pipecat = preset({
  name: "pipecat",
  title: "Pipecat",
  writes:
    "Pipecat. A conversation is one trace: its last question and reply are read, and its turns are in the conversation.",
  marks: [],
  scope: /^pipecat/,
  signs: [{ scope: "pipecat", attributes: { input: ["input"], output: ["reply"] } }],
  role: span => {
    if (span.name === "llm_tool_call") return "tool";
    return standardRole(span) ?? (span.name === "turn" || span.name === "conversation" ? "agent" : "other");
  },
  turns: /^turn$/,
  input: ["input"],
  output: ["output"],
  toolName: ["tool.function_name"],
  toolId: ["tool.call_id"],
  toolArguments: ["tool.arguments"],
  toolResult: ["tool.result"],
  conversationId: ["conversation.id"],
});
