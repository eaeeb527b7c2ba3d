// Vercel AI SDK 3.1 to 6: `ai.*`, on the call and again on each of its steps (`.doGenerate`, `.doStream`). 7 keeps to the standard.

import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";

export const vercelAi = preset({
  name: "vercel_ai",
  title: "Vercel AI SDK before 7",
  writes: "The Vercel AI SDK 3 to 6. Version 7 with `@ai-sdk/otel` needs no convention.",
  marks: ["ai.operationId"],
  signs: [
    {
      way: "AI SDK 7 with @ai-sdk/otel sends them.",
      attributes: {
        "ai.prompt": ["input"],
        "ai.response.": ["reply"],
        "ai.toolCall.name": ["toolName"],
        "ai.toolCall.args": ["toolArguments"],
        "ai.usage.": ["usage"],
        "ai.operationId": textsOfTurn,
      },
    },
  ],
  contentSwitches: [
    {
      says: "It writes messages unless recordInputs and recordOutputs are off in the call’s telemetry settings.",
      lines: ["experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }"],
    },
  ],
  role: span => {
    const operation = textOrNone(attributeOf(span, "ai.operationId"));
    if (operation === "ai.toolCall") return "tool";
    if (/\.do(?:Generate|Stream)$/.test(operation)) return "model";
    return /^ai\.(?:generate|stream)(?:Text|Object)$/.test(operation) ? "agent" : "other";
  },
  input: ["ai.prompt.messages", "ai.prompt"],
  output: ["ai.response.text", "ai.response.object"],
  calls: ["ai.response.toolCalls"],
  toolName: ["ai.toolCall.name"],
  toolId: ["ai.toolCall.id"],
  toolArguments: ["ai.toolCall.args"],
  toolResult: ["ai.toolCall.result"],
  usage: {
    input: ["ai.usage.inputTokens", "ai.usage.promptTokens"],
    output: ["ai.usage.outputTokens", "ai.usage.completionTokens"],
    reasoning: ["ai.usage.reasoningTokens"],
    cached: ["ai.usage.cachedInputTokens"],
  },
  finishReasons: ["ai.response.finishReason"],
  model: ["ai.response.model", "ai.model.id"],
  provider: ["ai.model.provider"],
  conversationId: ["ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.conversationId"],
  userId: ["ai.telemetry.metadata.userId"],
});
