// Extracts the text of an agent's reply: by a JSON pointer, at a product's usual location, or from an event stream.
import type { ReplyLocation } from "../../model/agent/connection.ts";
import { isRawInteger, parseRaw } from "../../model/json-exact.ts";
import { beginningOf } from "../foreign-text.ts";
import { valueAt as at } from "./json-pointer.ts";
import { errorPlace, isHtml } from "./reply-errors.ts";
import { type Found, readStream, unended } from "./reply-stream.ts";

/** `product`: the location used by Flowise or Langflow. */
export type TextLocation = ReplyLocation | { kind: "product"; product: "flowise" | "langflow" };

/** Reads a reply to its end, or to the `[DONE]` of a stream of events. Rejects as reading the body does. */
export async function readText(response: Response, place: TextLocation): Promise<Found> {
  const contentType = response.headers.get("content-type");
  const isStream = /^text\/event-stream\b/i.test(beginningOf(contentType));
  if (isStream && response.body) {
    return readStream(response.body, {
      parse: parsed,
      plain: place.kind === "text" || place.kind === "auto",
      whole: place.kind === "text",
      pointer: place.kind === "json" ? place.pointer : "",
      textIn: value => inValue(value, place).text,
    });
  }
  const decoder = decoderOf(contentType, true);
  try {
    return findText(decoder.decode(await response.arrayBuffer()), place, contentType);
  } catch (error) {
    if (!(error instanceof TypeError) || !isUndecodable(error)) throw error;
    return { text: null, why: `is not valid ${decoder.encoding.toUpperCase()}` };
  }
}

/** The whole body of a response whose status is an error already. */
export async function decoded(response: Response): Promise<string> {
  return decoderOf(response.headers.get("content-type")).decode(await response.arrayBuffer());
}

/** By the charset that the response names. Falls back to UTF-8 for unknown charsets. */
function decoderOf(contentType: string | null, fatal = false): InstanceType<typeof TextDecoder> {
  const [, charset = "utf-8"] = /;\s*charset="?([^\s";]+)/i.exec(beginningOf(contentType)) ?? [];
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    return new TextDecoder("utf-8", { fatal });
  }
}

function isUndecodable(error: TypeError): boolean {
  return "code" in error && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";
}

export function findText(body: string, place: TextLocation, contentType: string | null): Found {
  if (place.kind === "text" || place.kind === "trace") return inText(body, contentType);
  if (body.trim() === "") return { text: null, why: "is empty" };
  const value = parsed(body);
  if (value !== undefined) return inValue(value, place);
  if (isHtml(body, contentType)) return { text: null, why: "is HTML, not JSON" };
  return place.kind === "auto" ? inLines(body) : { text: null, why: "is not JSON" };
}

function inText(body: string, contentType: string | null): Found {
  if (isHtml(body, contentType)) return { text: null, why: "is HTML, not plain text" };
  const error = /^\s*\{/.test(body) ? errorPlace(parsed(body)) : undefined;
  return error === undefined ? { text: body } : errorFound(error);
}

function errorFound(place: string): Found {
  return { text: null, why: `has an error at ${place}` };
}

function inValue(value: unknown, place: TextLocation): Found {
  if (place.kind === "product") return inProduct(value, place.product);
  if (place.kind !== "json") return inItem(value);
  const { pointer } = place;
  const error = errorPlace(value, pointer);
  if (error !== undefined) return errorFound(error);
  const text = textOf(at(value, pointer));
  return text === undefined ? { text: null, why: `has no text at ${pointer || "its top"}` } : { text };
}

function inProduct(value: unknown, product: "flowise" | "langflow"): Found {
  const error = errorPlace(value);
  if (error !== undefined) return errorFound(error);
  if (product === "langflow" && outputsOf(value).some(isFailedOutput)) {
    return { text: null, why: "is an error of a component" };
  }
  const text = product === "flowise" ? firstText(value, flowisePointers)?.text : inOutputs(value);
  return text === undefined ? { text: null, why: `is not one of ${names[product]}'s` } : { text };
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
    .map(output => firstText(output, langflowPointers)?.text)
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
  const messages = ["/results/message", "/results/message/data"];
  return (
    errorPlace(output, messages[1]) !== undefined ||
    messages.some(message => at(output, `${message}/category`) === "error")
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
  const own = textOf(item);
  const found =
    own === undefined
      ? (firstText(item, usualPointers) ?? firstText(item, nested(usualPointers)))
      : { text: own, pointer: "" };
  const error = [...envelopes, found?.pointer ?? ""].map(within => errorPlace(item, within)).find(Boolean);
  if (error !== undefined) return errorFound(error);
  return found ? { text: found.text } : { text: null, why: "has no text under a usual name such as output" };
}

const envelopes = ["/json", "/body", "/data"];

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

function nested(pointers: string[]): string[] {
  return envelopes.flatMap(above => pointers.map(pointer => above + pointer));
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

function firstText(value: unknown, pointers: string[]): { text: string; pointer: string } | undefined {
  for (const pointer of pointers) {
    const found = at(value, pointer);
    const text = textOf(found) ?? (structured.test(pointer) ? jsonOf(found) : undefined);
    if (text !== undefined) return { text, pointer };
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

function parsed(text: string): unknown {
  try {
    return parseRaw(text);
  } catch {
    return undefined;
  }
}
