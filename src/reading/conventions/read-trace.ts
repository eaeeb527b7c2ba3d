// Reads a whole trace by its conventions: question, reply, tool calls and usage, each told once.

import { ValueAllowance } from "../../model/json-text.ts";
import { buildTree, type SpanTree } from "../../model/trace/span-tree.ts";
import { compareStarts } from "../../model/trace/times.ts";
import type { Span } from "../../model/trace/trace.ts";
import { valuesIn } from "../span/count-values.ts";
import type { CallReading, Preset, ReadSpan, Sourced, Usage } from "../span/reading.ts";
import { inputKeys, isRuled, replyKeys } from "../span/sources.ts";
import { readDocumented } from "../span/table.ts";
import { agreedId } from "./agreed-id.ts";
import { callsOf, namedCalls } from "./calls.ts";
import { type CountedUsage, countedUsage, sumOf } from "./counted-usage.ts";
import { byEnd, firstOf, pairIn, questionIn, replyIn } from "./question-and-reply.ts";
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
  const tellers = reads.filter(({ role, tellsCalls }) => role === "model" || tellsCalls);
  const counted = countedUsage(reads, tree.parents);
  const isAll = depth === "all";
  const byLatest = isAll ? models.toSorted(byEnd).reverse() : [];
  const pair = pairIn(reads, models, tree);
  return {
    userInput: firstOf(ruledIn(reads, inputKeys), ({ asked }) => questionIn(asked)) ?? pair.userInput,
    reply: firstOf(ruledIn(reads, replyKeys).reverse(), ({ answered }) => replyIn(answered)) ?? pair.reply,
    calls: isAll ? callsOf(reads, tellers, tree.parents) : namedCalls(reads, tellers, tree.parents),
    usage: sumOf(counted),
    counted,
    model:
      firstOf(byLatest, ({ model }) => model) ??
      (isAll ? firstOf(agentsIn(reads), ({ model }) => model) : null),
    provider: firstOf(byLatest, ({ provider }) => provider),
    conversationId: agreedId(reads, found, "conversationId"),
    userId: agreedId(reads, found, "userId"),
    spans: reads,
    tree,
  };
}

function agentsIn(reads: ReadSpan[]): ReadSpan[] {
  return reads.filter(({ role }) => role === "agent" || role === "step");
}

/** Those to which rules gave one of the attributes. */
function ruledIn(reads: ReadSpan[], attributes: readonly string[]): ReadSpan[] {
  if (!reads.some(({ span }) => span.translated)) return [];
  return reads.filter(({ span }) => span.translated && attributes.some(key => isRuled(span, key)));
}
