// LangSmith's OpenTelemetry exporter, Python and JavaScript, of 2025 and 2026: `gen_ai.prompt` and `gen_ai.completion` hold the run's inputs and outputs.
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";

export const langSmith = preset({
  name: "langsmith",
  title: "LangSmith",
  writes: "LangSmith’s OpenTelemetry exporter, used with LangChain and LangGraph.",
  contentSwitches: [
    {
      says: "It writes inputs and outputs unless these variables hide them.",
      lines: ["LANGSMITH_HIDE_INPUTS=false", "LANGSMITH_HIDE_OUTPUTS=false"],
    },
  ],
  marks: ["langsmith.span.kind", "langsmith.trace.name"],
  signs: [
    {
      way: "Set them on the model's and the tools' spans beside LangSmith's own.",
      attributes: { "langsmith.": textsOfTurn },
    },
  ],
  kinds: {
    attribute: "langsmith.span.kind",
    roles: {
      llm: "model",
      chain: "step",
      tool: "tool",
      retriever: "other",
      embedding: "other",
      prompt: "other",
      parser: "other",
    },
  },
  input: ["gen_ai.prompt"],
  output: ["gen_ai.completion"],
  toolArguments: ["gen_ai.prompt"],
  toolResult: ["gen_ai.completion"],
  usageJson: ["langsmith.metadata.usage_metadata"],
  conversationId: [
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.conversation_id",
  ],
  userId: ["langsmith.metadata.user_id"],
});
