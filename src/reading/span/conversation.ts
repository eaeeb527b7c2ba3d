// Reads the user's input, the agent's reply and its tool calls from a trace, in the shapes of all known emitters.

import { parseJson, ValueAllowance } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import { compareNanos } from "../../model/trace/times.ts";
import type { Attributes, Derived, FoundText, Span, ToolCall, TracePath } from "../../model/trace/trace.ts";
import { UnreadText } from "../../model/trace/unread-text.ts";
import { takeApart, textIn } from "./message-parts.ts";

export type Conversation = Pick<Derived, "userInput" | "responseText" | "judgedText">;

/** One message. `text` joins its text parts, without reasoning, tool calls and media; null when that is blank. */
export type Message = { role: string; text: string | null; parts: unknown[] };

/**
 * Reads the user's input and the reply, the latter by both orders of precedence. Parses no more JSON than needed. `counts`:
 * which attributes of a span are read; absent: all.
 */
export function readConversation(
  spans: Span[],
  root: Span | null,
  path: TracePath,
  counts?: (span: Span, attribute: string) => boolean,
): Conversation {
  const has = (span: Span, attribute: string) =>
    sentOf(span, attribute) !== undefined && (counts?.(span, attribute) ?? true);
  const inputs: Span[] = [];
  const prompts: Span[] = [];
  const outputs: Span[] = [];
  const texts: Span[] = [];
  let orchestrator: Span | null = null;
  for (const span of spans) {
    if (has(span, "gen_ai.input.messages")) inputs.push(span);
    if (has(span, "gen_ai.prompt")) prompts.push(span);
    if (has(span, "gen_ai.output.messages")) outputs.push(span);
    if (has(span, "gen_ai.response.text")) texts.push(span);
    if (isOrchestrator(span) && (!orchestrator || compareLatest(span, orchestrator) >= 0))
      orchestrator = span;
  }

  const inputRank = (span: Span) => (isOrchestrator(span) ? 0 : span === root ? 1 : 2);
  const replyRank = (span: Span) =>
    span === root ? 0 : path === "canonical" && span === orchestrator ? 1 : 2;
  const fromMessages = firstText(outputs, replyRank, replyInMessages);
  const fromText = firstText(texts, replyRank, replyInText);
  return {
    userInput: firstText(inputs, inputRank, inputInMessages) ?? firstText(prompts, inputRank, inputInPrompt),
    responseText: fromMessages ?? fromText,
    judgedText: fromText ?? fromMessages,
  };
}

/** The text of one span, as text assertions and the judge read it: gen_ai.response.text, else the messages. */
export function spanText(span: Span): FoundText | null {
  return replyInText(span) ?? replyInMessages(span);
}

/**
 * The tool calls, in the order of the spans. `arguments` is null when none were sent, `{}` if their text is blank, and
 * `{ value: text }` if it is not JSON or exceeds the allowance.
 */
export function toolCallsOf(spans: Span[], allowance = new ValueAllowance()): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const span of spans) {
    const name = toolNameOf(span);
    if (name === null) continue;
    calls.push({
      spanId: span.span_id,
      parentSpanId: span.parent_span_id,
      name,
      arguments: readArguments(attributeOf(span, "gen_ai.tool.call.arguments"), allowance),
    });
  }
  return calls;
}

/** The tool's name if the span is a tool call, else null. */
export function toolNameOf(span: Span): string | null {
  if (span.reading?.isTool === false) return null;
  const name = attributeOf(span, "gen_ai.tool.name");
  return typeof name === "string" && name !== "" ? name : null;
}

/** The name of the model that the span called, else null. */
export function modelOf(span: Span): string | null {
  const requested = attributeOf(span, "gen_ai.request.model");
  const name = requested === undefined ? attributeOf(span, "gen_ai.response.model") : requested;
  return typeof name === "string" && name !== "" ? name : null;
}

/** The names of the model that was asked and of the one that answered, which may be dated. */
export function modelsIn(span: Span): string[] {
  const names = [attributeOf(span, "gen_ai.request.model"), attributeOf(span, "gen_ai.response.model")];
  return names.filter((name): name is string => typeof name === "string" && name !== "");
}

/** The span's own attribute; undefined when it is absent or null. */
export function attributeOf(span: Span, key: string): unknown {
  const value = sentOf(span, key);
  return typeof value === "object" && value instanceof UnreadText ? value.read() : value;
}

function sentOf(span: Span, key: string): unknown {
  const value = span.attributes[key];
  // Most lookups miss, so the cheap test comes first; `hasOwn` excludes properties that every object inherits.
  return value === undefined || value === null || !Object.hasOwn(span.attributes, key) ? undefined : value;
}

/** Reads messages, structured or as JSON text, in any emitter's shape; null when there are none. */
export function messagesOf(value: unknown): Message[] | null {
  const read = (message: Attributes): Message => ({
    role: roleIn(message),
    text: textOf(message),
    parts: partsIn(message),
  });
  return sentMessages(value)?.map(read) ?? null;
}

function sentMessages(value: unknown): Attributes[] | null {
  const read = structureOf(value);
  const messages = (Array.isArray(read) ? read : [read]).filter(isRecord);
  return messages.length > 0 ? messages : null;
}

