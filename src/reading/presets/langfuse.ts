// Langfuse's SDKs 3 to 5, which export over OpenTelemetry: `langfuse.observation.*`.
import { preset } from "../span/table.ts";

export const langfuse = preset({
  name: "langfuse",
  title: "Langfuse",
  writes: "Langfuse’s SDKs 3 to 5, whatever they trace.",
  contentSwitches: [
    {
      says: "Its observe decorator writes inputs and outputs unless capture_input and capture_output, or this variable, are false.",
      lines: ["LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true"],
    },
  ],
  marks: ["langfuse.observation.type"],
  signs: [
    {
      attributes: {
        "langfuse.observation.input": ["input"],
        "langfuse.observation.output": ["reply"],
        "langfuse.observation.usage_details": ["usage"],
      },
    },
  ],
  kinds: {
    attribute: "langfuse.observation.type",
    roles: {
      generation: "model",
      agent: "agent",
      tool: "tool",
      chain: "step",
      span: "step",
      event: "other",
      retriever: "other",
      embedding: "other",
      evaluator: "other",
      guardrail: "other",
    },
  },
  input: ["langfuse.observation.input"],
  output: ["langfuse.observation.output"],
  toolArguments: ["langfuse.observation.input"],
  toolResult: ["langfuse.observation.output"],
  usageJson: ["langfuse.observation.usage_details"],
  model: ["langfuse.observation.model.name"],
  conversationId: ["session.id", "langfuse.session.id"],
  userId: ["user.id", "langfuse.user.id"],
});
