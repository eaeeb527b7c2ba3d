// Reads messages in span events and log records, as OpenTelemetry named them before they became attributes.
import { isRecord, textOrNone } from "../../model/record.ts";
import type { SpanPath } from "../../model/trace/shown.ts";
import type { Attributes, LogRecord, Span } from "../../model/trace/trace.ts";
import { asResult, type ReadMessage, takeApart, takeApartParts } from "./message-parts.ts";
import { messagesIn, withContent } from "./messages.ts";
import { innerCalls, innerResults } from "./part-shapes.ts";
import type { Sourced } from "./reading.ts";
import { decode } from "./values.ts";

export type Side = "user" | "assistant";

/** How values in an event are read: `parse` reads JSON text, `whole` an attribute with all messages of a side. */
export type EventReader = {
  parse: (value: unknown) => unknown;
  whole: (value: unknown, key: string, path: SpanPath) => ReadMessage[];
};

/** Events of the standard that carry messages. A log record is about one call, so its fields are read the same. */
export function inEvents(span: Span, side: Side): Sourced<ReadMessage[]> | null {
  const messages: ReadMessage[] = [];
  let named = "";
  const add = (name: string, fields: Attributes) => {
    const found = withContent(messagesInEvent(name, fields, side, [], readerOf(span, side)), side);
    if (found.length === 0) return;
    named ||= name;
    messages.push(...found);
  };
  for (const event of span.events) {
    if (isRecord(event) && isRecord(event["attributes"])) add(textOrNone(event["name"]), event["attributes"]);
  }
  for (const record of span.log_records ?? []) add(nameOf(record), fieldsOf(record));
  return messages.length > 0 ? { value: messages, spanId: span.span_id, attribute: named } : null;
}

function readerOf({ span_id: spanId }: Span, side: Side): EventReader {
  return {
    parse: decode,
    whole: (value, attribute) => messagesIn({ value: decode(value), spanId, attribute }, side)?.value ?? [],
  };
}

/** The messages of one side in an event of this name; none if it is no event with messages. */
export function messagesInEvent(
  name: string,
  fields: Attributes,
  side: Side,
  path: SpanPath,
  { parse, whole }: EventReader,
): ReadMessage[] {
  const role = Object.hasOwn(events[side], name) ? events[side][name]! : null;
  if (role === null) return [];
  const key = wholes[side].find(one => Object.hasOwn(fields, one) && fields[one] != null);
  if (key !== undefined) return whole(fields[key], key, [...path, key]);
  return detailEvents.has(name) ? [] : [messageOf(role, fields, path, parse)];
}

/** Which events tell of a side, and in which role. */
const events: Record<Side, Record<string, string>> = {
  user: {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.content.prompt": "user",
    "gen_ai.client.inference.operation.details": "user",
  },
  assistant: {
    "gen_ai.choice": "assistant",
    "gen_ai.content.completion": "assistant",
    "gen_ai.client.inference.operation.details": "assistant",
  },
};

/** Attributes that have all messages of a side. */
const wholes: Record<Side, string[]> = {
  user: ["gen_ai.input.messages", "gen_ai.prompt"],
  assistant: ["gen_ai.output.messages", "gen_ai.completion"],
};

/** These have no messages but in those attributes. */
const detailEvents = new Set([
  "gen_ai.client.inference.operation.details",
  "gen_ai.content.prompt",
  "gen_ai.content.completion",
]);

/** The name of a record, which older SDKs write as an attribute. */
export function nameOf({ event_name, attributes }: LogRecord): string {
  return event_name || textOrNone(attributes["event.name"]);
}

/** The attributes of a log record and the fields of its body, which some SDKs write as JSON text. */
export function fieldsOf({ attributes, body: sent }: LogRecord): Attributes {
  const body = decode(sent);
  if (isRecord(body)) return { ...attributes, ...body };
  return body === null || body === "" ? attributes : { ...attributes, content: body };
}

/** The fields are the message, or one of them is the message or the list of its parts; calls may be beside it. */
function messageOf(
  role: string,
  fields: Attributes,
  path: SpanPath,
  parse: EventReader["parse"],
): ReadMessage {
  const key = holders.find(name => Object.hasOwn(fields, name) && fields[name] !== null);
  const value = key === undefined ? undefined : fields[key];
  const read = parse(value);
  const inner: SpanPath = key === undefined ? path : [...path, key];
  const own = isRecord(read) && bodies.some(name => name in read) ? read : null;
  const holder = own && isRecord(own["message"]) ? own["message"] : own;
  const message = holder
    ? takeApart(holder, holder === own ? inner : [...inner, "message"])
    : takeApartParts(role, bodyOf(read, value), inner);
  if (message.calls.length === 0) {
    message.calls = takeApart({ tool_calls: parse(fields["tool_calls"]) }, path).calls;
  }
  // An event about a tool has the id of the call that it answers.
  const id = fields["tool_call_id"] ?? fields["id"] ?? holder?.["tool_call_id"] ?? holder?.["id"];
  const result = role === "tool" && typeof id === "string" ? asResult(message, id) : message;
  return { ...result, role: result.role || role };
}

/** A list of parts, else what was sent: JSON that a user or a tool wrote is text. */
function bodyOf(read: unknown, sent: unknown): unknown {
  if (typeof sent !== "string") return sent;
  if (Array.isArray(read)) return read.some(isPart) ? read : sent;
  return typeof read === "string" ? read : sent;
}

const isPart = (item: unknown) =>
  isRecord(item) && [...partNames, ...innerCalls, ...innerResults].some(name => name in item);
const partNames = ["type", "text", "content", "kind"];

const holders = ["gen_ai.event.content", "parts", "content", "message"];
const bodies = ["content", "parts", "message", "tool_calls", "refusal"];
