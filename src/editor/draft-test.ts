// Proposes a test case from a trace: the input as its turn, and assertions about tools, steps, status, tokens and time.

import { shorten } from "../model/shorten.ts";
import type { AssertionInput } from "../model/test-case/assertion.ts";
import { buildTree, depthsOf } from "../model/trace/span-tree.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";
import { toolNameOf } from "../reading/span/conversation.ts";
import { isBroken } from "./draft-failure.ts";
import { roundUp, shortValues, tokenHeadroom, toolCallAssertion } from "./draft-parts.ts";

export type ProposedTest = {
  name: string;
  scenario: string;
  turns: { input: string }[];
  /** For each observation, alternative assertions, most specific first. They may fail on the trace. */
  assertions: AssertionInput[][];
};

const toolsMax = 10;
const stepsMax = 5;
/** Limits of the test case document. */
const inputMax = 100_000;
const expectedNameMax = 500;
/** Factor from the observed duration to a drafted limit. Durations vary more than tokens do. */
const durationHeadroom = 2;

export function proposeTest(trace: MergedTrace, derived: Derived): ProposedTest {
  const input = derived.userInput?.text ?? null;
  const begins = shorten(plain(input ?? "") || plain(derived.name) || "A conversation", 100);
  return {
    name: `Like: ${begins}`,
    scenario: input === null ? "" : `The user writes something like: ${shorten(plain(input), 500)}`,
    turns: input === null ? [] : [{ input: shorten(input, inputMax) }],
    assertions: [...toolAssertions(derived), ...stepAssertions(trace), ...traceAssertions(derived)],
  };
}

/** Collapses whitespace and removes what cannot be stored. */
function plain(text: string): string {
  return text.slice(0, 2_000).toWellFormed().replaceAll("\0", "").replace(/\s+/g, " ").trim();
}

/** One per tool, with the arguments of its first call. */
function toolAssertions({ toolCalls }: Derived): AssertionInput[][] {
  const first = new Map(toolCalls.toReversed().map(call => [call.name, call]));
  const inOrder = [...first.values()].reverse();
  return inOrder.slice(0, toolsMax).map(call => {
    const part = shortValues(call.arguments);
    const bare = toolCallAssertion(call.name);
    return typeof part === "object" ? [toolCallAssertion(call.name, part), bare] : [bare];
  });
}

/** Expects the steps nearest to the root by name, except names that look generated and differ in every trace. */
function stepAssertions({ spans }: MergedTrace): AssertionInput[][] {
  const depths = depthsOf(buildTree(spans));
  const nearest = new Map<string, number>();
  for (const [at, span] of spans.entries()) {
    const depth = depths[at]!;
    if (depth < 1 || depth > 2 || toolNameOf(span) !== null || !isStableName(span.name)) continue;
    if (span.status?.code === 2) continue;
    if (depth < (nearest.get(span.name) ?? Infinity)) nearest.set(span.name, depth);
  }
  const names = [...nearest].sort(([, a], [, b]) => a - b).map(([name]) => name);
  return names.slice(0, stepsMax).map(name => [{ type: "node_call", expected_name: name }]);
}

function isStableName(name: string): boolean {
  return /\S/.test(name) && name.length <= expectedNameMax && !/[\da-f]{8}|\d{5}/i.test(name);
}

function traceAssertions(derived: Derived): AssertionInput[][] {
  // Where the agent broke off, time and tokens measure the failure.
  if (isBroken(derived)) return [];
  const { httpStatus, tokens, durationMs } = derived;
  const whole: AssertionInput[] = [];
  if (httpStatus) whole.push({ type: "http_status", expected_status: httpStatus.value });
  const { input, output, total } = tokens;
  if (total !== null) {
    const limit = input === null ? "max_output" : output === null ? "max_input" : "max_total";
    whole.push({ type: "token_limit", [limit]: roundUp(total * tokenHeadroom) });
  }
  if (durationMs !== null) {
    // Durations beyond the safe integers are not rounded.
    whole.push({
      type: "response_time",
      max_ms: Math.max(roundUp(durationMs * durationHeadroom), durationMs),
    });
  }
  return whole.map(assertion => [assertion]);
}
