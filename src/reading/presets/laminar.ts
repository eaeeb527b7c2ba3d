// Laminar 0.8: `lmnr.*` beside the standard attributes, whose messages have the shape of the provider.
import { preset } from "../span/table.ts";

export const laminar = preset({
  name: "laminar",
  title: "Laminar",
  writes: "Laminar’s SDKs, and the instrumentations they include.",
  contentSwitches: [
    { says: "It writes messages unless this variable is false.", lines: ["LMNR_TRACE_CONTENT=true"] },
  ],
  marks: ["lmnr.span.type", "lmnr.span.path"],
  signs: [{ attributes: { "lmnr.span.input": ["input"], "lmnr.span.output": ["reply"] } }],
  kinds: {
    attribute: "lmnr.span.type",
    roles: {
      llm: "model",
      tool: "tool",
      default: "step",
      executor: "other",
      evaluator: "other",
      evaluation: "other",
      cached: "model",
    },
  },
  input: ["gen_ai.input.messages", "gen_ai.prompt.", "lmnr.span.input"],
  output: ["gen_ai.output.messages", "gen_ai.completion.", "lmnr.span.output"],
  toolArguments: ["lmnr.span.input"],
  toolResult: ["lmnr.span.output"],
  conversationId: ["lmnr.association.properties.session_id"],
  userId: ["lmnr.association.properties.user_id"],
});
