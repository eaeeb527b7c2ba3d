// One agent's conversation as it grows: what is heard again is recognised, what is new is recorded where it belongs.

import type { ReadCall, ReadMessage, ReadPiece, ReadResult } from "../trace/message-parts.ts";
import type { Said, Source } from "../trace/span-messages.ts";
import type { Span } from "../trace/trace.ts";
import { attributeOf, speakerOf, toolNameOf } from "./conversation.ts";
import type { Entry, Placed, SubAgent } from "./transcript-entry.ts";

/** The positions, in the order of a walk down the tree, of a span and of the last one below it. */
export type Extent = { from: number; to: number };

/** `from`: the position of the span that told of it first; `isOutput`: at its end. */
export type Recorded = { entry: Entry; from: number; isOutput: boolean };

type Call = Recorded & {
  entry: Extract<Entry, { kind: "tool_call" }>;
  id: string | null;
  /** Whether a message tells of it, and whether a span does. */
  told: boolean;
  done: boolean;
};

/** `all`: what was said anywhere before counts as heard, else only what the extent says. */
type Hearing = Extent & { all?: boolean };

export class Thread {
  readonly #agent: SubAgent | null;
  /** Of all threads. */
  readonly #recorded: Recorded[];
  readonly #max: number;
  readonly #messages = new Map<string, Recorded[]>();
  /** By id, and by name. */
  readonly #calls = new Map<string, CallsOfKey>();

  constructor(agent: SubAgent | null, recorded: Recorded[], max: number) {
    this.#agent = agent;
    this.#recorded = recorded;
    this.#max = max;
  }

  /** Of what a list says, as much as was said already is known; the rest is new, and stands where the list has it. */
  hear(saids: Said[], hearing: Hearing): void {
    let heard = new Heard(hearing);
    for (const { source, messages } of saids) {
      // Attributes may each hold all that was said; events are one list, however many.
      if (source.event === null) {
        const isHistory = messages.some(({ role }) => ["user", "system"].includes(speakerOf(role)));
        heard = new Heard(isHistory ? { ...hearing, all: true } : hearing);
      }
      const list = { source, heard, fresh: new Set<Recorded>() };
      for (const message of messages) {
        this.#stand(list, () => this.#hearMessage(message, list));
        for (const call of message.calls) this.#stand(list, () => this.#hearCall(call, list));
        for (const result of message.results) this.#stand(list, () => this.#hearResult(result, list));
      }
      for (const one of list.fresh) this.#recorded.push(one);
    }
  }

  /** What is new stands before what is heard next and known already. When all there is room for was said, nothing is heard. */
  #stand({ fresh }: List, hear: () => Recorded | undefined): void {
    if (this.#recorded.length + fresh.size >= this.#max) return;
    const known = hear();
    if (!known || fresh.size === 0) return;
    this.#recorded.splice(this.#recorded.indexOf(known), 0, ...fresh);
    fresh.clear();
  }

  /** The span of a call: of one that a message told of, if there is one. */
  perform(span: Span, from: number): void {
    const name = toolNameOf(span)!;
    const id = textOf(attributeOf(span, "gen_ai.tool.call.id"));
    const args = placedIn(span, "gen_ai.tool.call.arguments");
    const attribute = args ? "gen_ai.tool.call.arguments" : "gen_ai.tool.name";
    const source = { spanId: span.span_id, attribute, event: null };
    const begun = this.#openCall(name, id, "done");
    const call = begun ?? this.#record(name, id, { source, from, isOutput: true });
    if (!begun) this.#recorded.push(call);
    const { entry } = call;
    const failed = span.status?.code === 2;
    call.done = true;
    Object.assign(entry, source);
    entry.arguments = args ?? entry.arguments;
    entry.result = placedIn(span, "gen_ai.tool.call.result") ?? entry.result;
    entry.durationMs = durationOf(span);
    entry.failed ||= failed;
    entry.error = (failed && span.status?.message) || null;
  }

  #hearMessage({ role: sent, pieces }: ReadMessage, { source, heard, fresh }: List): Recorded | undefined {
    if (pieces.length === 0) return undefined;
    const role = sent || (heard.hearing.all ? "user" : "assistant");
    const key = keyOf(role, pieces);
    const before = this.#messages.get(key);
    const known = heard.next(key, () => before);
    if (known) return known;
    const entry: Entry = { ...source, agent: this.#agent, kind: "message", role, pieces };
    const recorded = { entry, from: heard.hearing.from, isOutput: !heard.hearing.all };
    if (before) before.push(recorded);
    else this.#messages.set(key, [recorded]);
    fresh.add(recorded);
    return undefined;
  }

