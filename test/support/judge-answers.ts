// Outcomes of a judge that did not answer, for tests without a judge.
import { type Unanswered, unanswered } from "../../src/model/judge/outcome.ts";

/** The server answered with this status; `retryAt` null: it is not asked again. */
export function serverError(status: number, retryAt: number | null = null): Unanswered {
  return unanswered("later", { code: "judge_http_error", data: { status } }, retryAt);
}

export const keyRejected = unanswered("refused", { code: "judge_key_rejected", data: { status: 401 } });
export const budgetSpent = unanswered("budget", { code: "judge_budget_spent", data: { usd: 1 } });
export const undecided = unanswered("undecided", { code: "judge_undecided", data: { comment: "Unclear." } });

/** An outcome of each code. */
export const unansweredBy: Record<Unanswered["code"], Unanswered> = {
  later: serverError(503),
  refused: keyRejected,
  unusable: unanswered("unusable", { code: "judge_answer_malformed" }),
  budget: budgetSpent,
  aborted: unanswered("aborted", { code: "judge_cancelled" }),
  not_configured: unanswered("not_configured", { code: "no_judge" }),
  not_sampled: unanswered("not_sampled", { code: "judge_not_sampled", data: { percent: 25 } }),
  undecided,
};
