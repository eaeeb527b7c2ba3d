// Splits a message, in any emitter's shape, into its texts and media, tool calls and tool results.

import { isRecord } from "../../model/record.ts";
import type { SpanPath } from "../../model/trace/shown.ts";
import type { Attributes } from "../../model/trace/trace.ts";
import { fieldText } from "./field-text.ts";
import { mediaName } from "./media-part.ts";
import * as shapes from "./part-shapes.ts";

/** A text of a message and its paths: several if the text is joined from parts. */
export type ReadText = { text: string; paths: SpanPath[] };

export type ReadPiece =
  | ({ kind: "text" } & ReadText)
  /** What the model said in place of an answer. Counts as text. */
  | ({ kind: "refusal" } & ReadText)
  | ({ kind: "reasoning" } & ReadText)
  /** Media are named, not shown. */
  | { kind: "media"; name: string }
  /** A part of an unknown type, as JSON. */
  | ({ kind: "other"; name: string } & ReadText);

/** `otherId`: the Responses API gives a call two, and histories may have either. */
export type ReadCall = {
  id: string | null;
  otherId?: string;
  name: string;
  arguments: unknown;
  paths: SpanPath[];
};
export type ReadResult = {
  id: string | null;
  name: string | null;
  value: unknown;
  failed: boolean;
  paths: SpanPath[];
};

/** `from`: where it was read, if not where the other messages were. */
export type ReadMessage = {
  role: string;
  pieces: ReadPiece[];
  calls: ReadCall[];
  results: ReadResult[];
  from?: string;
  /** Whether its text is that of an object or a list which is no message. */
  isData?: true;
};

/** The texts of a message, joined. */
export function textIn({ pieces }: ReadMessage): string {
  return pieces.map(piece => (piece.kind === "text" || piece.kind === "refusal" ? piece.text : "")).join("");
}

/** `path`: the path of the message. */
export function takeApart(message: Attributes, path: SpanPath): ReadMessage {
  const key = bodyKeys.find(name => !isEmpty(message[name])) ?? "content";
  const read = takeApartParts(fieldText(message, "role") ?? "", message[key], [...path, key]);
  if (isData(read, message[key])) read.pieces = [dataPiece(message[key], [...path, key])];
  addRefusal(read, message, path);
  if (read.calls.length === 0) addCallsBeside(read, message, path);
  const more = isRecord(message["additional_kwargs"]) ? message["additional_kwargs"] : {};
  const id = fieldText(message, ...resultIdKeys) ?? fieldText(more, ...resultIdKeys);
  return id === null ? read : asResult(read, id, fieldText(message, ...shapes.callNameKeys));
}

/** Whether the body of a message is an object or a list, and not its parts: a structured reply. */
function isData({ role, pieces, calls, results }: ReadMessage, body: unknown): boolean {
  if (calls.length + results.length > 0 || !pieces.every(({ kind }) => kind === "other")) return false;
  if (!replyRoles.has(role.toLowerCase())) return false;
  const items = Array.isArray(body) ? body : [body];
  return (
    items.length > 0 && items.every(item => isRecord(item) && fieldText(item, ...shapes.typeKeys) === null)
  );
}

const replyRoles = new Set(["assistant", "ai", "model", ""]);

const resultIdKeys = ["tool_call_id", "toolCallId"];

const bodyKeys = ["parts", "content", "contents", "blocks"];

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || body === "" || (Array.isArray(body) && body.length === 0);
}

function addRefusal(read: ReadMessage, message: Attributes, path: SpanPath): void {
  const text = fieldText(message, "refusal");
  if (text !== null) read.pieces.push({ kind: "refusal", text, paths: [[...path, "refusal"]] });
}

