// Extracts the text of an agent's reply: by a JSON pointer, at a product's usual location, or from an event stream.
import { createParser } from "eventsource-parser";
import type { ReplyLocation } from "../../model/agent/connection.ts";
import { isRawInteger, parseRaw } from "../../model/json-exact.ts";
import { beginningOf } from "../foreign-text.ts";

/** `product`: the location used by Flowise or Langflow. */
export type TextLocation = ReplyLocation | { kind: "product"; product: "flowise" | "langflow" };

/** `why` completes "The reply …". */
export type Found = { text: string } | { text: null; why: string };

/** Reads a reply to its end, or to the `[DONE]` of a stream of events. Rejects as reading the body does. */
export async function readText(response: Response, place: TextLocation): Promise<Found> {
  const isStream = /^text\/event-stream\b/i.test(beginningOf(response.headers.get("content-type")));
  if (isStream && response.body) return inEvents(response.body, place);
  return findText(await decoded(response), place);
}

/** The whole body, decoded by its charset. */
export async function decoded(response: Response): Promise<string> {
  const [, charset] =
    /;\s*charset="?([^\s";]+)/i.exec(beginningOf(response.headers.get("content-type"))) ?? [];
  const bytes = await response.arrayBuffer();
  return decoderOf(charset).decode(bytes);
}

/** Falls back to UTF-8 for unknown charsets. */
function decoderOf(charset = "utf-8"): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

export function findText(body: string, place: TextLocation): Found {
  if (place.kind === "text" || place.kind === "trace") return { text: body };
  if (body.trim() === "") return { text: null, why: "is empty" };
  const value = parsed(body);
  if (value !== undefined) return inValue(value, place);
  // Sign-in pages, proxy errors and dashboards may all have status 200.
  if (/^\s*<(?:!doctype\s|html\b)/i.test(beginningOf(body))) return { text: null, why: "is a web page" };
  return place.kind === "auto" ? inLines(body) : { text: null, why: "is not JSON" };
}

function inValue(value: unknown, place: Exclude<TextLocation, { kind: "text" | "trace" }>): Found {
  if (place.kind === "json") {
    const text = textOf(at(value, place.pointer));
    if (text !== undefined) return { text };
    return { text: null, why: `has no text at ${place.pointer || "its top"}` };
  }
  if (place.kind === "product") {
    if (hasError(value)) return { text: null, why: "is an error" };
    if (place.product === "langflow" && outputsOf(value).some(isFailedOutput)) {
      return { text: null, why: "is an error of a component" };
    }
    const text = place.product === "flowise" ? firstText(value, flowisePointers) : inOutputs(value);
    return text === undefined ? { text: null, why: `is not one of ${names[place.product]}'s` } : { text };
  }
  return inItem(value);
}

const names = { flowise: "Flowise", langflow: "Langflow" };

const flowisePointers = ["/text", "/json"];

// Locations in a Langflow output: the current one first, then those of older versions and other components.
const langflowPointers = [
  "/results/message/text",
  "/results/message/data/text",
  "/outputs/message/message/text",
  "/outputs/message/message",
  "/artifacts/message",
  "/messages/0/message",
  "/results/text/text",
  "/results/text/data/text",
];

/** The text of the first output that has one: outputs of branches not taken are empty. */
function inOutputs(value: unknown): string | undefined {
  return outputsOf(value)
    .map(output => firstText(output, langflowPointers))
    .find(text => text !== undefined);
}

/** The outputs of all of a Langflow reply's runs: the text may be in a later one. */
function outputsOf(value: unknown): unknown[] {
  const runs = at(value, "/outputs");
  if (!Array.isArray(runs)) return [];
  return runs.flatMap(run => at(run, "/outputs") ?? []);
}

/** Langflow answers 200 with a message that is marked as an error. */
function isFailedOutput(output: unknown): boolean {
  return ["/results/message", "/results/message/data"].some(
    message => at(output, `${message}/error`) === true || at(output, `${message}/category`) === "error",
  );
}

// Usual names for the text in a workflow's last item; chat triggers read the first two.
const usualPointers = [
  "/output",
  "/text",
  "/response",
  "/reply",
  "/answer",
  "/content",
  "/message/content",
  "/message",
];

/** A workflow's reply: a text, an item, or a list of items, of which the first is used. */
function inItem(value: unknown): Found {
  const item = Array.isArray(value) ? value[0] : value;
  const why = ownWordOf(item);
  if (why !== undefined) return { text: null, why };
  if (["", "/json", "/body", "/data"].some(within => hasError(at(item, within)))) {
    return { text: null, why: "is an error" };
  }
  const own = textOf(item);
  const text = own ?? firstText(item, usualPointers) ?? firstText(item, nested(usualPointers));
  return text === undefined ? { text: null, why: "has no text under a usual name such as output" } : { text };
}

