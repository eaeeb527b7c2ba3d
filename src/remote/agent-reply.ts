// Finds the text in an agent's reply: by a JSON pointer, where a product puts it, or in the events of a stream.
import { createParser } from "eventsource-parser";
import type { ReplyPlace } from "../model/agent-connection.ts";

/** `product`: where Flowise and Langflow put it. */
export type TextPlace = ReplyPlace | { kind: "product"; product: "flowise" | "langflow" };

/** `why` completes "The reply …". */
export type Found = { text: string } | { text: null; why: string };

/** Reads a reply to its end, or to the `[DONE]` of a stream of events. Rejects as reading the body does. */
export async function readText(response: Response, place: TextPlace): Promise<Found> {
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  if (isStream && response.body) return inEvents(await eventsOf(response.body), place);
  return findText(await response.text(), place);
}

export function findText(body: string, place: TextPlace): Found {
  if (place.kind === "text") return { text: body };
  const value = parsed(body);
  if (value === undefined && place.kind === "auto") return inLines(body);
  if (value === undefined) return { text: null, why: "is not JSON" };
  return inValue(value, place);
}

function inValue(value: unknown, place: Exclude<TextPlace, { kind: "text" }>): Found {
  if (place.kind === "json") {
    const text = textOf(at(value, place.pointer));
    if (text !== undefined) return { text };
    return { text: null, why: `has no text at ${place.pointer || "its top"}` };
  }
  if (place.kind === "product") {
    const text = firstText(value, productPointers[place.product]);
    return text === undefined ? { text: null, why: `is not one of ${names[place.product]}'s` } : { text };
  }
  return inItem(value);
}

const names = { flowise: "Flowise", langflow: "Langflow" };

// From where the products write it today to where their older versions and other components do.
const productPointers = {
  flowise: ["/text", "/json"],
  langflow: [
    "/outputs/0/outputs/0/results/message/text",
    "/outputs/0/outputs/0/results/message/data/text",
    "/outputs/0/outputs/0/outputs/message/message/text",
    "/outputs/0/outputs/0/outputs/message/message",
    "/outputs/0/outputs/0/artifacts/message",
    "/outputs/0/outputs/0/messages/0/message",
    "/outputs/0/outputs/0/results/text/text",
    "/outputs/0/outputs/0/results/text/data/text",
  ],
};

// What workflows call their last item's text; the first two are what chat triggers look for.
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

/** A workflow's reply: a text, an item, or a list of items of which the first counts. */
function inItem(value: unknown): Found {
  const item = Array.isArray(value) ? value[0] : value;
  // An n8n webhook that does not wait says so in these words.
  if (at(item, "/message") === "Workflow was started") {
    return { text: null, why: "says only that the workflow was started: let the webhook respond at its end" };
  }
  const own = typeof item === "object" ? undefined : textOf(item);
  const text = own ?? firstText(item, usualPointers) ?? firstText(item, nested(usualPointers));
  return text === undefined ? { text: null, why: "has no text under a usual name such as output" } : { text };
}

function nested(pointers: string[]): string[] {
  return ["/json", "/body", "/data"].flatMap(above => pointers.map(pointer => above + pointer));
}

/** What is no JSON as a whole: a stream of items, a line each, as chat triggers send it; else a plain text. */
function inLines(body: string): Found {
  const lines = body.split("\n").filter(line => line.trim() !== "");
  const items = lines.map(parsed);
  if (lines.length === 0) return { text: null, why: "is empty" };
  if (!items.some(item => ["begin", "item", "end", "error"].includes(String(at(item, "/type"))))) {
    return { text: body };
  }
  if (items.some(item => at(item, "/type") === "error")) return { text: null, why: "ends in an error" };
  const parts = items.filter(item => at(item, "/type") === "item").map(item => textOf(at(item, "/content")));
  return { text: parts.join("") };
}

/** The data of each event. Nothing is read after `[DONE]`: some servers then leave the connection open. */
async function eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> {
  const events: string[] = [];
  let done = false;
  const parser = createParser({
    onEvent({ data }) {
      done ||= data.trim() === "[DONE]";
      if (!done) events.push(data);
    },
  });
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(chunk);
    if (done) return events;
  }
  // The end of a stream ends its last event, too.
  parser.feed("\n\n");
  return events;
}

/** The texts of the events, joined; events without one, such as those that begin and end a stream, count for nothing. */
function inEvents(events: string[], place: TextPlace): Found {
  const parts = events.flatMap(data => {
    if (place.kind === "text") return [data];
    const value = parsed(data);
    if (value === undefined) return place.kind === "auto" ? [data] : [];
    return inValue(value, place).text ?? [];
  });
  if (parts.length > 0) return { text: parts.join("") };
  const where = place.kind === "json" ? ` at ${place.pointer || "its top"}` : "";
  return { text: null, why: `is a stream in which no event has a text${where}` };
}

function firstText(value: unknown, pointers: string[]): string | undefined {
  for (const pointer of pointers) {
    const found = at(value, pointer);
    const text = pointer === "/json" && typeof found === "object" ? jsonOf(found) : textOf(found);
    if (text !== undefined) return text;
  }
  return undefined;
}

function jsonOf(value: unknown): string | undefined {
  return value === null ? undefined : JSON.stringify(value);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** RFC 6901; undefined for what is not there. */
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
