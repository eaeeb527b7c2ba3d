// tool_call: how many calls have exactly this name, with these arguments.

import { isRecord } from "../../model/record.ts";
import type { Reason, ReasonData } from "../../model/run/reason.ts";
import type { Evidence } from "../../model/run/run.ts";
import type { AssertionOf } from "../../model/test-case/assertion.ts";
import type { ToolCall } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import { argumentDifferences, argumentsMatch, TooMuchToCompare } from "../arguments.ts";
import { couldChange, isInRange, rangeOf } from "../call-range.ts";
import type { CheckOf } from "../check-context.ts";
import { evidenceMax, excerpt, shortName, someNames } from "../excerpt.ts";
import type { Finding } from "../finding.ts";
import { areReadable, wantsAbsence } from "../readable-arguments.ts";
import { mayBeAnyJson, redacted } from "../redacted.ts";
import type { TraceView } from "../trace-view.ts";
import { blindTurn, unreadCalls } from "../unread-calls.ts";

export const toolCall: CheckOf<"tool_call"> = (assertion, { view }) => {
  const { expected_name, expected_arguments, arguments_mode } = assertion;
  const expected = {
    expected_name,
    ...(expected_arguments === undefined ? {} : { expected_arguments, arguments_mode }),
    ...rangeOf(assertion),
  };
  const { toolCalls } = view.derived;
  const named = view.callsOf(expected_name);
  try {
    const matches = (call: ToolCall, as = false) =>
      expected_arguments === undefined ||
      (argumentsMatch(
        expected_arguments,
        comparedOf(view, call),
        arguments_mode,
        view.budget,
        view.unknown(as),
      ) &&
        (!wantsAbsence(expected_arguments) || isReadable(view, call, expected_arguments)));
    const { matched = [], others = [] } = Object.groupBy(named, call =>
      matches(call) ? "matched" : "others",
    );
    const holds = isInRange(matched.length, assertion);
    const possible =
      view.redacted.length > 0
        ? [
            ...others.filter(call => matches(call, true)),
            ...toolCalls.filter(call => view.redactedIn(call.name).length > 0),
          ]
        : [];
    if (possible.some((_, at) => isInRange(matched.length + at + 1, assertion) !== holds)) {
      return {
        ...redacted(
          possible.flatMap(call => view.redactedIn(`${call.name} ${JSON.stringify(call.arguments)}`)),
        ),
        expected,
        actual: { count: null, called: namesOf(view) },
        evidence: evidenceOf(possible, expected_arguments !== undefined),
      };
    }
    const called = namesOf(view);
    const unreadable = others.filter(call => !isReadable(view, call, expected_arguments));
    const unknown = unknownCalls(assertion, view, { count: matched.length, unreadable });
    if (unknown) {
      return {
        kind: "absent",
        outcome: "missing_instrumentation",
        ...unknown,
        expected,
        actual: { count: null, called },
      };
    }
    const nearMisses = named.length > 0 ? [] : nearMissesOf(expected_name, called);
    const looked = matched.length > 0 ? matched : named.length > 0 ? named : toolCalls;
    return {
      kind: "compared",
      holds,
      reason: {
        code: "tool_call_count",
        data: {
          name: shortName(expected_name),
          count: matched.length,
          ...(expected_arguments === undefined ? {} : { withArguments: true }),
          ...rangeOf(assertion),
          ...(matched.length > 0 ? {} : { instead: calledInstead(named, unreadable, nearMisses, called) }),
        },
      },
      expected,
      actual: {
        count: matched.length,
        called,
        ...(nearMisses.length > 0 ? { nearMisses } : {}),
        ...((holds && matched.length > 0) || others.length === 0
          ? {}
          : {
              differences: others.slice(0, 3).map(call => ({
                spanId: call.spanId,
                differences: argumentDifferences(
                  expected_arguments,
                  comparedOf(view, call),
                  arguments_mode,
                  view.budget,
                ),
              })),
            }),
      },
      evidence: evidenceOf(looked, expected_arguments !== undefined && named.length > 0),
    };
  } catch (error) {
    if (!(error instanceof TooMuchToCompare)) throw error;
    return tooMuch(expected, named, namesOf(view));
  }
};

/**
 * Calls that could change the outcome, and of which too little is known: messages or a root alone show that there may be more, and
 * arguments that cannot be read may be forbidden or limited ones. Null: there are none.
 */
