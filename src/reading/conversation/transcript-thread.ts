// One agent's part of a transcript: deduplicates repeated history, and inserts new messages and calls in order.

import { parseJson } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import type { SubAgent } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf, speakerOf, toolNameOf } from "../span/conversation.ts";
import { hasFailed, type ReadCall, type ReadMessage, type ReadResult } from "../span/message-parts.ts";
import { errorOf } from "../span/span-error.ts";
import type { Source, SourcedMessages } from "../span/span-messages.ts";
import type { Entry, SourcedValue } from "./transcript-entry.ts";
import { argumentsKey, callKey, keyOf } from "./transcript-keys.ts";

/** The positions of a span and of its last descendant, in depth-first order. */
export type Extent = { from: number; to: number };

/** `from`: the position of the span that first contained it; `isOutput`: in its output. */
export type Recorded = { entry: Entry; from: number; isOutput: boolean };

type Call = Recorded & {
  entry: Extract<Entry, { kind: "tool_call" }>;
  id: string | null;
  /** Whether a message contains it. */
  hasMessage: boolean;
  /** Whether it has a span of its own. */
  hasSpan: boolean;
};

type CallPart = "hasMessage" | "hasSpan";

/** Which entries a list may repeat. `all`: all earlier ones, else only those from spans of the extent. */
type Scope = Extent & { all?: boolean };

export class Thread {
  readonly #agent: SubAgent | null;
  /** The entries of all threads, in order. */
  readonly #recorded: Recorded[];
  readonly #max: number;
  readonly #messages = new Map<string, Recorded[]>();
  /** Indexed by id, by name, and by name and arguments. */
  readonly #calls = new Map<string, CallsOfKey>();
  /** Calls that had no result when last looked at, and those that a result without id and name answered, by that result. */
  readonly #open = new Set<Call>();
  readonly #unnamed = new Map<string, Call>();

  constructor(agent: SubAgent | null, recorded: Recorded[], max: number) {
    this.#agent = agent;
    this.#recorded = recorded;
    this.#max = max;
  }

  /** Adds the messages that are new; those that repeat earlier entries decide where the new ones are inserted. */
  add(lists: SourcedMessages[], scope: Scope): void {
    let matcher = new RepetitionMatcher(scope);
    for (const { source, messages } of lists) {
      // Each attribute may contain the whole history; the events of a span are one list.
      if (source.event === null) {
        const isHistory = messages.some(({ role }) => ["user", "system"].includes(speakerOf(role)));
        matcher = new RepetitionMatcher(isHistory ? { ...scope, all: true } : scope);
      }
      const list = { source, matcher, fresh: new Set<Recorded>() };
      for (const message of messages) {
        this.#insert(list, () => this.#addMessage(message, list));
        for (const call of message.calls) this.#insert(list, () => this.#addCall(call, list));
        for (const result of message.results) this.#insert(list, () => this.#addResult(result, list));
      }
      for (const one of list.fresh) this.#recorded.push(one);
    }
  }

  /** Inserts new entries before the next known one. Ignores input once the limit is reached. */
  #insert({ fresh }: List, add: () => Recorded | undefined): void {
    if (this.#recorded.length + fresh.size >= this.#max) return;
    const known = add();
    if (!known || fresh.size === 0) return;
    this.#recorded.splice(this.#recorded.indexOf(known), 0, ...fresh);
    fresh.clear();
  }

  /** Adds the span of a tool call, to the call of a message if there is one. */
  addCallSpan(span: Span, from: number): void {
    const name = toolNameOf(span)!;
    const id = textOf(attributeOf(span, "gen_ai.tool.call.id"));
    const args = valueIn(span, "gen_ai.tool.call.arguments");
    const attribute = args ? "gen_ai.tool.call.arguments" : "gen_ai.tool.name";
    const source = { spanId: span.span_id, attribute, event: null };
    const begun = this.#openCall(name, id, "hasSpan");
    const call = begun ?? this.#record(name, id, { source, from, isOutput: true });
    if (!begun) this.#recorded.push(call);
    const { entry } = call;
    const made = valueIn(span, "gen_ai.tool.call.result");
    const told = typeof made?.value === "string" ? parseJson(made.value) : made?.value;
    const failed = span.status?.code === 2 || (isRecord(told) && hasFailed(told));
    call.hasSpan = true;
    Object.assign(entry, source);
    entry.arguments = args ?? entry.arguments;
    entry.result = made ?? entry.result;
    entry.durationMs = durationOf(span);
    entry.failed ||= failed;
    entry.error = errorOf(span);
  }

  #addMessage({ role: sent, pieces }: ReadMessage, { source, matcher, fresh }: List): Recorded | undefined {
    if (pieces.length === 0) return undefined;
    const role = sent || (matcher.scope.all ? "user" : "assistant");
    const key = keyOf(role, pieces);
    const before = this.#messages.get(key);
    const known = matcher.next(key, () => before);
    if (known) return known;
    const entry: Entry = { ...source, agent: this.#agent, kind: "message", role, pieces };
    const recorded = { entry, from: matcher.scope.from, isOutput: !matcher.scope.all };
    if (before) before.push(recorded);
    else this.#messages.set(key, [recorded]);
    fresh.add(recorded);
    return undefined;
  }

