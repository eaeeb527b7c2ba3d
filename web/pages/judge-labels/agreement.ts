// The words of labels and of agreement with them.
import type { JudgeAgreement } from "../../../src/http/judge/agreement-schemas.ts";
import type { Uncorrected } from "../../../src/model/judge/corrected-rate.ts";
import type { Agreement, JudgedAnswer, LabelJudge, Share } from "../../../src/model/judge/label.ts";
import { intervalText, numberText, rateText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { providers } from "../project/providers.ts";

export const answerTexts: Record<JudgedAnswer, string> = {
  pass: "Pass",
  fail: "Fail",
  undecided: "Undecided",
  match: "Match",
  unsure: "Unsure",
  no_match: "No match",
};

/** Whether a wrong answer hides a fault: the check passed, or the test did not run. */
export function hidesFault(judged: JudgedAnswer): boolean {
  return judged === "pass" || judged === "no_match";
}

/** "7 of 8 (53–98%)", or a dash. */
export function shareText(share: Share): string {
  if (share.of === 0) return "–";
  return `${numberText(share.count)} of ${numberText(share.of)} (${intervalText(share)})`;
}

/** One or two kinds of errors, those that hide a fault first. */
export type Errors = { title: string; should: string; share: Share }[];

export const checkErrors = ({
  falsePass,
  falseFail,
}: Pick<JudgeAgreement["checks"], "falsePass" | "falseFail">): Errors => [
  { title: "False passes", should: "that should fail", share: falsePass },
  { title: "False failures", should: "that should pass", share: falseFail },
];

export const scenarioErrors = ({
  falseNoMatch,
  falseMatch,
}: Pick<JudgeAgreement["scenarios"], "falseNoMatch" | "falseMatch">): Errors => [
  { title: "Missed matches", should: "that should match", share: falseNoMatch },
  { title: "False matches", should: "that should not match", share: falseMatch },
];

export function agreementText(agreed: Agreement): string {
  const { labels, undecided } = agreed;
  const left =
    undecided === 0
      ? ""
      : ` The judge could not decide ${numberText(undecided)} of ${counted(labels + undecided, "labeled check")}.`;
  if (labels === 0) return left.trim();
  return `The judge agrees with people on ${numberText(agreed.agreed)} of ${counted(labels, "answer")}: ${rateText(agreed.share)} (95% interval ${intervalText(agreed)}).${left}`;
}

export function disputedText({ disputed }: Pick<Agreement, "disputed">): string {
  return `People disagree on ${counted(disputed, "answer")}. The majority counts; without one, the answer is left out.`;
}

export const uncorrectedTexts: Record<Uncorrected, string> = {
  no_results: "No live results",
  too_few_labels: "To correct it, label 10 answers that should pass and 10 that should fail.",
  unreliable: "The judge is not reliable enough to correct for.",
};

export function judgeText({ provider, model, promptVersion }: LabelJudge): string {
  if (model === "") return "Unknown model";
  const by = provider === null ? "" : `${providers[provider].label}, `;
  return `${model} (${by}prompts ${promptVersion})`;
}
