// Sentences for reason codes: why a check, a test or a run had its outcome.
import type { ReasonCode, ReasonData, SomeNames } from "../src/model/run/reason.ts";
import { durationText, durationTexts, numberText } from "./format.ts";
import { judgeSentences } from "./judge-reasons.ts";

type Reasoned = {
  reason: string;
  reasonCode?: string | undefined;
  reasonData?: Record<string, unknown> | undefined;
};

/** Codes that have no sentence here keep the stored one. */
export function reasonText({ reason, reasonCode, reasonData = {} }: Reasoned): string {
  const sentence = Object.hasOwn(sentences, reasonCode ?? "") ? sentences[reasonCode as Rendered] : undefined;
  if (!sentence) return reason;
  return (sentence as (data: unknown) => string)(reasonData);
}

/** Codes whose stored sentence is shown: nothing in it is a number, a duration or a name that is formatted here. */
export const storedSentences = [
  // Of checks.
  "no_http_status",
  "unusable_http_status",
  "no_response",
  "no_token_usage",
  "no_duration",
  "no_reply",
  "blank_reply",
  "failed_without_reply",
  "turn_not_reached",
  "turn_not_in_trace",
  "no_agent_trace",
  "content_not_stored",
  "no_answer",
  "invalid_threshold",
  "arguments_too_large",
  "run_budget_spent",
  "sandbox_run_budget",
  "sandbox_agent_budget",
  "sandbox_out_of_memory",
  "sandbox_failed",
  "sandbox_cancelled",
  // Of the judge.
  "judge_key_unreadable",
  "judge_paused",
  "judge_database_unavailable",
  "judge_busy",
  "judge_busy_until_deadline",
  "judge_connection_changed",
  "judge_not_asked",
  // `because` is a reason within the reason, which has no stored sentence of its own.
  "judge_suspended",
  "judge_cancelled",
  "judge_waiting",
  "does_not_apply",
  "judge_not_conditional",
  "no_scenario",
  "judge_url_blocked",
  "judge_connection_invalid",
  "judge_key_rejected",
  "judge_upstream_rejected",
  "judge_header_missing",
  "judge_model_unknown",
  "judge_model_denied",
  "judge_url_unknown",
  "judge_not_found",
  "judge_redirected",
  "judge_tls_required",
  "judge_request_rejected",
  "judge_input_rejected",
  "judge_context_exceeded",
  "judge_system_role_rejected",
  "judge_answer_too_large",
  "judge_answer_truncated",
  "judge_answer_filtered",
  "judge_answer_failed",
  "judge_not_a_model",
  "judge_answer_malformed",
  "judge_integrity_failed",
  "judge_context_too_small",
  "judge_echo_wrong",
  "judge_question_skipped",
  "judge_quote_missing",
  "judge_quote_trivial",
  "judge_quote_not_found",
  "judge_comparison_not_found",
  "judge_withheld",
  // Of tests and runs.
  "checks_counted",
  "checks_waiting",
  "scenario_no_match",
  "worker_died",
  "worker_died_before_sending",
  "worker_stopped",
  "internal_error",
  "rejected",
] as const satisfies ReasonCode[];

type Rendered = Exclude<ReasonCode, (typeof storedSentences)[number]>;