  #hearCall({ id, name, arguments: args, paths }: ReadCall, list: List): Recorded | undefined {
    const { source, heard, fresh } = list;
    const told = () => this.#calls.get(callKey(name, id))?.all.filter(call => call.told);
    const known = heard.next(`call ${callKey(name, id)}`, told);
    if (known) return known;
    const { from, all = false } = heard.hearing;
    const begun = this.#openCall(name, id, "told");
    const call = begun ?? this.#record(name, id, { source, from, isOutput: !all });
    call.told = true;
    if (args !== null) call.entry.arguments ??= { value: args, spanId: source.spanId, paths };
    if (!begun) fresh.add(call);
    return begun;
  }

  /** A result of no known call is shown as a call of which nothing else is known. */
  #hearResult({ id, name, value, failed, paths }: ReadResult, list: List): Recorded | undefined {
    const { source, heard, fresh } = list;
    const key = callKey(name ?? "", id);
    const known = heard.next(`result ${key}`, () => this.#calls.get(key)?.all) as Call | undefined;
    const call = known ?? this.#record(name ?? "", id, { source, from: heard.hearing.from, isOutput: false });
    call.entry.result ??= { value, spanId: source.spanId, paths };
    call.entry.failed ||= failed;
    if (known) return fresh.has(known) ? undefined : known;
    call.told = true;
    fresh.add(call);
    return undefined;
  }

  /** The first call that `lacks` what has come now: the one of this id, else one of this name that is not over. */
  #openCall(name: string, id: string | null, lacks: "told" | "done"): Call | undefined {
    const same = id === null ? undefined : this.#calls.get(callKey(name, id))?.lacking(lacks);
    if (same) return same;
    const open = this.#calls.get(callKey(name, null))?.open(lacks, id !== null);
    if (open && id !== null) {
      open.id = id;
      this.#index(callKey(name, id), open);
    }
    return open;
  }

  /** Not yet in its place. */
  #record(name: string, id: string | null, where: Omit<Recorded, "entry"> & { source: Source }): Call {
    const { source, ...told } = where;
    const blank = { arguments: null, result: null, error: null, durationMs: null, failed: false };
    const entry: Call["entry"] = { ...source, agent: this.#agent, kind: "tool_call", name, ...blank };
    const call: Call = { ...told, entry, id, told: false, done: false };
    this.#index(callKey(name, null), call);
    if (id !== null) this.#index(callKey(name, id), call);
    return call;
  }

  #index(key: string, call: Call): void {
    const calls = this.#calls.get(key) ?? new CallsOfKey();
    this.#calls.set(key, calls);
    calls.all.push(call);
  }
}

/**
 * Calls in the order in which they became known. What makes one useless for a question never passes, so that each
 * question passes over every call once, however often it is asked.
 */
class CallsOfKey {
  readonly all: Call[] = [];
  readonly #passed = new Map<string, number>();

  /** The first that lacks this. */
  lacking(lacks: "told" | "done"): Call | undefined {
    return this.#first(lacks, call => call[lacks]);
  }

  /** The first that lacks this and is not over; with `nameless`, that has no id either. */
  open(lacks: "told" | "done", nameless: boolean): Call | undefined {
    // What no message tells of is known by its span, and over only when a message has told of its result.
    const isOver = (call: Call) => call[lacks] || (!call.done && call.entry.result !== null);
    return this.#first(`open ${lacks} ${nameless}`, call => isOver(call) || (nameless && call.id !== null));
  }

  #first(question: string, isUseless: (call: Call) => boolean): Call | undefined {
    let at = this.#passed.get(question) ?? 0;
    while (at < this.all.length && isUseless(this.all[at]!)) at++;
    this.#passed.set(question, at);
    return this.all[at];
  }
}

type List = { source: Source; heard: Heard; fresh: Set<Recorded> };

/** How far a list has come among what was said before it. */
class Heard {
  readonly hearing: Hearing;
  readonly #left = new Map<string, { before: Recorded[]; next: number }>();

  constructor(hearing: Hearing) {
    this.hearing = hearing;
  }

  /** The first time of `before` the first one that the list can mean, then the one after it. */
  next(key: string, before: () => Recorded[] | undefined): Recorded | undefined {
    let left = this.#left.get(key);
    if (!left) {
      left = { before: (before() ?? []).filter(one => this.#means(one)), next: 0 };
      this.#left.set(key, left);
    }
    return left.before[left.next++];
  }

  /** What was said below the span, or by the span itself. */
  #means({ from, isOutput }: Recorded): boolean {
    const { all, from: first, to } = this.hearing;
    return all === true || (from > first && from <= to) || (from === first && isOutput);
  }
}

/** Ids are those of calls, whatever their tool is called on the other side. */
function callKey(name: string, id: string | null): string {
  return id === null ? `name ${name}` : `id ${id}`;
}

/** Equal for messages that say the same; histories often leave the reasoning out. */
function keyOf(role: string, pieces: ReadPiece[]): string {
  const speaker = speakerOf(role);
  const said = pieces.filter(({ kind }) => kind !== "reasoning");
  const texts = (said.length > 0 ? said : pieces).map(piece =>
    piece.kind === "media" ? piece.name : `${piece.kind} ${piece.text}`,
  );
  return `${speaker === "other" ? role : speaker}\n${texts.join("\n")}`;
}

function placedIn(span: Span, attribute: string): Placed | null {
  const value = attributeOf(span, attribute);
  return value === undefined ? null : { value, spanId: span.span_id, paths: [["attributes", attribute]] };
}

function durationOf({ start_time_unix_nano: start, end_time_unix_nano: end }: Span): number | null {
  if (!/^\d{1,20}$/.test(start ?? "") || !/^\d{1,20}$/.test(end ?? "")) return null;
  const nanos = BigInt(end!) - BigInt(start!);
  return nanos < 0n ? null : Number(nanos) / 1e6;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
