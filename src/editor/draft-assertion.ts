// Proposes assertions about one value of a trace: the type that fits best, and alternatives in case it fails.

import { parseJson } from "../model/json-text.ts";
import type { AssertionInput } from "../model/test-case/assertion.ts";
import type { Derived, Span } from "../model/trace/trace.ts";
import { attributeOf, spanText, toolNameOf } from "../reading/span/conversation.ts";
import { wholeNumber } from "../reading/span/whole-number.ts";
import { roundUp, shortValues, tokenHeadroom, toolCallAssertion } from "./draft-parts.ts";

/** Where a value is in a span: an attribute, or `path` inside one. `attribute` null: the span itself. */
export type ValueLocation = { span: Span; attribute: string | null; path: (string | number)[] };

/** The value at the location; JSON text along the path is parsed. Undefined if there is none. */
export function valueAt({ span, attribute, path }: ValueLocation): unknown {
  if (attribute === null) return path.length === 0 ? span.name : undefined;
  let value = attributeOf(span, attribute);
  for (const key of path) {
    const parent = typeof value === "string" ? parseJson(value) : value;
    if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key)) return undefined;
    value = (parent as Record<string | number, unknown>)[key];
  }
  return value;
}

/** Most specific first. Candidates may be invalid or fail on the trace: the caller tries them in order. */
export function candidatesFor(derived: Derived, location: ValueLocation): AssertionInput[] {
  const { span, attribute, path } = location;
  const value = valueAt(location);
  if (attribute === null) {
    const tool = toolNameOf(span);
    return [tool === null ? { type: "node_call", expected_name: span.name } : toolCallAssertion(tool)];
  }
  return [...byConvention(derived, location, value), ...byValue(span.name, attribute, path, value)];
}

/** For attributes with a meaning in the specification. */
function byConvention(derived: Derived, location: ValueLocation, value: unknown): AssertionInput[] {
  const { span, attribute, path } = location;
  const tool = toolNameOf(span);
  switch (attribute) {
    case "http.response.status_code": {
      const status = path.length === 0 ? wholeNumber(span, attribute) : null;
      return status !== null && status === derived.httpStatus?.value
        ? [{ type: "http_status", expected_status: status }]
        : [];
    }
    case "gen_ai.usage.input_tokens":
      return limit("max_input", derived.tokens.input);
    case "gen_ai.usage.output_tokens":
      return limit("max_output", derived.tokens.output);
    case "gen_ai.usage.reasoning.output_tokens":
      return limit("max_reasoning", derived.tokens.reasoning);
    case "gen_ai.tool.name":
      return tool === null ? [] : [toolCallAssertion(tool)];
    case "gen_ai.tool.call.arguments":
      return tool === null
        ? []
        : [argumentsIn(value, path), shortValues(argumentsIn(value, path))].flatMap(expected =>
            expected === undefined ? [] : [toolCallAssertion(tool, nest(path, expected))],
          );
    case "gen_ai.response.text":
    case "gen_ai.output.messages":
      return byText(derived, span, typeof value === "string" && path.length > 0 ? value : null);
    default:
      return [];
  }
}

function limit(name: "max_input" | "max_output" | "max_reasoning", used: number | null): AssertionInput[] {
  return used === null ? [] : [{ type: "token_limit", [name]: roundUp(used * tokenHeadroom) }];
}

/** Arguments that are not JSON are compared under `value`. */
function argumentsIn(value: unknown, path: ValueLocation["path"]): unknown {
  if (typeof value !== "string" || path.length > 0) return value;
  const parsed = parseJson(value);
  return parsed === undefined ? { value } : parsed;
}

/** Partial arguments with the value at the path; inside a list, any item may have it. */
function nest(path: ValueLocation["path"], value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

function byText(derived: Derived, span: Span, part: string | null): AssertionInput[] {
  const text = part ?? spanText(span)?.text;
  if (text === undefined) return [];
  const isReply = derived.judgedText?.spanId === span.span_id;
  return phrasesOf(text).map(phrase => ({
    type: "response_regex",
    pattern: escapeRegex(phrase),
    ...(isReply ? {} : { target_node: span.name }),
  }));
}

const phraseMax = 100;

/** The beginning of the first line, cut at a word; then a plain word, in case the first pattern is rejected. */
function phrasesOf(text: string): string[] {
  const line = /\S[^\n\r]*/.exec(text)?.[0].trimEnd() ?? "";
  const start =
    line.length > phraseMax ? (/^.*\S(?=\s)/.exec(line.slice(0, phraseMax))?.[0] ?? line.slice(0, 50)) : line;
  return [start, /\w{2,40}/.exec(text)?.[0] ?? ""].filter(phrase => phrase !== "");
}

function escapeRegex(phrase: string): string {
  return phrase.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** For any attribute: equality with the whole value, or a JSON Schema that requires only the part at `path`. */
function byValue(
  target: string,
  field: string,
  path: ValueLocation["path"],
  value: unknown,
): AssertionInput[] {
  if (path.length > 0) {
    const schema = path.reduceRight<unknown>(
      (inner, key) =>
        typeof key === "number"
          ? { type: "array", contains: inner }
          : { type: "object", required: [key], properties: { [key]: inner } },
      { const: value },
    );
    return [{ type: "json_schema", target_node: target, field, schema, match: "any" }];
  }
  const parsed = typeof value === "string" && /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
  return [...(parsed === undefined ? [] : [parsed]), value].map(expected_value => ({
    type: "json_match",
    target_node: target,
    field,
    expected_value,
  }));
}
