// Why the judge gave no answer: one type from the HTTP call to the check.

import type { JudgeCallState } from "./call.ts";
import type { JudgeReason, JudgeReasonCode } from "./reason.ts";

/**
 * `code`: "later" is transient, "refused" lasts until the connection is edited, "unusable" is an answer that cannot be
 * used, "budget" means that money or tokens are used up. `detail` is the reason as data; `reasonText` makes the sentence.
 * `retryAt`, in ms since the epoch: first the time the server asked for, then the time that the pipeline chose for the
 * retry; null: no retry.
 */
export type Unanswered = {
  code: Exclude<JudgeCallState, "ok"> | "budget" | "not_configured" | "not_sampled" | "undecided";
  detail: JudgeReason;
  retryAt: number | null;
};

export type JudgeOutcome<T> = { code: "ok"; value: T } | Unanswered;

export function unanswered(
  code: Unanswered["code"],
  detail: JudgeReason,
  retryAt: number | null = null,
): Unanswered {
  return { code, detail, retryAt };
}

export const cancelled = unanswered("aborted", { code: "judge_cancelled" });

/** Whether the judge will be asked again. */
export function isWaiting(answer: { code: string } | Unanswered): answer is Unanswered & { retryAt: number } {
  return answer.code !== "ok" && (answer as Unanswered).retryAt !== null;
}

/** Reasons for a retry without a call: they do not count as attempts. */
const uncalled: JudgeReasonCode[] = [
  "judge_busy",
  "judge_busy_until_deadline",
  "judge_connection_changed",
  "judge_database_unavailable",
  "judge_rate_limited",
  "judge_suspended",
  "judge_waiting",
];

export function wasCalled({ code }: JudgeReason): boolean {
  return !uncalled.includes(code);
}
