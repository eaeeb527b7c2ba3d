// The conversation around a reply, as the judge may see it: each message once, with its place, and nothing that came later.

import {
  type Conversation,
  type ConversationItem,
  type EarlierMessages,
  fitEarlier,
  fitMaterial,
  fitOffered,
  type Material,
  type MaterialSummary,
  type SemanticContext,
  shownIn,
} from "../model/judge/material.ts";
import { quotable } from "../model/judge/prompt-bounds.ts";
import { receivedAttributes } from "../model/run/received.ts";
import { compareNanos } from "../model/trace/times.ts";
import type { Derived, FoundText, Span } from "../model/trace/trace.ts";
import { toolNameOf } from "../reading/span/conversation.ts";
import { offeredTools } from "../reading/span/offered-tools.ts";
import { conversationOf, isOfSpan } from "./conversation-items.ts";
import { suspicionOf } from "./suspicion.ts";
import type { TraceView } from "./trace-view.ts";

/** `ofSpan`: the text is that of a span which the assertion names, not the agent's reply. */
export type JudgedText = { found: FoundText; ofSpan: boolean };

// Several checks and every round of questions look at the same trace.
const fitted = new WeakMap<Span[], Map<string, Material>>();

/** Undefined if the context is the reply alone. The same object for the same text and context, so that it is hashed once. */
export function materialFor(
  view: TraceView,
  judged: JudgedText,
  context: SemanticContext,
): Material | undefined {
  if (context === "reply") return undefined;
  const { spanId, attribute, text } = judged.found;
  const key = JSON.stringify([context, judged.ofSpan, spanId, attribute, text.length]);
  const known = fitted.get(view.spans) ?? new Map<string, Material>();
  fitted.set(view.spans, known);
  let material = known.get(key);
  if (!material) {
    const { items, complete } = around(judged, view);
    const isShown = (item: ConversationItem) => context === "conversation_and_tools" || isMessage(item);
    const tools = context === "conversation_and_tools" && !view.isObserved;
    const offered = tools ? offeredIn(view.spans) : undefined;
    material = {
      ...fitMaterial({ items: items.filter(isShown), complete }, { tools, replyLength: text.length }),
      ...(offered ? { offered } : {}),
    };
    known.set(key, material);
  }
  return material;
}

const offers = new WeakMap<Span[], { tools: string[] | undefined }>();

function offeredIn(spans: Span[]): string[] | undefined {
  const known = offers.get(spans) ?? { tools: fitOffered(offeredTools(spans)) };
  offers.set(spans, known);
  return known.tools;
}

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** When the conversation began, to the hour: what is asked again within it gets the same answer. Undefined if not known. */
export function timeOf({ startTimeUnixNano }: Pick<Derived, "startTimeUnixNano">): string | undefined {
  const ms = startTimeUnixNano === null ? 0 : Number(BigInt(startTimeUnixNano) / 1_000_000n);
  // A clock that was never set begins in 1970.
  if (ms < Date.UTC(2000) || ms > Date.UTC(2200)) return undefined;
  const date = new Date(ms);
  return `${days[date.getUTCDay()]}, ${date.toISOString().slice(0, 10)}, ${date.getUTCHours()}:00 UTC`;
}

const summaries = new WeakMap<Material, MaterialSummary>();

/** What was shown and what was left out; `material` undefined: nothing but the reply and the user's input was shown. */
export function summaryOf(material: Material | undefined, context: SemanticContext): MaterialSummary {
  if (!material) return { context, shown: {}, leftOut: {}, complete: true };
  let summary = summaries.get(material);
  if (!summary) {
    const { leftOut, complete } = material;
    const suspicious = suspiciousIn(material);
    const flag = suspicious ? { suspicious } : {};
    summary = { context, shown: shownIn(material), leftOut, complete, ...flag };
    summaries.set(material, summary);
  }
  return summary;
}

/** Only what users and tools wrote: system prompts often mention such attempts, and the reply is checked apart. */
function suspiciousIn({ items }: Material): MaterialSummary["suspicious"] {
  for (const { kind, text, spanId, attribute } of items) {
    const reason = kind === "tool_result" || kind === "user" ? suspicionOf(quotable(text)) : undefined;
    if (reason !== undefined) return { from: kind, reason, spanId, attribute };
  }
  return undefined;
}

/** The conversation before the user's input, without the reply and without tools; undefined if there was none. */
export function earlierMessages(
  spans: Span[],
  { userInput, judgedText }: Pick<Derived, "userInput" | "judgedText">,
): EarlierMessages | undefined {
  if (!userInput) return undefined;
  const { items } = conversationOf(spans);
  const before = items.slice(0, Math.max(0, indexOfInput(items, userInput)));
  const reply = judgedText && normalized(judgedText.text);
  return fitEarlier(before.filter(item => isMessage(item) && normalized(item.text) !== reply));
}

