// The attributes that are no content: what the service reads for structure, tokens, models, tool names, status and ids.

/**
 * `text`: a text of at most `textMax` characters; `id`: that, or an integer; `count`: a whole number, or its digits. Any other
 * value is content.
 */
export type KeptShape = "text" | "id" | "count";

export type KeptAttribute = { attribute: string; shape: KeptShape; readFor: string };

const named = (readFor: string, shape: KeptShape, attributes: string[]): KeptAttribute[] =>
  attributes.map(attribute => ({ attribute, shape, readFor }));

/** Of spans and log records, kept where content is not stored; the docs list them. */
export const keptAttributes: KeptAttribute[] = [
  ...named("Structure", "text", ["gen_ai.operation.name", "gen_ai.agent.name", "http.request.method"]),
  ...named("Tool names", "text", ["gen_ai.tool.name", "gen_ai.tool.call.id"]),
  ...named("Tokens", "count", [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
  ]),
  ...named("Models", "text", [
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.provider.name",
    "gen_ai.system",
  ]),
  ...named("Status", "count", ["http.response.status_code"]),
  ...named("Conversation and user", "id", ["gen_ai.conversation.id", "session.id", "user.id"]),
];

/** Of resources. */
export const keptOfResource = "service.name";

/** A longer text is no name and no id. */
export const textMax = 1_000;

const shapes = new Map(keptAttributes.map(({ attribute, shape }) => [attribute, shape]));

/** Whether an attribute is stored where content is not. */
export function isKept(attribute: string, value: unknown): boolean {
  switch (shapes.get(attribute)) {
    case "text":
      return isShortText(value);
    case "id":
      return isShortText(value) || Number.isSafeInteger(value);
    case "count":
      return Number.isSafeInteger(value) || (typeof value === "string" && /^\d{1,15}$/.test(value));
    default:
      return false;
  }
}

function isShortText(value: unknown): boolean {
  return typeof value === "string" && value.length <= textMax;
}
