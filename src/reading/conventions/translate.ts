// Gives spans the documented attributes that conventions were read from, each with its source, so that everything that
// reads documented attributes reads these too. The stored spans stay as they are.

import { parseJson } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import type { Attributes, Span, Translation } from "../../model/trace/trace.ts";
import { presets } from "../presets.ts";
import { attributeOf, isBlank } from "../span/conversation.ts";
import { finishReasonsKey } from "../span/finish-reasons.ts";
import { type ReadMessage, type ReadPiece, textIn } from "../span/message-parts.ts";
import { indexOfQuestion } from "../span/messages.ts";
import type { CallReading, ReadSpan, Sourced } from "../span/reading.ts";
import { inputKeys, isRuled, replyKeys } from "../span/sources.ts";
import { argumentsKey } from "../span/tool-reading.ts";
import { usageKeys } from "../span/usage-keys.ts";
import type { TraceReading } from "./read-trace.ts";

/** The spans, with copies of those that a convention says something about. */
export function translateSpans(spans: Span[], reading: TraceReading): Span[] {
  const translated = [...spans];
  const copies = new Map<string, Copy>();
  for (const read of reading.spans) {
    if (read.convention === null) continue;
    const copy = new Copy(read.span, read.convention);
    copies.set(read.span.span_id, copy);
    translate(read, reading, copy);
  }
  for (const call of reading.calls) addCall(call, copies.get(call.spanId));
  for (const { at, span } of reading.spans) {
    const copy = copies.get(span.span_id);
    if (copy) translated[at] = copy.span;
  }
  return translated;
}

/** A span, copied when the first attribute is added. */
class Copy {
  span: Span;
  readonly convention: string;

  constructor(span: Span, convention: string) {
    this.span = span;
    this.convention = convention;
  }

  /** Adds an attribute, unless the span has it in a shape that is read as documented. */
  set(attribute: string, source: string | null, value: unknown): void {
    const sent = attributeOf(this.span, attribute);
    if (sent === value || (source === attribute && isReadable(sent))) return;
    this.note(attribute, source);
    const attributes: Attributes = { ...this.span.attributes };
    attributes[attribute] = value;
    this.span = { ...this.span, attributes };
  }

  /** Says where an attribute that the span does not have was read. */
  note(attribute: string, source: string | null): void {
    const translation: Translation = { attribute: source, convention: this.convention };
    this.span = { ...this.span, translated: { ...this.span.translated, [attribute]: translation } };
  }

  has(...attributes: string[]): boolean {
    return attributes.some(attribute => attributeOf(this.span, attribute) !== undefined);
  }
}

function translate(read: ReadSpan, reading: TraceReading, copy: Copy): void {
  const { role, usage, model, provider, conversationId, userId } = read;
  // Of most models, messages stay as they are: they are parsed when something asks for them.
  const isModel = role === "model";
  const said = isModel ? read : saidBy(read, reading);
  // Where the convention reads none, the documented text is.
  const hasPrompt = isModel && copy.has("gen_ai.prompt");
  copy.span = {
    ...copy.span,
    reading: {
      convention: copy.convention,
      isTool: role === "tool",
      get hasInput() {
        return said.asked !== null || hasPrompt;
      },
      get hasOutput() {
        return said.answered !== null;
      },
    },
  };
  if (!isModel || !read.isDocumented("asked"))
    addMessages(copy, "gen_ai.input.messages", said.asked, reading);
  if (!isModel || !read.isDocumented("answered"))
    addMessages(copy, "gen_ai.output.messages", said.answered, reading);
  if (usage) {
    for (const [kind, attribute] of usageKeys) {
      const count = usage.value[kind];
      if (count !== null && !copy.has(attribute))
        copy.set(attribute, usage.from?.[kind] ?? usage.attribute, count);
    }
  }
  if (model && role === "model" && !copy.has("gen_ai.request.model", "gen_ai.response.model")) {
    copy.set("gen_ai.request.model", model.attribute, model.value);
  }
  if (role === "model" && !copy.has(finishReasonsKey) && read.finishReasons)
    copy.set(finishReasonsKey, read.finishReasons.attribute, read.finishReasons.value);
  if (provider && !copy.has("gen_ai.provider.name"))
    copy.set("gen_ai.provider.name", provider.attribute, provider.value);
  if (conversationId && !isSession(conversationId, read))
    copy.set("gen_ai.conversation.id", conversationId.attribute, conversationId.value);
  if (userId) copy.set("user.id", userId.attribute, userId.value);
}

/**
 * Whether the ID is that of `session.id`, as documented. It stays there: as another conversation ID, it would contradict that
 * of the trace. Conventions that write no other have it as their own.
 */
function isSession({ attribute }: Sourced<string>, { convention }: ReadSpan): boolean {
  return attribute === "session.id" && !withSessions.has(convention);
}

const withSessions = new Set<string | null>(
  presets.filter(({ ids }) => ids.conversation[0] === "session.id").map(({ name }) => name),
);

