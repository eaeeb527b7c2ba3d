// Splits a message, in any emitter's shape, into its texts and media, tool calls and tool results.

import { isRecord } from "../../model/record.ts";
import type { SpanPath } from "../../model/trace/shown.ts";
import type { Attributes } from "../../model/trace/trace.ts";

/** A text of a message and its paths: several if the text is joined from parts. */
export type ReadText = { text: string; paths: SpanPath[] };

export type ReadPiece =
  | ({ kind: "text" } & ReadText)
  | ({ kind: "reasoning" } & ReadText)
  /** Media are named, not shown. */
  | { kind: "media"; name: string }
  /** A part of an unknown type, as JSON. */
  | ({ kind: "other"; name: string } & ReadText);

export type ReadCall = { id: string | null; name: string; arguments: unknown; paths: SpanPath[] };
export type ReadResult = {
  id: string | null;
  name: string | null;
  value: unknown;
  failed: boolean;
  paths: SpanPath[];
};

export type ReadMessage = { role: string; pieces: ReadPiece[]; calls: ReadCall[]; results: ReadResult[] };

/** `path`: the path of the message. */
export function takeApart(message: Attributes, path: SpanPath): ReadMessage {
  const parts = message["parts"];
  const key = (Array.isArray(parts) && parts.length === 0) || parts == null ? "content" : "parts";
  const read = takeApartParts(textIn(message, "role") ?? "", message[key], [...path, key]);

  // OpenAI's shape: calls are beside the content, and results are messages.
  for (const name of ["tool_calls", "toolCalls"]) {
    const calls = message[name];
    if (!Array.isArray(calls)) continue;
    for (const [at, call] of calls.entries()) {
      if (isRecord(call)) read.calls.push(callIn(call, [...path, name, at]));
    }
  }
  const id = textIn(message, "tool_call_id", "toolCallId");
  return id === null ? read : asResult(read, id, textIn(message, "name", "tool_name"));
}

/** Reads a list of parts, or a single value in place of a list, as a message of this role. */
export function takeApartParts(role: string, value: unknown, path: SpanPath): ReadMessage {
  const read: ReadMessage = { role, pieces: [], calls: [], results: [] };
  const parts: [unknown, SpanPath][] = Array.isArray(value)
    ? value.map((part, at) => [part, [...path, at]])
    : [[value, path]];
  for (const [part, at] of parts) {
    const found = readPart(part, at);
    if ("call" in found) read.calls.push(found.call);
    else if ("result" in found) read.results.push(found.result);
    else if (found.piece) addPiece(read.pieces, found.piece);
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

type ReadPart = { piece: ReadPiece | null } | { call: ReadCall } | { result: ReadResult };

function readPart(part: unknown, path: SpanPath): ReadPart {
  if (part == null || part === "") return { piece: null };
  if (typeof part === "string") return { piece: { kind: "text", text: part, paths: [path] } };
  if (!isRecord(part)) return { piece: unknownPiece(typeof part, part, path) };
  const type = typeof part["type"] === "string" ? part["type"] : "";
  const thought = reasoningTypes.has(type) || part["thought"] === true;
  if (thought || textTypes.has(type)) {
    const key = textKeys.find(name => typeof part[name] === "string");
    const text = key === undefined ? "" : String(part[key]);
    const kind = thought ? "reasoning" : "text";
    if (text !== "") return { piece: { kind, text, paths: [[...path, key!]] } };
    if (thought || key !== undefined) return { piece: null };
  }
  for (const [name, inner] of Object.entries(part)) {
    if (!isRecord(inner)) continue;
    if (innerCalls.has(name)) return { call: callIn(inner, [...path, name]) };
    if (innerResults.has(name)) return { result: resultIn(inner, [...path, name]) };
  }
  if (callTypes.has(type)) return { call: callIn(part, path) };
  if (resultTypes.has(type)) return { result: resultIn(part, path) };
  const media = mediaName(part, type);
  if (media !== null) return { piece: { kind: "media", name: media } };
  return { piece: unknownPiece(type || "part", part, path) };
}

function unknownPiece(name: string, value: unknown, path: SpanPath): ReadPiece {
  return { kind: "other", name, text: JSON.stringify(value), paths: [path] };
}

const textTypes = new Set(["", "text", "input_text", "output_text"]);
const textKeys = ["content", "text", "thinking", "reasoning", "summary"];
const reasoningTypes = new Set(["reasoning", "thinking", "thought", "redacted_thinking"]);
const callTypes = new Set([
  "tool_call",
  "tool-call",
  "tool_use",
  "function_call",
  "function",
  "server_tool_call",
  "server_tool_use",
]);
const resultTypes = new Set([
  "tool_call_response",
  "tool-result",
  "tool_result",
  "function_call_output",
  "server_tool_call_response",
]);

// Google and Amazon Bedrock name the part instead of giving it a type.
const innerCalls = new Set(["functionCall", "function_call", "toolUse"]);
const innerResults = new Set(["functionResponse", "function_response", "toolResult"]);

const idKeys = ["id", "call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"];

function callIn(call: Attributes, path: SpanPath): ReadCall {
  const inner = call["function"];
  const [holder, own] = isRecord(inner) ? [inner, [...path, "function"]] : [call, path];
  const key = ["arguments", "input", "args", "server_tool_call"].find(name => holder[name] != null);
  return {
    id: textIn(call, ...idKeys),
    name: textIn(holder, "name", "tool_name", "toolName") ?? "",
    arguments: key === undefined ? null : holder[key],
    paths: key === undefined ? [] : [[...own, key]],
  };
}

function resultIn(part: Attributes, path: SpanPath): ReadResult {
  const keys = ["response", "result", "output", "content", "server_tool_call_response"];
  const key = keys.find(name => part[name] != null);
  return {
    id: textIn(part, ...idKeys.slice(1), "id"),
    name: textIn(part, "name", "tool_name", "toolName"),
    value: key === undefined ? null : part[key],
    failed: part["is_error"] === true || part["isError"] === true || part["status"] === "error",
    paths: key === undefined ? [] : [[...path, key]],
  };
}

const mediaTypes = /^(?:blob|uri|media|document|(?:input_|output_)?(?:image|audio|video|file)(?:_url)?)$/;

/** Describes a media part: its type, name and size. */
function mediaName(part: Attributes, type: string): string | null {
  const inner = [part["inlineData"], part["inline_data"], part["fileData"], part["file_data"]].find(isRecord);
  if (!inner && !mediaTypes.test(type)) return null;
  const holder = inner ?? part;
  const nested = [holder["source"], holder["image_url"], holder["file"], holder["input_audio"]].find(
    isRecord,
  );
  const look = (...keys: string[]) => textIn(holder, ...keys) ?? (nested ? textIn(nested, ...keys) : null);
  const kind =
    look("mime_type", "mimeType", "media_type", "mediaType", "modality", "format") ?? (type || "media");
  const called = look(
    "filename",
    "file_name",
    "name",
    "file_id",
    "fileId",
    "file_uri",
    "fileUri",
    "uri",
    "url",
  );
  const data = look("content", "data", "image");
  const place = textIn(part, "image_url") ?? called;
  const names = [kind, place !== null && place.length <= 300 && !place.startsWith("data:") ? place : null];
  const size = data ?? (place?.startsWith("data:") ? place : null);
  if (size !== null) names.push(`${size.length.toLocaleString("en")} characters of data`);
  return names.filter(name => name !== null).join(", ");
}

/** The first of these fields that is a non-empty string. */
function textIn(record: Attributes, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(record, key) ? record[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
