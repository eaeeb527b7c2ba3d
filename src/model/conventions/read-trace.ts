// Reads a whole trace by its conventions: question, reply, tool calls and usage, each told once.
import { ValueAllowance } from "../json-text.ts";
import { isRecord } from "../record.ts";
import { compareStarts } from "../trace/merge.ts";
import type { ReadMessage } from "../trace/message-parts.ts";
import { buildTree, depthsOf } from "../trace/span-tree.ts";
import type { Attributes, Span } from "../trace/trace.ts";
import type { Preset, Sourced, SpanReading } from "./reading.ts";
import { readDocumented } from "./table.ts";
import { decode } from "./values.ts";

export type CallReading = {
  name: string;
  /** Where the name was read; null: it is that of the span. */
  nameFrom: string | null;
  /** Whether the span is that of the tool, not of the model that asked for the call. */
  isSpan: boolean;
  id: string | null;
  arguments: Sourced<unknown> | null;
  result: Sourced<unknown> | null;
  spanId: string;
};

export type TraceReading = {
  userInput: Sourced<string> | null;
  reply: Sourced<string> | null;
  calls: CallReading[];
  usage: { input: number | null; output: number | null; reasoning: number | null; cached: number | null };
  model: Sourced<string> | null;
  provider: Sourced<string> | null;
  conversationId: Sourced<string> | null;
  userId: Sourced<string> | null;
  /** The spans that say something, in the order of their start. */
  spans: ReadSpan[];
};

/** `convention`: the preset that recognized the span; null if only its documented attributes were read. */
export type ReadSpan = SpanReading & { at: number; depth: number; span: Span; convention: string | null };

/** `columns`: only what lists show: of the calls the names, and neither results nor ids. */
export type ReadingDepth = "all" | "columns";

/**
 * Reads a trace in which at least one span is recognized; null for any other, and for one whose JSON has more values than
 * the allowance. Pure, and linear in the spans and their messages. `recognize`: see presets.ts.
 */
export function readTrace(
  spans: Span[],
  recognize: (span: Span) => Preset | null,
  allowance = new ValueAllowance(),
  depth: ReadingDepth = "all",
): TraceReading | null {
  const found = spans.map(recognize);
  if (found.every(preset => preset === null)) return null;
  const values = valuesIn(spans);
  // Half a trace would give wrong sums.
  if (values > allowance.left) return null;
  allowance.left -= values;
  const tree = buildTree(spans);
  const depths = depthsOf(tree);
  const reads: ReadSpan[] = [];
  for (const [at, span] of spans.entries()) {
    const preset = found[at]!;
    const reading = preset ? preset.read(span) : readDocumented(span);
    if (!reading) continue;
    // Assigned, not copied: its parts are read when they are asked for.
    reads.push(Object.assign(reading, { at, depth: depths[at]!, span, convention: preset?.name ?? null }));
  }
  reads.sort((a, b) => compareStarts(a.span, b.span));
  const models = reads.filter(({ role }) => role === "model");
  const around = aroundOf(reads, models, tree.parents);
  const latest = models.reduce<ReadSpan | null>(
    (best, one) => (best && endsAfter(best, one) ? best : one),
    null,
  );
  const isAll = depth === "all";
  return {
    userInput:
      first(around, ({ asked }) => questionIn(asked)) ?? first(models, ({ asked }) => questionIn(asked)),
    reply: first(around, ({ answered }) => replyIn(answered)) ?? (latest && replyIn(latest.answered)),
    calls: isAll ? callsOf(reads, models) : namedCalls(reads, models),
    usage: usageOf(reads, tree.parents),
    model: isAll ? (latest?.model ?? first(around, ({ model }) => model)) : null,
    provider: isAll ? (latest?.provider ?? null) : null,
    conversationId: isAll ? agreed(reads, ({ conversationId }) => conversationId) : null,
    userId: isAll ? agreed(reads, ({ userId }) => userId) : null,
    spans: reads,
  };
}

/** Of texts this short in total, the values need not be counted: there is at most one for two characters. */
const uncountedMax = 200_000;

