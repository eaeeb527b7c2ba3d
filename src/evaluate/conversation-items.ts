// The messages, tool calls and results of a trace, each once, as the items that a judge is shown.

import { parseJson } from "../model/json-text.ts";
import type { Conversation, ConversationItem, Place } from "../model/judge/material.ts";
import type { Span } from "../model/trace/trace.ts";
import { transcribe } from "../reading/conversation/transcript.ts";
import type { Entry, SourcedValue } from "../reading/conversation/transcript-entry.ts";
import { speakerOf } from "../reading/span/conversation.ts";
import { deepEqual } from "./equality.ts";

// Several checks and every round of questions look at the same trace.
const read = new WeakMap<Span[], Conversation>();

/** Never throws, whatever the spans contain. */
export function conversationOf(spans: Span[]): Conversation {
  let conversation = read.get(spans);
  if (!conversation) {
    const { entries, complete } = transcribe(spans);
    conversation = { items: mergedCalls(entries.flatMap(itemsOf)), complete };
    read.set(spans, conversation);
  }
  return conversation;
}

function itemsOf(entry: Entry): ConversationItem[] {
  const { spanId, attribute } = entry;
  const agent = entry.agent ? { agent: entry.agent.name } : {};
  if (entry.kind === "tool_call") return callItems(entry, agent);
  const speaker = speakerOf(entry.role);
  const kind = kindOf[speaker] ?? (isOutput(entry) ? "assistant" : "user");
  // Parts of unknown types are shown, but do not count as the agent's words.
  const texts = entry.pieces.flatMap(piece =>
    piece.kind === "text" || piece.kind === "refusal"
      ? piece.text
      : piece.kind === "other" && kind !== "assistant"
        ? piece.text
        : [],
  );
  const text = texts.join("");
  if (!/\S/.test(text)) return [];
  const participant = speaker === "other" && kind === "user" ? { agent: entry.role } : agent;
  return [{ kind, text, spanId, attribute, ...participant }];
}

const kindOf = {
  system: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool_result",
  other: undefined,
} as const;

function isOutput({ attribute, event }: Entry): boolean {
  const outputs = [
    "gen_ai.output.messages",
    "gen_ai.response.text",
    "gen_ai.choice",
    "gen_ai.content.completion",
  ];
  return outputs.includes(attribute ?? event ?? "");
}

/** The call and its result, or the error of its failed span in place of one. */
function callItems(
  { name, arguments: args, result, error, failed, spanId, attribute }: Entry & { kind: "tool_call" },
  agent: Pick<ConversationItem, "agent">,
): ConversationItem[] {
  const tool = { ...agent, ...(name === "" ? {} : { name }), ...(failed ? { failed: true as const } : {}) };
  const call: ConversationItem = { kind: "tool_call", text: textOf(args), spanId, attribute, ...tool };
  const outcome = result
    ? { text: textOf(result), ...placeOf(result) }
    : error !== null && { text: error, spanId, attribute: null };
  return [
    // A result whose call is not in the trace stands alone.
    ...(name === "" && args === null ? [] : [call]),
    ...(outcome ? [{ kind: "tool_result" as const, ...outcome, ...tool }] : []),
  ];
}

/** JSON text, or other text as sent. */
function textOf(sourced: SourcedValue | null): string {
  if (sourced === null) return "";
  return typeof sourced.value === "string" ? sourced.value : JSON.stringify(sourced.value);
}

function placeOf({ spanId, paths }: SourcedValue): Place {
  const [root, attribute] = paths[0] ?? [];
  return { spanId, attribute: root === "attributes" ? String(attribute) : null };
}

// A turn has few calls; without a limit, comparing each with all others would take minutes for a hostile trace.
const comparedMax = 50;
const argumentsMax = 10_000;

/**
 * Some agents give a call one id in their messages and another on its span. Until the user speaks again, two calls of the
 * same tool with the same arguments are one.
 */
function mergedCalls(items: ConversationItem[]): ConversationItem[] {
  const dropped = new Set<ConversationItem>();
  let inMessages: number[] = [];
  for (const [at, item] of items.entries()) {
    if (item.kind === "user" && item.agent === undefined) inMessages = [];
    if (item.kind !== "tool_call") continue;
    if (!isOfSpan(item)) inMessages = [...inMessages.slice(1 - comparedMax), at];
    else {
      const same = inMessages.find(other => isSameCall(items[other]!, item));
      if (same === undefined) continue;
      inMessages = inMessages.filter(other => other !== same);
      dropped.add(items[same]!);
      const [result, ofMessage] = [items[at + 1], items[same + 1]];
      if (result?.kind === "tool_result" && ofMessage?.kind === "tool_result") dropped.add(ofMessage);
    }
  }
  return items.filter(item => !dropped.has(item));
}

/** Whether it was read from the span of a tool. */
export function isOfSpan({ attribute }: ConversationItem): boolean {
  return attribute?.startsWith("gen_ai.tool.") === true;
}

function isSameCall(one: ConversationItem, other: ConversationItem): boolean {
  if (one.name !== other.name || one.agent !== other.agent) return false;
  if (one.text === other.text) return true;
  if (one.text.length > argumentsMax || other.text.length > argumentsMax) return false;
  const parsed = parseJson(one.text);
  return parsed !== undefined && deepEqual(parsed, parseJson(other.text));
}