/** OpenAI's shape: calls are beside the content. LangChain repeats them in the arguments that it passed on. */
function addCallsBeside(read: ReadMessage, message: Attributes, path: SpanPath): void {
  for (const name of shapes.callListKeys) {
    const calls = message[name];
    if (!Array.isArray(calls)) continue;
    for (const [at, call] of calls.entries()) {
      if (isRecord(call)) read.calls.push(callIn(call, [...path, name, at]));
    }
  }
  const legacy = message["function_call"];
  if (read.calls.length === 0 && isRecord(legacy) && fieldText(legacy, "name") !== null) {
    read.calls.push(callIn(legacy, [...path, "function_call"]));
  }
  const more = message["additional_kwargs"];
  if (read.calls.length === 0 && isRecord(more))
    addCallsBeside(read, withoutMore(more), [...path, "additional_kwargs"]);
}

function withoutMore({ tool_calls, function_call }: Attributes): Attributes {
  return { tool_calls, function_call };
}

/** Reads a list of parts, or a single value in place of a list, as a message of this role. */
export function takeApartParts(role: string, value: unknown, path: SpanPath): ReadMessage {
  const read: ReadMessage = { role, pieces: [], calls: [], results: [] };
  const parts: [unknown, SpanPath][] = Array.isArray(value)
    ? value.map((part, at) => [part, [...path, at]])
    : [[value, path]];
  for (const [part, at] of parts) {
    const { piece, call, result } = readPart(part, at);
    if (call) read.calls.push(call);
    if (result) read.results.push(result);
    if (piece) addPiece(read.pieces, piece);
  }
  return read;
}

/** Converts the message to the result of a call if it is text only. */
export function asResult(read: ReadMessage, id: string, name: string | null = null): ReadMessage {
  const texts = read.pieces.filter(piece => piece.kind === "text");
  if (texts.length === 0 || texts.length < read.pieces.length || read.results.length > 0) return read;
  const value = texts.map(({ text }) => text).join("");
  const paths = texts.flatMap(piece => piece.paths);
  return { ...read, pieces: [], results: [{ id, name, value, failed: false, paths }] };
}

/** Adjacent texts are joined without a separator, as the conventions say. */
function addPiece(pieces: ReadPiece[], piece: ReadPiece): void {
  const last = pieces.at(-1);
  if (piece.kind === "text" && last?.kind === "text") {
    last.text += piece.text;
    last.paths.push(...piece.paths);
  } else {
    pieces.push(piece);
  }
}

type ReadPart = { piece?: ReadPiece; call?: ReadCall; result?: ReadResult };

function readPart(part: unknown, path: SpanPath): ReadPart {
  if (part == null || part === "") return {};
  if (typeof part === "string") return { piece: { kind: "text", text: part, paths: [path] } };
  if (!isRecord(part)) return { piece: unknownPiece(typeof part, part, path) };
  const type = fieldText(part, ...shapes.typeKeys) ?? "";
  const said = textPart(part, type, path);
  if (said) return said;
  for (const [name, inner] of Object.entries(part)) {
    if (!isRecord(inner)) continue;
    if (shapes.innerCalls.has(name)) return { call: callIn(inner, [...path, name]) };
    if (shapes.innerResults.has(name)) return { result: resultIn(inner, [...path, name]) };
  }
  if (shapes.callTypes.has(type)) {
    // The Responses API puts what an MCP server answered into its call.
    const hasOutput = type === "mcp_call" && part["output"] != null;
    return { call: callIn(part, path), ...(hasOutput && { result: resultIn(part, path) }) };
  }
  if (shapes.resultTypes.has(type)) return { result: resultIn(part, path) };
  if (shapes.dataTypes.has(type)) {
    const key = [type, "content", "value", "data"].find(name => part[name] != null);
    if (key !== undefined) return { piece: dataPiece(part[key], [...path, key]) };
  }
  const media = mediaName(part, type);
  if (media !== null) return { piece: { kind: "media", name: media } };
  return { piece: unknownPiece(type || "part", part, path) };
}

