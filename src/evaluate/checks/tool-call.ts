// tool_call: how many calls have exactly this name, with these arguments.

import { isRecord } from "../../model/record.ts";
import type { ReasonData } from "../../model/run/reason.ts";
import type { Check } from "../../model/run/run.ts";
import type { ToolCall } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import { argumentDifferences, argumentsMatch, TooMuchToCompare } from "../arguments.ts";
import { isInRange, rangeOf } from "../call-range.ts";
import type { CheckOf } from "../check-context.ts";
import { evidenceMax, excerpt, shortName, someNames } from "../excerpt.ts";
import type { Finding } from "../finding.ts";
import { mayBeAnyJson, type RedactedPlace, redacted } from "../redacted.ts";
import type { TraceView } from "../trace-view.ts";

export const toolCall: CheckOf<"tool_call"> = (assertion, { view }) => {
  const { expected_name, expected_arguments, arguments_mode, negate } = assertion;
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
      argumentsMatch(
        expected_arguments,
        comparedOf(view, call),
        arguments_mode,
        view.budget,
        view.unknownIn(call.spanId, as),
      );
    const { matched = [], others = [] } = Object.groupBy(named, call =>
      matches(call) ? "matched" : "others",
    );
    const holds = isInRange(matched.length, assertion);
    const possible =
      view.redacted.length > 0
        ? [
            ...others.filter(call => matches(call, true)),
            ...toolCalls.filter(call => placesIn(view, call, call.name).length > 0),
          ]
        : [];
    if (possible.some((_, at) => isInRange(matched.length + at + 1, assertion) !== holds)) {
      return {
        ...redacted(
          possible.flatMap(call => placesIn(view, call, `${call.name} ${JSON.stringify(call.arguments)}`)),
        ),
        expected,
        actual: { count: null, called: namesOf(view) },
        evidence: evidenceOf(possible, expected_arguments !== undefined),
      };
    }
    const called = namesOf(view);
    const unseen = others.filter(call => call.arguments === null);
    // Nothing of these calls was compared, so they do not let a check pass that forbids arguments.
    if (holds !== negate && unseen.some((_, at) => isInRange(matched.length + at + 1, assertion) !== holds)) {
      return {
        kind: "absent",
        outcome: "missing_instrumentation",
        reason: { code: "no_call_arguments", data: { name: shortName(expected_name), calls: unseen.length } },
        expected,
        actual: { count: null, called },
        evidence: evidenceOf(unseen, true),
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
          ...(matched.length > 0 ? {} : { instead: calledInstead(named, nearMisses, called) }),
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

function placesIn(view: TraceView, { spanId }: ToolCall, text: string): RedactedPlace[] {
  return view.redactedIn(spanId, text);
}

const attribute = "gen_ai.tool.call.arguments";

/**
 * The arguments; of a text that is not parsed, the text itself if it may have been JSON of any type, or what it says if it is JSON
 * and the trace has more parsed values than are kept.
 */
function comparedOf(view: TraceView, call: ToolCall): unknown {
  const { value } = isRecord(call.arguments) ? call.arguments : {};
  if (typeof value !== "string") return call.arguments;
  const isAny = mayBeAnyJson(value, placesIn(view, call, value));
  if (!isAny && !/^\s*[[{]/.test(value)) return call.arguments;
  const span = view.spanOf(call);
  if (!span || attributeOf(span, attribute) !== value) return call.arguments;
  return isAny ? value : (view.parsed(span, attribute, value) ?? call.arguments);
}

function calledInstead(
  named: ToolCall[],
  nearMisses: string[],
  called: string[],
): NonNullable<ReasonData["tool_call_count"]["instead"]> {
  if (named.length > 0) {
    return named.every(call => call.arguments === null) ? "no_arguments" : "other_arguments";
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

function evidenceOf(calls: ToolCall[], withArguments: boolean): Check["evidence"] {
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
