// Finds the messages in whatever an SDK recorded as input or output: lists, wrappers, LangChain's constructors, completions.
import { isRecord, textOrNone } from "../../model/record.ts";
import type { Attributes } from "../../model/trace/trace.ts";
import { type ReadMessage, type ReadPiece, takeApart, takeApartParts } from "./message-parts.ts";
import type { Sourced } from "./reading.ts";
import { decode } from "./values.ts";

type Side = "user" | "assistant";

/** The messages of a value; those that name no role get that of the side. Null if nothing can be read as a message. */
export function messagesIn(found: Sourced<unknown> | null, side: Side): Sourced<ReadMessage[]> | null {
  if (!found) return null;
  const messages = collect(found.value, side, 0).filter(message => {
    if (message.pieces.some(isHidden)) message.pieces = message.pieces.filter(piece => !isHidden(piece));
    return message.pieces.length + message.calls.length + message.results.length > 0;
  });
  for (const message of messages) message.role = roleOf(message.role) || side;
  return messages.length > 0 ? { ...found, value: messages } : null;
}

/** What SDKs write in place of a text that they are told to hide: OpenInference, LiteLLM and Strands. */
const placeholders = new Set(["__REDACTED__", "redacted-by-litellm", "[REDACTED]"]);

const isHidden = (piece: ReadPiece) => piece.kind === "text" && placeholders.has(piece.text);

const depthMax = 8;

function collect(value: unknown, side: Side, depth: number): ReadMessage[] {
  if (depth > depthMax || value === null || value === undefined) return [];
  if (typeof value === "string") {
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
  if (list.length > 0 && list.every(isPart)) return [takeApartParts(side, list.map(withDecodedCall), [])];
  return list.flatMap(item => (typeof item === "string" ? [] : collect(item, side, depth + 1)));
}

/** A part of a message that stands alone, without a message around it. */
function isPart(item: unknown): boolean {
  if (!isRecord(item) || "role" in item || "kwargs" in item || "data" in item || "message" in item)
    return false;
  if ("toolUse" in item || "toolResult" in item || "toolRequest" in item) return true;
  return (
    Object.keys(item).every(key => partKeys.has(key)) && typeof (item["text"] ?? item["content"]) === "string"
  );
}

const partKeys = new Set(["type", "text", "content"]);

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
    if (type === "function_call") return [message({ role: "assistant", parts: [record] })];
    if (type === "function_call_output") {
      return [message({ role: "tool", content: record["output"], tool_call_id: record["call_id"] })];
    }
    if ("value" in record) return inner("value");
  }
  if (
    "role" in record &&
    ("content" in record || "parts" in record || "tool_calls" in record || "toolCalls" in record)
  ) {
    return [message(record)];
  }
  if (isRecord(record["message"])) return inner("message");
  for (const key of wrappers) if (Array.isArray(record[key]) || isRecord(record[key])) return inner(key);
  if (isRecord(record["content"])) return inner("content");
  if (Array.isArray(record["parts"])) return [message({ role: side, ...record })];
  return single(record, side);
}

const wrappers = [
  "messages",
  "choices",
  "generations",
  "contents",
  "update",
  "newMessages",
  "output",
  "outputs",
  "input",
  "inputs",
  "value",
];

/** An object that has one text under a name that says what it is, or calls a function with one text. */
function single(record: Attributes, side: Side): ReadMessage[] {
  if (Array.isArray(record["args"]) && isRecord(record["kwargs"])) {
    const given = [...record["args"], ...Object.values(record["kwargs"])];
    const texts = given.filter(value => typeof value === "string");
    if (texts.length === 1 && given.length === 1) return [takeApartParts(side, texts[0], [])];
    return given.length === 1
      ? collect(given[0], side, depthMax - 1)
      : collect(record["kwargs"], side, depthMax - 1);
  }
  const names = side === "user" ? askedNames : answeredNames;
  const name = names.find(key => typeof record[key] === "string" && /\S/.test(record[key] as string));
  return name === undefined ? [] : [takeApartParts(side, record[name], [])];
}

const askedNames = [
  "question",
  "input",
  "query",
  "prompt",
  "task",
  "text",
  "user_input",
  "userInput",
  "message",
];
const answeredNames = [
  "answer",
  "output",
  "response",
  "result",
  "text",
  "reply",
  "final_answer",
  "content",
  "completion",
];

const roles = new Set([
  "system",
  "developer",
  "user",
  "human",
  "assistant",
  "ai",
  "model",
  "tool",
  "function",
  "AIMessageChunk",
]);

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

/** Whether it is JSON text of parts, or has parts in Genkit's names. */
function isWrapped(value: unknown): boolean {
  if (typeof value === "string") return textOfParts.test(value);
  return Array.isArray(value) && value.some(part => withDecodedCall(part) !== part);
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
  if (Array.isArray(copy["contents"])) copy["content"] ??= copy["contents"];
  for (const key of ["content", "parts"]) {
    const sent = copy[key];
    const value = typeof sent === "string" && textOfParts.test(sent) ? decode(sent) : sent;
    if (Array.isArray(value) && !isResultOfTool(record, value)) copy[key] = value.map(withDecodedCall);
  }
  return copy;
}

/** What a tool returned, which may be a list of anything, and not the parts of its message. */
function isResultOfTool({ role }: Attributes, items: unknown[]): boolean {
  const names = ["type", "text", "kind", "content", "toolResult", "toolResponse"];
  return role === "tool" && !items.some(item => isRecord(item) && names.some(name => name in item));
}

/** `toolRequest` is Genkit's name of a call. */
function withDecodedCall(part: unknown): unknown {
  if (!isRecord(part)) return part;
  const { toolRequest: call, toolResponse: result } = part;
  if (isRecord(call))
    return { type: "tool_call", id: call["ref"], name: call["name"], arguments: call["input"] };
  if (isRecord(result))
    return {
      type: "tool_result",
      tool_call_id: result["ref"],
      name: result["name"],
      output: result["output"],
    };
  return part;
}

/** The texts of a message, joined. */
export function textIn({ pieces }: ReadMessage): string {
  return pieces.map(piece => (piece.kind === "text" ? piece.text : "")).join("");
}

/** The position of the user's last message with text; -1 if there is none. */
export function indexOfQuestion(messages: ReadMessage[]): number {
  return messages.findLastIndex(one => one.role === "user" && /\S/.test(textIn(one)));
}
