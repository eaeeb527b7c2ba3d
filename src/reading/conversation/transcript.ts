// Builds the transcript of a trace: in time order, each message once although every model call repeats the history.

import { ValueAllowance } from "../../model/json-text.ts";
import type { SubAgent } from "../../model/trace/shown.ts";
import { buildTree, childrenOf, type SpanTree } from "../../model/trace/span-tree.ts";
import { compareNanos } from "../../model/trace/times.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf, toolNameOf } from "../span/conversation.ts";
import { inputMessages, messageLength, outputMessages } from "../span/span-messages.ts";
import type { Entry } from "./transcript-entry.ts";
import { type Extent, type Recorded, Thread } from "./transcript-thread.ts";

export type Transcript = { entries: Entry[]; complete: boolean };

// Bounds the time a viewer waits; a history that a hundred calls repeat stays below.
const readMax = 32_000_000;
const entriesMax = 5_000;

/** Never throws, whatever the spans contain. */
export function transcribe(spans: Span[]): Transcript {
  const threads = new Map<SubAgent | null, Thread>();
  const recorded: Recorded[] = [];
  // Entries keep the parsed arguments and results of calls, so their size is limited.
  const allowance = new ValueAllowance();
  let read = 0;
  let complete = true;
  for (const { at, ends, agent, extent } of momentsOf(buildTree(spans))) {
    const span = spans[at]!;
    read += ends ? 0 : messageLength(span);
    complete &&= read <= readMax && recorded.length < entriesMax;
    if (!complete) break;
    const lists = ends ? outputMessages(span, allowance) : inputMessages(span, allowance);
    complete = !allowance.exceeded;
    if (!complete) break;
    const thread = threads.get(agent) ?? new Thread(agent, recorded, entriesMax);
    threads.set(agent, thread);
    if (!ends && toolNameOf(span) !== null) thread.addCallSpan(span, extent.from);
    thread.add(lists, ends ? extent : { ...extent, all: true });
  }
  return { entries: recorded.map(({ entry }) => entry), complete: complete && recorded.length < entriesMax };
}

/** The start or the end of a span. */
type Moment = { at: number; ends: boolean; time: string; agent: SubAgent | null; extent: Extent };

/** Sorted by time; equal and missing times keep the order of the tree. */
function momentsOf(tree: SpanTree): Moment[] {
  const { spans } = tree;
  const children = childrenOf(tree);
  const moments: Moment[] = [];
  const tops = spans.map((_, at) => at).filter(at => tree.parents[at] === -1);
  tops.sort((a, b) => Number(a === tree.root) - Number(b === tree.root) || b - a);
  type Step = { at: number; agent: SubAgent | null; caller: string | null; begun?: Moment };
  const stack: Step[] = tops.map(at => ({ at, agent: null, caller: null }));
  let walked = 0;
  let time = "0";
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { at, caller, begun } = step;
    const span = spans[at]!;
    if (begun) {
      begun.extent.to = walked - 1;
      const end = usable(span.end_time_unix_nano) ?? time;
      time = compareNanos(end, begun.time) < 0 ? begun.time : end;
      moments.push({ ...begun, ends: true, time });
      continue;
    }
    time = usable(span.start_time_unix_nano) ?? time;
    const name = agentNameOf(span);
    const isCalled = name !== null && caller !== null && name !== caller;
    const agent = isCalled ? { spanId: span.span_id, name } : step.agent;
    const begin = { at, ends: false, time, agent, extent: { from: walked, to: walked } };
    walked++;
    moments.push(begin);
    stack.push({ ...step, begun: begin });
    for (const child of children[at]?.toReversed() ?? []) {
      stack.push({ at: child, agent, caller: name ?? caller });
    }
  }
  return moments.sort((a, b) => compareNanos(a.time, b.time));
}

function usable(nanos: string | null): string | null {
  return nanos !== null && /^\d{1,20}$/.test(nanos) ? nanos : null;
}

/** The name of the agent that the span represents; null if it is not an agent's span, or has no name. */
function agentNameOf(span: Span): string | null {
  if (attributeOf(span, "gen_ai.operation.name") !== "invoke_agent") return null;
  const name = attributeOf(span, "gen_ai.agent.name");
  return typeof name === "string" && name !== "" ? name : null;
}
