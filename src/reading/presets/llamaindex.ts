// LlamaIndex's own OpenTelemetry integration, 0.5 to 0.7: a call of a model is two events, with flattened fields.
import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { messagesIn } from "../span/messages.ts";
import type { Sourced } from "../span/reading.ts";
import { preset, standardRole } from "../span/table.ts";
import { usageInside } from "../span/usage-values.ts";
import { decode } from "../span/values.ts";

const [begins, ends] = [
  /^LLM(?:Chat|Completion|Predict)StartEvent$/,
  /^LLM(?:Chat|Completion|Predict)EndEvent$/,
];

export const llamaIndex = preset({
  name: "llamaindex",
  title: "LlamaIndex",
  writes: "LlamaIndex’s own OpenTelemetry integration.",
  marks: ["llamaindex."],
  scope: /^llamaindex\.opentelemetry/,
  signs: [{ attributes: { "llamaindex.": ["input", "reply", "usage"] } }],
  role: span =>
    standardRole(span) ??
    (eventOf(span, begins) || eventOf(span, ends) ? "model" : span.parent_span_id ? "step" : "agent"),
  mend: {
    asked: (asked, span) => asked ?? messagesIn(fieldOf(span, begins, "messages", "prompt"), "user"),
    answered: (answered, span) =>
      answered ?? messagesIn(fieldOf(span, ends, "response", "output"), "assistant"),
    usage: (usage, span) => usage ?? usageInside(fieldOf(span, ends, "response")),
    model: (model, span) =>
      model ??
      named(fieldOf(span, ends, "response"), "raw", "model") ??
      named(fieldOf(span, begins, "model_dict"), "model_name"),
  },
});

function eventOf(span: Span, name: RegExp): { name: string; attributes: Attributes } | undefined {
  return span.events.findLast(
    event =>
      isRecord(event) &&
      typeof event["name"] === "string" &&
      name.test(event["name"]) &&
      isRecord(event["attributes"]),
  ) as { name: string; attributes: Attributes } | undefined;
}

/** The first of these fields of the event, with what was flattened under its name. */
function fieldOf(span: Span, name: RegExp, ...fields: string[]): Sourced<unknown> | null {
  const event = eventOf(span, name);
  if (!event) return null;
  for (const field of fields) {
    const value = fieldIn(event.attributes, field);
    if (value !== undefined) return { value, spanId: span.span_id, attribute: event.name };
  }
  return null;
}

function fieldIn(attributes: Attributes, field: string): unknown {
  const own = attributes[field];
  if (own !== undefined && own !== null) return decode(own);
  const prefix = `${field}.`;
  const inner: Attributes = Object.create(null);
  let found = false;
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue;
    found = true;
    let at = inner;
    const path = key.slice(prefix.length).split(".").slice(0, depthMax);
    for (const name of path.slice(0, -1)) {
      const next = at[name];
      at[name] = isRecord(next) ? next : Object.create(null);
      at = at[name] as Attributes;
    }
    at[path.at(-1)!] = decode(attributes[key]);
  }
  return found ? inner : undefined;
}

const depthMax = 8;

function named(found: Sourced<unknown> | null, ...path: string[]): Sourced<string> | null {
  const value = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), found?.value);
  return typeof value === "string" && /\S/.test(value) ? { ...found!, value } : null;
}
