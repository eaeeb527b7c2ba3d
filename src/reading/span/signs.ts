// Attributes of other conventions, and which documented ones they stand for.

/** What a trace may lack, with the attributes that provide it. */
export const attributesByLack = {
  input: "gen_ai.input.messages",
  reply: "gen_ai.output.messages",
  toolName: "gen_ai.tool.name",
  toolArguments: "gen_ai.tool.call.arguments",
  usage: "gen_ai.usage.input_tokens and gen_ai.usage.output_tokens",
} as const;

export type Lack = keyof typeof attributesByLack;

/** What a convention writes in place of documented attributes. */
export type Signs = {
  /** What writes them, where that is not the convention's title. */
  of?: string;
  /** How its users can send the documented attributes; absent: no release of the SDK sends them. */
  way?: string;
  /** What each attribute provides. A key that ends in a dot is a prefix. */
  attributes: Record<string, readonly Lack[]>;
  /** It also writes attributes of other conventions, which say nothing about these on its spans. */
  claims?: true;
  /** Its attributes are also those of another convention, and are its own on the spans of this scope alone. */
  scope?: string;
};

export const textsOfTurn = ["input", "reply"] as const;
