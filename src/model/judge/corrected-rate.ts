// A pass rate corrected for the judge's known errors (Rogan-Gladen), with its 95% interval (Lang and Reiczigel).
// https://en.wikipedia.org/wiki/Beth_Gladen#Rogan-Gladen_estimator, https://doi.org/10.1016/j.prevetmed.2013.09.015
import type { CheckAgreement } from "./label.ts";

/** In 0..1. */
export type CorrectedRate = { rate: number; low: number; high: number };

/** Why a rate is not corrected: nothing to correct, fewer than ten labels of pass or of fail, or a judge hardly better than chance. */
export type Uncorrected = "no_results" | "too_few_labels" | "unreliable";

export const uncorrectedReasons: Uncorrected[] = ["no_results", "too_few_labels", "unreliable"];

export const labelsOfEachMin = 10;
const reliableMin = 1.2;

export function correctedRate(
  { passed, failed }: { passed: number; failed: number },
  { falsePass, falseFail }: Pick<CheckAgreement, "falsePass" | "falseFail">,
): CorrectedRate | Uncorrected {
  const results = passed + failed;
  if (results <= 0) return "no_results";
  if (Math.min(falsePass.of, falseFail.of) < labelsOfEachMin) return "too_few_labels";
  const seen = passed / results;
  const sensitivity = (falseFail.of - falseFail.count) / falseFail.of;
  const specificity = (falsePass.of - falsePass.count) / falsePass.of;
  if (sensitivity + specificity < reliableMin) return "unreliable";
  const rate = within((seen + specificity - 1) / (sensitivity + specificity - 1));
  const { low, high } = intervalOf(
    { share: seen, of: results },
    { share: sensitivity, of: falseFail.of },
    { share: specificity, of: falsePass.of },
  );
  return { rate, low: Math.min(rate, within(low)), high: Math.max(rate, within(high)) };
}

type Sample = { share: number; of: number };

function intervalOf(seen: Sample, ofPasses: Sample, ofFailures: Sample): { low: number; high: number } {
  const z = 1.959964;
  const [results, sensitivity, specificity] = [added(seen, z * z), added(ofPasses, 2), added(ofFailures, 2)];
  const reliable = sensitivity.share + specificity.share - 1;
  const rate = (results.share + specificity.share - 1) / reliable;
  const shift = 2 * z * z * (rate * variance(sensitivity) - (1 - rate) * variance(specificity));
  const spread =
    variance(results) + rate ** 2 * variance(sensitivity) + (1 - rate) ** 2 * variance(specificity);
  const half = (z * Math.sqrt(spread)) / reliable;
  return { low: rate + shift - half, high: rate + shift + half };
}

/** With so many cases more, half of them one way. */
function added({ share, of }: Sample, more: number): Sample {
  return { share: (of * share + more / 2) / (of + more), of: of + more };
}

function variance({ share, of }: Sample): number {
  return (share * (1 - share)) / of;
}

function within(rate: number): number {
  return Math.min(1, Math.max(0, rate));
}
