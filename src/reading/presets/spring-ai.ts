// Spring AI 1.x over Micrometer: no content of messages; usage of later calls includes the earlier ones.
import { attributeOf } from "../span/conversation.ts";
import { preset, standardRole } from "../span/table.ts";

export const springAi = preset({
  name: "spring_ai",
  title: "Spring AI",
  writes: "Spring AI over Micrometer. Messages are not exported, so inputs and replies stay empty.",
  marks: ["spring.ai.kind", "spring.ai.model.request.tool.names"],
  signs: [
    {
      attributes: {
        "spring.ai.tool.definition.name": ["toolName"],
        "spring.ai.tool.call.arguments": ["toolArguments"],
      },
    },
  ],
  contentSwitches: [
    {
      says: "It writes no messages to spans, whatever its settings: log-prompt and log-completion write them to the application’s log only. An ObservationFilter of your own can add gen_ai.input.messages and gen_ai.output.messages as high-cardinality key values.",
    },
  ],
  role: span => {
    const kind = attributeOf(span, "spring.ai.kind");
    return kind === "tool_call" ? "tool" : kind === undefined ? standardRole(span) : "step";
  },
  toolName: ["spring.ai.tool.definition.name"],
  toolId: ["spring.ai.tool.call.id"],
  toolArguments: ["spring.ai.tool.call.arguments"],
  toolResult: ["spring.ai.tool.call.result"],
  conversationId: ["spring.ai.chat.client.conversation.id"],
  cumulative: true,
});
