// Lists the tool calls of a trace, each once: from the spans of tools, and from the messages of models.
import { isRecord } from "../../model/record.ts";
import type { ReadMessage } from "../span/message-parts.ts";
import { indexOfQuestion, textIn } from "../span/messages.ts";
import type { CallReading, ReadSpan } from "../span/reading.ts";
import { documentedArguments } from "../span/tool-reading.ts";
import { decode } from "../span/values.ts";

/** For lists, which have each name once. */
export function namedCalls(reads: ReadSpan[], models: ReadSpan[]): CallReading[] {
  const nothing = { id: null, arguments: null, result: null };
  const calls = new Map<string, CallReading>();
  for (const { tool, span } of reads) {
    if (!tool || calls.has(tool.name)) continue;
    const { name, nameFrom } = tool;
    calls.set(name, { ...nothing, name, nameFrom, isSpan: true, spanId: span.span_id });
  }
  const known = new Set(calls.keys());
  // Whether answers tell is asked only if histories may name another tool.
  const mayTell = models.some(one => one.convention !== null && one.mayCall("asked", known));
  const withHistory = mayTell && !tellAnswers(models);
  for (const { messages, spanId, attribute } of messagesWithCalls(models, withHistory, known)) {
    for (const { name } of messages.flatMap(message => message.calls)) {
      if (name === "" || calls.has(name)) continue;
      calls.set(name, { ...nothing, name, nameFrom: attribute, isSpan: false, spanId });
    }
  }
  return [...calls.values()];
}

type Told = { messages: ReadMessage[]; isHistory: boolean; spanId: string; attribute: string };

/**
 * What models answered and, `withHistory`, what they were asked since the question, where it may have calls of other tools
 * than the known ones.
 */
function* messagesWithCalls(
  models: ReadSpan[],
  withHistory = true,
  known: ReadonlySet<string> | null = null,
): Generator<Told> {
  for (const one of models) {
    if (one.convention === null) continue;
    const answered = one.mayCall("answered", known) ? one.answered : null;
    if (answered) yield { ...answered, messages: answered.value, isHistory: false };
    const asked = withHistory && one.mayCall("asked", known) ? one.asked : null;
    if (asked) yield { ...asked, messages: sinceQuestion(asked.value), isHistory: true };
  }
}

/** Whether each of several calls tells what it answered: then histories name no other tool, unless a turn has several traces. */
function tellAnswers(models: ReadSpan[]): boolean {
  if (models.length === 1) return false;
  return models.every(({ answered }) =>
    answered?.value.some(one => one.calls.length > 0 || /\S/.test(textIn(one))),
  );
}

/** Spans of tools first, then what models asked for that no span stands for; a call counts once. */
export function callsOf(reads: ReadSpan[], models: ReadSpan[]): CallReading[] {
  const calls = reads.flatMap(({ tool, span }): CallReading[] => {
    if (!tool) return [];
    const { name, nameFrom, id, arguments: args, result } = tool;
    return [{ name, nameFrom, isSpan: true, id, arguments: args, result, spanId: span.span_id }];
  });
  const toldCalls = toldIn(models);
  const spansOfCalls = matched(toldCalls, calls);
  for (const one of toldCalls) {
    const { name, nameFrom, id, value, spanId } = one;
    const args = isRecord(value) ? { spanId, attribute: nameFrom, value } : null;
    const known = spansOfCalls.get(one);
    if (known) {
      // Results refer to the id in the messages, which the span may lack or have another of.
      known.id = id ?? known.id;
      known.arguments ??= args;
    } else if (name !== "") {
      calls.push({ name, nameFrom, isSpan: false, id, arguments: args, result: null, spanId });
    }
  }
  addDocumentedArguments(calls, reads);
  addResults(calls, reads);
  return calls;
}

/** A call in a message. `value`: its arguments, decoded. */
type ToldCall = { name: string; nameFrom: string; id: string | null; value: unknown; spanId: string };

function toldIn(models: ReadSpan[]): ToldCall[] {
  const found: ToldCall[] = [];
  const ids = new Set<string>();
  for (const { messages, isHistory, spanId, attribute } of messagesWithCalls(models)) {
    for (const { name, id, arguments: sent } of messages.flatMap(message => message.calls)) {
      // Without an id a call in the history cannot be told from a second one.
      if (id === null ? isHistory : ids.has(id)) continue;
      if (id !== null) ids.add(id);
      found.push({ name, nameFrom: attribute, id, value: sent === "" ? {} : decode(sent), spanId });
    }
  }
  return found;
}

/**
 * The span of each call, in the order of both: by ID, else by name and arguments, else by name. All calls are matched one way
 * before any is the next way, or a call without a span would take that of another with other arguments.
 */
function matched(told: ToldCall[], spans: CallReading[]): Map<ToldCall, CallReading> {
  const found = new Map<ToldCall, CallReading>();
  const taken = new Set<CallReading>();
  for (const keyOf of [idKey, argumentsKey, nameKey]) {
    const waiting = new Map<string, CallReading[]>();
    for (const span of spans.toReversed()) {
      const key = taken.has(span) ? null : keyOf(span.name, span.id, span.arguments?.value);
      if (key === null) continue;
      const list = waiting.get(key);
      if (list) list.push(span);
      else waiting.set(key, [span]);
    }
    for (const call of told) {
      const key = found.has(call) ? null : keyOf(call.name, call.id, call.value);
      const span = key === null ? undefined : waiting.get(key)?.pop();
      if (!span) continue;
      found.set(call, span);
      taken.add(span);
    }
  }
  return found;
}

type KeyOfCall = (name: string, id: string | null, args: unknown) => string | null;

const idKey: KeyOfCall = (_name, id) => id;
const argumentsKey: KeyOfCall = (name, _id, args) =>
  args === undefined || args === null ? null : `${name} ${JSON.stringify(args)}`;
const nameKey: KeyOfCall = name => name;

/** Adds documented arguments that are no object, where neither the convention nor a message has others. */
function addDocumentedArguments(calls: CallReading[], reads: ReadSpan[]): void {
  const lacking = new Map(
    calls.flatMap(call => (call.isSpan && call.arguments === null ? [[call.spanId, call]] : [])),
  );
  if (lacking.size === 0) return;
  for (const { span } of reads) {
    const call = lacking.get(span.span_id);
    if (call) call.arguments = documentedArguments(span);
  }
}

/** Adds the results that only messages have. */
function addResults(calls: CallReading[], reads: ReadSpan[]): void {
  const waiting = new Map(calls.flatMap(call => (call.id !== null && !call.result ? [[call.id, call]] : [])));
  if (waiting.size === 0) return;
  for (const { asked } of reads) {
    for (const { id, value } of asked?.value.flatMap(message => message.results) ?? []) {
      const call = id === null ? undefined : waiting.get(id);
      if (call) call.result ??= { value, spanId: asked!.spanId, attribute: asked!.attribute };
    }
  }
}

/** The messages of this turn: earlier ones are history. */
function sinceQuestion(messages: ReadMessage[]): ReadMessage[] {
  return messages.slice(indexOfQuestion(messages) + 1);
}
