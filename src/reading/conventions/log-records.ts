// What the log records about one span say, before the span is known: whether anything, and what a trace may lack of it.

import { newSpan } from "../../model/trace/new-span.ts";
import type { LogRecord, Span } from "../../model/trace/trace.ts";
import { claudeCode, isClaudeEvent } from "../presets/claude-code.ts";
import { openTelemetry } from "../presets/opentelemetry.ts";
import { valuesIn } from "../span/count-values.ts";
import { type ReadCall, type ReadMessage, textIn } from "../span/message-parts.ts";
import { indexOfQuestion } from "../span/messages.ts";
import type { Preset } from "../span/reading.ts";

/** What a trace without it gains. `tools`: names of the tools called, each once. */
export type Brought = { input: boolean; reply: boolean; tools: string[] };

/** More are not looked into: such records are kept, and count as an input and a reply. */
const valuesMax = 1_000_000;

const toolsMax = 50;

/** Whether an event can belong to a call of a model, or to an agent. */
export function isModelEvent(record: LogRecord): boolean {
  return record.event_name.startsWith("gen_ai.") || isClaudeEvent(record);
}

function readerOf(records: LogRecord[]): Preset {
  return records.some(isClaudeEvent) ? claudeCode : openTelemetry;
}

/** Whether anything is read from a record: messages, tokens, a model or an id. */
export function saysSomething(record: LogRecord): boolean {
  const span = spanWith([record]);
  if (valuesIn([span]) > valuesMax) return true;
  const { asked, answered, usage, model, conversationId, userId } = readerOf([record]).read(span);
  if ([usage, model, conversationId, userId].some(part => part !== null)) return true;
  return [asked, answered].some(messages => messages?.value.some(hasContent));
}

function hasContent({ pieces, calls, results }: ReadMessage): boolean {
  return (
    calls.length + results.length > 0 || pieces.some(piece => piece.kind !== "text" || /\S/.test(piece.text))
  );
}

export function broughtBy(records: LogRecord[]): Brought {
  const span = spanWith(records);
  if (valuesIn([span]) > valuesMax) return { input: true, reply: true, tools: [] };
  const { asked, answered } = readerOf(records).read(span);
  const question = indexOfQuestion(asked?.value ?? []);
  const told = [...(asked?.value.slice(question + 1) ?? []), ...(answered?.value ?? [])];
  const tools = new Set(told.flatMap(({ calls }) => calls.map(({ name }) => name)));
  return {
    input: question !== -1,
    reply: answered?.value.some(message => /\S/.test(textIn(message))) ?? false,
    tools: [...tools].filter(name => name !== "").slice(0, toolsMax),
  };
}

/** The calls of tools that the answer in a record asks for; none if it is not looked into. */
export function answeredCalls(record: LogRecord): ReadCall[] {
  const span = spanWith([record]);
  if (valuesIn([span]) > valuesMax) return [];
  return (
    readerOf([record])
      .read(span)
      .answered?.value.flatMap(({ calls }) => calls) ?? []
  );
}

function spanWith(records: LogRecord[]): Span {
  return { ...newSpan(), log_records: records };
}