/** Whether it is part of the talk between the agent and its user; sub-agents count as tools. */
function isMessage({ kind, agent }: ConversationItem): boolean {
  return agent === undefined && (kind === "system" || kind === "user" || kind === "assistant");
}

/** The conversation with the user's input and the judged text marked, up to the latter if it is that of a span. */
function around({ found, ofSpan }: JudgedText, view: TraceView): Conversation {
  const { items, complete } = turnsOf(view);
  const { userInput } = view.derived;
  const text = normalized(found.text);
  const isReply = (item: ConversationItem) => item.kind === "assistant" && normalized(item.text) === text;
  const own = items.findLastIndex(
    item => isReply(item) && item.spanId === found.spanId && item.attribute === found.attribute,
  );
  // Among equal texts elsewhere, the first is followed by the most, so the least of what came later is shown.
  const at = own !== -1 ? own : ofSpan ? items.findIndex(isReply) : items.findLastIndex(isReply);
  if (ofSpan && at === -1) return { items: [], complete: false };
  const before = at === -1 ? items : items.slice(0, at);
  const inputAt = userInput ? indexOfInput(before, userInput) : -1;
  const marked = items.flatMap((item, index): ConversationItem[] => {
    if (index === at) return [{ ...item, text: "", is: "reply" }];
    if (index === inputAt) return [{ ...item, text: "", is: "user_input" }];
    // The same text repeated by an outer span or a sub-agent, with other spacing.
    return index > inputAt && isReply(item) ? [] : [item];
  });
  if (!ofSpan) return { items: marked, complete };
  const end = marked.findIndex(({ is }) => is === "reply");
  return { items: withoutLater(marked.slice(0, end + 1), found, view.spans), complete };
}

/** A result is listed next to its call, but may have arrived after the text of the span. */
function withoutLater(items: ConversationItem[], { spanId }: FoundText, spans: Span[]): ConversationItem[] {
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const end = byId.get(spanId)?.end_time_unix_nano ?? null;
  if (end === null) return items;
  return items.filter(item => {
    const span = item.kind === "tool_result" ? byId.get(item.spanId) : undefined;
    if (!span) return true;
    const known = toolNameOf(span) === null ? span.start_time_unix_nano : span.end_time_unix_nano;
    return known === null || compareNanos(known, end) <= 0;
  });
}

/** The conversation of a trace, or of all turns of a manual run up to this one. */
function turnsOf(view: TraceView): Conversation {
  const turns = view.turns ?? [...view.earlier, view];
  if (turns.length === 1) {
    const { items, complete } = conversationOf(turns[0]!.spans);
    return { items: withSent(items, turns[0]!.derived), complete };
  }
  const all: Conversation = { items: [], complete: true };
  for (const [at, turn] of turns.entries()) {
    const { items, complete } = conversationOf(turn.spans);
    const fresh = at === 0 ? items : withoutHistory(items, turn.derived, all.items);
    all.items.push(
      ...(at === turns.length - 1 ? withSent(fresh, turn.derived) : withEnds(fresh, turn.derived)),
    );
    all.complete &&= complete;
  }
  return all;
}

/** Leaves out what the agent was sent again from earlier turns. */
function withoutHistory(
  items: ConversationItem[],
  { userInput }: Derived,
  known: ConversationItem[],
): ConversationItem[] {
  const keyOf = ({ kind, agent, name, text }: ConversationItem) =>
    JSON.stringify([kind, agent, name, normalized(text)]);
  const before = new Set(known.map(keyOf));
  const found = userInput ? indexOfInput(items, userInput) : -1;
  const inputAt = found === -1 ? items.length : found;
  // A tool that has a span was called in this turn, however similar an earlier call was.
  return items.filter((item, at) => at >= inputAt || isOfSpan(item) || !before.has(keyOf(item)));
}

/** With the input and the reply of the turn, which its trace may lack. */
function withEnds(items: ConversationItem[], { userInput, judgedText }: Derived): ConversationItem[] {
  const has = (kinds: ConversationItem["kind"][], { text }: FoundText) =>
    items.some(item => kinds.includes(item.kind) && normalized(item.text) === normalized(text));
  const isMissing = userInput && !has(["user", "system"], userInput);
  return [
    ...(isMissing ? [{ kind: "user" as const, ...userInput }] : []),
    ...items,
    ...(judgedText && !has(["assistant"], judgedText) ? [{ kind: "assistant" as const, ...judgedText }] : []),
  ];
}

/** With the message that a manual run sent, if the agent gave its model another prompt. */
function withSent(items: ConversationItem[], { userInput }: Derived): ConversationItem[] {
  if (userInput?.attribute !== receivedAttributes.input || indexOfInput(items, userInput) !== -1)
    return items;
  return [{ kind: "user", ...userInput }, ...items];
}

/** -1 if no message of the user is the input. */
function indexOfInput(items: ConversationItem[], { text }: FoundText): number {
  const input = normalized(text);
  return items.findLastIndex(
    item => item.kind === "user" && item.agent === undefined && normalized(item.text) === input,
  );
}

function normalized(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
