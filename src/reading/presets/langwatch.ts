// LangWatch 0.10 and later: `langwatch.input` and `.output` are JSON with a type and a value.
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";

export const langWatch = preset({
  name: "langwatch",
  title: "LangWatch",
  writes: "LangWatch’s SDKs, and the instrumentations they include.",
  marks: ["langwatch.span.type", "langwatch.input", "langwatch.output"],
  signs: [
    {
      attributes: {
        "langwatch.input": ["input"],
        "langwatch.output": ["reply"],
        "langwatch.span.type": textsOfTurn,
      },
    },
  ],
  kinds: {
    attribute: "langwatch.span.type",
    roles: {
      llm: "model",
      agent: "agent",
      tool: "tool",
      chain: "step",
      workflow: "step",
      span: "step",
      rag: "other",
      guardrail: "other",
      evaluation: "other",
      server: "step",
    },
  },
  input: ["langwatch.input"],
  output: ["langwatch.output"],
  toolArguments: ["langwatch.input"],
  toolResult: ["langwatch.output"],
  model: ["llm.model_name"],
  conversationId: ["langwatch.thread.id", "metadata>thread_id"],
  userId: ["langwatch.user.id", "metadata>user_id"],
});
