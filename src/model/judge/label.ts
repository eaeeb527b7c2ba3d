// A person's label of one answer of the judge, and how well the judge agrees with such labels.
import { wilson } from "../wilson.ts";
import type { JudgeProvider } from "./call.ts";
import type { JudgedBy, SemanticQuestion } from "./judge.ts";
import type { EarlierMessages } from "./material.ts";

/** The judge's answer: whether a check passed, or whether a scenario matched. */
export type JudgedAnswer = "pass" | "fail" | "match" | "unsure" | "no_match";

/** What the answer should be. */
export type LabelAnswer = Exclude<JudgedAnswer, "unsure">;

export const labelAnswers: LabelAnswer[] = ["pass", "fail", "match", "no_match"];

export type LabelKind = "check" | "scenario";

export function kindOf(answer: JudgedAnswer): LabelKind {
  return answer === "pass" || answer === "fail" ? "check" : "scenario";
}

/** An unsure scenario runs the test, as a match does. */
export function agrees(judged: JudgedAnswer, answer: LabelAnswer): boolean {
  return (judged === "unsure" ? "match" : judged) === answer;
}

/**
 * Whether a wrong answer hides a fault: a check that passed, or a scenario that was left out. The others raise false
 * alarms.
 */
export function hidesFault(judged: JudgedAnswer): boolean {
  return judged === "pass" || judged === "no_match";
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
  labels: number;
  agreed: number;
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
  const labels = total(confusion);
  const agreed = total(confusion.filter(({ judged, answer }) => agrees(judged, answer)));
  if (labels === 0) return { labels, agreed, share: null, low: null, high: null, confusion };
  return { labels, agreed, share: agreed / labels, ...wilson(agreed / labels, labels), confusion };
}
