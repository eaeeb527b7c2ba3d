// Derives input, reply, tokens, duration, status and notices from a trace's spans; never throws.

import type { ValueAllowance } from "../../model/json-text.ts";
import { buildTree, depthsOf, type SpanTree } from "../../model/trace/span-tree.ts";
import { compareNanos, compareStarts } from "../../model/trace/times.ts";
import {
  type Derived,
  type FoundNumber,
  type MergedTrace,
  type Notice,
  observedMark,
  type Span,
} from "../../model/trace/trace.ts";
import { applyReading } from "../conventions/apply.ts";
import type { ReadingDepth, TraceReading } from "../conventions/read-trace.ts";
import { modelsIn, readConversation, toolCallsOf } from "../span/conversation.ts";
import type { Lack } from "../span/signs.ts";
import { isRuled } from "../span/sources.ts";
import { usageKeys } from "../span/usage-keys.ts";
import { wholeNumber } from "../span/whole-number.ts";
import { idsOf } from "./identity.ts";
import { modelCallsOf } from "./model-calls.ts";
import { noiseOf } from "./noise.ts";
import { findOtherConvention } from "./other-convention.ts";
import { namedConversation, severalModelCalls } from "./read-from.ts";
import { readTokens, unmeasuredCalls, usageBearers } from "./tokens.ts";

/**
 * Pure, and linear in the spans unless many have unreadable messages. Numbers stay within ±(2^53−1); texts are exactly
 * as sent. Excludes notices that depend on a run. Afterwards `allowance` knows how many parsed values the tool calls keep.
 * `reading`: what the conventions of the agent gave, if any recognized a span; what its rules gave is on the spans. With the depth `columns`, other conventions
 * are not looked for: lists do not show them.
 */
export function derive(
  trace: MergedTrace,
  allowance?: ValueAllowance,
  reading: TraceReading | null = null,
  depth: ReadingDepth = "all",
): Derived {
  const { spans } = trace;
  const tree = reading?.tree.spans === spans ? reading.tree : buildTree(spans);
  const root = spans[tree.root] ?? null;
  const timing = readTiming(spans, root);
  const rootSpanId = root?.span_id ?? null;
  const conversationOf = (some: Span[]) => readConversation(some, root, trace.path);
  const callsOf = (some: Span[]) => toolCallsOf(some, allowance);
  const read = reading
    ? applyReading({ spans, rootSpanId, conversationOf, callsOf }, reading)
    : { ...conversationOf(spans), usage: null, toolCalls: callsOf(spans), models: modelsOf(spans) };
  const bearers = read.usage ? [] : usageBearers(spans);
  const { tokens, tokenSpans } = read.usage ?? readTokens(tree, bearers);
  const isRootCounted = !read.usage || usageKeys.some(([, key]) => root && isRuled(root, key));
  const modelCalls = modelCallsOf(tree, reading ?? bearers, isRootCounted);
  const ruled = spans.some(span => span.translated)
    ? readConversation(spans, root, trace.path, isRuled)
    : null;
  const named = namedConversation(trace, reading, conversationOf);
  const textOf = (field: "userInput" | "responseText" | "judgedText") =>
    ruled?.[field] ?? named?.[field] ?? read[field];
  const [userInput, responseText, judgedText] = [
    textOf("userInput"),
    textOf("responseText"),
    textOf("judgedText"),
  ];
  const several =
    depth === "all" && !trace.readFrom && !ruled
      ? severalModelCalls(spans, reading, { userInput, responseText })
      : null;
  const otherConvention =
    depth === "all"
      ? findOtherConvention(unreadIn(spans, reading), lacksOf({ ...read, tokens, userInput, responseText }))
      : null;

  const noise = noiseOf(spans);
  const notices: Notice[] = noise ? ["noise"] : userInput || trace.content ? [] : ["no_user_input"];
  notices.push(...tree.notices);
  if (timing.durationMs === null) notices.push("no_timing");
  if (otherConvention) notices.push("other_convention");
  if (several) notices.push("several_model_calls");
  if (trace.content) notices.push("content_not_stored");
  if (trace.metadata?.[observedMark] === true) notices.push("no_trace_arrived");

  return {
    rootSpanId,
    name: root?.name ?? "",
    ...timing,
    httpStatus: readHttpStatus(tree),
    tokens,
    failed: spans.some(span => span.status?.code === 2),
    noise,
    spanCount: spans.length,
    userInput,
    responseText,
    judgedText,
    toolCalls: read.toolCalls,
    models: read.models,
    modelCalls,
    tokenSpans,
    unmeasured: unmeasuredCalls(tree, modelCalls, tokenSpans),
    ...idsOf(spans, reading),
    notices,
    otherConvention,
    severalModelCalls: several,
  };
}

