// LiteLLM's `otel` callback and its proxy, both versions: a trace per model call, and a span with the raw request below it.
import { attributeOf } from "../span/conversation.ts";
import type { ContentSwitch } from "../span/reading.ts";
import { preset, standardRole } from "../span/table.ts";

/** Also where a callback of LiteLLM writes the attributes of another convention. */
export const liteLlmContent: ContentSwitch[] = [
  {
    of: "LiteLLM’s proxy with OpenTelemetry v2",
    scope: /^litellm$/,
    mark: "litellm.call_type",
    says: "It writes messages only if this variable is set.",
    lines: ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"],
  },
  {
    of: "LiteLLM",
    scope: /^litellm/,
    says: "It writes messages unless turn_off_message_logging is on or the variable has another value. With true, it writes them as log records only.",
    lines: [
      "litellm.turn_off_message_logging = False",
      "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ],
  },
];

export const liteLlm = preset({
  name: "litellm",
  title: "LiteLLM",
  writes: "LiteLLM’s `otel` callback; each call of a model is a trace.",
  marks: ["litellm."],
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
  contentSwitches: liteLlmContent,
  role: span =>
    attributeOf(span, "gen_ai.operation.name") === undefined ? "other" : (standardRole(span) ?? "model"),
  userId: ["llm.user", "litellm.metadata.user_api_key_end_user_id", "metadata.user_api_key_end_user_id"],
  output: ["gen_ai.output.messages", "gen_ai.completion."],
  calls: ["gen_ai.completion."],
});
