// The calls of a tool that messages show and that are not among the tool calls of the trace: what they did is not known.

import { isRecord } from "../model/record.ts";
import type { Evidence } from "../model/run/run.ts";
import type { Span, ToolCall } from "../model/trace/trace.ts";
import { attributeOf, structureOf, toolNameOf } from "../reading/span/conversation.ts";
import {
  callsMax,
  callsShownIn,
  hasMessages,
  mayName,
  messageKeys,
  messagesInEvents,
  messageValues,
  type ShownCall,
} from "../reading/span/shown-calls.ts";
import { placeOf, placesOfSpans } from "./evidence.ts";
import type { TraceView } from "./trace-view.ts";

type Told = ShownCall & { place: Evidence };

/** Where messages show calls of the tool that could not be read, in each turn of a conversation of several. */
export function unreadCalls(view: TraceView, tool: string): Evidence[] {
  if (view.turns) return view.turns.flatMap(turn => unreadCalls(turn, tool));
  const told = shownCalls(view, tool);
  return told.length === 0 ? [] : withoutRead(told, view, tool).map(({ place }) => place);
}

/** The first turn in which nothing could show a call: its trace is a root alone, without messages; 0 for the whole trace. */
export function blindTurn(view: TraceView): number | undefined {
  if (!view.turns) return isBlind(view) ? 0 : undefined;
  const at = view.turns.findIndex(isBlind);
  return at === -1 ? undefined : view.turns.every(isBlind) ? 0 : at + 1;
}

/** A trace that is stored without its content keeps the calls of its messages. */
function isBlind(view: TraceView): boolean {
  const { spans, derived, content } = view;
  return (
    !content && derived.toolCalls.length === 0 && spans.every(span => view.isRoot(span) && !hasMessages(span))
  );
}

/** Each call once, however many messages show it. Rather too few than too many: a call that was read must not be taken for another. */
function shownCalls(view: TraceView, tool: string): Told[] {
  const calls = new Distinct();
  const results = new Distinct();
  for (const span of messageSpansOf(view)) {
    for (const { attribute, messages } of listsOf(span, view, tool)) {
      const shown = view.budget.timed(() => callsShownIn(messages, tool));
      const told = (call: ShownCall): Told => ({ ...call, place: placeIn(span, attribute) });
      calls.add(shown.calls.map(told));
      results.add(shown.results.map(told));
    }
  }
  return calls.all.length >= results.all.length ? calls.all : results.all;
}

function placeIn(span: Span, attribute: string | null): Evidence {
  return attribute === null ? placesOfSpans([span])[0]! : placeOf(span, attribute);
}

function listsOf(
  span: Span,
  view: TraceView,
  tool: string,
): { attribute: string | null; messages: unknown }[] {
  const lists: { attribute: string | null; messages: unknown }[] = [];
  for (const attribute of messageKeys) {
    for (const value of messageValues(span, attribute)) {
      const messages = typeof value === "string" ? messagesNaming(tool, value, view) : value;
      if (messages !== undefined) lists.push({ attribute, messages });
    }
  }
  const inEvents = messagesInEvents(span).map(message => ({
    ...message,
    message: structureOf(message["message"]) ?? message["message"],
  }));
  if (inEvents.length > 0) lists.push({ attribute: null, messages: inEvents });
  return lists;
}

/** Calls of lists that repeat each other's: the same by an ID, or by the arguments and how often these came before in the list. */
class Distinct {
  readonly #byKey = new Map<string, Told>();
  readonly #keys = new Map<string, string>();
  /** What a single list shows, without arguments too. */
  #most: Told[] = [];

  add(calls: Told[]): void {
    if (calls.length > this.#most.length) this.#most = calls;
    const counts = new Map<string, number>();
    for (const call of calls) {
      const args = isEmpty(call.arguments) ? null : JSON.stringify(call.arguments);
      const count = (counts.get(args ?? "") ?? 0) + 1;
      counts.set(args ?? "", count);
      if (call.ids.some(id => this.#keys.has(id))) continue;
      // Without arguments it may be any of the others.
      const key = args === null ? call.ids[0] : `${args} ${count}`;
      if (key === undefined || this.#byKey.size >= callsMax) continue;
      for (const id of call.ids) this.#keys.set(id, key);
      if (!this.#byKey.has(key)) this.#byKey.set(key, call);
    }
  }

  get all(): Told[] {
    return this.#most.length > this.#byKey.size ? this.#most : [...this.#byKey.values()];
  }
}

function isEmpty(args: unknown): boolean {
  return args === null || args === "" || (isRecord(args) && Object.keys(args).length === 0);
}

/** Without those that are tool calls of the trace: by their ID, else their arguments, else, unless both differ, the name alone. */
function withoutRead(told: Told[], view: TraceView, tool: string): Told[] {
  const idOf = idsOfCalls(view);
  const ids = new Set(idOf.values());
  const shown = new Set(told.flatMap(one => one.ids));
  const calls = view.callsOf(tool).filter(({ spanId }) => !shown.has(idOf.get(spanId) ?? ""));
  // Whatever is forbidden or limited was called often enough.
  if (calls.length > callsMax) return [];
  const argumentsOf = (args: unknown) => JSON.stringify(args ?? null);
  const byArguments = Map.groupBy(calls, call => argumentsOf(call.arguments));
  const left = told
    .filter(one => !one.ids.some(id => ids.has(id)))
    .filter(one => !byArguments.get(argumentsOf(one.arguments))?.shift());
  const others = [...byArguments.values()].flat();
  return left.filter(one => {
    const mayBe = (call: ToolCall) =>
      one.ids.length === 0 || !idOf.has(call.spanId) || isEmpty(one.arguments) || !isRecord(call.arguments);
    const at = others.findIndex(mayBe);
    if (at !== -1) others.splice(at, 1);
    return at === -1;
  });
}

// Several checks look at the same trace.
const spansWithMessages = new WeakMap<TraceView, Span[]>();
const idsBySpan = new WeakMap<TraceView, Map<string, string>>();

/** The spans that may have messages. */
function messageSpansOf(view: TraceView): Span[] {
  let spans = spansWithMessages.get(view);
  if (!spans) {
    view.budget.spend(view.spans.length);
    spans = view.spans.filter(
      span => span.events.length > 0 || messageKeys.some(key => attributeOf(span, key) !== undefined),
    );
    spansWithMessages.set(view, spans);
  }
  return spans;
}

/** The IDs of calls, by the spans of their tools. */
function idsOfCalls(view: TraceView): Map<string, string> {
  let ids = idsBySpan.get(view);
  if (!ids) {
    ids = new Map();
    for (const span of view.spans) {
      const id = toolNameOf(span) === null ? undefined : attributeOf(span, "gen_ai.tool.call.id");
      if (typeof id === "string" && id !== "") ids.set(span.span_id, id);
    }
    idsBySpan.set(view, ids);
  }
  return ids;
}

const charsPerStep = 64;

/** The messages in a text; undefined if they do not name the tool, or the text is no JSON. */
function messagesNaming(tool: string, text: string, { budget }: TraceView): unknown {
  budget.spend(Math.ceil(text.length / charsPerStep));
  return mayName(text, tool) ? budget.timed(() => structureOf(text)) : undefined;
}
