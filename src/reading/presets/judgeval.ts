// judgeval, the SDK of Judgment Labs, 1.x: `judgment.*`, with request and response of a model in `gen_ai.prompt` and `gen_ai.completion`.
import { preset } from "../span/table.ts";

export const judgeval = preset({
  name: "judgeval",
  title: "judgeval",
  writes: "judgeval, the SDK of Judgment Labs.",
  marks: ["judgment.span_kind", "judgment."],
  scope: /^judgeval/,
  signs: [
    {
      attributes: { "judgment.input": ["input"], "judgment.output": ["reply"], "judgment.usage.": ["usage"] },
    },
  ],
  kinds: {
    attribute: "judgment.span_kind",
    roles: {
      llm: "model",
      agent: "agent",
      tool: "tool",
      chain: "step",
      span: "step",
      function: "step",
      retriever: "other",
    },
  },
  input: ["judgment.input", "gen_ai.prompt"],
  output: ["judgment.output", "gen_ai.completion"],
  toolArguments: ["judgment.input"],
  toolResult: ["judgment.output"],
  usageJson: ["judgment.usage.metadata"],
  model: ["judgment.llm.model"],
  provider: ["judgment.llm.provider"],
  conversationId: ["judgment.session_id"],
  userId: ["judgment.customer_user_id"],
});
