// The outcome of asking the judge: a value, or why there is none. One type from the HTTP call to the check.
import type { JudgeReason, JudgeReasonCode } from "../run/reason.ts";
import type { JudgeCallState } from "./call.ts";

/**
 * `code` says what can be done: "later" may pass, "refused" lasts until the connection is edited, "unusable" is an answer
 * that cannot be used, "budget" means that money or tokens are used up. `detail` says why, as data; `reasonText` makes
 * the sentence. `retryAt`, in ms since the epoch: as the server asked, and once the pipeline has decided, when the judge
 * is asked again; null: not at all.
 */
export type Unanswered = {
  code: Exclude<JudgeCallState, "ok"> | "not_configured" | "not_sampled" | "undecided";
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

/** Whether the judge is asked again. */
export function isWaiting(answer: { code: string } | Unanswered): answer is Unanswered & { retryAt: number } {
  return answer.code !== "ok" && (answer as Unanswered).retryAt !== null;
}

/** Reasons to ask again for which no call was made: they count as no try. */
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
