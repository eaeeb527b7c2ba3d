// A person's label of one answer of the judge, and how well the judge agrees with such labels.
import { wilson } from "../wilson.ts";
import type { JudgeProvider } from "./call.ts";
import type { JudgedBy, SemanticQuestion } from "./judge.ts";
import type { EarlierMessages } from "./material.ts";

/** The judge's answer: whether a check passed, or whether a scenario matched. "undecided": it could not decide a check. */
export type JudgedAnswer = "pass" | "fail" | "undecided" | "match" | "unsure" | "no_match";

export const judgedAnswers: JudgedAnswer[] = ["pass", "fail", "undecided", "match", "unsure", "no_match"];

/** What the answer should be. */
export type LabelAnswer = Exclude<JudgedAnswer, "unsure" | "undecided">;

export const labelAnswers: LabelAnswer[] = ["pass", "fail", "match", "no_match"];

export type LabelKind = "check" | "scenario";

export function kindOf(answer: JudgedAnswer): LabelKind {
  return answer === "pass" || answer === "fail" || answer === "undecided" ? "check" : "scenario";
}

/** An unsure scenario runs the test, as a match does. Null for an undecided check: it neither agrees nor disagrees. */
export function agrees(judged: JudgedAnswer, answer: LabelAnswer): boolean | null {
  if (judged === "undecided") return null;
  return (judged === "unsure" ? "match" : judged) === answer;
}

/**
 * What the judge was asked. A check has one question for each text that it may hold for; it passes if one reaches the
 * threshold, or with `negate`, if none does.
 */
export type LabelQuestion =
  | { kind: "scenario"; scenario: string; userInput: string; earlier?: EarlierMessages }
  | { kind: "check"; questions: SemanticQuestion[]; threshold: number; negate: boolean };

/** The judge's answer to a check's questions, by the score of each; undefined while some that matter have none. */
export function judgedCheck(
  { threshold, negate }: Pick<LabelQuestion & { kind: "check" }, "threshold" | "negate">,
  scores: (number | null)[],
): "pass" | "fail" | undefined {
  const holds = scores.some(score => score !== null && score >= threshold);
  if (!holds && scores.includes(null)) return undefined;
  return holds !== negate ? "pass" : "fail";
}

export type LabelJudge = { provider: JudgeProvider | null } & Pick<JudgedBy, "model" | "promptVersion">;

/** How many answers of the judge people label so. */
export type LabelCount = { judged: JudgedAnswer; answer: LabelAnswer; count: number };

/** `answer` null: as many people say one as the other. `disputed`: of the count, how many people label differently. */
export type CountedAnswers = Omit<LabelCount, "answer"> & { answer: LabelAnswer | null; disputed: number };

/** `count` of `of`, with its 95% interval (Wilson); null without any. */
export type Share = {
  count: number;
  of: number;
  share: number | null;
  low: number | null;
  high: number | null;
};

/** Each answer of the judge counts once, by what most people say. */
export type Agreement = {
  /** Labeled answers that decided. */
  labels: number;
  agreed: number;
  /** Labeled checks that the judge could not decide: they are in no share but `decidedShare`. */
  undecided: number;
  /** Answers that people label differently. Without a majority they are in no share. */
  disputed: number;
  /** In 0..1, of all that are labeled; null without labels. */
  decidedShare: number | null;
  confusion: LabelCount[];
} & Pick<Share, "share" | "low" | "high">;

/** Of those that should fail, the passes; of those that should pass, the failures. */
export type CheckAgreement = Agreement & { falsePass: Share; falseFail: Share };

/** Of those that should match, the others; of those that should not, the matches. */
export type ScenarioAgreement = Agreement & { falseNoMatch: Share; falseMatch: Share };

export function checkAgreement(counts: CountedAnswers[]): CheckAgreement {
  const agreement = agreementOf(counts);
  return {
    ...agreement,
    falsePass: wrongShare(agreement, "fail"),
    falseFail: wrongShare(agreement, "pass"),
  };
}

export function scenarioAgreement(counts: CountedAnswers[]): ScenarioAgreement {
  const agreement = agreementOf(counts);
  return {
    ...agreement,
    falseNoMatch: wrongShare(agreement, "match"),
    falseMatch: wrongShare(agreement, "no_match"),
  };
}

export function agreementOf(counts: CountedAnswers[]): Agreement {
  const sums = new Map<string, LabelCount>();
  for (const { judged, answer, count } of counts) {
    if (answer === null) continue;
    const key = `${judged} ${answer}`;
    sums.set(key, { judged, answer, count: (sums.get(key)?.count ?? 0) + count });
  }
  const confusion = [...sums.values()];
  const decided = confusion.filter(({ judged }) => judged !== "undecided");
  const [all, labels] = [total(confusion), total(decided)];
  const agreed = total(decided.filter(({ judged, answer }) => agrees(judged, answer)));
  const { share, low, high } = shareOf(agreed, labels);
  return {
    ...{ labels, agreed, undecided: all - labels, confusion, share, low, high },
    disputed: counts.reduce((sum, { disputed }) => sum + disputed, 0),
    decidedShare: all === 0 ? null : labels / all,
  };
}

/** Of the decided answers that should be this one, the share of others. */
function wrongShare({ confusion }: Agreement, should: LabelAnswer): Share {
  const decided = confusion.filter(({ judged, answer }) => answer === should && judged !== "undecided");
  return shareOf(total(decided.filter(({ judged, answer }) => !agrees(judged, answer))), total(decided));
}

export function shareOf(count: number, of: number): Share {
  if (of === 0) return { count, of, share: null, low: null, high: null };
  return { count, of, share: count / of, ...wilson(count / of, of) };
}

function total(counts: LabelCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