/** Documented attributes with messages stay as they are: they are read in every shape. */
function addMessages(
  copy: Copy,
  attribute: string,
  found: Sourced<ReadMessage[]> | null,
  { calls }: TraceReading,
): void {
  if (!found || found.attribute === attribute || found.attribute === "gen_ai.response.text") return;
  if (isRuled(copy.span, found.attribute)) return;
  copy.set(attribute, found.attribute, withoutResults(found.value, calls).map(documented));
}

type Said = Pick<ReadSpan, "asked" | "answered">;

/**
 * The messages of a span that is no model's. Agents repeat as their state what their models were asked and answered, and steps pass on texts
 * that nobody said: of these only question and reply count, and all messages of an agent whose models tell nothing.
 */
function saidBy(read: ReadSpan, reading: TraceReading): Said {
  const { asked, answered } = read;
  const said = saidAround(read, reading);
  // A rule means what it gives.
  return {
    asked: inputKeys.some(key => isRuled(read.span, key)) ? asked : said.asked,
    answered: replyKeys.some(key => isRuled(read.span, key)) ? answered : said.answered,
  };
}

function saidAround(
  { role, span, asked, answered }: ReadSpan,
  { spans, userInput, reply }: TraceReading,
): Said {
  const isTold = spans.some(one => one.role === "model" && (one.asked ?? one.answered));
  const isReply = reply?.spanId === span.span_id;
  const told = isReply || !answered?.value.some(one => one.isData) ? answered : null;
  if (role === "agent" && !isTold) return { asked: upToQuestion(asked), answered: withoutLineEnds(told) };
  const question = role === "agent" || userInput?.spanId === span.span_id ? upToQuestion(asked) : null;
  const last = role === "agent" || isReply ? withoutLineEnds(told) : null;
  const said = last?.value.findLast(one => one.role === "assistant" && one.calls.length === 0);
  return {
    asked: question && { ...question, value: question.value.slice(-1) },
    answered: last && said ? { ...last, value: [said] } : null,
  };
}

/** Up to the question: some agents list the whole conversation as their input. */
function upToQuestion(asked: Sourced<ReadMessage[]> | null): Sourced<ReadMessage[]> | null {
  const end = asked ? indexOfQuestion(asked.value) : -1;
  return asked && end !== -1 ? { ...asked, value: asked.value.slice(0, end + 1) } : null;
}

/** Some agents end the reply with a line end that the model did not write: as another text, it would show twice. */
function withoutLineEnds(answered: Sourced<ReadMessage[]> | null): Sourced<ReadMessage[]> | null {
  const trimmed = (piece: ReadPiece) =>
    piece.kind === "text" ? { ...piece, text: piece.text.trimEnd() } : piece;
  return (
    answered && {
      ...answered,
      value: answered.value.map(one => ({ ...one, pieces: one.pieces.map(trimmed) })),
    }
  );
}

/** Without messages of tools that do not name their call, if they repeat the result of one. */
function withoutResults(messages: ReadMessage[], calls: CallReading[]): ReadMessage[] {
  const results = new Set(calls.map(({ result }) => result?.value));
  return messages.filter(one => one.role !== "tool" || one.results.length > 0 || !results.has(textIn(one)));
}

/** A call on the span of its tool becomes its attributes; of one in a message, only the source is noted. */
function addCall(call: CallReading, copy: Copy | undefined): void {
  const { name, nameFrom, id, arguments: args, result } = call;
  if (!copy) return;
  if (!call.isSpan) {
    copy.note("gen_ai.tool.name", nameFrom);
    copy.note(argumentsKey, args?.attribute ?? nameFrom);
    return;
  }
  copy.set("gen_ai.tool.name", nameFrom, name);
  if (id !== null) copy.set("gen_ai.tool.call.id", nameFrom, id);
  if (args && !isTextItself(args, copy.span)) copy.set(argumentsKey, args.attribute, args.value);
  if (result) copy.set("gen_ai.tool.call.result", result.attribute, result.value);
}

/** Whether the arguments are what the text of the documented attribute is read as. */
function isTextItself({ attribute, value }: Sourced<unknown>, span: Span): boolean {
  return attribute === argumentsKey && isRecord(value) && value["value"] === attributeOf(span, attribute);
}

/** Whether the value is read as documented: it is JSON, blank, or no text. */
function isReadable(sent: unknown): boolean {
  return typeof sent !== "string" || isBlank(sent) || parseJson(sent) !== undefined;
}

/** As the documented attributes have it. */
export function documented({ role, pieces, calls, results }: ReadMessage): Attributes {
  return {
    role,
    parts: [
      ...pieces.map(partOf),
      ...calls.map(({ id, name, arguments: args }) => ({ type: "tool_call", id, name, arguments: args })),
      ...results.map(({ id, name, value, failed }) => ({
        type: "tool_call_response",
        id,
        name,
        result: value,
        ...(failed ? { is_error: true } : {}),
      })),
    ],
  };
}

function partOf(piece: ReadPiece): unknown {
  switch (piece.kind) {
    case "media":
      return { type: "media", mime_type: piece.name };
    case "other":
      return parseJson(piece.text) ?? { type: piece.name, content: piece.text };
    default:
      return { type: piece.kind, content: piece.text };
  }
}
