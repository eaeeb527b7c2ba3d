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
  const lists = listsOf(view).filter(
    ({ value }) => typeof value !== "string" || mayNameIn(value, tool, view),
  );
  for (const { span, attribute, value } of withoutBeginnings(lists, view)) {
    const shown = view.budget.timed(() => callsShownIn(structureOf(value), tool));
    const told = (call: ShownCall): Told => ({ ...call, place: placeIn(span, attribute) });
    calls.add(shown.calls.map(told));
    results.add(shown.results.map(told));
  }
  return calls.all.length >= results.all.length ? calls.all : results.all;
}

function placeIn(span: Span, attribute: string | null): Evidence {
  return attribute === null ? placesOfSpans([span])[0]! : placeOf(span, attribute);
}

/** Messages as sent; without an attribute where they are the events of the span. */
type List = { span: Span; attribute: string | null; value: unknown };

// Several checks look at the same trace.
const listsOfViews = new WeakMap<TraceView, List[]>();

function listsOf(view: TraceView): List[] {
  let lists = listsOfViews.get(view);
  if (!lists) {
    view.budget.spend(view.spans.length);
    lists = view.spans.flatMap(listsIn);
    listsOfViews.set(view, lists);
  }
  return lists;
}

function listsIn(span: Span): List[] {
  // Most spans have none.
  if (span.events.length === 0 && messageKeys.every(key => span.attributes[key] === undefined)) return [];
  const lists = messageKeys.flatMap((attribute): List[] =>
    messageValues(span, attribute).map(value => ({ span, attribute, value })),
  );
  const inEvents = messagesInEvents(span).map(message => ({
    ...message,
    message: structureOf(message["message"]) ?? message["message"],
  }));
  return inEvents.length > 0 ? [...lists, { span, attribute: null, value: inEvents }] : lists;
}

/** How many lists back a history may have been sent before: agents take turns. */
const lookBack = 8;

/** Without the histories that later ones begin with: parsing each would take the square of the time. */
function withoutBeginnings(lists: List[], { budget }: TraceView): List[] {
  const beginnings = new Set<List>();
  let latest: { list: List; text: string }[] = [];
  for (const list of lists) {
    const { value } = list;
    if (typeof value !== "string") continue;
    budget.spend(Math.ceil(value.length / charsPerStep));
    // Much faster than `startsWith`.
    const before = latest.find(({ text }) => value.slice(0, text.length - 1) === text.slice(0, -1));
    if (before) beginnings.add(before.list);
    latest = [{ list, text: value }, ...latest.filter(one => one !== before)].slice(0, lookBack);
  }
  return lists.filter(list => !beginnings.has(list));
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

/** Without tool calls of the trace: by their ID, else their arguments, else, unless both differ, the name alone. */
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

const idsBySpan = new WeakMap<TraceView, Map<string, string>>();

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

function mayNameIn(text: string, tool: string, { budget }: TraceView): boolean {
  budget.spend(Math.ceil(text.length / charsPerStep));
  return mayName(text, tool);
}
