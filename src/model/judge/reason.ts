// Why the judge gave no answer, or why its answer cannot be used: the codes and their data.
import type { Coded } from "../coded.ts";

/** Why the judge gave no answer. */
export type JudgeReason = Coded<JudgeReasonData>;
export type JudgeReasonCode = keyof JudgeReasonData;

/** The number of failed attempts to ask the judge. */
type Tried = { tries?: number };

/** How long it is not called, as its server asked. */
type Waited = { waitMs?: number };

/** Why the judge gave no answer, or why its answer cannot be used. */
export type JudgeReasonData = {
  // No call was made.
  no_judge: null;
  judge_key_unreadable: null;
  /** `why`: the sentence of the error that paused it. */
  judge_paused: { why: string };
  judge_database_unavailable: null;
  judge_busy: null;
  judge_busy_until_deadline: null;
  judge_connection_changed: null;
  judge_rate_limited: Tried;
  judge_suspended: Tried & { because: JudgeReason | null };
  judge_not_sampled: { percent: number };
  judge_not_asked: null;
  judge_budget_spent: { usd: number } | { tokens: number };
  judge_account_budget_spent: { tokens: number };
  judge_cancelled: null;
  judge_waiting: null;
  no_scenario: null;
  // The call failed.
  judge_url_blocked: { why: string };
  judge_connection_invalid: null;
  /** `why`: in the words of connection-fault.ts. */
  judge_unreachable: Tried & { why: string };
  judge_broken_off: Tried & { why: string };
  judge_timeout: Tried;
  judge_cut_off: Tried;
  judge_http_error: Tried & Waited & { status: number };
  judge_quota_exceeded: Tried & Waited;
  judge_gateway_budget_exceeded: Tried & Waited;
  judge_key_rejected: { status: number };
  judge_upstream_rejected: { status: number };
  judge_header_missing: { status: number };
  judge_model_unknown: { status: number };
  judge_model_denied: { status: number };
  judge_url_unknown: { status: number };
  judge_not_found: { status: number };
  judge_system_role_rejected: { status: number };
  judge_redirected: { status: number };
  judge_tls_required: { status: number };
  judge_request_rejected: { status: number };
  judge_input_rejected: { status: number };
  judge_context_exceeded: { status: number };
  judge_silent: { seconds: number };
  // The answer cannot be used.
  judge_answer_too_large: null;
  judge_answer_truncated: null;
  judge_answer_filtered: null;
  judge_answer_failed: null;
  judge_not_a_model: null;
  judge_answer_malformed: null;
  /** `wrong`: the kind of the question with a known answer. */
  judge_integrity_failed: { wrong: "always" | "never" | "class" };
  judge_context_too_small: null;
  judge_echo_wrong: null;
  judge_question_skipped: null;
  // The judge could not decide; of `redacted`, other checks could not either.
  /** `rules`: of the project's privacy settings, those that changed what the check looks at. */
  redacted: { rules: string[] };
  /** `criteria`: the undecided ones of several. */
  judge_undecided: { comment: string; criteria?: string[] };
  /** What it would have needed may be in tool results, which the project withholds. `comment`: the judge's. */
  judge_withheld: { comment: string };
  /** Every criterion has a condition that does not hold. `comment`: the judge's. */
  does_not_apply: { comment: string };
  /** It called a criterion not applicable that states no condition. */
  judge_not_conditional: null;
  judge_votes_split: { passed: number; failed: number; undecided: number };
  judge_quote_missing: null;
  judge_quote_trivial: null;
  judge_quote_not_found: null;
  judge_comparison_not_found: null;
  reply_too_long: { shown: number; of: number };
};