/** Null if the part is no text, reasoning or refusal. */
function textPart(part: Attributes, type: string, path: SpanPath): ReadPart | null {
  if (type === "refusal") {
    const key = ["refusal", ...shapes.contentKeys].find(name => typeof part[name] === "string");
    return key === undefined
      ? {}
      : { piece: { kind: "refusal", text: String(part[key]), paths: [[...path, key]] } };
  }
  const isText = shapes.textTypes.has(type);
  // Google marks reasoning as a thought instead of giving it a type.
  const isThought = shapes.reasoningTypes.has(type) || part["thought"] === true;
  if (!isText && !isThought) return null;
  const written = shapes.contentKeys.find(name => typeof part[name] === "string");
  if (written !== undefined && (part[written] !== "" || !isThought)) {
    const text = String(part[written]);
    const kind = isThought ? "reasoning" : "text";
    return text === "" ? {} : { piece: { kind, text, paths: [[...path, written]] } };
  }
  const key = shapes.reasoningKeys.find(name => part[name] != null);
  if (key !== undefined) {
    const text = thoughtIn(part[key], 0);
    return text === "" ? {} : { piece: { kind: "reasoning", text, paths: [[...path, key]] } };
  }
  if (shapes.reasoningTypes.has(type)) return {};
  const data =
    type === "" ? undefined : shapes.contentKeys.find(name => typeof part[name] === "object" && part[name]);
  return data === undefined ? null : { piece: dataPiece(part[data], [...path, data]) };
}

/** The Responses API lists the paragraphs of a summary; Bedrock wraps the text. */
function thoughtIn(value: unknown, depth: number): string {
  if (typeof value === "string") return value;
  if (depth > 3) return "";
  if (Array.isArray(value)) return value.map(item => thoughtIn(item, depth + 1)).join("");
  return isRecord(value)
    ? thoughtIn(value["text"] ?? value["reasoningText"] ?? value["content"], depth + 1)
    : "";
}

function dataPiece(value: unknown, path: SpanPath): ReadPiece {
  return { kind: "text", text: typeof value === "string" ? value : JSON.stringify(value), paths: [path] };
}

function unknownPiece(name: string, value: unknown, path: SpanPath): ReadPiece {
  return { kind: "other", name, text: JSON.stringify(value), paths: [path] };
}

function callIn(call: Attributes, path: SpanPath): ReadCall {
  const inner = call["function"];
  const [holder, own] = isRecord(inner) ? [inner, [...path, "function"]] : [call, path];
  const key = shapes.argumentKeys.find(name => holder[name] != null);
  const id = fieldText(call, ...shapes.callIdKeys);
  const otherId = fieldText(call, "id");
  return {
    id,
    ...(otherId !== null && otherId !== id && { otherId }),
    name: fieldText(holder, ...shapes.callNameKeys) ?? shapes.nameOfType(fieldText(call, "type") ?? ""),
    arguments: key === undefined ? null : holder[key],
    paths: key === undefined ? [] : [[...own, key]],
  };
}

function resultIn(part: Attributes, path: SpanPath): ReadResult {
  const key = shapes.resultKeys.find(name => part[name] != null);
  const origin = isRecord(part["origin"]) ? part["origin"] : {};
  return {
    id: fieldText(part, ...shapes.callIdKeys) ?? fieldText(origin, "id"),
    name: fieldText(part, ...shapes.callNameKeys) ?? fieldText(origin, ...shapes.callNameKeys),
    value: key === undefined ? null : part[key],
    failed: hasFailed(part),
    paths: key === undefined ? [] : [[...path, key]],
  };
}

/** Also a command that ended with another code than 0. */
export function hasFailed(part: Attributes): boolean {
  if (part["is_error"] === true || part["isError"] === true || part["error"] === true) return true;
  const code = part["exit_code"] ?? part["exitCode"];
  return part["status"] === "error" || (typeof code === "number" && code !== 0);
}
