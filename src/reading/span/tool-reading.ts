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
  readonly id: string | null;
  readonly #span: Span;
  readonly #places: ToolPlaces;

  constructor(span: Span, places: ToolPlaces) {
    this.#span = span;
    this.#places = places;
    const name = textOf(span, places.name);
    // DSPy's span of a tool is named after the method that runs.
    this.name = name?.value ?? span.name.replace(/\.__call__$/, "");
    this.nameFrom = name?.attribute ?? null;
    this.id = textOf(span, places.id)?.value ?? null;
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
  const { value, attribute } = found;
  if (attribute === argumentsKey) return isRecord(value) ? found : null;
  if (isRecord(value) && isRecord(value["kwargs"]) && Object.keys(value).length === 1) {
    return { ...found, value: value["kwargs"] };
  }
  if (isRecord(value) && Array.isArray(value["args"]) && isRecord(value["kwargs"])) {
    return value["args"].length === 0 ? { ...found, value: value["kwargs"] } : null;
  }
  return isRecord(value) ? found : null;
}

/** What the tool returned, without the message that a framework put around it. */
function resultIn(value: unknown): unknown {
  const decoded = decode(value);
  if (typeof decoded === "string") return pythonMessage.exec(decoded)?.[1]?.replaceAll("\\'", "'") ?? decoded;
  if (!isRecord(decoded)) return decoded;
  // LlamaIndex's ToolOutput.
  if ("raw_output" in decoded && "raw_input" in decoded) return decoded["raw_output"];
  return contentIn(decoded, 3) ?? decoded;
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
