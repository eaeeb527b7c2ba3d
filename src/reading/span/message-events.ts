// Reads messages in span events and log records, as OpenTelemetry named them before they became attributes.
import { isRecord, textOrNone } from "../../model/record.ts";
import type { Attributes, LogRecord, Span } from "../../model/trace/trace.ts";
import type { ReadMessage } from "./message-parts.ts";
import { messagesIn } from "./messages.ts";
import type { Sourced } from "./reading.ts";
import { decode } from "./values.ts";

type Side = "user" | "assistant";

/** Events of the standard that carry messages, one each; log records after the events in the span. */
export function inEvents(span: Span, side: Side): Sourced<ReadMessage[]> | null {
  const messages: ReadMessage[] = [];
  let named = "";
  const add = (name: string, attributes: Attributes, message: (role: string) => unknown) => {
    const role = (side === "user" ? askedEvents : answeredEvents)[name];
    if (!role) return;
    const whole = attributes[wholes[side].find(key => attributes[key] !== undefined) ?? ""];
    const value = whole ?? message(role);
    const found = messagesIn({ value, spanId: span.span_id, attribute: name }, side);
    if (!found) return;
    named ||= name;
    messages.push(...(whole ? found.value : found.value.map(one => ({ ...one, role }))));
  };
  for (const event of span.events) {
    if (!isRecord(event) || !isRecord(event["attributes"])) continue;
    const { attributes } = event;
    add(textOrNone(event["name"]), attributes, () => attributes["content"] ?? attributes["message"]);
  }
  for (const record of span.log_records ?? []) {
    const fields = fieldsOf(record);
    add(record.event_name, fields, role => messageOf(fields, role));
  }
  return messages.length > 0 ? { value: messages, spanId: span.span_id, attribute: named } : null;
}

/** Attributes that have all messages of a side. */
const wholes: Record<Side, string[]> = {
  user: ["gen_ai.input.messages", "gen_ai.prompt"],
  assistant: ["gen_ai.output.messages", "gen_ai.completion"],
};

const askedEvents: Record<string, string> = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
  "gen_ai.content.prompt": "user",
  "gen_ai.client.inference.operation.details": "user",
};
const answeredEvents: Record<string, string> = {
  "gen_ai.choice": "assistant",
  "gen_ai.content.completion": "assistant",
  "gen_ai.client.inference.operation.details": "assistant",
};

/** The attributes of a log record and the fields of its body, which some SDKs write as JSON text. */
export function fieldsOf({ attributes, body: sent }: LogRecord): Attributes {
  const body = decode(sent);
  if (isRecord(body)) return { ...attributes, ...body };
  return body === null || body === "" ? attributes : { ...attributes, content: body };
}

/** The choice of a model has its message in a field; OpenLLMetry puts the calls of tools beside it. */
function messageOf(fields: Attributes, role: string): Attributes {
  const { message } = fields;
  const inner = isRecord(message) ? message : fields;
  const calls = inner["tool_calls"] ?? fields["tool_calls"];
  const parts = inner["parts"];
  return {
    role,
    content: inner["content"] ?? (isRecord(message) ? undefined : message),
    ...(parts === undefined ? {} : { parts }),
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(role === "tool" ? { tool_call_id: inner["tool_call_id"] ?? inner["id"] } : {}),
  };
}