/** A new code does not compile until it is here or in the list above. */
const sentences: { [C in Rendered]: (data: NonNullable<ReasonData[C]>) => string } = {
  tool_call_count: ({ name, count, withArguments, instead, ...range }) =>
    `${countText(count, "call")} of ${quote(name)}${
      withArguments ? ` with ${range.negated ? "matching" : "the expected"} arguments` : ""
    } (expected ${rangeText(range)})${instead === undefined ? "" : `; ${insteadText(instead)}`}.`,
  step_count: ({ name, count, steps, ...range }) =>
    `${countText(count, "step")} with ${quote(name)} in the name (expected ${rangeText(range)})${
      steps ? `; the steps are ${listText(steps)}` : ""
    }.`,
  token_usage: ({ usages, negated }) =>
    `The trace used ${usages
      .map(
        ({ kind, used, max }) =>
          `${numberText(used)} ${kind} tokens (${negated ? "expected more than" : "limit"} ${numberText(max)})`,
      )
      .join(", ")}.`,
  http_status: ({ status, expected, negated }) =>
    `The HTTP status is ${status} (expected ${statusesText(expected, negated === true)}).`,
  duration: ({ ms, maxMs, received, negated }) => {
    const [took, max] = durationTexts(ms, maxMs);
    return `The ${received ? "reply" : "trace"} took ${took} (${negated ? "expected more than" : "limit"} ${max}).`;
  },
  pattern_found: ({ pattern, target, every, negated }) =>
    `${quote(pattern)} was found in ${textOf(target, every)}${negated ? ", where it must not be" : ""}.`,
  redacted: ({ rules }) =>
    `The privacy ${rules.length === 1 ? "rule" : "rules"} ${rules.map(quote).join(", ")} redacted a part of what this check looks at, which could have changed its outcome.`,
  pattern_not_found: ({ pattern, target }) => `${quote(pattern)} was not found in ${textOf(target)}.`,
  reply_without_words: ({ target }) =>
    `${target === undefined ? "The reply" : `A text of ${quote(target)}`} contains no words.`,
  value_matches: ({ field, span, others = 0, negated }) =>
    `${quote(field)} of ${quote(span)} is the ${negated ? "value that it must not be" : "expected value"}${
      others > 0 ? `, as it is in ${spansText(others)}` : ""
    }.`,
  value_differs: ({ field, span, others, negated }) =>
    `${quote(field)} of ${quote(span)} is not the ${negated ? "value that it must not be" : "expected value"}${
      others > 0 ? `, nor is it in ${spansText(others)}` : ""
    }.`,
  schema_valid: ({ field, target, negated }) =>
    `${quote(field)} of the span named like ${quote(target)} ${
      negated ? "matches the schema that it must not match" : "is valid"
    }.`,
  schema_invalid: ({ field, target, fault, negated }) =>
    `${quote(field)} of the span named like ${quote(target)} ${
      negated ? "does not match the schema" : "is invalid"
    }${fault === "" ? "." : `: ${fault}`}`,
  no_attribute: ({ target, field }) =>
    `No span named like ${quote(target)} has the attribute ${quote(field)}.`,
  no_span: ({ target, spans }) => `No span is named like ${quote(target)}; the spans are ${listText(spans)}.`,
  no_text_in_spans: ({ target, without }) =>
    `${
      without === undefined ? "No span" : countText(without, "span")
    } named like ${quote(target)} ${without === undefined ? "has a" : without === 1 ? "has no" : "have no"} text: gen_ai.response.text and gen_ai.output.messages are missing or blank.`,
  not_json: ({ target, field, values }) =>
    `${quote(field)} of ${values === 1 ? "a span" : `${numberText(values)} spans`} named like ${quote(target)} is not JSON, so it cannot be compared.`,
  unmeasured_calls: ({ spans, calls }) =>
    `${countText(calls, "model call")} ${calls === 1 ? "has" : "have"} no usable token usage, so the sum is unknown: ${listText(spans)}.`,
  no_steps: ({ name, turn }) =>
    `${traceText(turn)} has no steps besides its root, so it is unknown whether ${quote(name)} ran.`,
  no_call_arguments: ({ name, calls, unreadable }) =>
    unreadable
      ? `The arguments of ${callsText(calls)} of ${quote(name)} cannot be read: gen_ai.tool.call.arguments is not the JSON object of the arguments.`
      : `The trace has no arguments for ${callsText(calls)} of ${quote(name)}: gen_ai.tool.call.arguments is missing or null.`,
  unread_calls: ({ name, calls }) =>
    `Messages show ${callsText(calls)} of ${quote(name)} that could not be read.`,
  no_messages: ({ name, turn }) =>
    `${traceText(turn)} is a root span without messages, so it is unknown whether ${quote(name)} was called.`,
  dependency_not_passed: ({ id }) => `Depends on ${quote(id)}, which did not pass.`,
  dependency_waiting: ({ id }) => `Depends on ${quote(id)}, which is waiting for the judge.`,
  too_many_values: ({ values, max }) =>
    `Only the latest ${max} of ${numberText(values)} values were checked.`,
  text_too_long: ({ max }) =>
    `The text is longer than ${numberText(max)} characters, the most that is checked.`,
  sandbox_timeout: ({ ms }) => `This check took longer than its limit of ${durationText(ms)}.`,
  ...judgeSentences,
  agent_error: ({ turn, message }) =>
    `Agent error${turn === undefined ? "" : ` in turn ${numberText(turn)}`}: ${message}`,
};

function quote(name: string): string {
  return `“${name}”`;
}

function listText({ names, more }: SomeNames): string {
  return names.map(quote).join(", ") + (more ? ` and ${numberText(more)} more` : "");
}

function countText(count: number, noun: string): string {
  return `${count === 0 ? "No" : numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "at least 1", "at most 3", "exactly 2", "2 to 4". */
type Range = { min: number; max?: number; negated?: boolean };

function rangeText({ min, max, negated = false }: Range): string {
  if (negated) return negatedRangeText({ min, ...(max !== undefined && { max }) });
  if (max === undefined) return `at least ${numberText(min)}`;
  if (max === min) return `exactly ${numberText(min)}`;
  return min === 0 ? `at most ${numberText(max)}` : `${numberText(min)} to ${numberText(max)}`;
}

function negatedRangeText({ min, max }: { min: number; max?: number }): string {
  if (max === undefined) return min === 1 ? "none" : `fewer than ${numberText(min)}`;
  if (max === min) return max === 0 ? "at least 1" : `any number but ${numberText(min)}`;
  if (min === 0) return `more than ${numberText(max)}`;
  return `fewer than ${numberText(min)} or more than ${numberText(max)}`;
}

function insteadText(instead: NonNullable<ReasonData["tool_call_count"]["instead"]>): string {
  if (instead === "other_arguments") return "the arguments differ";
  if (instead === "unreadable_arguments") return "the arguments cannot be read";
  if (instead === "no_arguments") return "the trace has no arguments for these calls";
  if (instead === "no_calls") return "the trace has no tool calls";
  if ("called" in instead) return `called instead: ${listText(instead.called)}`;
  return `names must match exactly, and ${listText(instead.similar)} does not`;
}

function statusesText(expected: number | number[] | string, negated: boolean): string {
  if (Array.isArray(expected)) return `${negated ? "none" : "one"} of ${expected.join(", ")}`;
  return negated ? `any but ${expected}` : String(expected);
}

function textOf(target: string | undefined, every?: true): string {
  return target === undefined ? "the reply" : `${every ? "every" : "a"} text of ${quote(target)}`;
}

function spansText(others: number): string {
  return `${numberText(others)} more ${others === 1 ? "span" : "spans"}`;
}

function callsText(calls: number): string {
  return calls === 1 ? "a call" : `${numberText(calls)} calls`;
}

function traceText(turn: number | undefined): string {
  return turn === undefined ? "The trace" : `Turn ${numberText(turn)}`;
}
