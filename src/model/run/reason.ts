// Reasons of outcomes of checks, tests and runs: the codes and their data. reason-text.ts makes sentences of them.

import type { Coded } from "../coded.ts";
import type { JudgeReasonData } from "../judge/reason.ts";
import { Refusal } from "../refusal.ts";
import type { Counts, Outcome } from "./outcome.ts";

/**
 * The data of each code; null: none. Names and texts are truncated by the caller, because results are stored. `negated`:
 * the check passes if the comparison does not hold.
 */
export type ReasonData = ComparisonData &
  AbsenceData &
  LimitData &
  JudgeReasonData &
  ResultData &
  RunErrorData;

export type ReasonCode = keyof ReasonData;

export type Reason = Coded<ReasonData>;

/** The result of a comparison. */
export type Comparison = Coded<ComparisonData>;

type Negatable = { negated?: true };
export type Range = { min: number; max?: number };

/** The first few names found instead, and the number of further ones. */
export type SomeNames = { names: string[]; more?: number };

/** Reasons of checks that made a comparison. */
type ComparisonData = {
  [C in keyof Comparisons]: Comparisons[C] & Negatable;
};

export type Comparisons = {
  tool_call_count: Range & {
    name: string;
    count: number;
    withArguments?: true;
    /** If no call counts: the arguments differ or are not in the trace, or other tools were called. */
    instead?:
      | "other_arguments"
      | "no_arguments"
      | "unreadable_arguments"
      | "no_calls"
      | { similar: SomeNames }
      | { called: SomeNames };
  };
  /** `steps`: the names of the steps, if none matches. */
  step_count: Range & { name: string; count: number; steps?: SomeNames };
  /** The exceeded limits, else all. */
  token_usage: { usages: { kind: string; used: number; max: number }[] };
  http_status: { status: number; expected: number | number[] | string };
  /** `received`: from the request to the end of the reply, as Onlooker measured it. */
  duration: { ms: number; maxMs: number; received?: true };
  /** `target`: part of the name of the searched spans; absent: the reply was searched. `every`: all of their texts have it. */
  pattern_found: { pattern: string; target?: string; every?: true };
  pattern_not_found: { pattern: string; target?: string };
  /** `others`: the number of further spans of which the same is true. */
  value_matches: { field: string; span: string; others?: number };
  value_differs: { field: string; span: string; others: number };
  schema_valid: { field: string; target: string };
  schema_invalid: { field: string; target: string; fault: string };
  /** `target`: as above. A text without letters and digits is not judged. */
  reply_without_words: { target?: string };
  /** `criteria`: the number fully met, if there are several; `comment`: the judge's comment on a single one. */
  judge_score: {
    score: number;
    threshold: number;
    votes?: { passed: number; of: number };
    criteria?: { met: number; of: number; inapplicable?: number; undecided?: number };
    comment?: string;
  };
};

/** Reasons of checks whose subject is missing from the trace. */
type AbsenceData = {
  no_http_status: null;
  unusable_http_status: null;
  /** In a manual run: the call ended without a reply. */
  no_response: null;
  /** `unusable`: attributes that are no whole number, or too large; `turn`: the only turn of the conversation without it. */
  no_token_usage: { attributes: string[]; unusable?: string[]; turn?: number };
  /** The spans of model calls without a usable count, where usage is summed. */
  unmeasured_calls: { spans: SomeNames; calls: number };
  no_duration: null;
  no_reply: null;
  /** In a manual run: the reply that arrived has no text but whitespace. */
  blank_reply: null;
  failed_without_reply: null;
  /** `without`: how many of the spans have no text, where others have. */
  no_text_in_spans: { target: string; without?: number };
  /** How many values are no JSON, in a check that would pass because they do not match. */
  not_json: { target: string; field: string; values: number };
  no_attribute: { target: string; field: string };
  no_span: { target: string; spans: SomeNames };
  /** `turn`: the turn of a conversation of several that shows no steps. */
  no_steps: { name: string; turn?: number };
  /** `calls`: how many of the tool's calls have none that can be read, and could be among those that count. */
  no_call_arguments: { name: string; calls: number; unreadable?: true };
  /** Messages tell of calls of the tool that are not among the calls of the trace. */
  unread_calls: { name: string; calls: number };
  /** Neither spans nor messages could show a call. */
  no_messages: { name: string; turn?: number };
  turn_not_reached: { turn: number; turns: number };
  turn_not_in_trace: { turn: number };
  no_agent_trace: null;
  /** It was never stored, or has been forgotten. */
  content_not_stored: null;
};

/** Reasons of checks that were not made. */
type LimitData = {
  dependency_not_passed: { id: string };
  dependency_waiting: { id: string };
  no_answer: null;
  invalid_threshold: null;
  too_many_values: { values: number; max: number };
  text_too_long: { max: number };
  arguments_too_large: null;
  run_budget_spent: null;
} & SandboxReasonData;

/** Why the sandbox gave no answer. */
type SandboxReasonData = {
  sandbox_timeout: { ms: number };
  sandbox_out_of_memory: null;
  sandbox_run_budget: { ms: number };
  sandbox_agent_budget: { ms: number };
  sandbox_failed: { message: string };
  sandbox_cancelled: null;
};

export type SandboxReason = Coded<SandboxReasonData & Pick<LimitData, "text_too_long">>;

type ResultData = {
  /** A turn of a manual run failed. `turn`: of a test with several; `message`: the sentence of the call's error. */
  agent_error: { turn?: number; error: string; message: string };
  checks_counted: { outcome: Outcome; counts: Counts };
  checks_waiting: { checked: number; of: number };
  /** `comment`: the judge's. */
  scenario_no_match: { comment: string };
};

/** The run did not complete. */
type RunErrorData = {
  worker_died: { attempts: number };
  worker_died_before_sending: { attempts: number };
  worker_stopped: null;
  internal_error: null;
  /** `code`: of the refusal. */
  rejected: { code: string; message: string; hint?: string };
};

/** The same comparison for a negated check. */
export function negated({ code, data }: Comparison): Comparison {
  return { code, data: { ...data, negated: true } } as Comparison;
}

/** The reason of a run that ended with an error: a refusal's own message, else an internal error. */
export function runErrorReason(error: unknown): Reason {
  if (!(error instanceof Refusal)) return { code: "internal_error" };
  const { code, message, hint } = error;
  return { code: "rejected", data: { code, message, ...(hint === undefined ? {} : { hint }) } };
}
