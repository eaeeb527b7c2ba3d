// Proposes a test case from a trace: its input as the turn, and assertions about what was seen to happen.

import { shorten } from "../evaluate/excerpt.ts";
import { toolNameOf } from "../model/conversation/conversation.ts";
import type { AssertionInput } from "../model/test-case/assertion.ts";
import { buildTree, depthsOf } from "../model/trace/span-tree.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";
import { callOf, headRoom, roundUp, tellingPart } from "./draft-parts.ts";

export type ProposedTest = {
  name: string;
  scenario: string;
  turns: { input: string }[];
  /** For each thing seen, the assertions that would say so, the most telling first; none is promised to hold. */
  assertions: AssertionInput[][];
};

const toolsMax = 10;
const stepsMax = 5;
/** What the document allows. */
const inputMax = 100_000;
const expectedNameMax = 500;
/** A limit on time lies this much above what was seen: it varies more than tokens do. */
const timeRoom = 2;

export function proposeTest(trace: MergedTrace, derived: Derived): ProposedTest {
  const input = derived.userInput?.text ?? null;
  const begins = shorten(plain(input ?? "") || plain(derived.name) || "A conversation", 100);
  return {
    name: `Like: ${begins}`,
    scenario: input === null ? "" : `The user writes something like: ${shorten(plain(input), 500)}`,
    turns: input === null ? [] : [{ input: shorten(input, inputMax) }],
    assertions: [...ofTools(derived), ...ofSteps(trace), ...ofWhole(derived)],
  };
}

/** One line that can be stored and shown. */
function plain(text: string): string {
  return text.slice(0, 2_000).toWellFormed().replaceAll("\0", "").replace(/\s+/g, " ").trim();
}

/** Each tool once, with the arguments of its first call. */
function ofTools({ toolCalls }: Derived): AssertionInput[][] {
  const first = new Map(toolCalls.toReversed().map(call => [call.name, call]));
  const inOrder = [...first.values()].reverse();
  return inOrder.slice(0, toolsMax).map(call => {
    const part = tellingPart(call.arguments);
    const bare = callOf(call.name);
    return typeof part === "object" ? [callOf(call.name, part), bare] : [bare];
  });
}

/** The steps nearest below the root, by name; names that a run makes up anew each time say nothing of the next. */
function ofSteps({ spans }: MergedTrace): AssertionInput[][] {
  const depths = depthsOf(buildTree(spans));
  const nearest = new Map<string, number>();
  for (const [at, span] of spans.entries()) {
    const depth = depths[at]!;
    if (depth < 1 || depth > 2 || toolNameOf(span) !== null || !isLasting(span.name)) continue;
    if (depth < (nearest.get(span.name) ?? Infinity)) nearest.set(span.name, depth);
  }
  const names = [...nearest].sort(([, a], [, b]) => a - b).map(([name]) => name);
  return names.slice(0, stepsMax).map(name => [{ type: "node_call", expected_name: name }]);
}

function isLasting(name: string): boolean {
  return /\S/.test(name) && name.length <= expectedNameMax && !/[\da-f]{8}|\d{5}/i.test(name);
}

function ofWhole({ httpStatus, tokens, durationMs }: Derived): AssertionInput[][] {
  const whole: AssertionInput[] = [];
  if (httpStatus) whole.push({ type: "http_status", expected_status: httpStatus.value });
  const { input, output, total } = tokens;
  if (total !== null) {
    const limit = input === null ? "max_output" : output === null ? "max_input" : "max_total";
    whole.push({ type: "token_limit", [limit]: roundUp(total * headRoom) });
  }
  if (durationMs !== null) {
    // Beyond the safe integers nothing is rounded.
    whole.push({ type: "response_time", max_ms: Math.max(roundUp(durationMs * timeRoom), durationMs) });
  }
  return whole.map(assertion => [assertion]);
}