  #addCall({ id, name, arguments: args, paths }: ReadCall, list: List): Recorded | undefined {
    const { source, matcher, fresh } = list;
    const before = () => this.#calls.get(callKey(name, id))?.all.filter(call => call.hasMessage);
    const { from, all = false } = matcher.scope;
    const alike = () => this.#calls.get(argumentsKey(name, args))?.all.filter(call => call.hasMessage);
    // The Responses API gives a call two ids, and histories have either.
    const known =
      matcher.next(`call ${callKey(name, id)}`, before) ??
      (all && id !== null && args !== null ? matcher.next(argumentsKey(name, args), alike) : undefined);
    if (known) return known;
    const begun = this.#openCall(name, id, "hasMessage");
    const call = begun ?? this.#record(name, id, { source, from, isOutput: !all });
    call.hasMessage = true;
    if (args !== null) {
      call.entry.arguments ??= { value: args, spanId: source.spanId, paths };
      this.#index(argumentsKey(name, args), call);
    }
    if (!begun) fresh.add(call);
    return begun;
  }

  /** A result without a known call is shown as a call with a result only. */
  #addResult({ id, name, value, failed, paths }: ReadResult, list: List): Recorded | undefined {
    const { source, matcher, fresh } = list;
    const key = callKey(name ?? "", id);
    const known = (
      id === null && !name
        ? this.#answeredBy(value)
        : matcher.next(`result ${key}`, () => this.#calls.get(key)?.all)
    ) as Call | undefined;
    const call = known ?? this.#record(name ?? "", id, { source, from: matcher.scope.from, isOutput: false });
    call.entry.result ??= { value, spanId: source.spanId, paths };
    call.entry.failed ||= failed;
    if (known) return fresh.has(known) ? undefined : known;
    call.hasMessage = true;
    fresh.add(call);
    return undefined;
  }

  /** The only call that has no result; a result that names no call may be told again. */
  #answeredBy(value: unknown): Call | undefined {
    const told = JSON.stringify(value);
    const before = this.#unnamed.get(told);
    if (before) return before;
    for (const call of this.#open) if (call.entry.result !== null) this.#open.delete(call);
    const [only] = this.#open;
    if (!only || this.#open.size > 1) return undefined;
    this.#unnamed.set(told, only);
    return only;
  }

  /** The first call without the part just read: the one with this id, else an unfinished one with this name. */
  #openCall(name: string, id: string | null, lacks: CallPart): Call | undefined {
    const same = id === null ? undefined : this.#calls.get(callKey(name, id))?.lacking(lacks);
    if (same) return same;
    const open = this.#calls.get(callKey(name, null))?.open(lacks, id !== null);
    if (open && id !== null) {
      open.id = id;
      this.#index(callKey(name, id), open);
    }
    return open;
  }

  /** Creates and indexes the call; the caller adds it to the entries. */
  #record(name: string, id: string | null, where: Omit<Recorded, "entry"> & { source: Source }): Call {
    const { source, ...position } = where;
    const blank = { arguments: null, result: null, error: null, durationMs: null, failed: false };
    const entry: Call["entry"] = { ...source, agent: this.#agent, kind: "tool_call", name, ...blank };
    const call: Call = { ...position, entry, id, hasMessage: false, hasSpan: false };
    this.#index(callKey(name, null), call);
    if (id !== null) this.#index(callKey(name, id), call);
    if (name !== "") this.#open.add(call);
    return call;
  }

  #index(key: string, call: Call): void {
    const calls = this.#calls.get(key) ?? new CallsOfKey();
    this.#calls.set(key, calls);
    calls.all.push(call);
  }
}

/**
 * The calls of an id or a name, in the order they were added. A call that was skipped once by a lookup never matches it
 * again, so each lookup resumes after the skipped calls and all of them together are linear.
 */
class CallsOfKey {
  readonly all: Call[] = [];
  readonly #skipped = new Map<string, number>();

  /** The first call without this part. */
  lacking(lacks: CallPart): Call | undefined {
    return this.#first(lacks, call => call[lacks]);
  }

  /** The first unfinished call without this part; with `withoutId` only calls without an id. */
  open(lacks: CallPart, withoutId: boolean): Call | undefined {
    // A call without a span is finished once a message contains its result.
    const isFinished = (call: Call) => call[lacks] || (!call.hasSpan && call.entry.result !== null);
    return this.#first(
      `open ${lacks} ${withoutId}`,
      call => isFinished(call) || (withoutId && call.id !== null),
    );
  }

  #first(lookup: string, isExcluded: (call: Call) => boolean): Call | undefined {
    let at = this.#skipped.get(lookup) ?? 0;
    while (at < this.all.length && isExcluded(this.all[at]!)) at++;
    this.#skipped.set(lookup, at);
    return this.all[at];
  }
}

type List = { source: Source; matcher: RepetitionMatcher; fresh: Set<Recorded> };

/** Matches the messages of a list with the earlier entries they repeat. */
class RepetitionMatcher {
  readonly scope: Scope;
  readonly #left = new Map<string, { before: Recorded[]; next: number }>();
  /** By any key. Results repeat the entries of their calls. */
  readonly #used = new Set<Recorded>();

  constructor(scope: Scope) {
    this.scope = scope;
  }

  /** The next earlier entry with this key in scope. `before` is called once per key. */
  next(key: string, before: () => Recorded[] | undefined): Recorded | undefined {
    let left = this.#left.get(key);
    if (!left) {
      left = { before: (before() ?? []).filter(one => this.#isInScope(one)), next: 0 };
      this.#left.set(key, left);
    }
    const isResult = key.startsWith("result ");
    while (!isResult && this.#used.has(left.before[left.next]!)) left.next++;
    const found = left.before[left.next++];
    if (found && !isResult) this.#used.add(found);
    return found;
  }

  /** Whether the entry is from a descendant of the span, or from its output. */
  #isInScope({ from, isOutput }: Recorded): boolean {
    const { all, from: first, to } = this.scope;
    return all === true || (from > first && from <= to) || (from === first && isOutput);
  }
}

function valueIn(span: Span, attribute: string): SourcedValue | null {
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
