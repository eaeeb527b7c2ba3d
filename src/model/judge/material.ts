// What the judge is shown of a conversation beside the user's input and the reply, within the prompt's bounds.
import type { Bounded } from "./prompt-bounds.ts";

/** What a semantic assertion lets the judge see beside the user's input and the reply. */
export type SemanticContext = "reply" | "conversation" | "conversation_and_tools";

export const semanticContexts: SemanticContext[] = ["reply", "conversation", "conversation_and_tools"];

export const defaultContext: SemanticContext = "conversation_and_tools";

export type MaterialKind = "system" | "user" | "assistant" | "tool_call" | "tool_result";

/** Where a text is. `attribute` null: in an event or the status of the span. */
export type Place = { spanId: string; attribute: string | null };

/** A message, a tool call or its result. */
export type ConversationItem = Place & {
  kind: MaterialKind;
  /** Of a call, its arguments. */
  text: string;
  /** Of the tool. */
  name?: string;
  /** The sub-agent whose conversation it belongs to; there, "user" is the agent that called it. */
  agent?: string;
  failed?: true;
  /** It is the user's input or the reply, which are shown by themselves: then it has no text of its own. */
  is?: "user_input" | "reply";
};

export type MaterialItem = Omit<ConversationItem, "text"> & { text: Bounded };

/** Items and characters, by kind. */
export type MaterialCounts = Partial<Record<MaterialKind, { items: number; characters: number }>>;

/** In the order of the conversation. */
export type Material = {
  items: MaterialItem[];
  /** False: tool calls are not shown, though there may have been some. */
  tools: boolean;
  /** Items that are not shown, and the characters that are not, those of shortened items included. */
  leftOut: MaterialCounts;
  /** False: the trace was too large to be read as a whole. */
  complete: boolean;
};

/** What the judge was shown for a check, kept with its result. */
export type MaterialSummary = {
  context: SemanticContext;
  shown: MaterialCounts;
  leftOut: MaterialCounts;
  /** False: the trace was too large to be read as a whole. */
  complete: boolean;
  /** A tool result or an earlier message that seems to be addressed to the judge, and why. It changes no verdict. */
  suspicious?: Place & { from: MaterialKind; reason: string; turn?: number };
};

export type QuoteSource = "reply" | MaterialKind | "reference";

/**
 * A passage that the judge quoted, and where code found it. "evidence": what the agent said or did; "comparison": what
 * that is compared with. `spanId` is null for the reference reply, which is in no span.
 */
export type Quote = {
  as: "evidence" | "comparison";
  text: string;
  from: QuoteSource;
  spanId: string | null;
  attribute: string | null;
  /** In a run of several turns: the turn whose trace has the span, from 1. */
  turn?: number;
};

/** A message before the user's input, shown with a scenario. */
export type EarlierMessage = { from: "user" | "assistant"; text: Bounded };

/** `leftOut`: how many older messages are not shown. */
export type EarlierMessages = { messages: EarlierMessage[]; leftOut: number };
