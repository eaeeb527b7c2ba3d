// Finds the calls of one tool in messages after the user's last one, in whatever shape they are written: also those that no
// reader of tool calls understands.

import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf, messagesOf, structureOf } from "./conversation.ts";
import { decode } from "./values.ts";

/** `ids`: the ID in each of its forms. `arguments`: decoded; null: not known. */
export type ShownCall = { ids: string[]; arguments: unknown };

/** `results`: of the tool, which tell of a call as well. */
export type Shown = { calls: ShownCall[]; results: ShownCall[] };

/** Attributes with messages. */
export const messageKeys = ["gen_ai.input.messages", "gen_ai.prompt", "gen_ai.output.messages"] as const;
type MessageKey = (typeof messageKeys)[number];

/** The messages that the span's events are, as objects with a role. */
export function messagesInEvents(span: Span): Attributes[] {
  return eventsOf(span).flatMap(({ name, attributes }): Attributes[] => {
    const found = /^gen_ai\.(?:(\w+)\.message|choice)$/.exec(name);
    return found ? [{ role: found[1] ?? "assistant", ...attributes }] : [];
  });
}

/** The values of an attribute with messages, on the span and on events that have the same. */
export function messageValues(span: Span, key: MessageKey): unknown[] {
  const inEvents = eventsOf(span).map(({ attributes }) => attributes[key]);
  return [attributeOf(span, key), ...inEvents].filter(value => value !== undefined && value !== null);
}

function eventsOf({ events }: Span): { name: string; attributes: Attributes }[] {
  return events.flatMap(event => {
    const { name, attributes } = isRecord(event) ? event : {};
    return typeof name === "string" && isRecord(attributes) ? [{ name, attributes }] : [];
  });
}

/** Whether the span has any message, and so could show a call of a tool; a plain text could not. */
export function hasMessages(span: Span): boolean {
  return (
    messagesInEvents(span).length > 0 ||
    messageKeys.some(key =>
      messageValues(span, key).some(value => {
        const messages = messagesOf(value) ?? [];
        return key === "gen_ai.prompt" ? messages.some(({ role }) => role !== "") : messages.length > 0;
      }),
    )
  );
}

/** Whether JSON may name the tool in a text of its own, within JSON in JSON too. Other characters than these may be escaped. */
export function mayName(json: string, tool: string): boolean {
  if (!/^[\w.:/-]+$/.test(tool)) return true;
  for (let at = json.indexOf(tool); at !== -1; at = json.indexOf(tool, at + 1)) {
    const after = json[at + tool.length];
    if (json[at - 1] === '"' && (after === '"' || after === "\\")) return true;
  }
  return false;
}

/** `messages`: parsed. Calls before the user's last message are history, and an ID that is told twice is one call. */
export function callsShownIn(messages: unknown, tool: string): Shown {
  const shown: Shown = { calls: [], results: [] };
  for (const message of sinceQuestion(listOf(messages))) {
    if (!isRecord(message)) continue;
    const role = roleOf(message);
    if (role === "system" || role === "developer") continue;
    // A call of OpenAI's has the type "function" as well.
    if (role === "tool" || message["role"] === "function") {
      if (nameIn(message) === tool) add(shown.results, { ids: idsIn(message), arguments: null });
    } else collect(message, "", { tool, shown, depth: 0 });
  }
  return shown;
}

function listOf(messages: unknown): unknown[] {
  const inner = isRecord(messages) && Array.isArray(messages["messages"]) ? messages["messages"] : messages;
  return Array.isArray(inner) ? inner.flat() : [inner];
}

function sinceQuestion(messages: unknown[]): unknown[] {
  const isQuestion = (message: unknown) =>
    isRecord(message) &&
    ["user", "human"].includes(roleOf(message)) &&
    messagesOf([message])?.[0]?.text != null;
  return messages.slice(messages.findLastIndex(isQuestion) + 1);
}

function roleOf({ role, type }: Attributes): string {
  return typeof role === "string" ? role.toLowerCase() : typeof type === "string" ? type.toLowerCase() : "";
}

type Search = { tool: string; shown: Shown; depth: number };

const depthMax = 10;

/** `key`: under which the value stands. */
function collect(value: unknown, key: string, search: Search): void {
  if (search.depth > depthMax) return;
  const inside = { ...search, depth: search.depth + 1 };
  if (typeof value === "string") {
    // What is said may be JSON as well.
    const mayBeCalls = callKeys.test(key) || (saidKeys.has(key) && /^\s*\[\s*\{/.test(value));
    const parsed = mayBeCalls && mayName(value, search.tool) ? structureOf(value) : undefined;
    if (parsed !== undefined) collect(parsed, key, inside);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, key, inside);
  } else if (isRecord(value)) collectRecord(value, key, inside);
}

function collectRecord(record: Attributes, key: string, search: Search): void {
  const holder = isRecord(record["function"]) ? record["function"] : record;
  const kind = kindOf(record, holder, key);
  if (kind && nameIn(holder) === search.tool) {
    const argumentKey = argumentKeys.find(name => holder[name] != null && holder[name] !== "");
    const args = argumentKey === undefined ? null : decode(holder[argumentKey]);
    add(search.shown[kind], { ids: idsIn(record), arguments: kind === "calls" ? args : null });
  }
  // What was called with, and what came back, are no messages.
  if (kind) return;
  for (const [name, inner] of Object.entries(record))
    if (!definitionKeys.has(name)) collect(inner, name, search);
}

/** Whether it is a call or the result of one, by its type, the key it stands under, or what it has beside a name. */
function kindOf(record: Attributes, holder: Attributes, key: string): "calls" | "results" | null {
  const { type } = record;
  if (nameIn(holder) === null) return null;
  const said = `${typeof type === "string" ? type : ""} ${key}`;
  if (/result|response|output/i.test(said)) return "results";
  const isCall = callTypes.test(said) || argumentKeys.some(name => Object.hasOwn(holder, name));
  return isCall ? "calls" : null;
}

const callTypes = /call|tool[-_]?use|request|function/i;
const callKeys = /^(?:tool_?calls?|function_?calls?|tool_?use)$/i;
const saidKeys = new Set(["content", "parts"]);
const argumentKeys = ["arguments", "args", "input", "tool_args", "toolArgs", "tool_input"];
/** Where tools are named that were not called. */
const definitionKeys = new Set(["tools", "functions", "tool_choice", "toolChoice", "text"]);

function nameIn(record: Attributes): string | null {
  for (const key of ["name", "tool_name", "toolName"]) {
    if (typeof record[key] === "string" && record[key] !== "") return record[key];
  }
  return null;
}

const idKeys = ["call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id", "ref"];

function idsIn(record: Attributes): string[] {
  return idKeys.flatMap(key => (typeof record[key] === "string" && record[key] !== "" ? record[key] : []));
}

/** More are not told apart: each is compared with the others. */
export const callsMax = 1_000;

/** A call whose ID is known was shown before. */
function add(known: ShownCall[], call: ShownCall): void {
  if (known.length >= callsMax) return;
  if (!known.some(({ ids }) => ids.some(id => call.ids.includes(id)))) known.push(call);
}
