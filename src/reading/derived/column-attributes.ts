// The documented attributes that the columns of a trace are derived from.

/** `columnsOf` derives the same from spans that have no others, as long as no rules or conventions read them. */
export const columnAttributes: readonly string[] = [
  "gen_ai.conversation.id",
  "gen_ai.input.messages",
  "gen_ai.operation.name",
  "gen_ai.output.messages",
  "gen_ai.prompt",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "gen_ai.response.text",
  "gen_ai.system",
  "gen_ai.tool.name",
  "gen_ai.usage.cache_creation.input_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.usage.cache_write.input_tokens",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "http.response.status_code",
  "http.route",
  "http.target",
  "mcp.method.name",
  "session.id",
  "url.path",
  "user.id",
];

/** Those of them whose texts are long. */
export const longTextAttributes: ReadonlySet<string> = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.prompt",
  "gen_ai.response.text",
]);
