// The numbers behind a judge's words: a score from verdicts, whether more votes are worth asking for, and the outcome of votes.
import type { VerdictWord } from "../model/judge/call.ts";
import type { Vote } from "../model/judge/judge.ts";

/** `negate`: the check passes if the score misses the threshold. */
export type DecisionRule = { threshold: number; negate: boolean };

/** The anchors, from the best to the worst: the judge chooses a word, the number is ours. */
const scores = { met: 1, mostly: 0.75, partly: 0.4, not_met: 0 };
const steps: VerdictWord[] = ["met", "mostly", "partly", "not_met"];

/**
 * The mean of the verdicts, or under `negate` the best, since none of the criteria may be met; those that do not apply are left
 * out. Null if they do not decide the outcome: an undecided one may be 0 or 1, and both must fall on the same side of the
 * threshold. Then the score is the one of the two that is nearer to the threshold.
 */
export function scoreOfVerdicts(verdicts: VerdictWord[], { threshold, negate }: DecisionRule): number | null {
  const applicable = verdicts.filter(verdict => verdict !== "not_applicable");
  if (applicable.length === 0) return null;
  const [low, high] = [0, 1].map(undecided => {
    const values = applicable.map(verdict => (verdict === "cannot_tell" ? undecided : scores[verdict]));
    return negate ? Math.max(...values) : mean(values);
  }) as [number, number];
  if (low >= threshold) return low;
  return high < threshold ? high : null;
}

/** Whether the check passes; null if the verdicts do not decide it. */
export function passes(verdicts: VerdictWord[], rule: DecisionRule): boolean | null {
  const score = scoreOfVerdicts(verdicts, rule);
  return score === null ? null : score >= rule.threshold !== rule.negate;
}

/** Whether the check fails, and would pass if one verdict were the best. */
export function failsByOne(verdicts: VerdictWord[], rule: DecisionRule): boolean {
  const best = rule.negate ? "not_met" : "met";
  return passes(verdicts, rule) === false && verdicts.some((_, at) => passes(verdicts.with(at, best), rule));
}

/** Whether one verdict, had it been the next better or the next worse, would have changed a decided outcome. */
export function isNearThreshold(verdicts: VerdictWord[], rule: DecisionRule): boolean {
  const reaches = (verdicts: VerdictWord[]) => {
    const score = scoreOfVerdicts(verdicts, rule);
    return score === null ? null : score >= rule.threshold;
  };
  const outcome = reaches(verdicts);
  if (outcome === null) return false;
  return verdicts.some((verdict, at) =>
    [-1, 1].some(step => {
      const neighbor = steps.includes(verdict) ? steps[steps.indexOf(verdict) + step] : undefined;
      return neighbor !== undefined && reaches(verdicts.with(at, neighbor)) !== outcome;
    }),
  );
}

/** Whether the vote says that no criterion applies. */
export function isInapplicable({ verdicts }: Pick<Vote, "verdicts">): boolean {
  return verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === "not_applicable");
}

type ScoredVote = Vote & { score: number };

/**
 * The vote that gives the check its score and its verdicts. Of several votes it is the median of those that decided, the
 * lower of two in the middle; if most of them say that no criterion applies, it is one of these, without a score. Undefined if
 * they decide nothing: then fewer than two votes, or no majority of the decided ones, agree.
 */
export function decidingVote(votes: Vote[], threshold: number): Vote | undefined {
  const scored = votes.filter((vote): vote is ScoredVote => vote.score !== null);
  const inapplicable = votes.filter(isInapplicable);
  const passed = scored.filter(({ score }) => score >= threshold).length;
  const majority = Math.max(passed, scored.length - passed, inapplicable.length);
  const decided = scored.length + inapplicable.length;
  if (majority * 2 <= decided || majority < Math.min(2, votes.length)) return undefined;
  if (majority === inapplicable.length) return inapplicable[0];
  return scored.toSorted((a, b) => a.score - b.score)[Math.floor((scored.length - 1) / 2)];
}

// Sums of these anchors carry the noise of binary fractions: without rounding, a mean of exactly 0.7 could miss 0.7.
function mean(values: number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9;
}
