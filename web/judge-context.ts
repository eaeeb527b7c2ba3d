// Words for what the judge sees beside the user's input and the reply, and for where a quotation is from.
import type { Withheld } from "../src/model/judge/judge.ts";
import type {
  MaterialCounts,
  MaterialKind,
  QuoteSource,
  SemanticContext,
} from "../src/model/judge/material.ts";
import { numberText } from "./format.ts";

export const contextWords: Record<SemanticContext, string> = {
  reply: "Reply only",
  conversation: "Conversation",
  conversation_and_tools: "Conversation and tools",
};

export const defaultContext: SemanticContext = "conversation_and_tools";

/** Characters of the conversation, newest first; a test holds it to the bound of the prompt. */
export const conversationMax = 24_000;

export const contextHints: Record<SemanticContext, string> = {
  reply: "The judge sees the user’s input and the reply.",
  conversation: `The judge also sees system instructions and earlier messages: up to ${numberText(conversationMax)} characters, newest first.`,
  conversation_and_tools: `The judge also sees system instructions, earlier messages, tool calls and their results: up to ${numberText(conversationMax)} characters, newest first.`,
};

export const sourceWords: Record<QuoteSource, string> = {
  reply: "Reply",
  assistant: "Agent",
  tool_call: "Tool call",
  tool_result: "Tool result",
  user: "User",
  system: "System instructions",
  reference: "Reference reply",
};

const nouns: Record<MaterialKind, [one: string, several: string]> = {
  system: ["system instruction", "system instructions"],
  user: ["user message", "user messages"],
  assistant: ["agent message", "agent messages"],
  tool_call: ["tool call", "tool calls"],
  tool_result: ["tool result", "tool results"],
};

type Summary = { shown: MaterialCounts; leftOut: MaterialCounts; complete: boolean };

/** "2 user messages and 1 tool call (1,204 characters). Left out: 1 tool result (9,000 characters)." */
export function materialText({ shown, leftOut, complete }: Summary): string {
  const seen = countsText(shown);
  const missing = countsText(leftOut);
  const parts = [
    seen ? `User’s input, reply, and ${seen}.` : "User’s input and reply only.",
    ...(missing ? [`Left out: ${missing}.`] : []),
    ...(complete ? [] : ["The trace was too large to be read as a whole."]),
  ];
  return parts.join(" ");
}

/** "2 tool results; values found by “email” and “card”." */
export function withheldText({ rules = [], toolResults = 0 }: Withheld): string {
  const results =
    toolResults === 0 ? [] : [`${numberText(toolResults)} ${nouns.tool_result[toolResults === 1 ? 0 : 1]}`];
  const values =
    rules.length === 0 ? [] : [`values found by ${rules.map(rule => `“${rule}”`).join(" and ")}`];
  return `${[...results, ...values].join("; ")}.`;
}

/** Undefined if nothing is counted. Shortened items count characters alone. */
function countsText(counts: MaterialCounts): string | undefined {
  const kinds = (Object.keys(nouns) as MaterialKind[]).flatMap(kind => {
    const { items = 0 } = counts[kind] ?? {};
    return items === 0 ? [] : `${numberText(items)} ${nouns[kind][items === 1 ? 0 : 1]}`;
  });
  const characters = Object.values(counts).reduce((sum, count) => sum + count.characters, 0);
  if (characters === 0 && kinds.length === 0) return undefined;
  const listed =
    kinds.length < 2
      ? (kinds[0] ?? "parts of long items")
      : `${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}`;
  return `${listed} (${numberText(characters)} characters)`;
}
