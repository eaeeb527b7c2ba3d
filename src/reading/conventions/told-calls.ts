// The calls of tools that messages of models tell, each once although histories repeat those before them.
import { isRecord } from "../../model/record.ts";
import type { ReadMessage, ReadResult } from "../span/message-parts.ts";
import { indexOfQuestion } from "../span/messages.ts";
import type { ReadSpan } from "../span/reading.ts";
import { decode } from "../span/values.ts";

type Told = {
  messages: ReadMessage[];
  isHistory: boolean;
  model: ReadSpan;
  spanId: string;
  attribute: string;
};

/**
 * What models were asked since the question, `withHistory`, and what they answered, where it may have calls of other tools
 * than the known ones.
 */
export function* messagesWithCalls(
  models: ReadSpan[],
  withHistory = true,
  known: ReadonlySet<string> | null = null,
): Generator<Told> {
  for (const model of models) {
    if (model.convention === null) continue;
    const asked = withHistory && model.mayCall("asked", known) ? model.asked : null;
    if (asked) yield { ...asked, model, messages: sinceQuestion(asked.value), isHistory: true };
    const answered = model.mayCall("answered", known) ? model.answered : null;
    if (answered) yield { ...answered, model, messages: answered.value, isHistory: false };
  }
}

/** A call in a message. `value`: its arguments, decoded; `key`: of its name and arguments; `results`: by the list that has them. */
export type ToldCall = {
  name: string;
  nameFrom: string;
  ids: string[];
  value: unknown;
  key: string;
  spanId: string;
  model: ReadSpan;
  result: (Omit<ReadResult, "paths"> & { spanId: string; attribute: string }) | null;
};

/**
 * Each call once, although histories repeat those before them: by one of its ids, else by name and arguments, in turn. Two
 * answers are two calls, unless one is of a span above the other.
 */
export function toldIn(models: ReadSpan[], parents: number[]): ToldCall[] {
  const found: ToldCall[] = [];
  const byId = new Map<string, ToldCall>();
  const byKey = new Map<string, ToldCall[]>();
  for (const { messages, isHistory, model, spanId, attribute } of messagesWithCalls(models)) {
    const sent = messages.flatMap(message =>
      message.calls.map(call => toldCall(call, message.from ?? attribute, spanId, model)),
    );
    const used = new Set<ToldCall>();
    const known = new Map<ToldCall, ToldCall>();
    const use = (call: ToldCall, same: ToldCall | undefined) => {
      if (!same || used.has(same) || known.has(call)) return;
      used.add(same);
      known.set(call, same);
    };
    for (const call of sent) {
      for (const id of call.ids) {
        const same = byId.get(id);
        if (same && (isHistory || same.key === call.key)) use(call, same);
      }
    }
    for (const call of sent) {
      const alike = known.has(call) ? [] : (byKey.get(call.key) ?? []);
      use(
        call,
        alike.find(one => !used.has(one) && (isHistory || isAbove(one.model, model, parents))),
      );
    }
    for (const call of sent) {
      const same = known.get(call) ?? call;
      for (const id of call.ids) {
        if (!same.ids.includes(id)) same.ids.push(id);
        byId.set(id, same);
      }
      if (same !== call) continue;
      found.push(call);
      used.add(call);
      const alike = byKey.get(call.key);
      if (alike) alike.push(call);
      else byKey.set(call.key, [call]);
    }
    const calls = sent.map(call => known.get(call) ?? call);
    addResultsOf(messages, calls, spanId, attribute);
  }
  return found;
}

function toldCall(
  { name, id, otherId, arguments: sent }: ReadMessage["calls"][number],
  nameFrom: string,
  spanId: string,
  model: ReadSpan,
): ToldCall {
  const value = sent === "" ? {} : decode(sent);
  const ids = [id, otherId].filter(one => one !== null && one !== undefined);
  return { name, nameFrom, ids, value, key: keyOf(name, value), spanId, model, result: null };
}

/** Whether one of two spans of models is above the other: an SDK below a framework tells the same answer. */
function isAbove(one: ReadSpan, other: ReadSpan, parents: number[]): boolean {
  return isBelow(one.at, other.at, parents) || isBelow(other.at, one.at, parents);
}

function isBelow(at: number, top: number, parents: number[]): boolean {
  for (let up = parents[at]!; up !== -1; up = parents[up]!) if (up === top) return true;
  return false;
}

/** Results without an id are those of the calls before them that are open: by name, in turn, or of the only one. */
function addResultsOf(messages: ReadMessage[], calls: ToldCall[], spanId: string, attribute: string): void {
  let next = 0;
  const open: ToldCall[] = [];
  for (const message of messages) {
    for (const _ of message.calls) open.push(calls[next++]!);
    for (const { id, name, value, failed } of message.results) {
      const at =
        id !== null
          ? open.findIndex(call => call.ids.includes(id))
          : name !== null
            ? open.findIndex(call => call.name === name)
            : open.length === 1
              ? 0
              : -1;
      if (at === -1) continue;
      const [call] = open.splice(at, 1);
      call!.result ??= { id, name, value, failed, spanId, attribute };
    }
  }
}

/** Equal for arguments that differ in white space or in the order of their keys. */
export function keyOf(name: string, args: unknown): string {
  return `${name} ${JSON.stringify(args, sorted) ?? ""}`;
}

function sorted(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The messages of this turn: earlier ones are history. */
function sinceQuestion(messages: ReadMessage[]): ReadMessage[] {
  return messages.slice(indexOfQuestion(messages) + 1);
}
