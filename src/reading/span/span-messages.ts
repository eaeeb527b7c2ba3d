// Reads input and output messages from a span, from every attribute or event that may contain them.

import type { ValueAllowance } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import type { SpanPath } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf, structureOf } from "./conversation.ts";
import { type EventReader, messagesInEvent, type Side } from "./message-events.ts";
import { type ReadMessage, takeApart, takeApartParts } from "./message-parts.ts";
import { isRuled } from "./sources.ts";

/** `attribute` is null if the source is the event named `event`. */
export type Source = { spanId: string; attribute: string | null; event: string | null };

export type SourcedMessages = { source: Source; messages: ReadMessage[] };

/** The input messages: instructions, then the history. Events are read only if the attributes have no history. */
export function inputMessages(span: Span, allowance: ValueAllowance): SourcedMessages[] {
  if (span.reading?.hasInput === false) return [];
  const instructions = inAttribute(span, "gen_ai.system_instructions", asInstructions, allowance);
  const given = isReplaced(span, "gen_ai.input.messages", "gen_ai.prompt")
    ? null
    : inAttribute(span, "gen_ai.input.messages", asMessages, allowance);
  if (given) return [instructions, given].filter(list => list !== null);
  const prompt = inAttribute(span, "gen_ai.prompt", asPrompt, allowance);
  if (prompt) return [instructions, prompt].filter(list => list !== null);
  return [...(instructions ? [instructions] : []), ...inEvents(span, "user", allowance)];
}

/** The output messages. Events are read only if the attributes have none. */
export function outputMessages(span: Span, allowance: ValueAllowance): SourcedMessages[] {
  if (span.reading?.hasOutput === false) return [];
  const messages = isReplaced(span, "gen_ai.output.messages", "gen_ai.response.text")
    ? null
    : inAttribute(span, "gen_ai.output.messages", asMessages, allowance);
  const text = inAttribute(span, "gen_ai.response.text", asReply, allowance);
  const lists = [messages, text].filter(list => list !== null);
  return lists.length > 0 ? lists : inEvents(span, "assistant", allowance);
}

/** Whether an own rule gave the text, so that the messages that the span has beside it do not count. */
function isReplaced(span: Span, messages: string, text: string): boolean {
  return isRuled(span, text) && !isRuled(span, messages);
}

/** How many characters reading the messages takes. */
export function messageLength(span: Span): number {
  let length = 0;
  for (const key of messageAttributes) {
    const value = attributeOf(span, key);
    if (value !== undefined) length += typeof value === "string" ? value.length : structuredLength;
  }
  return length + span.events.length;
}

const messageAttributes = [
  "gen_ai.system_instructions",
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "gen_ai.output.messages",
  "gen_ai.response.text",
];
/** For structured values, which were parsed with the trace. */
const structuredLength = 100;

type Reading = (value: unknown, path: SpanPath, allowance: ValueAllowance) => ReadMessage[];

function inAttribute(
  span: Span,
  attribute: string,
  read: Reading,
  allowance: ValueAllowance,
): SourcedMessages | null {
  const value = attributeOf(span, attribute);
  if (value === undefined) return null;
  const messages = read(value, ["attributes", attribute], allowance);
  const source = { spanId: span.span_id, attribute, event: null };
  return messages.length > 0 ? { source, messages } : null;
}

function asMessages(value: unknown, path: SpanPath, allowance: ValueAllowance): ReadMessage[] {
  const read = structureOf(value, allowance);
  if (!Array.isArray(read)) return isRecord(read) ? [takeApart(read, path)] : [];
  return read.flatMap((message, at) => (isRecord(message) ? [takeApart(message, [...path, at])] : []));
}

function asInstructions(value: unknown, path: SpanPath, allowance: ValueAllowance): ReadMessage[] {
  const read = structureOf(value, allowance) ?? value;
  const isMessages = Array.isArray(read) && read.some(part => isRecord(part) && "role" in part);
  return isMessages ? asMessages(read, path, allowance) : [takeApartParts("system", read, path)];
}

/** Plain text, except that some emitters put messages there as JSON; without a role it is the user's own. */
export function asPrompt(value: unknown, path: SpanPath, allowance: ValueAllowance): ReadMessage[] {
  const messages = asMessages(value, path, allowance).filter(({ role }) => role !== "");
  if (messages.length > 0 || typeof value !== "string") return messages;
  return [takeApartParts("user", value, path)];
}

function asReply(value: unknown, path: SpanPath): ReadMessage[] {
  return typeof value === "string" ? [takeApartParts("assistant", value, path)] : [];
}

/** The messages of one side in the span's events, one list per event. */
function inEvents(span: Span, side: Side, allowance: ValueAllowance): SourcedMessages[] {
  const reader: EventReader = {
    parse: value => structureOf(value, allowance),
    whole: (value, key, path) => wholes[key]!(value, path, allowance),
  };
  return span.events.flatMap((event, at): SourcedMessages[] => {
    if (!isRecord(event) || typeof event["name"] !== "string" || !isRecord(event["attributes"])) return [];
    const { name, attributes } = event;
    const messages = messagesInEvent(name, attributes, side, ["events", at, "attributes"], reader);
    const source = { spanId: span.span_id, attribute: null, event: name };
    return messages.length > 0 ? [{ source, messages }] : [];
  });
}

const wholes: Record<string, Reading> = {
  "gen_ai.input.messages": asMessages,
  "gen_ai.prompt": asPrompt,
  "gen_ai.output.messages": asMessages,
  "gen_ai.completion": (value, path, allowance) => {
    const messages = asMessages(value, path, allowance);
    return messages.length > 0 ? messages : asReply(value, path);
  },
};
