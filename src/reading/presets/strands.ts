// Strands Agents 1.x: messages and the values of tools are span events.

import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { messagesIn } from "../span/messages.ts";
import type { Sourced } from "../span/reading.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";
import { decode } from "../span/values.ts";

export const strands = preset({
  name: "strands",
  title: "Strands Agents",
  writes: "Strands Agents, by default and with the latest GenAI conventions.",
  marks: [],
  signs: [{ attributes: { "event_loop.cycle_id": textsOfTurn } }],
  scope: /^strands\./,
  mend: {
    tool: (tool, span) => {
      if (!tool) return tool;
      const given = inEvent(span, "gen_ai.tool.message", "content");
      const made = inEvent(span, "gen_ai.choice", "message");
      const texts = made && messagesIn(made, "assistant")?.value.flatMap(({ pieces }) => pieces);
      const text = texts?.map(piece => (piece.kind === "text" ? piece.text : "")).join("");
      return {
        name: tool.name,
        nameFrom: tool.nameFrom,
        id: tool.id,
        arguments: tool.arguments ?? (given && isRecord(given.value) ? given : null),
        result: tool.result ?? (made && text ? { ...made, value: text } : null),
      };
    },
  },
});

function inEvent(span: Span, name: string, key: string): Sourced<unknown> | null {
  const event = span.events.find(
    one => isRecord(one) && one["name"] === name && isRecord(one["attributes"]),
  ) as { attributes: Attributes } | undefined;
  const value = event?.attributes[key];
  return value === undefined ? null : { value: decode(value), spanId: span.span_id, attribute: name };
}
