// LiteLLM's `otel` callback, 1.80: a trace per model call, and a span with the raw request below it.
import { attributeOf } from "../span/conversation.ts";
import { preset, standardRole } from "../span/table.ts";

export const liteLlm = preset({
  name: "litellm",
  title: "LiteLLM",
  writes: "LiteLLM’s `otel` callback; each call of a model is a trace.",
  marks: [],
  signs: [
    {
      scope: "litellm",
      attributes: {
        "gen_ai.prompt.": ["input"],
        "gen_ai.completion.": ["reply"],
        "gen_ai.usage.prompt_tokens": ["usage"],
        "gen_ai.usage.completion_tokens": ["usage"],
      },
    },
  ],
  scope: /^litellm/,
  contentSwitches: [
    {
      says: "It writes messages unless turn_off_message_logging is on.",
      lines: ["litellm.turn_off_message_logging = False"],
    },
  ],
  role: span => (attributeOf(span, "gen_ai.operation.name") === undefined ? "other" : standardRole(span)),
  userId: ["llm.user"],
  output: ["gen_ai.output.messages", "gen_ai.completion."],
});
