// The words of labels and of agreement with them.
import type { JudgeAgreement } from "../../../src/http/judge/label-schemas.ts";
import type { JudgedAnswer, LabelJudge } from "../../../src/model/judge/label.ts";
import { intervalText, numberText, rateText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { providers } from "../project/providers.ts";

export const answerTexts: Record<JudgedAnswer, string> = {
  pass: "Pass",
  fail: "Fail",
  match: "Match",
  unsure: "Unsure",
  no_match: "No match",
};

type Agreed = Pick<JudgeAgreement, "labels" | "agreed" | "share" | "low" | "high">;

export function agreementText(agreed: Agreed): string {
  const { labels } = agreed;
  return `The judge agrees with ${numberText(agreed.agreed)} of ${counted(labels, "label")}: ${rateText(agreed.share)} (95% interval ${intervalText(agreed)}).`;
}

export function judgeText({ provider, model, promptVersion }: LabelJudge): string {
  const by = provider === null ? "" : `${providers[provider].label}, `;
  return `${model} (${by}prompts ${promptVersion})`;
}
