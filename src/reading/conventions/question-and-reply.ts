// The question of a trace and the reply to it, from the spans that conventions read.
import { ancestorsOf, depthsOf, type SpanTree } from "../../model/trace/span-tree.ts";
import { type ReadMessage, textIn } from "../span/message-parts.ts";
import { indexOfQuestion } from "../span/messages.ts";
import type { ReadSpan, Sourced } from "../span/reading.ts";

type Found = Sourced<string> | null;

export type Pair = { userInput: Found; reply: Found };

/**
 * Agents, then steps, around calls of models go before these calls, the outermost first. `reads`, `models`: in the order of
 * their start.
 */
export function pairIn(reads: ReadSpan[], models: ReadSpan[], tree: SpanTree): Pair {
  const turn = lastTurn(reads, models, tree);
  const [some, called] = turn ? [within(turn, reads, tree), within(turn, models, tree)] : [reads, models];
  const around = aroundOf(some, called, tree);
  const told = called.toSorted(byEnd).reverse();
  const latest = told.find(one => (one.answered ?? one.asked) !== null) ?? null;
  return {
    userInput: questionAround(around, called, tree) ?? questionOfModels(called, told, latest),
    reply: replyAround(around, false) ?? replyOf(latest, around) ?? (latest && dataOf(latest)),
  };
}

/** The last of the turns of a session that is one trace; null unless there are several with calls of models. */
function lastTurn(reads: ReadSpan[], models: ReadSpan[], tree: SpanTree): ReadSpan | null {
  const turns = reads.filter(one => one.isTurn);
  if (turns.length < 2) return null;
  const above = ancestorsOf(
    tree,
    models.map(({ at }) => at),
  );
  return turns.findLast(({ at }) => above.has(at)) ?? null;
}

function within({ at: top }: ReadSpan, reads: ReadSpan[], { parents }: SpanTree): ReadSpan[] {
  return reads.filter(({ at }) => {
    for (let up = at; up !== -1; up = parents[up]!) if (up === top) return true;
    return false;
  });
}

/** By depth, those that have a model call below them; all of them if no model was called. */
function aroundOf(reads: ReadSpan[], models: ReadSpan[], tree: SpanTree): ReadSpan[][] {
  const above = ancestorsOf(
    tree,
    models.map(({ at }) => at),
  );
  const around = reads.filter(
    ({ role, at }) => (role === "agent" || role === "step") && (models.length === 0 || above.has(at)),
  );
  if (around.length < 2) return around.length === 0 ? [] : [around];
  const depths = depthsOf(tree);
  const levels = Map.groupBy(around, ({ at }) => depths[at]!);
  return [...levels].sort(([a], [b]) => a - b).map(([, level]) => level);
}

function questionAround(around: ReadSpan[][], models: ReadSpan[], tree: SpanTree): Found {
  for (const level of around) {
    for (const one of level) {
      const question = questionIn(one.asked);
      if (question) return newerQuestion(one, question, models, tree) ?? question;
    }
  }
  return null;
}

/** Some SDKs give an agent only the first message of a history: then the model below it was asked the last one. */
function newerQuestion(one: ReadSpan, question: Sourced<string>, models: ReadSpan[], tree: SpanTree): Found {
  if (one.asked!.value.length !== 1 || !question.attribute.endsWith("*")) return null;
  const [model] = within(one, models, tree);
  const asked = questionIn(model?.asked ?? null);
  if (!asked || asked.value === question.value) return null;
  return saysBefore(model!.asked!.value, question.value) ? asked : null;
}

function saysBefore(messages: ReadMessage[], text: string): boolean {
  return messages
    .slice(0, indexOfQuestion(messages))
    .some(one => one.role === "user" && textIn(one) === text);
}

/**
 * That of the last call, whose answer the reply is. Frameworks may tell a model the result of its tool as if the user had
 * said it: then that of the first.
 */
function questionOfModels(models: ReadSpan[], told: ReadSpan[], latest: ReadSpan | null): Found {
  const last = latest && questionIn(latest.asked);
  if (last && !observation.test(last.value)) return last;
  const first = firstOf(models, ({ asked }) => questionIn(asked));
  if (!last || !first) return first ?? firstOf(told, ({ asked }) => questionIn(asked));
  return saysBefore(latest.asked!.value, first.value) ? first : last;
}

const observation = /^\s*(?:Observation|Tool (?:output|result|response))\b/i;

/** Of several on one level, such as the stages of a pipeline, the last one's. */
function replyAround(around: ReadSpan[][], isData: boolean): Found {
  for (const level of around) {
    for (const { answered } of level.toSorted(byEnd).reverse()) {
      const reply = isData === hasData(answered) ? withoutDump(replyIn(answered)) : null;
      if (reply) return reply;
    }
  }
  return null;
}

/** An agent whose model answers by calling a tool, or in the fields of a DSPy signature, may have an object as its reply. */
function replyOf(latest: ReadSpan | null, around: ReadSpan[][]): Found {
  const answered = latest && !hasData(latest.answered) ? latest.answered : null;
  const said = replyIn(answered);
  const calls = answered?.value.at(-1)?.calls.length ?? 0;
  if (said && calls === 0 && !fieldsOfSignature.test(said.value)) return said;
  return replyAround(around, true) ?? said;
}

const fieldsOfSignature = /^\s*\[\[ ## \w+ ## \]\]/;

function dataOf({ answered }: ReadSpan): Found {
  return hasData(answered) ? replyIn(answered) : null;
}

function hasData(answered: Sourced<ReadMessage[]> | null): boolean {
  return answered?.value.some(one => one.isData) ?? false;
}

export function byEnd({ span: a }: ReadSpan, { span: b }: ReadSpan): number {
  const [one, other] = [a.end_time_unix_nano ?? "", b.end_time_unix_nano ?? ""];
  return one.length === other.length ? (one < other ? -1 : Number(one > other)) : one.length - other.length;
}

export function firstOf<T>(reads: ReadSpan[], read: (one: ReadSpan) => T | null): T | null {
  for (const one of reads) {
    const found = read(one);
    if (found) return found;
  }
  return null;
}

/** The user's last message. */
export function questionIn(found: Sourced<ReadMessage[]> | null): Found {
  const message = found?.value[indexOfQuestion(found.value)];
  return message ? { ...found!, value: textIn(message) } : null;
}

/** Null for a Python object as its `repr` writes it, such as the output of LlamaIndex's agents around the model's reply. */
function withoutDump(reply: Found): Found {
  return reply && /^[A-Z]\w*\(\w+=[A-Z]\w*\(/.test(reply.value) ? null : reply;
}

/** The assistant's last message, unless a call of a tool follows. */
export function replyIn(found: Sourced<ReadMessage[]> | null): Found {
  const message = found?.value.findLast(
    ({ role, pieces, calls }) => role === "assistant" && pieces.length + calls.length > 0,
  );
  const text = message ? textIn(message).trimEnd() : "";
  return found && /\S/.test(text) ? { ...found, value: text } : null;
}
