// Reads the span of a tool call: the tool's name, the call's id, arguments and result.

import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf, readArguments } from "./conversation.ts";
import type { Sourced, ToolReading } from "./reading.ts";
import { decode, type Place, placesOf, sourced, textOf } from "./values.ts";

export const argumentsKey = "gen_ai.tool.call.arguments";

/** On spans of tools, in place of `input` and `output`. Attribute names, the first that has a value counts. */
export type ToolAttributes = {
  toolName?: string[];
  toolId?: string[];
  toolArguments?: string[];
  toolResult?: string[];
};

/** Where a convention's own attributes and then those that OpenTelemetry names are looked for. */
export type ToolPlaces = { name: Place[]; id: Place[]; arguments: string[]; result: string[] };

export function toolPlacesOf(own: ToolAttributes): ToolPlaces {
  return {
    name: placesOf(own.toolName, ["gen_ai.tool.name"]),
    id: placesOf(own.toolId, ["gen_ai.tool.call.id"]),
    arguments: [...(own.toolArguments ?? []), argumentsKey],
    result: [...(own.toolResult ?? []), "gen_ai.tool.call.result"],
  };
}

export const documentedTool = toolPlacesOf({});

export class SpanOfTool implements ToolReading {
  readonly name: string;
  readonly nameFrom: string | null;
  readonly #span: Span;
  readonly #places: ToolPlaces;

  constructor(span: Span, places: ToolPlaces) {
    this.#span = span;
    this.#places = places;
    const name = textOf(span, places.name);
    const own = name && !classOfTool.test(name.value) ? name : (namedInResult(span, places.result) ?? name);
    // DSPy's span of a tool is named after the method that runs.
    this.name = own?.value ?? span.name.replace(/\.__call__$/, "");
    this.nameFrom = own?.attribute ?? null;
  }

  /** That of the span, else of the message that the framework made of its result. */
  get id(): string | null {
    return (
      textOf(this.#span, this.#places.id)?.value ??
      idInMessage(sourced(this.#span, ...this.#places.result)?.value, 4)
    );
  }

  get arguments(): Sourced<unknown> | null {
    const keys = this.#places.arguments;
    const given = sourced(this.#span, ...keys);
    if (given) return argumentsIn(given);
    // Many servers send an empty text for a call without arguments. The documented one is read where nothing else is.
    const empty = keys.find(key => key !== argumentsKey && attributeOf(this.#span, key) === "");
    return empty === undefined ? null : { value: {}, spanId: this.#span.span_id, attribute: empty };
  }

  get result(): Sourced<unknown> | null {
    const made = sourced(this.#span, ...this.#places.result);
    return made && { ...made, value: resultIn(made.value) };
  }
}

/** The documented arguments of a span, which may be no object; null if it has none. */
export function documentedArguments(span: Span): Sourced<unknown> | null {
  const sent = attributeOf(span, argumentsKey);
  if (sent === undefined) return null;
  const value = decode(sent);
  return {
    value: isRecord(value) ? value : readArguments(sent),
    spanId: span.span_id,
    attribute: argumentsKey,
  };
}

/** Python's `{"args": [], "kwargs": {…}}` are the arguments of the call if there are only named ones; so is `kwargs` alone. Documented ones are as sent. */
function argumentsIn(found: Sourced<unknown>): Sourced<unknown> | null {
  const isDocumented = found.attribute === argumentsKey;
  const value = isDocumented ? ofLangChain(found.value) : unwrapped(ofLangChain(withoutType(found.value)));
  return isRecord(value) ? { ...found, value } : null;
}

function unwrapped(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { args, kwargs } = value;
  const isAlone = Object.keys(value).length === 1;
  if (isRecord(kwargs) && isAlone) return kwargs;
  if (!Array.isArray(args) || !(isRecord(kwargs) || isAlone)) return value;
  const named = isRecord(kwargs) ? kwargs : {};
  if (args.length === 0) return named;
  // One argument that is an object has the named ones.
  const only = args.length === 1 && Object.keys(named).length === 0 ? decode(args[0]) : null;
  return isRecord(only) ? only : null;
}

/** What LangChain passes to its callbacks: the arguments are in it, as an object or as text. */
function ofLangChain(value: unknown): unknown {
  if (!isRecord(value) || !("input_str" in value)) return value;
  return isRecord(value["inputs"]) ? value["inputs"] : decode(value["input_str"]);
}

/** LangWatch's `{ type, value }`. */
function withoutType(value: unknown): unknown {
  const isTyped = isRecord(value) && typeof value["type"] === "string" && "value" in value;
  return isTyped && Object.keys(value).length === 2 ? decode(value["value"]) : value;
}

/** What the tool returned, without the message that a framework put around it. */
function resultIn(value: unknown): unknown {
  const decoded = onlyMessage(withoutType(decode(value)));
  if (typeof decoded === "string") return pythonMessage.exec(decoded)?.[1]?.replaceAll("\\'", "'") ?? decoded;
  if (!isRecord(decoded)) return decoded;
  // LlamaIndex's ToolOutput.
  if ("raw_output" in decoded && "raw_input" in decoded) return decoded["raw_output"];
  return contentIn(decoded, 3) ?? decoded;
}

/** A list with one message is that message. */
function onlyMessage(value: unknown): unknown {
  const [item, ...others] = Array.isArray(value) ? value : [];
  return others.length === 0 && isRecord(item) && "role" in item && "content" in item
    ? item["content"]
    : value;
}

/** Names of LangChain's classes, which its JavaScript tracing writes in place of that of the tool. */
const classOfTool = /^(?:Dynamic)?(?:Structured)?Tool$/;

function namedInResult(span: Span, places: string[]): Sourced<string> | null {
  const made = sourced(span, ...places);
  const name = made && fieldInMessage(made.value, "name", 4);
  return name ? { ...made, value: name } : null;
}

function idInMessage(value: unknown, levels: number): string | null {
  return fieldInMessage(value, "tool_call_id", levels);
}

/** A field of the message that a framework made of a tool's result. */
function fieldInMessage(value: unknown, field: string, levels: number): string | null {
  if (!isRecord(value)) return null;
  const isMessage = "content" in value && "tool_call_id" in value;
  if (isMessage && typeof value[field] === "string" && value[field] !== "") return value[field];
  for (const key of levels > 0 ? ["data", "kwargs", "output"] : []) {
    const found = fieldInMessage(value[key], field, levels - 1);
    if (found) return found;
  }
  return null;
}

/** The content of a tool's message, on its own or wrapped; undefined if the value is no message. */
function contentIn(value: Attributes, levels: number): unknown {
  for (const key of ["data", "kwargs", "output"]) {
    const inner = value[key];
    if (!isRecord(inner)) continue;
    if ("content" in inner) return inner["content"];
    const content = levels > 0 ? contentIn(inner, levels - 1) : undefined;
    if (content !== undefined) return content;
  }
  return value["type"] === "tool" ? value["content"] : undefined;
}

/** The text of LangChain's message as Python writes it. */
const pythonMessage = /^content='((?:[^'\\]|\\.)*)' (?=\w+=)/s;
