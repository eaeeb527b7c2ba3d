// Sentences for the judge's reason codes that have numbers, durations or names: why a check is not decided.
import type { JudgeReasonCode } from "../src/model/judge/reason.ts";
import type { ReasonData } from "../src/model/run/reason.ts";
import { durationText, numberText } from "./format.ts";
import { moneyText } from "./money.ts";

type Sentences<C extends keyof ReasonData> = { [Code in C]: (data: NonNullable<ReasonData[Code]>) => string };

type Rendered = Extract<
  JudgeReasonCode,
  | "no_judge"
  | "reply_too_long"
  | "judge_budget_spent"
  | "judge_account_budget_spent"
  | "judge_rate_limited"
  | "judge_not_sampled"
  | "judge_unreachable"
  | "judge_broken_off"
  | "judge_timeout"
  | "judge_cut_off"
  | "judge_http_error"
  | "judge_quota_exceeded"
  | "judge_gateway_budget_exceeded"
  | "judge_silent"
  | "judge_undecided"
  | "judge_votes_split"
>;

export const judgeSentences: Sentences<Rendered | "judge_score"> = {
  judge_score: ({ score, threshold, votes, criteria, comment, negated }) =>
    `The judge’s score is ${numberText(score)} (${negated ? "expected below" : "threshold"} ${numberText(threshold)}${
      votes ? `; ${votes.passed} of ${votes.of} votes reach it` : ""
    }): ${criteria ? criteriaText(criteria) : (comment ?? "")}`,
  no_judge: () => "No judge is configured.",
  reply_too_long: ({ shown, of }) =>
    `The reply is too long to judge: ${numberText(of)} characters, of which the judge can be shown ${numberText(shown)}.`,
  judge_budget_spent: budget =>
    `The agent’s daily judge budget of ${
      "usd" in budget ? moneyText(budget.usd) : `${numberText(budget.tokens)} tokens`
    } is used up. It resets at 00:00 UTC.`,
  judge_account_budget_spent: ({ tokens }) =>
    `Your account’s daily budget of ${numberText(tokens)} tokens for this service’s judge is used up. It resets at 00:00 UTC. Or connect a judge of your own.`,
  judge_rate_limited: ({ tries }) => `The judge’s tokens-per-minute limit is reached${triesText(tries)}.`,
  judge_not_sampled: ({ percent }) => `Not sampled: ${percent}% of this agent’s traces are judged.`,
  judge_unreachable: ({ why, tries }) => `The judge could not be reached: ${why}${triesText(tries)}.`,
  judge_broken_off: ({ why, tries }) => `The judge’s server ${why}${triesText(tries)}.`,
  judge_timeout: ({ tries }) => `The judge did not answer in time${triesText(tries)}.`,
  judge_cut_off: ({ tries }) => `The judge’s answer broke off${triesText(tries)}.`,
  judge_http_error: ({ status, waitMs, tries }) =>
    `The judge answered with status ${status}${triesText(tries, waitMs)}.`,
  judge_quota_exceeded: ({ waitMs, tries }) =>
    `The quota at the judge’s provider is used up${triesText(tries, waitMs)}.`,
  judge_gateway_budget_exceeded: ({ waitMs, tries }) =>
    `The budget at the judge’s gateway is used up${triesText(tries, waitMs)}.`,
  judge_silent: ({ seconds }) => `The judge did not answer within ${durationText(seconds * 1_000)}.`,
  judge_undecided: ({ comment, criteria }) =>
    `The judge could not decide${criteria ? ` ${criteria.map(name => `“${name}”`).join(", ")}` : ""}: ${comment}`,
  judge_votes_split: ({ passed, failed, undecided }) =>
    `The judge could not decide: of ${passed + failed + undecided} votes, ${passed} reached the threshold, ${failed} did not${
      undecided > 0 ? `, and ${undecided} ${undecided === 1 ? "was" : "were"} undecided` : ""
    }.`,
};

type CriteriaCounts = NonNullable<ReasonData["judge_score"]["criteria"]>;

/** "3 of 5 criteria are fully met, 1 does not apply." */
function criteriaText({ met, of, inapplicable, undecided }: CriteriaCounts): string {
  const parts = [`${met} of ${of} criteria are fully met`];
  if (inapplicable) parts.push(`${inapplicable} ${inapplicable === 1 ? "does" : "do"} not apply`);
  if (undecided) parts.push(`${undecided} ${undecided === 1 ? "is" : "are"} undecided`);
  return `${parts.join(", ")}.`;
}

/** " (not called again for 45 s; 3 tries)". */
function triesText(tries: number | undefined, waitMs?: number): string {
  const parts = [
    ...(waitMs === undefined ? [] : [`not called again for ${durationText(waitMs)}`]),
    ...(tries !== undefined && tries > 1 ? [`${numberText(tries)} tries`] : []),
  ];
  return parts.length > 0 ? ` (${parts.join("; ")})` : "";
}
