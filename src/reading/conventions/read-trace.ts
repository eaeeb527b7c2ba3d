// Reads a whole trace by its conventions: question, reply, tool calls and usage, each told once.

import { ValueAllowance } from "../../model/json-text.ts";
import { buildTree, depthsOf, type SpanTree } from "../../model/trace/span-tree.ts";
import { compareStarts } from "../../model/trace/times.ts";
import type { Span } from "../../model/trace/trace.ts";
import { valuesIn } from "../span/count-values.ts";
import type { ReadMessage } from "../span/message-parts.ts";
import { indexOfQuestion, textIn } from "../span/messages.ts";
import type { CallReading, Preset, ReadSpan, Sourced, Usage } from "../span/reading.ts";
import { inputKeys, isRuled, replyKeys } from "../span/sources.ts";
import { readDocumented } from "../span/table.ts";
import { agreedId } from "./agreed-id.ts";
import { callsOf, namedCalls } from "./calls.ts";
import { ancestors, type CountedUsage, countedUsage, sumOf } from "./counted-usage.ts";
import { withRules } from "./ruled-reading.ts";

export type TraceReading = {
  userInput: Sourced<string> | null;
  reply: Sourced<string> | null;
  calls: CallReading[];
  usage: Omit<Usage, "written">;
  counted: CountedUsage[];
  model: Sourced<string> | null;
  provider: Sourced<string> | null;
  conversationId: Sourced<string> | null;
  userId: Sourced<string> | null;
  /** The spans that say something, in the order of their start. */
  spans: ReadSpan[];
  /** Of all spans. */
  tree: SpanTree;
};

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
  const reads: ReadSpan[] = [];
  for (let at = 0; at < spans.length; at++) {
    const [span, preset] = [spans[at]!, found[at]!];
    const read = preset ? withRules(span, preset.read(span, at)) : readDocumented(span, at);
    if (read) reads.push(read);
  }
  reads.sort((a, b) => compareStarts(a.span, b.span));
  const models = reads.filter(({ role }) => role === "model");
  const around = aroundOf(reads, models, tree);
  const latest = models.reduce<ReadSpan | null>(
    (best, one) => (best && endsAfter(best, one) ? best : one),
    null,
  );
  const counted = countedUsage(reads, tree.parents);
  const isAll = depth === "all";
  return {
    userInput:
      first(ruledIn(reads, inputKeys), ({ asked }) => questionIn(asked)) ??
      first(around, ({ asked }) => questionIn(asked)) ??
      first(models, ({ asked }) => questionIn(asked)),
    reply:
      first(ruledIn(reads, replyKeys).reverse(), ({ answered }) => replyIn(answered)) ??
      first(around, ({ answered }) => withoutDump(replyIn(answered))) ??
      (latest && replyIn(latest.answered)),
    calls: isAll ? callsOf(reads, models) : namedCalls(reads, models),
    usage: sumOf(counted),
    counted,
    model: isAll ? (latest?.model ?? first(around, ({ model }) => model)) : null,
    provider: isAll ? (latest?.provider ?? null) : null,
    conversationId: agreedId(reads, found, "conversationId"),
    userId: agreedId(reads, found, "userId"),
    spans: reads,
    tree,
  };
}

/** Agents, then steps, that have a model call below them, the outermost first; all of them if no model was called. */
function aroundOf(reads: ReadSpan[], models: ReadSpan[], tree: SpanTree): ReadSpan[] {
  const above = ancestors(tree.parents, models);
  const around = reads.filter(
    ({ role, at }) => (role === "agent" || role === "step") && (models.length === 0 || above.has(at)),
  );
  if (around.length < 2) return around;
  const depths = depthsOf(tree);
  return around.sort((a, b) => depths[a.at]! - depths[b.at]!);
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

/** The user's last message. */
function questionIn(found: Sourced<ReadMessage[]> | null): Sourced<string> | null {
  const message = found?.value[indexOfQuestion(found.value)];
  return message ? { ...found!, value: textIn(message) } : null;
}

/** Null for a Python object as its `repr` writes it, such as the output of LlamaIndex's agents around the model's reply. */
function withoutDump(reply: Sourced<string> | null): Sourced<string> | null {
  return reply && /^[A-Z]\w*\(\w+=[A-Z]\w*\(/.test(reply.value) ? null : reply;
}

/** The assistant's last message, unless a call of a tool follows. */
function replyIn(found: Sourced<ReadMessage[]> | null): Sourced<string> | null {
  const message = found?.value.findLast(
    ({ role, pieces, calls }) => role === "assistant" && pieces.length + calls.length > 0,
  );
  const text = message ? textIn(message).trimEnd() : "";
  return found && /\S/.test(text) ? { ...found, value: text } : null;
}

/** Those to which rules gave one of the attributes. */
function ruledIn(reads: ReadSpan[], attributes: readonly string[]): ReadSpan[] {
  if (!reads.some(({ span }) => span.translated)) return [];
  return reads.filter(({ span }) => span.translated && attributes.some(key => isRuled(span, key)));
}
