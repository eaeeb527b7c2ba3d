// Reads messages in span events, as OpenTelemetry named them before they became attributes.
import { isRecord } from "../record.ts";
import type { ReadMessage } from "../trace/message-parts.ts";
import type { Span } from "../trace/trace.ts";
import { messagesIn } from "./messages.ts";
import type { Sourced } from "./reading.ts";

/** Span events of the standard that carry messages, one each. */
export function inEvents(span: Span, side: "user" | "assistant"): Sourced<ReadMessage[]> | null {
  const messages: ReadMessage[] = [];
  let named = "";
  for (const event of span.events) {
    if (!isRecord(event) || !isRecord(event["attributes"])) continue;
    const name = String(event["name"]);
    const role = side === "user" ? askedEvents[name] : answeredEvents[name];
    if (!role) continue;
    const { attributes } = event;
    const detail = attributes[side === "user" ? "gen_ai.input.messages" : "gen_ai.output.messages"];
    const value = detail ?? attributes["content"] ?? attributes["message"];
    const found = messagesIn({ value, spanId: span.span_id, attribute: name }, side);
    if (!found) continue;
    named ||= name;
    messages.push(...(detail ? found.value : found.value.map(one => ({ ...one, role }))));
  }
  return messages.length > 0 ? { value: messages, spanId: span.span_id, attribute: named } : null;
}

const askedEvents: Record<string, string> = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
  "gen_ai.client.inference.operation.details": "user",
};
const answeredEvents: Record<string, string> = {
  "gen_ai.choice": "assistant",
  "gen_ai.client.inference.operation.details": "assistant",
};