/** An attribute's value, parsed if it is JSON text of a list or an object; undefined for any other text. */
export function structureOf(value: unknown, allowance?: ValueAllowance): unknown {
  return typeof value === "string"
    ? /^\s*[[{]/.test(value)
      ? parseJson(value, allowance)
      : undefined
    : value;
}

/** The speaker for an emitter's role name; `other` for unknown roles. */
export function speakerOf(role: string): Speaker {
  const name = role.toLowerCase();
  if (name !== "" && userRoles.includes(name)) return "user";
  if (systemRoles.includes(name)) return "system";
  if (toolRoles.includes(name)) return "tool";
  return replyRoles.includes(name) ? "assistant" : "other";
}

export type Speaker = "system" | "user" | "assistant" | "tool" | "other";

/** Whether the span called a model: its input takes precedence over that of other spans, including the root. */
export function isOrchestrator(span: Span): boolean {
  return (
    attributeOf(span, "gen_ai.request.model") !== undefined ||
    attributeOf(span, "gen_ai.system") !== undefined
  );
}

/** Positive if `a` is later; spans without a time come first. */
function compareLatest(a: Span, b: Span): number {
  return (
    compareNanos(a.end_time_unix_nano ?? "", b.end_time_unix_nano ?? "") ||
    compareNanos(a.start_time_unix_nano ?? "", b.start_time_unix_nano ?? "")
  );
}

/** The first text that `read` finds: lowest rank first, and within a rank the latest span first. */
function firstText(
  candidates: Span[],
  rank: (span: Span) => number,
  read: (span: Span) => FoundText | null,
): FoundText | null {
  if (candidates.length === 0) return null;
  const compare = (a: Span, b: Span) => rank(a) - rank(b) || compareLatest(b, a);
  const best = candidates.reduce((a, b) => (compare(b, a) <= 0 ? b : a));
  const found = read(best);
  if (found || candidates.length === 1) return found;
  // Sorted only if the best candidate has no text. Reversed, so that of equal times the last span comes first.
  for (const span of candidates.toReversed().sort(compare)) {
    const text = span === best ? null : read(span);
    if (text) return text;
  }
  return null;
}

function inputInMessages(span: Span): FoundText | null {
  const messages = sentMessages(attributeOf(span, "gen_ai.input.messages"));
  return found(messages && pickInput(messages), span, "gen_ai.input.messages");
}

/** Plain text, except that some emitters put messages there as JSON. */
function inputInPrompt(span: Span): FoundText | null {
  const prompt = attributeOf(span, "gen_ai.prompt");
  // JSON without roles is the user's own input.
  const messages = sentMessages(prompt)?.filter(message => roleIn(message) !== "");
  const text =
    (messages && pickInput(messages)) ??
    (typeof prompt === "string" && !emptyJson.test(prompt) ? prompt : null);
  return found(text, span, "gen_ai.prompt");
}

const emptyJson = /^\s*(?:\{\s*\}|\[\s*\]|null)\s*$/;

function replyInMessages(span: Span): FoundText | null {
  const messages = sentMessages(attributeOf(span, "gen_ai.output.messages"));
  const last = messages?.findLast(message => isReplyRole(roleIn(message)));
  return found(last ? textOf(last) : null, span, "gen_ai.output.messages");
}

function replyInText(span: Span): FoundText | null {
  const text = attributeOf(span, "gen_ai.response.text");
  return found(typeof text === "string" ? text : null, span, "gen_ai.response.text");
}

function found(text: string | null, span: Span, attribute: string): FoundText | null {
  return text !== null && !isBlank(text) ? { text, spanId: span.span_id, attribute } : null;
}

/** Blank text is no text. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** The user's input in a list of messages; null if no message has text. Of a history only the last messages are read. */
function pickInput(messages: Attributes[]): string | null {
  const latest = (roles: readonly string[]) => {
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]!;
      const text = roles.includes(roleIn(message).toLowerCase()) ? textOf(message) : null;
      if (text !== null) return text;
    }
    return null;
  };
  return (
    latest(userRoles) ?? latest(systemRoles) ?? (messages.map(one => textOf(one) ?? "").join("") || null)
  );
}

// Google's ADK leaves the role empty, LangChain says human.
const userRoles = ["user", "human", ""];
const systemRoles = ["system", "developer"];
const toolRoles = ["tool", "function"];
const replyRoles = ["assistant", "model", "ai"];
const otherRoles = ["user", "human", ...systemRoles, ...toolRoles];

/** Output messages are replies if their role is assistant, model, ai or empty. */
function isReplyRole(role: string): boolean {
  return !otherRoles.includes(role.toLowerCase());
}

function roleIn({ role }: Attributes): string {
  return typeof role === "string" ? role : "";
}

/** Null if it is blank. */
function textOf(message: Attributes): string | null {
  const text = textIn(takeApart(message, []));
  return isBlank(text) ? null : text;
}

function partsIn({ parts, content }: Attributes): unknown[] {
  const body = Array.isArray(parts) && parts.length === 0 ? (content ?? parts) : (parts ?? content ?? []);
  return Array.isArray(body) ? body : [typeof body === "string" ? { type: "text", content: body } : body];
}

/** The documented arguments of a call: parsed if they are JSON text, none if the text is blank, `{ value: text }` if it is another. */
export function readArguments(value: unknown, allowance?: ValueAllowance): unknown {
  if (typeof value !== "string") return value ?? null;
  if (isBlank(value)) return {};
  const parsed = parseJson(value, allowance);
  return parsed === undefined ? { value } : parsed;
}
