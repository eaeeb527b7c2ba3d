// Reads an attribute that lists all messages of a call as events: those before the answer, or the answer.
import { isRecord } from "../../model/record.ts";
import type { Span } from "../../model/trace/trace.ts";
import type { ReadMessage } from "./message-parts.ts";
import { messagesIn } from "./messages.ts";
import type { Sourced } from "./reading.ts";
import { sourced } from "./values.ts";

/** The answer is the event with a choice, else what the assistant says last. */
export function listedMessages(
  span: Span,
  attribute: string,
  side: "user" | "assistant",
): Sourced<ReadMessage[]> | null {
  const listed = sourced(span, attribute);
  if (!listed || !Array.isArray(listed.value)) return null;
  const events = listed.value.filter(isRecord);
  const choice = events.findIndex(event => event["event.name"] === "gen_ai.choice");
  const end = choice === -1 ? events.findLastIndex(event => event["role"] !== "assistant") + 1 : choice;
  const value = side === "user" ? events.slice(0, end) : events.slice(end);
  return messagesIn({ ...listed, value: value.map(asMessage) }, side);
}

/** An event about a tool has the id of the call that it answers. */
function asMessage(event: Record<string, unknown>): unknown {
  const isResult = event["role"] === "tool" && event["tool_call_id"] === undefined;
  return isResult ? { ...event, tool_call_id: event["id"] } : event;
}