function unknownCalls(
  { expected_name, negate, ...range }: AssertionOf<"tool_call">,
  view: TraceView,
  { count, unreadable }: { count: number; unreadable: ToolCall[] },
): { reason: Reason; evidence: Evidence[] } | null {
  const name = shortName(expected_name);
  const turn = blindTurn(view);
  if (turn === 0 || (turn !== undefined && couldChange(count, range))) {
    const root = (view.turns?.[turn - 1] ?? view).rootWithout("gen_ai.output.messages");
    return { reason: { code: "no_messages", data: { name, ...(turn > 0 ? { turn } : {}) } }, evidence: root };
  }
  if (!couldChange(count, range)) return null;
  const unread = unreadCalls(view, expected_name);
  const uncompared = negate || range.max !== undefined ? unreadable : [];
  if (!couldChange(count, range, unread.length + uncompared.length)) return null;
  if (unread.length > 0) {
    const data = { name, calls: unread.length };
    return { reason: { code: "unread_calls", data }, evidence: unread.slice(0, evidenceMax) };
  }
  const isSent = uncompared.some(call => call.arguments !== null);
  const data = { name, calls: uncompared.length, ...(isSent ? { unreadable: true as const } : {}) };
  return { reason: { code: "no_call_arguments", data }, evidence: evidenceOf(uncompared, true) };
}

const attribute = "gen_ai.tool.call.arguments";

/**
 * The arguments; of a text that is not parsed, the text itself if it may have been JSON of any type, or what it says if it is JSON
 * and the trace has more parsed values than are kept.
 */
function comparedOf(view: TraceView, call: ToolCall): unknown {
  const { value } = isRecord(call.arguments) ? call.arguments : {};
  if (typeof value !== "string") return call.arguments;
  const isAny = mayBeAnyJson(value, view.redactedIn(value));
  if (!isAny && !/^\s*[[{]/.test(value)) return call.arguments;
  const span = view.spanOf(call);
  if (!span || attributeOf(span, attribute) !== value) return call.arguments;
  return isAny ? value : (view.parsed(span, attribute, value) ?? call.arguments);
}

function isReadable(view: TraceView, call: ToolCall, expected: unknown): boolean {
  const compared = comparedOf(view, call);
  return areReadable(compared, compared === call.arguments && isRaw(view, call), expected);
}

/** Whether a text that is no JSON stands in place of the arguments, under `value`. */
function isRaw(view: TraceView, call: ToolCall): boolean {
  const { value } = isRecord(call.arguments) ? call.arguments : {};
  const span = typeof value === "string" ? view.spanOf(call) : undefined;
  return span !== undefined && attributeOf(span, attribute) === value;
}

function calledInstead(
  named: ToolCall[],
  unreadable: ToolCall[],
  nearMisses: string[],
  called: string[],
): NonNullable<ReasonData["tool_call_count"]["instead"]> {
  if (named.length > 0) {
    if (named.every(call => call.arguments === null)) return "no_arguments";
    return unreadable.length === named.length ? "unreadable_arguments" : "other_arguments";
  }
  if (nearMisses.length > 0) return { similar: someNames(nearMisses) };
  return called.length > 0 ? { called: someNames(called) } : "no_calls";
}

/** Names that differ from the expected one only in case or separators, or contain it or are contained in it. */
function nearMissesOf(wanted: string, called: string[]): string[] {
  const bare = (name: string) => name.toLowerCase().replace(/[\s_.:/-]/g, "");
  const target = bare(wanted);
  return called.filter(name => {
    const other = bare(name);
    return other !== "" && target !== "" && (other.includes(target) || target.includes(other));
  });
}

function namesOf(view: TraceView): string[] {
  return view.toolNames.slice(0, evidenceMax).map(name => String(excerpt(name)));
}

function evidenceOf(calls: ToolCall[], withArguments: boolean): Evidence[] {
  return calls.slice(0, evidenceMax).map(({ spanId, name, arguments: args }) => {
    if (!withArguments) return { spanId, attribute: "gen_ai.tool.name", value: excerpt(name) };
    return { spanId, attribute, ...(args !== null && { value: excerpt(args) }) };
  });
}

function tooMuch(expected: unknown, named: ToolCall[], called: string[]): Finding {
  return {
    kind: "skipped",
    skipped: "limit",
    reason: { code: "arguments_too_large" },
    expected,
    actual: { count: null, called },
    evidence: evidenceOf(named, true),
  };
}
