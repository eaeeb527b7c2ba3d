// The numbers behind a judge's words: a score from verdicts, whether more votes are worth asking for, and the outcome of votes.
import type { VerdictWord } from "../model/judge/call.ts";
import type { Vote } from "../model/judge/judge.ts";

/** `negate`: the check passes if the score misses the threshold. */
export type DecisionRule = { threshold: number; negate: boolean };

/** The anchors, from the best to the worst: the judge chooses a word, the number is ours. */
const scores = { met: 1, mostly: 0.75, partly: 0.4, not_met: 0 };
const steps: VerdictWord[] = ["met", "mostly", "partly", "not_met"];

/**
 * The mean of the verdicts, null if they do not decide the outcome: an undecided one may be 0 or 1, and both must
 * fall on the same side of the threshold. Then the score is the one of the two that is nearer to the threshold.
 */
export function scoreOfVerdicts(verdicts: VerdictWord[], { threshold, negate }: DecisionRule): number | null {
  if (verdicts.length === 0) return null;
  const [low, high] = [0, 1].map(undecided =>
    mean(
      verdicts.map(verdict => {
        if (verdict === "cannot_tell") return undecided;
        // Counts in the check's favor.
        return verdict === "not_applicable" ? Number(!negate) : scores[verdict];
      }),
    ),
  ) as [number, number];
  if (low >= threshold) return low;
  return high < threshold ? high : null;
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

type DecidedVote = Vote & { score: number };

/**
 * The vote that gives the check its score and its verdicts. Of several votes it is the median of those that decided, the
 * lower of two in the middle. Undefined if they decide nothing: then fewer than two votes, or no majority of the decided
 * ones, are on one side of the threshold.
 */
export function decidingVote(votes: Vote[], threshold: number): DecidedVote | undefined {
  const decided = votes.filter((vote): vote is DecidedVote => vote.score !== null);
  const passed = decided.filter(({ score }) => score >= threshold).length;
  const majority = Math.max(passed, decided.length - passed);
  if (majority * 2 <= decided.length || majority < Math.min(2, votes.length)) return undefined;
  return decided.toSorted((a, b) => a.score - b.score)[Math.floor((decided.length - 1) / 2)];
}

// Sums of these anchors carry the noise of binary fractions: without rounding, a mean of exactly 0.7 could miss 0.7.
function mean(values: number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9;
}