/** The spans that no convention of the agent reads. */
function unreadIn(spans: Span[], reading: TraceReading | null): Span[] {
  if (!reading) return spans;
  const read = new Set(reading.spans.flatMap(({ at, convention }) => (convention === null ? [] : [at])));
  return spans.filter((_, at) => !read.has(at));
}

/** What nothing in the trace tells. */
export function lacksOf(
  derived: Pick<Derived, "userInput" | "responseText" | "tokens" | "toolCalls">,
): Set<Lack> {
  const lacks = new Set<Lack>();
  if (!derived.userInput) lacks.add("input");
  if (!derived.responseText) lacks.add("reply");
  if (derived.tokens.total === null) lacks.add("usage");
  if (derived.toolCalls.length === 0) lacks.add("toolName");
  if (derived.toolCalls.every(call => call.arguments === null)) lacks.add("toolArguments");
  return lacks;
}

function modelsOf(spans: Span[]): string[] {
  const models = new Set<string>();
  for (const span of spans) {
    for (const model of modelsIn(span)) models.add(model);
  }
  return [...models];
}

type Timing = Pick<Derived, "startTimeUnixNano" | "endTimeUnixNano" | "durationMs">;

/** The root's times; if one of them is missing, the earliest start and the latest end of all spans. */
function readTiming(spans: Span[], root: Span | null): Timing {
  let start = root && usableNanos(root.start_time_unix_nano);
  let end = root && usableNanos(root.end_time_unix_nano);
  if (start === null || end === null) {
    for (const span of spans) {
      const spanStart = usableNanos(span.start_time_unix_nano);
      const spanEnd = usableNanos(span.end_time_unix_nano);
      if (spanStart !== null && (start === null || compareNanos(spanStart, start) < 0)) start = spanStart;
      if (spanEnd !== null && (end === null || compareNanos(spanEnd, end) > 0)) end = spanEnd;
    }
  }
  const durationMs = start === null || end === null ? null : millisecondsBetween(start, end);
  return { startTimeUnixNano: start, endTimeUnixNano: end, durationMs };
}

function usableNanos(nanos: string | null): string | null {
  return nanos !== null && /^\d{1,20}$/.test(nanos) ? nanos : null;
}

function millisecondsBetween(start: string, end: string): number | null {
  const nanos = BigInt(end) - BigInt(start);
  return nanos < 0n ? null : Number(nanos) / 1e6;
}

/** The root's status, else its nearest descendant's; of several equally near ones, and of orphans, the earliest. */
function readHttpStatus(tree: SpanTree): FoundNumber | null {
  const own = tree.root === -1 ? null : httpStatusOf(tree.spans[tree.root]!);
  if (own) return own;
  const bearers: number[] = [];
  for (let at = 0; at < tree.spans.length; at++) {
    if (httpStatusOf(tree.spans[at]!)) bearers.push(at);
  }
  if (bearers.length === 0) return null;
  const depths = depthsOf(tree);
  const isNearer = (a: number, b: number) =>
    depths[a]! < depths[b]! || (depths[a] === depths[b] && compareStarts(tree.spans[a]!, tree.spans[b]!) < 0);
  return httpStatusOf(tree.spans[bearers.reduce((best, at) => (isNearer(at, best) ? at : best))]!);
}

function httpStatusOf(span: Span): FoundNumber | null {
  const attribute = "http.response.status_code";
  const value = wholeNumber(span, attribute);
  return value !== null && value >= 100 && value <= 999 ? { value, spanId: span.span_id, attribute } : null;
}