/** At least as many values as parsing the texts gives, JSON within JSON included. */
function valuesIn(spans: Span[]): number {
  const texts: string[] = [];
  let length = 0;
  const add = (attributes: Attributes) => {
    for (const key in attributes) {
      const text = attributes[key];
      if (typeof text !== "string" || !mayBeJson(text)) continue;
      texts.push(text);
      length += text.length;
    }
  };
  for (const span of spans) {
    add(span.attributes);
    for (const event of span.events) {
      if (isRecord(event) && isRecord(event["attributes"])) add(event["attributes"]);
    }
  }
  return length <= uncountedMax ? length / 2 : texts.reduce((sum, text) => sum + countIn(text), 0);
}

/** Whether its first character, or one after blanks, may begin JSON. */
function mayBeJson(text: string): boolean {
  const char = text.charCodeAt(0);
  return char <= 32 || char === quote || char === bracket || char === brace;
}

function countIn(text: string): number {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === comma || char === bracket || char === brace) values++;
  }
  return values;
}

const [quote, comma, bracket, brace] = [34, 44, 91, 123];

/** Agents, then steps, that have a model call below them, the outermost first; all of them if no model was called. */
function aroundOf(reads: ReadSpan[], models: ReadSpan[], parents: number[]): ReadSpan[] {
  const above = ancestors(
    parents,
    models.map(({ at }) => at),
  );
  return reads
    .filter(({ role, at }) => (role === "agent" || role === "step") && (models.length === 0 || above.has(at)))
    .sort((a, b) => a.depth - b.depth);
}

function ancestors(parents: number[], positions: number[]): Set<number> {
  const above = new Set<number>();
  for (const position of positions) {
    for (let at = parents[position]!; at !== -1 && !above.has(at); at = parents[at]!) above.add(at);
  }
  return above;
}

function endsAfter(a: ReadSpan, b: ReadSpan): boolean {
  const [one, other] = [a.span.end_time_unix_nano ?? "", b.span.end_time_unix_nano ?? ""];
  return one.length === other.length ? one > other : one.length > other.length;
}

function first<T>(reads: ReadSpan[], read: (one: ReadSpan) => T | null): T | null {
  for (const one of reads) {
    const found = read(one);
    if (found) return found;
  }
  return null;
}

/** The texts of a message, joined. */
export function textIn({ pieces }: ReadMessage): string {
  return pieces.map(piece => (piece.kind === "text" ? piece.text : "")).join("");
}

/** The user's last message. */
function questionIn(found: Sourced<ReadMessage[]> | null): Sourced<string> | null {
  const message = found?.value[indexOfQuestion(found.value)];
  return message ? { ...found!, value: textIn(message) } : null;
}

/** The position of the user's last message with text; -1 if there is none. */
export function indexOfQuestion(messages: ReadMessage[]): number {
  return messages.findLastIndex(one => one.role === "user" && /\S/.test(textIn(one)));
}

/** The assistant's last message, unless a call of a tool follows. */
function replyIn(found: Sourced<ReadMessage[]> | null): Sourced<string> | null {
  const message = found?.value.findLast(
    ({ role, pieces, calls }) => role === "assistant" && pieces.length + calls.length > 0,
  );
  const text = message ? textIn(message).trimEnd() : "";
  return found && /\S/.test(text) ? { ...found, value: text } : null;
}

/** For lists, which have each name once. */
function namedCalls(reads: ReadSpan[], models: ReadSpan[]): CallReading[] {
  const nothing = { id: null, arguments: null, result: null };
  const calls = new Map<string, CallReading>();
  for (const { tool, span } of reads) {
    if (!tool || calls.has(tool.name)) continue;
    const { name, nameFrom } = tool;
    calls.set(name, { ...nothing, name, nameFrom, isSpan: true, spanId: span.span_id });
  }
  for (const { messages, spanId, attribute } of messagesWithCalls(models, !tellAnswers(models))) {
    for (const { name } of messages.flatMap(message => message.calls)) {
      if (name === "" || calls.has(name)) continue;
      calls.set(name, { ...nothing, name, nameFrom: attribute, isSpan: false, spanId });
    }
  }
  return [...calls.values()];
}

type Told = { messages: ReadMessage[]; isHistory: boolean; spanId: string; attribute: string };

