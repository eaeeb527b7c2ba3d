// Strands Agents 1.x: messages and the values of tools are span events.
import { isRecord } from "../../record.ts";
import { messagesIn } from "../messages.ts";
import { preset } from "../table.ts";
import { decode } from "../values.ts";

export const strands = preset({
  name: "strands",
  title: "Strands Agents",
  writes: "Strands Agents, by default and with the latest GenAI conventions.",
  marks: [],
  scope: /^strands\./,
  mend: (reading, span) => {
    if (reading.role !== "tool" || !reading.tool) return reading;
    const event = (name: string) =>
      span.events.find(one => isRecord(one) && one["name"] === name && isRecord(one["attributes"])) as
        | { attributes: Record<string, unknown> }
        | undefined;
    const found = (name: string, key: string) => {
      const value = event(name)?.attributes[key];
      return value === undefined ? null : { value: decode(value), spanId: span.span_id, attribute: name };
    };
    const given = found("gen_ai.tool.message", "content");
    const made = found("gen_ai.choice", "message");
    const texts = made && messagesIn(made, "assistant")?.value.flatMap(({ pieces }) => pieces);
    const text = texts?.map(piece => (piece.kind === "text" ? piece.text : "")).join("");
    return {
      ...reading,
      tool: {
        ...reading.tool,
        arguments: reading.tool.arguments ?? (given && isRecord(given.value) ? given : null),
        result: reading.tool.result ?? (made && text ? { ...made, value: text } : null),
      },
    };
  },
});
