// Proposes assertions about one value of a trace: which kind fits it, and which would do where that one does not hold.

import { attributeOf, spanText, toolNameOf } from "../model/conversation/conversation.ts";
import { parseJson } from "../model/json-text.ts";
import type { AssertionInput } from "../model/test-case/assertion.ts";
import type { Derived, Span } from "../model/trace/trace.ts";
import { callOf, headRoom, roundUp, tellingPart } from "./draft-parts.ts";

/** A value of a span: an attribute, or what stands at `path` inside one. `attribute` null is the span itself. */
export type Place = { span: Span; attribute: string | null; path: (string | number)[] };

/** What stands there; JSON text on the way is read as the JSON it holds. Undefined where nothing does. */
export function valueAt({ span, attribute, path }: Place): unknown {
  if (attribute === null) return path.length === 0 ? span.name : undefined;
  let value = attributeOf(span, attribute);
  for (const key of path) {
    const holder = typeof value === "string" ? parseJson(value) : value;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return undefined;
    value = (holder as Record<string | number, unknown>)[key];
  }
  return value;
}

/** The most telling first. None is promised to be valid, or to hold: whoever asks tries them in order. */
export function assertionsAbout(derived: Derived, place: Place): AssertionInput[] {
  const { span, attribute, path } = place;
  const value = valueAt(place);
  if (attribute === null) {
    const tool = toolNameOf(span);
    return [tool === null ? { type: "node_call", expected_name: span.name } : callOf(tool)];
  }
  return [...aboutMeaning(derived, place, value), ...aboutValue(span.name, attribute, path, value)];
}

/** For the attributes that the specification gives a meaning. */
function aboutMeaning(derived: Derived, place: Place, value: unknown): AssertionInput[] {
  const { span, attribute, path } = place;
  const tool = toolNameOf(span);
  switch (attribute) {
    case "http.response.status_code":
      return derived.httpStatus?.value === Number(value)
        ? [{ type: "http_status", expected_status: derived.httpStatus.value }]
        : [];
    case "gen_ai.usage.input_tokens":
      return limit("max_input", derived.tokens.input);
    case "gen_ai.usage.output_tokens":
      return limit("max_output", derived.tokens.output);
    case "gen_ai.usage.reasoning.output_tokens":
      return limit("max_reasoning", derived.tokens.reasoning);
    case "gen_ai.tool.name":
      return tool === null ? [] : [callOf(tool)];
    case "gen_ai.tool.call.arguments":
      return tool === null
        ? []
        : [argumentsIn(value, path), tellingPart(argumentsIn(value, path))].flatMap(expected =>
            expected === undefined ? [] : [callOf(tool, nest(path, expected))],
          );
    case "gen_ai.response.text":
    case "gen_ai.output.messages":
      return aboutText(derived, span, typeof value === "string" && path.length > 0 ? value : null);
    default:
      return [];
  }
}

function limit(name: "max_input" | "max_output" | "max_reasoning", used: number | null): AssertionInput[] {
  return used === null ? [] : [{ type: "token_limit", [name]: roundUp(used * headRoom) }];
}

/** Arguments that are no JSON are compared under `value`. */
function argumentsIn(value: unknown, path: Place["path"]): unknown {
  if (typeof value !== "string" || path.length > 0) return value;
  const parsed = parseJson(value);
  return parsed === undefined ? { value } : parsed;
}

/** Partial arguments that hold the value at that path; of a list, some item. */
function nest(path: Place["path"], value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

function aboutText(derived: Derived, span: Span, part: string | null): AssertionInput[] {
  const text = part ?? spanText(span)?.text;
  if (text === undefined) return [];
  const isReply = derived.judgedText?.spanId === span.span_id;
  return phrasesOf(text).map(phrase => ({
    type: "response_regex",
    pattern: literally(phrase),
    ...(isReply ? {} : { target_node: span.name }),
  }));
}

const phraseMax = 100;

/** The beginning of the first line, whole words of it; and, for texts of which no engine makes sense, a plain word. */
function phrasesOf(text: string): string[] {
  const line = /\S[^\n\r]*/.exec(text)?.[0].trimEnd() ?? "";
  const start =
    line.length > phraseMax ? (/^.*\S(?=\s)/.exec(line.slice(0, phraseMax))?.[0] ?? line.slice(0, 50)) : line;
  return [start, /\w{2,40}/.exec(text)?.[0] ?? ""].filter(phrase => phrase !== "");
}

function literally(phrase: string): string {
  return phrase.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** For any attribute: equal to it, or, where a part of it was chosen, a schema that asks for this part alone. */
function aboutValue(target: string, field: string, path: Place["path"], value: unknown): AssertionInput[] {
  if (path.length > 0) {
    const schema = path.reduceRight<unknown>(
      (inner, key) =>
        typeof key === "number"
          ? { type: "array", contains: inner }
          : { type: "object", required: [key], properties: { [key]: inner } },
      { const: value },
    );
    return [{ type: "json_schema", target_node: target, field, schema }];
  }
  const parsed = typeof value === "string" && /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
  return [...(parsed === undefined ? [] : [parsed]), value].map(expected_value => ({
    type: "json_match",
    target_node: target,
    field,
    expected_value,
  }));
}