/** What models answered and, `withHistory`, what they were asked since the question. */
function* messagesWithCalls(models: ReadSpan[], withHistory = true): Generator<Told> {
  for (const one of models) {
    if (one.convention === null) continue;
    const { answered } = one;
    if (answered) yield { ...answered, messages: answered.value, isHistory: false };
    const asked = withHistory ? one.asked : null;
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
function callsOf(reads: ReadSpan[], models: ReadSpan[]): CallReading[] {
  const calls = reads.flatMap(({ tool, span }): CallReading[] => {
    if (!tool) return [];
    const { name, nameFrom, id, arguments: args, result } = tool;
    return [{ name, nameFrom, isSpan: true, id, arguments: args, result, spanId: span.span_id }];
  });
  const untold = new CallsWithoutMessage(calls);
  const told = new Set<string>();
  for (const { messages, isHistory, spanId, attribute } of messagesWithCalls(models)) {
    for (const { name, id, arguments: sent } of messages.flatMap(message => message.calls)) {
      // Without an id a call in the history cannot be told from a second one.
      if (id === null ? isHistory : told.has(id)) continue;
      if (id !== null) told.add(id);
      const value = decode(sent);
      const args = isRecord(value) ? { spanId, attribute, value } : null;
      const known = untold.take(name, id, value);
      if (known) {
        // Results refer to the id in the messages, which the span may lack or have another of.
        known.id = id ?? known.id;
        known.arguments ??= args;
      } else if (name !== "") {
        calls.push({ name, nameFrom: attribute, isSpan: false, id, arguments: args, result: null, spanId });
      }
    }
  }
  addResults(calls, reads);
  return calls;
}

/** Finds the span of a call by its id, else by name and arguments, else by name; each once. */
class CallsWithoutMessage {
  readonly #taken = new Set<CallReading>();
  readonly #byKey = new Map<string, CallReading[]>();

  constructor(calls: CallReading[]) {
    for (const call of calls.toReversed()) {
      for (const key of keysOf(call.name, call.id, call.arguments?.value)) {
        const list = this.#byKey.get(key);
        if (list) list.push(call);
        else this.#byKey.set(key, [call]);
      }
    }
  }

  take(name: string, id: string | null, args: unknown): CallReading | undefined {
    for (const key of keysOf(name, id, args)) {
      const list = this.#byKey.get(key);
      while (list && this.#taken.has(list.at(-1)!)) list.pop();
      const call = list?.at(-1);
      if (!call) continue;
      this.#taken.add(call);
      return call;
    }
    return undefined;
  }
}

function keysOf(name: string, id: string | null, args: unknown): string[] {
  const keys = [`name ${name}`];
  if (args !== undefined && args !== null) keys.unshift(`args ${name} ${JSON.stringify(args)}`);
  if (id !== null) keys.unshift(`id ${id}`);
  return keys;
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

/** Usage of the deepest spans that have any: whatever is above repeats it. */
function usageOf(reads: ReadSpan[], parents: number[]): TraceReading["usage"] {
  const bearers = reads.filter(({ usage }) => usage);
  const above = ancestors(
    parents,
    bearers.map(({ at }) => at),
  );
  const sum: TraceReading["usage"] = { input: null, output: null, reasoning: null, cached: null };
  const last = new Map(bearers.map(({ at }) => [parents[at], at]));
  for (const { at, usage, cumulative } of bearers) {
    if (above.has(at) || (cumulative && last.get(parents[at]) !== at)) continue;
    for (const key of ["input", "output", "reasoning", "cached"] as const) {
      const count = usage!.value[key];
      if (count !== null) sum[key] = Math.min((sum[key] ?? 0) + count, Number.MAX_SAFE_INTEGER);
    }
  }
  return sum;
}

/** An id counts if all spans that carry one agree. */
function agreed(reads: ReadSpan[], idOf: (read: ReadSpan) => Sourced<string> | null): Sourced<string> | null {
  let found: Sourced<string> | null = null;
  for (const read of reads) {
    const id = idOf(read);
    if (!id) continue;
    if (found && found.value !== id.value) return null;
    found ??= id;
  }
  return found;
}
