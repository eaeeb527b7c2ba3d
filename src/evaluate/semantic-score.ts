// The numbers behind a judge's words: a score from verdicts, whether more votes are worth asking for, and what votes come to.
import type { VerdictWord, Vote } from "../model/judge/judge.ts";

/** The anchors, from the best to the worst: the judge chooses a word, the number is ours. */
const scores = { met: 1, mostly: 0.75, partly: 0.4, not_met: 0 };
const steps = [scores.met, scores.mostly, scores.partly, scores.not_met];

/** The mean over the verdicts that decide, null where none does. */
export function scoreOfVerdicts(verdicts: VerdictWord[]): number | null {
  return mean(decided(verdicts));
}

/** Whether one verdict, had it been the next better or the next worse, would have turned the outcome round. */
export function isNearThreshold(verdicts: VerdictWord[], threshold: number): boolean {
  const values = decided(verdicts);
  const score = mean(values);
  if (score === null) return false;
  return values.some((value, at) =>
    [-1, 1].some(step => {
      const neighbour = steps[steps.indexOf(value) + step];
      return neighbour !== undefined && mean(values.with(at, neighbour))! >= threshold !== score >= threshold;
    }),
  );
}

/**
 * The vote whose score is the median of those that decided: as many lie above as below, so it reaches the threshold
 * where most do. Of an even number the lower of the two in the middle. Undefined where none decided.
 */
export function decidingVote(votes: Vote[]): (Vote & { score: number }) | undefined {
  const decided = votes.filter((vote): vote is Vote & { score: number } => vote.score !== null);
  return decided.toSorted((a, b) => a.score - b.score)[Math.floor((decided.length - 1) / 2)];
}

/** Whether as many of the votes that decided reach the threshold as do not: one that is missing would tip them. */
export function isTie(votes: Vote[], threshold: number): boolean {
  const scores = votes.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.filter(score => score >= threshold).length * 2 === scores.length;
}

function decided(verdicts: VerdictWord[]): number[] {
  return verdicts.flatMap(verdict => (verdict === "cannot_tell" ? [] : [scores[verdict]]));
}

// Sums of these anchors carry the noise of binary fractions: without rounding, a mean of exactly 0.7 could miss 0.7.
function mean(values: number[]): number | null {
  if (values.length === 0) return null;
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9;
}
