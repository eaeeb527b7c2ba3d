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

/** How many labels have this answer of the judge and this one of a person. */
export type LabelCount = { judged: JudgedAnswer; answer: LabelAnswer; count: number };

export type Agreement = {
  /** Of decided answers. */
  labels: number;
  agreed: number;
  /** Labels of checks that the judge could not decide, which are in no share. */
  undecided: number;
  /** Of the labels, in 0..1, with its 95% interval (Wilson); null without labels. */
  share: number | null;
  low: number | null;
  high: number | null;
  confusion: LabelCount[];
};

export function agreementOf(counts: LabelCount[]): Agreement {
  const sums = new Map<string, LabelCount>();
  for (const one of counts) {
    const key = `${one.judged} ${one.answer}`;
    sums.set(key, { ...one, count: (sums.get(key)?.count ?? 0) + one.count });
  }
  const confusion = [...sums.values()];
  const total = (of: LabelCount[]) => of.reduce((sum, { count }) => sum + count, 0);
  const decided = confusion.filter(({ judged }) => judged !== "undecided");
  const labels = total(decided);
  const undecided = total(confusion) - labels;
  const agreed = total(decided.filter(({ judged, answer }) => agrees(judged, answer)));
  const about = { labels, agreed, undecided, confusion };
  if (labels === 0) return { ...about, share: null, low: null, high: null };
  return { ...about, share: agreed / labels, ...wilson(agreed / labels, labels) };
}
