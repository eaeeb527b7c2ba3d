// VoltAgent 1.x: `input`, `output` and `usage.*` on the span of the agent.

import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset, standardRole } from "../span/table.ts";

export const voltAgent = preset({
  name: "voltagent",
  title: "VoltAgent",
  writes: "VoltAgent 1.",
  marks: [],
  signs: [{ attributes: { "voltagent.": textsOfTurn }, claims: true }],
  scope: /^@voltagent\//,
  role: span => {
    const type = attributeOf(span, "span.type");
    if (type === "llm") return "model";
    if (type === "tool") return "tool";
    // Spans stored without their content have the documented attributes in place of the type.
    if (type === undefined) return standardRole(span) ?? "agent";
    return type === "agent" ? "agent" : "other";
  },
  input: ["llm.messages", "input"],
  output: ["output"],
  toolName: ["tool.name"],
  toolId: ["tool.call.id"],
  toolArguments: ["input"],
  toolResult: ["output"],
  // The span of the call counts only the last of several; the agent's span counts them all.
  usage: {
    input: ["usage.prompt_tokens"],
    output: ["usage.completion_tokens"],
    cached: ["usage.cached_tokens"],
    reasoning: ["usage.reasoning_tokens"],
  },
  finishReasons: ["llm.finish_reason", "ai.response.finish_reason"],
  model: ["ai.model.name", "llm.model"],
  conversationId: ["conversation.id", "voltagent.conversation_id"],
});