/** `error: true`, or an error as a text or an object; false, null and empty ones say that there is none. */
function hasError(value: unknown): boolean {
  const error = at(value, "/error");
  return typeof error === "object" && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

/** n8n's own messages in place of a workflow's output, which it sends with status 200. */
function ownWordOf(item: unknown): string | undefined {
  const message = at(item, "/message");
  if (message === "Workflow was started" || at(item, "/executionStarted") === true) {
    return "says only that the workflow was started: let its trigger respond when the last node finishes";
  }
  const isEmpty =
    typeof message === "string" &&
    (message.startsWith("Workflow executed successfully but ") || message.startsWith("No item to return "));
  if (isEmpty) return "says only that the workflow ended without data: let its last node return the text";
  if (at(item, "/metadata/nodeId") === undefined) return undefined;
  const type = at(item, "/type");
  if (type === "error") return "is an error of a node";
  return type === "begin" || type === "item" ? unended : undefined;
}

const unended = "is a stream that broke off before its end";

function nested(pointers: string[]): string[] {
  return ["/json", "/body", "/data"].flatMap(above => pointers.map(pointer => above + pointer));
}

const chunkTypes: unknown[] = ["begin", "item", "end", "error", "keepalive"];

/** A reply that is not JSON: a stream with one item per line, as chat triggers send it, else plain text. */
function inLines(body: string): Found {
  const parts: string[] = [];
  const counts = { begin: 0, end: 0 };
  let last: unknown;
  for (const line of body.split("\n")) {
    if (line.trim() === "") continue;
    const item = parsed(line);
    const type = at(item, "/type");
    // A line that was cut off is no reply in plain text.
    if (item === undefined && parts.length > 0 && line.startsWith("{")) return { text: null, why: unended };
    // Stops at the first line that is not an item, so that a text of a million lines is not parsed line by line.
    if (item === undefined || (parts.length === 0 && !chunkTypes.includes(type))) return { text: body };
    if (type === "error") return { text: null, why: "ends in an error" };
    if (type === "begin" || type === "end") counts[type] += 1;
    if (type !== "keepalive") last = type;
    parts.push(type === "item" ? (textOf(at(item, "/content")) ?? "") : "");
  }
  if (last !== "end" || counts.end < counts.begin) return { text: null, why: unended };
  return { text: parts.join("") };
}

/**
 * Joins the texts of a stream's events; events without text are skipped. Stops reading after `[DONE]`, because some servers
 * then leave the connection open. Events are parsed as they arrive, so that other work of the thread can run in between.
 */
async function inEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>, place: TextLocation): Promise<Found> {
  const parts: string[] = [];
  let [done, broken] = [false, false];
  // The last chunk of a chat completion has a finish reason.
  let [isUnfinished, isFinished] = [false, false];
  const parser = createParser({
    onEvent({ event, data }) {
      done ||= data.trim() === "[DONE]";
      if (done) return;
      const { text, isError, finish } = inEvent(data, place);
      broken ||= isError || event === "error";
      isUnfinished ||= finish === null;
      isFinished ||= typeof finish === "string";
      if (text !== null) parts.push(text);
    },
  });
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(chunk);
    if (done) break;
  }
  // The end of the stream also ends the last event.
  parser.feed("\n\n");
  // A partial reply is an error.
  if (broken) return { text: null, why: "is a stream with an error in it" };
  if (isUnfinished && !isFinished && !done) return { text: null, why: unended };
  if (parts.length > 0) return { text: parts.join("") };
  const where = place.kind === "json" ? ` at ${place.pointer || "its top"}` : "";
  return { text: null, why: `is a stream in which no event has a text${where}` };
}

type EventFound = { text: string | null; isError: boolean; finish?: unknown };

/** `isError`: its data says so, as servers of completions do. `finish`: null in chunks before the last. */
function inEvent(data: string, place: TextLocation): EventFound {
  if (place.kind === "text" || place.kind === "trace") return { text: data, isError: false };
  const value = parsed(data);
  if (value === undefined) return { text: place.kind === "auto" ? data : null, isError: false };
  const finish = at(value, "/choices/0/finish_reason");
  return { text: inValue(value, place).text, isError: Boolean(at(value, "/error")), finish };
}

function firstText(value: unknown, pointers: string[]): string | undefined {
  for (const pointer of pointers) {
    const found = at(value, pointer);
    const text = textOf(found) ?? (structured.test(pointer) ? jsonOf(found) : undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Flowise's structured `json`, and `output` where an agent of n8n has an output parser: read as JSON text. */
const structured = /^(?:\/json|(?:\/(?:json|body|data))?\/output)$/;

function jsonOf(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (isRawInteger(value)) return value.rawJSON;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The value at an RFC 6901 pointer; undefined if there is none. */
function at(value: unknown, pointer: string): unknown {
  let found = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function parsed(text: string): unknown {
  try {
    return parseRaw(text);
  } catch {
    return undefined;
  }
}
