// Lists the tool calls of a trace, each once: from the spans of tools, and from the messages of models.
import { isRecord } from "../../model/record.ts";
import { textIn } from "../span/message-parts.ts";
import type { CallReading, ReadSpan } from "../span/reading.ts";
import { documentedArguments } from "../span/tool-reading.ts";
import { decode } from "../span/values.ts";
import { isSameTool, repeatedTools } from "./repeated-tools.ts";
import { keyOf, messagesWithCalls, type ToldCall, toldIn } from "./told-calls.ts";

/** For lists, which have each name once. `parents`: of all spans of the trace, by position. */
export function namedCalls(reads: ReadSpan[], models: ReadSpan[], parents: number[]): CallReading[] {
  const nothing = { id: null, arguments: null, result: null };
  const calls = new Map<string, CallReading>();
  const repeated = repeatedTools(reads, parents, false);
  for (const read of reads) {
    const { tool, span } = read;
    if (!tool || calls.has(tool.name) || repeated.has(read)) continue;
    const { name, nameFrom } = tool;
    calls.set(name, { ...nothing, name, nameFrom, isSpan: true, spanId: span.span_id });
  }
  const known = new Set(calls.keys());
  // Whether answers tell is asked only if histories may name another tool.
  const mayTell = models.some(one => one.convention !== null && one.mayCall("asked", known));
  const withHistory = mayTell && !tellAnswers(models);
  for (const { messages, spanId, attribute } of messagesWithCalls(models, withHistory, known)) {
    for (const message of messages) {
      for (const { name } of message.calls) {
        if (name === "" || calls.has(name) || isSpanOf(name, known)) continue;
        calls.set(name, { ...nothing, name, nameFrom: message.from ?? attribute, isSpan: false, spanId });
      }
    }
  }
  return [...calls.values()];
}

/** Whether one of these spans may be that of a tool which a message names otherwise. */
function isSpanOf(name: string, known: ReadonlySet<string>): boolean {
  for (const one of known) if (isSameTool(name, one)) return true;
  return false;
}

/** Whether each of several calls tells what it answered: then histories name no other tool, unless a turn has several traces. */
function tellAnswers(models: ReadSpan[]): boolean {
  if (models.length === 1) return false;
  return models.every(({ answered }) =>
    answered?.value.some(one => one.calls.length > 0 || /\S/.test(textIn(one))),
  );
}

/** Spans of tools first, then what models asked for that no span stands for; a call counts once. */
export function callsOf(reads: ReadSpan[], models: ReadSpan[], parents: number[]): CallReading[] {
  const repeated = repeatedTools(reads, parents, true);
  const bySpan = new Map<ReadSpan, CallReading>();
  for (const read of reads) {
    if (!read.tool || repeated.has(read)) continue;
    const { name, nameFrom, id, arguments: args, result } = read.tool;
    bySpan.set(read, {
      name,
      nameFrom,
      isSpan: true,
      id,
      arguments: args,
      result,
      spanId: read.span.span_id,
    });
  }
  for (const [inner, outer] of repeated) {
    const call = bySpan.get(outer);
    if (!call || !inner.tool) continue;
    call.id ??= inner.tool.id;
    call.arguments ??= inner.tool.arguments;
    call.result ??= inner.tool.result;
  }
  const calls = [...bySpan.values()];
  const told = toldIn(models, parents);
  const spansOfCalls = matched(told, calls);
  const readings = new Map<ToldCall, CallReading>();
  for (const one of told) {
    const { name, nameFrom, ids, value, spanId } = one;
    const args = isRecord(value) ? { spanId, attribute: nameFrom, value } : null;
    const known = spansOfCalls.get(one);
    if (known) {
      // Results refer to the id in the messages, which the span may lack or have another of.
      known.id = ids[0] ?? known.id;
      known.arguments ??= args;
      readings.set(one, known);
    } else if (name !== "") {
      const call = {
        name,
        nameFrom,
        isSpan: false,
        id: ids[0] ?? null,
        arguments: args,
        result: null,
        spanId,
      };
      calls.push(call);
      readings.set(one, call);
    }
  }
  addDocumentedArguments(calls, reads);
  addResults(told, readings, calls, reads);
  return calls;
}

/**
 * The span of each call, in the order of both: by ID, else by name and arguments, else by name. All calls are matched one way
 * before any is the next way, or a call without a span would take that of another with other arguments.
 */
function matched(told: ToldCall[], spans: CallReading[]): Map<ToldCall, CallReading> {
  const found = new Map<ToldCall, CallReading>();
  const taken = new Set<CallReading>();
  const match = (keysOfSpan: (span: CallReading) => string[], keysOfCall: (call: ToldCall) => string[]) => {
    const waiting = new Map<string, CallReading[]>();
    for (const span of spans.toReversed()) {
      for (const key of taken.has(span) ? [] : keysOfSpan(span)) {
        const list = waiting.get(key);
        if (list) list.push(span);
        else waiting.set(key, [span]);
      }
    }
    for (const call of told) {
      for (const key of found.has(call) ? [] : keysOfCall(call)) {
        const span = waiting.get(key)?.findLast(one => !taken.has(one));
        if (!span) continue;
        found.set(call, span);
        taken.add(span);
        break;
      }
    }
  };
  match(
    ({ id }) => (id === null ? [] : [id]),
    ({ ids }) => ids,
  );
  match(
    ({ name, arguments: args }) => (args == null ? [] : [keyOf(name, args.value)]),
    ({ key, value }) => (value === undefined || value === null ? [] : [key]),
  );
  match(
    ({ name }) => [name],
    ({ name }) => [name],
  );
  // A span of an MCP server's tool may have the server's name before that of the tool, and so may the message.
  for (const call of told) {
    if (found.has(call)) continue;
    const span = spans.find(one => !taken.has(one) && isSameTool(one.name, call.name));
    if (!span) continue;
    found.set(call, span);
    taken.add(span);
  }
  return found;
}

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

/** Adds the results that only messages have: of the turn, else of whatever lists the whole conversation. */
function addResults(
  told: ToldCall[],
  readings: Map<ToldCall, CallReading>,
  calls: CallReading[],
  reads: ReadSpan[],
): void {
  for (const one of told) {
    const call = readings.get(one);
    if (!call || !one.result) continue;
    const { value, spanId, attribute } = one.result;
    call.result ??= { value: resultOf(value), spanId, attribute };
  }
  const waiting = new Map(calls.flatMap(call => (call.id !== null && !call.result ? [[call.id, call]] : [])));
  if (waiting.size === 0) return;
  for (const { asked } of reads) {
    for (const { id, value } of asked?.value.flatMap(message => message.results) ?? []) {
      const call = id === null ? undefined : waiting.get(id);
      if (call)
        call.result ??= { value: resultOf(value), spanId: asked!.spanId, attribute: asked!.attribute };
    }
  }
}

/** Parsed, as on the spans of tools. */
function resultOf(value: unknown): unknown {
  const decoded = decode(value);
  return typeof decoded === "object" ? decoded : value;
}
