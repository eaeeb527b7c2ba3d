// The words of labels and of agreement with them.
import type { JudgeAgreement } from "../../../src/http/judge/label-schemas.ts";
import type { JudgedAnswer, LabelJudge } from "../../../src/model/judge/label.ts";
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

type Agreed = Pick<JudgeAgreement, "labels" | "agreed" | "undecided" | "share" | "low" | "high">;

export function agreementText(agreed: Agreed): string {
  const { labels, undecided } = agreed;
  const left = undecided === 0 ? "" : ` The judge could not decide ${counted(undecided, "labeled check")}.`;
  if (labels === 0) return left.trim();
  return `The judge agrees with ${numberText(agreed.agreed)} of ${counted(labels, "label")}: ${rateText(agreed.share)} (95% interval ${intervalText(agreed)}).${left}`;
}

export function judgeText({ provider, model, promptVersion }: LabelJudge): string {
  if (model === "") return "Unknown model";
  const by = provider === null ? "" : `${providers[provider].label}, `;
  return `${model} (${by}prompts ${promptVersion})`;
}
