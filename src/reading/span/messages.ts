// Finds the messages in whatever an SDK recorded as input or output: lists, wrappers, LangChain's constructors, completions.
import { isRecord, textOrNone } from "../../model/record.ts";
import type { Attributes } from "../../model/trace/trace.ts";
import { fieldText } from "./field-text.ts";
import { type ReadMessage, type ReadPiece, takeApart, takeApartParts, textIn } from "./message-parts.ts";
import {
  argumentKeys,
  callIdKeys,
  callNameKeys,
  callTypes,
  innerCalls,
  innerResults,
  resultTypes,
} from "./part-shapes.ts";
import type { Sourced } from "./reading.ts";
import { decode } from "./values.ts";
import { answeredNames, askedNames, besides, envelopes, roles, wrappers } from "./wrappers.ts";

type Side = "user" | "assistant";

/** The messages of a value; those that name no role get that of the side. Null if nothing can be read as a message. */
export function messagesIn(found: Sourced<unknown> | null, side: Side): Sourced<ReadMessage[]> | null {
  const messages = found ? withContent(collect(found.value, side, 0), side) : [];
  return messages.length > 0 ? { ...found!, value: messages } : null;
}

/** Those that say something, with the names of roles that the rest of the service knows. */
export function withContent(messages: ReadMessage[], side: Side): ReadMessage[] {
  const kept = messages.filter(message => {
    if (message.pieces.some(isHidden)) message.pieces = message.pieces.filter(piece => !isHidden(piece));
    return message.pieces.length + message.calls.length + message.results.length > 0;
  });
  for (const message of kept) message.role = roleOf(message.role) || side;
  return kept;
}

/**
 * A reply that is an object or a list, as the text that was sent. Null for text, for what holds nothing, and for the
 * envelope of an answer, of which messages are read.
 */
export function dataIn(found: Sourced<unknown> | null, sent: unknown): Sourced<ReadMessage[]> | null {
  const value = found && withoutType(found.value);
  if (typeof value !== "object" || value === null) return null;
  const items = Array.isArray(value) ? value : [value];
  if (isNothing(items) || items.some(item => isRecord(item) && isEnvelope(item))) return null;
  const text = value === found!.value && typeof sent === "string" ? sent : JSON.stringify(value);
  const message = takeApartParts("assistant", text, []);
  return { ...found!, value: [{ ...message, isData: true }] };
}

/** LangWatch's `{ type: "json", value }`. */
function withoutType(value: unknown): unknown {
  if (!isRecord(value) || typeof value["type"] !== "string" || !("value" in value)) return value;
  return Object.keys(value).length === 2 ? decode(value["value"]) : value;
}

function isEnvelope(record: Attributes): boolean {
  return Object.keys(record).some(key => envelopes.has(key)) || isNothing(record);
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  if (Array.isArray(value)) return value.every(isNothing);
  return isRecord(value) && Object.values(value).every(isNothing);
}

/** What SDKs write in place of a text that they are told to hide: OpenInference, LiteLLM and Strands. */
const placeholders = new Set(["__REDACTED__", "redacted-by-litellm", "[REDACTED]"]);

const placeholderMax = Math.max(...[...placeholders].map(({ length }) => length));

/** Without the hash of a long text, which costs as much as parsing it. */
const isHidden = (piece: ReadPiece) =>
  piece.kind === "text" && piece.text.length <= placeholderMax && placeholders.has(piece.text);

const depthMax = 8;

function collect(value: unknown, side: Side, depth: number): ReadMessage[] {
  if (depth > depthMax || value === null || value === undefined) return [];
  if (typeof value === "string") {
    // MLflow writes JSON, and it is nothing.
    if (value === "null") return [];
    const decoded = decode(value);
    if (typeof decoded !== "string") return collect(decoded, side, depth + 1);
    return /\S/.test(decoded) ? [takeApartParts(side, decoded, [])] : [];
  }
  if (Array.isArray(value)) return collectList(value, side, depth);
  return isRecord(value) ? collectRecord(value, side, depth) : [];
}

function collectList(list: unknown[], side: Side, depth: number): ReadMessage[] {
  // LangChain's pairs of a role and a text.
  if (list.length === 2 && typeof list[0] === "string" && roles.has(list[0]) && typeof list[1] === "string") {
    return [takeApartParts(list[0], list[1], [])];
  }
  if (list.length > 0 && list.every(isPart)) return [takeApartParts(side, list.map(asPart), [])];
  return list.flatMap(item => (typeof item === "string" ? [] : collect(item, side, depth + 1)));
}

/** A part of a message that stands alone, without a message around it. */
function isPart(item: unknown): boolean {
  if (!isRecord(item) || "role" in item || "kwargs" in item || "data" in item || "message" in item)
    return false;
  for (const name in item)
    if ((innerCalls.has(name) || innerResults.has(name)) && isRecord(item[name])) return true;
  if (isCall(item)) return true;
  return (
    Object.keys(item).every(key => partKeys.has(key)) && typeof (item["text"] ?? item["content"]) === "string"
  );
}

const partKeys = new Set(["type", "text", "content", "annotations", "logprobs", "cache_control"]);

/** A call that stands alone, whatever names its parts have; a definition of a tool has no arguments. */
function isCall(item: Attributes): boolean {
  const holder = isRecord(item["function"]) ? item["function"] : item;
  if ("parameters" in holder || "input_schema" in holder || "inputSchema" in holder || "content" in item)
    return false;
  const type = textOrNone(item["type"]);
  if (fieldText(holder, ...callNameKeys) === null) return isNamelessCall(type);
  if (!argumentKeys.some(key => key in holder)) return false;
  return callTypes.has(type) || (type === "" && signsOfCall.some(key => key in item));
}

