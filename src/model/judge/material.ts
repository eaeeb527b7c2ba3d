// What the judge is shown of a conversation beside the user's input and the reply, within the prompt's bounds.

import { stripInvisible } from "../strip-invisible.ts";
import {
  type Bounded,
  bounded,
  type Fitted,
  fitNewest,
  promptBounds,
  quotable,
  shownLength,
} from "./prompt-bounds.ts";

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

/** In their order. `complete` false: the trace was too large to be read as a whole. */
export type Conversation = { items: ConversationItem[]; complete: boolean };

export type MaterialItem = Omit<ConversationItem, "text"> & { text: Bounded };

/** Items and characters, by kind. */
export type MaterialCounts = Partial<Record<MaterialKind, { items: number; characters: number }>>;

/** In the order of the conversation. */
export type Material = {
  items: MaterialItem[];
  /** False: tool calls are not shown, though there may have been some. */
  tools: boolean;
  /** The names of the tools that the agent could call; absent: not known, or not shown. */
  offered?: string[];
  /** False: the project does not let the judge see what tools returned. */
  toolResults?: false;
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

/**
 * What fits of a conversation: system instructions within bounds of their own, then the newest items first. Of long ones
 * the beginning and the end.
 */
export function fitMaterial(
  { items, complete }: Conversation,
  { tools, replyLength }: { tools: boolean; replyLength: number },
): Material {
  const instructions = fitInstructions(items);
  const used = [...instructions.values()].reduce((sum, text) => sum + shownLength(text), 0);
  const others = items.filter(({ kind }) => kind !== "system");
  const { from, texts } = fitNewest(
    others.map(({ text }) => text),
    {
      total: conversationMax(replyLength) - used,
      each: promptBounds.conversationItem,
      min: promptBounds.conversationItemMin,
      count: promptBounds.conversationItems,
    },
  );
  const shown = new Map(others.slice(from).map((item, at) => [item, texts[at]!]));
  const leftOut: MaterialCounts = {};
  const fitting = items.flatMap((item): MaterialItem[] => {
    const text = instructions.get(item) ?? shown.get(item);
    if (text === undefined) {
      if (!item.is) count(leftOut, item.kind, 1, item.text.length);
      return [];
    }
    if (typeof text !== "string") count(leftOut, item.kind, 0, text.characters_left_out);
    return [{ ...item, ...shortNames(item), text }];
  });
  return { items: fitting, tools, leftOut, complete };
}

/** Undefined if there are none, or more than fit: a part of them would pass for all. */
export function fitOffered(names: string[]): string[] | undefined {
  const short = names.map(shortName);
  const length = short.reduce((sum, name) => sum + name.length, 0);
  return length === 0 || length > promptBounds.offeredTools ? undefined : short;
}

/** How many characters of the conversation are shown with a reply of this length. */
function conversationMax(replyLength: number): number {
  const { conversation, conversationAndReply, reply } = promptBounds;
  return Math.min(conversation, conversationAndReply - Math.min(replyLength, reply));
}

/** Items that stand for the user's input or the reply are not counted. */
export function shownIn({ items }: Material): MaterialCounts {
  const counts: MaterialCounts = {};
  for (const { kind, text, is } of items) if (!is) count(counts, kind, 1, shownLength(text));
  return counts;
}

export function itemsLeftOut({ leftOut }: Pick<Material, "leftOut">): number {
  return Object.values(leftOut).reduce((sum, { items }) => sum + items, 0);
}

/** What of an item can be quoted: of a call, its name and arguments. */
export function quotableItem({ kind, text, name }: MaterialItem): string {
  return kind === "tool_call" && name !== undefined ? `${name} ${quotable(text)}` : quotable(text);
}

/** The latest messages of the user and the agent that fit; undefined if there are none. */
export function fitEarlier(items: ConversationItem[]): EarlierMessages | undefined {
  const said = items.filter(
    (item): item is ConversationItem & { kind: EarlierMessage["from"] } =>
      item.kind === "user" || item.kind === "assistant",
  );
  if (said.length === 0) return undefined;
  const { from, texts }: Fitted = fitNewest(
    said.map(({ text }) => text),
    {
      total: promptBounds.earlierMessages,
      each: promptBounds.earlierMessage,
      min: promptBounds.earlierMessageMin,
      count: promptBounds.conversationItems,
    },
  );
  const messages = said.slice(from).map(({ kind }, at) => ({ from: kind, text: texts[at]! }));
  return { messages, leftOut: from };
}

/** The first instructions are those of the agent itself, so they come first. */
function fitInstructions(items: ConversationItem[]): Map<ConversationItem, Bounded> {
  const fitting = new Map<ConversationItem, Bounded>();
  let left = promptBounds.systemInstructions;
  for (const item of items) {
    if (item.kind !== "system" || left < promptBounds.conversationItemMin) continue;
    const text = bounded(item.text, left);
    fitting.set(item, text);
    left -= shownLength(text);
  }
  return fitting;
}

function shortNames({ name, agent }: ConversationItem): Pick<ConversationItem, "name" | "agent"> {
  return {
    ...(name === undefined ? {} : { name: shortName(name) }),
    ...(agent === undefined ? {} : { agent: shortName(agent) }),
  };
}

function shortName(name: string): string {
  return stripInvisible(name.slice(0, promptBounds.name));
}

function count(counts: MaterialCounts, kind: MaterialKind, items: number, characters: number): void {
  const before = counts[kind] ?? { items: 0, characters: 0 };
  counts[kind] = { items: before.items + items, characters: before.characters + characters };
}
