// Recognizes errors that agents send with a status of 200: an `error` in the reply, a web page, and events of streams that fail.

import { beginningOf } from "../foreign-text.ts";
import { pointersTo, valueAt } from "./json-pointer.ts";

/** Where an `error` stands beside the value at this pointer, in its place, or around it; undefined: nowhere. */
export function errorPlace(value: unknown, pointer = ""): string | undefined {
  for (const above of pointersTo(pointer)) {
    const place = `${above}/error`;
    // A pointer into the error itself asks for it.
    if (pointer === place || pointer.startsWith(`${place}/`)) return undefined;
    if (isError(valueAt(value, place))) return place;
  }
  return undefined;
}

/** Null, false and empty values say that there is no error. */
function isError(error: unknown): boolean {
  if (typeof error === "string") return error.trim() !== "";
  return typeof error === "object" && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

// Sign-in pages, proxy errors and dashboards may all have status 200.
const before = /^(?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?xml[^>]*>)*/;
const pageTag = /^<(?:!doctype\s+html|html|head|body|title|meta)\b/i;
// Not any tag: models write some of their own, such as <think>.
const partTag =
  /^<(?:a|article|b|br|center|div|font|form|h[1-6]|header|hr|i|img|link|main|ol|p|pre|script|section|span|strong|style|table|ul)[\s/>]/i;

/** Many frameworks send plain text as text/html, so the type alone says nothing. */
export function isHtml(body: string, contentType: string | null): boolean {
  const beginning = beginningOf(body).replace(before, "");
  if (pageTag.test(beginning)) return true;
  const isNamed = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(beginningOf(contentType));
  return isNamed && partTag.test(beginning);
}

const ends = new Set(["failed", "failure", "abort", "aborted", "cancelled", "canceled", "expired"]);
/** What ends the stream when it fails. */
const whole = new Set([
  ...["agent", "chain", "chat", "completion", "execution", "flow", "generation", "graph", "kickoff", "llm"],
  ...["message", "model", "request", "response", "run", "server", "session", "stream", "workflow"],
]);
/** What the agent may handle when it fails. */
const parts = new Set([
  ...[
    "action",
    "block",
    "call",
    "file",
    "function",
    "input",
    "item",
    "node",
    "output",
    "retrieval",
    "search",
  ],
  ...["step", "task", "tool", "tools", "validation"],
]);
const asides = new Set([
  "args",
  "arguments",
  "reasoning",
  "thinking",
  "thought",
  "thoughts",
  "tool",
  "tools",
]);

/** Whether an event of this name or type ends the stream as failed: `error`, `RUN_ERROR`, `response.failed`. */
export function isFailure(name: string): boolean {
  const words = wordsOf(name);
  if (words.some(word => parts.has(word))) return false;
  const [last = "", subject] = words.reverse();
  return last === "error" || (ends.has(last) && (subject === undefined || whole.has(subject)));
}

/** Whether an event or part of this type is about something else than the reply: reasoning, or the arguments of a call. */
export function isAside(type: string): boolean {
  const words = wordsOf(type);
  if (words.includes("audio")) return !words.includes("transcript");
  // `function_call`, `mcp_call`.
  return words.some((word, at) => asides.has(word) || (word === "call" && at > 0));
}

/** Of a name of a protocol: `response.failed`, `RUN_ERROR`, `tool-input-delta`, `runFailed`. */
function wordsOf(name: string): string[] {
  if (!/^[\w.:/-]{1,100}$/.test(name)) return [];
  return name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}