/** Beside a name and arguments: any object may have `name` and `input`. */
const signsOfCall = ["function", "toolName", "tool_name", "arguments", "args", ...callIdKeys];

const isNamelessCall = (type: string) =>
  callTypes.has(type) && type.endsWith("_call") && type !== "function_call";

/** A call without a type gets one. */
function asPart(item: unknown): unknown {
  return isRecord(item) && !("type" in item) && isCall(item) ? { ...item, type: "tool_call" } : item;
}

function collectRecord(record: Attributes, side: Side, depth: number): ReadMessage[] {
  const inner = (key: string) => collect(record[key], side, depth + 1);
  // LangChain: a constructor with its arguments, or a type with its data.
  if ("lc" in record && isRecord(record["kwargs"])) {
    const name = Array.isArray(record["id"]) ? textOrNone(record["id"].at(-1)) : "";
    const type = record["kwargs"]["type"] ?? name.replace(/Message(?:Chunk)?$/, "").toLowerCase();
    const role = roleOf(textOrNone(type));
    return [message({ ...record["kwargs"], role })];
  }
  if (typeof record["type"] === "string") {
    const { type } = record;
    if (isRecord(record["data"]) && roles.has(type)) return [message({ ...record["data"], role: type })];
    if (roles.has(type) && "content" in record) return [message({ ...record, role: type })];
    if (resultTypes.has(type)) {
      const id = fieldText(record, "call_id", "tool_call_id", "tool_use_id");
      if (id !== null && "output" in record)
        return [message({ role: "tool", content: record["output"], tool_call_id: id })];
    }
    if (callTypes.has(type) && isCall(record)) return [message({ role: "assistant", parts: [record] })];
    if (type === "reasoning") return [message({ role: "assistant", parts: [record] })];
    if ("value" in record) return inner("value");
  }
  if ("role" in record && bodies.some(key => key in record)) return [message(record)];
  if (isRecord(record["message"])) return inner("message");
  if (calls.some(key => hasCalls(record[key]))) return [message({ role: side, ...record })];
  for (const key of wrappers) if (Array.isArray(record[key]) || isRecord(record[key])) return inner(key);
  if (isRecord(record["content"])) return inner("content");
  for (const key of ["parts", "blocks"])
    if (Array.isArray(record[key])) return [message({ role: side, ...record })];
  if (isCall(record) && side === "assistant") return [message({ role: side, parts: [asPart(record)] })];
  return single(record, side);
}

const calls = ["tool_calls", "toolCalls", "function_call"];
const bodies = ["content", "parts", "contents", "blocks", "refusal", ...calls];

function hasCalls(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isRecord) : isRecord(value) && fieldText(value, "name") !== null;
}

/** An object that has one text under a name that says what it is, or calls a function with one text. */
function single(record: Attributes, side: Side): ReadMessage[] {
  if (Array.isArray(record["args"]) && (isRecord(record["kwargs"]) || Object.keys(record).length === 1)) {
    const named = isRecord(record["kwargs"]) ? record["kwargs"] : {};
    const given = [...record["args"], ...Object.values(named)];
    const texts = given.filter(value => typeof value === "string");
    if (texts.length === 1 && given.length === 1) return [takeApartParts(side, texts[0], [])];
    return given.length === 1 ? collect(given[0], side, depthMax - 1) : collect(named, side, depthMax - 1);
  }
  const names = side === "user" ? askedNames : answeredNames;
  const name = names.find(key => typeof record[key] === "string" && /\S/.test(record[key] as string));
  if (name === undefined) return [];
  // An object that says more than its answer is the answer.
  const isWhole =
    side === "user" || Object.keys(record).every(key => key === name || isBeside(key, record[key]));
  return isWhole ? [takeApartParts(side, record[name], [])] : [];
}

function isBeside(key: string, value: unknown): boolean {
  return besides.has(key) || askedNames.includes(key) || isNothing(value);
}

function roleOf(role: string): string {
  if (role === "human") return "user";
  if (role === "ai" || role === "model" || role === "AIMessageChunk") return "assistant";
  return role;
}

function message(record: Attributes): ReadMessage {
  const { tool_calls: calls, contents, content, parts } = record;
  const isPlain =
    !Array.isArray(calls) && !Array.isArray(contents) && !isWrapped(content) && !isWrapped(parts);
  return takeApart(isPlain ? record : unwrapped(record), []);
}

/** Whether it is JSON text of parts. */
function isWrapped(value: unknown): boolean {
  return typeof value === "string" && textOfParts.test(value);
}

const textOfParts = /^\s*\[\s*\{/;

function unwrapped(record: Attributes): Attributes {
  const copy = { ...record };
  // OpenInference puts a name around each call and each part.
  for (const [key, name] of [
    ["tool_calls", "tool_call"],
    ["contents", "message_content"],
  ] as const) {
    if (Array.isArray(copy[key]))
      copy[key] = copy[key].map(item => (isRecord(item) && isRecord(item[name]) ? item[name] : item));
  }
  for (const key of ["content", "parts"]) {
    const sent = copy[key];
    const value = typeof sent === "string" && textOfParts.test(sent) ? decode(sent) : sent;
    if (Array.isArray(value) && !isResultOfTool(record, value)) copy[key] = value;
  }
  return copy;
}

/** What a tool returned, which may be a list of anything, and not the parts of its message. */
function isResultOfTool({ role }: Attributes, items: unknown[]): boolean {
  const names = ["type", "text", "kind", "content", ...innerResults];
  return role === "tool" && !items.some(item => isRecord(item) && names.some(name => name in item));
}

/** The position of the user's last message with text; -1 if there is none. */
export function indexOfQuestion(messages: ReadMessage[]): number {
  return messages.findLastIndex(one => one.role === "user" && /\S/.test(textIn(one)));
}
