// The outcome of the votes on a check: their verdicts, the deciding one, and what they took.
import {
  type DecisionRule,
  decidingVote,
  failsByOne,
  passes,
  scoreOfVerdicts,
} from "../evaluate/semantic-score.ts";
import type { GivenVerdict } from "../model/judge/call.ts";
import type {
  CriterionVerdict,
  SemanticAnswer,
  SemanticQuestion,
  Spent,
  Vote,
} from "../model/judge/judge.ts";
import { isWaiting, type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { shorten } from "../model/shorten.ts";
import type { Answers, Question } from "./question.ts";

/** The verdicts on the parts of a reply; undefined if one is missing. */
export function givenBy(
  parts: Question<unknown>[],
  answers: Answers<GivenVerdict>,
): GivenVerdict[] | undefined {
  const given = parts.flatMap(({ key }) => {
    const answer = answers.get(key);
    return answer?.code === "ok" ? [answer.value] : [];
  });
  return given.length === parts.length ? given : undefined;
}

export function failureOf(
  parts: Question<unknown>[],
  answers: Answers<GivenVerdict>,
): Unanswered | undefined {
  return firstOf(
    parts.flatMap(({ key }) => {
      const answer = answers.get(key)!;
      return answer.code === "ok" ? [] : [answer];
    }),
  );
}

/** Prefers a reason that no retry can change. */
function firstOf(failures: Unanswered[]): Unanswered | undefined {
  return failures.find(({ code }) => code !== "later") ?? failures[0];
}

export function isAnswered(verdicts: CriterionVerdict[] | Unanswered[]): verdicts is CriterionVerdict[] {
  return !verdicts.some(verdict => "code" in verdict);
}

/** Of the answered checks, by their first votes: those that fail by one criterion, where nothing else fails their test. */
export function decidingFailures(
  questions: SemanticQuestion[],
  words: Map<number, CriterionVerdict["verdict"][]>,
  close: number[],
): number[] {
  const failing = [...words.keys()].filter(check => passes(words.get(check)!, questions[check]!) === false);
  return failing.filter(check => {
    const { testId, testFails } = questions[check]!;
    const isAlone = !failing.some(other => other !== check && questions[other]!.testId === testId);
    return (
      isAlone && !testFails && !close.includes(check) && failsByOne(words.get(check)!, questions[check]!)
    );
  });
}

export function isBeyondBudget(vote: CriterionVerdict[] | Unanswered[]): boolean {
  return !isAnswered(vote) && vote.some(({ code }) => code === "budget");
}

type Tally = Pick<SemanticAnswer & { code: "ok" }, "code" | "score" | "votes"> | Unanswered;

/**
 * Decides by the first vote, and by two further ones if they were asked for. A further vote that failed counts as undecided;
 * if it may still come, the check waits.
 */
export function tally(
  [first, ...further]: (CriterionVerdict[] | Unanswered[])[],
  { criteria, ...rule }: Pick<SemanticQuestion, "criteria"> & DecisionRule,
  retry: (outcome: Unanswered) => Unanswered,
): Tally {
  if (!isAnswered(first!)) return retry(firstOf(first!)!);
  const lost = further.flatMap(vote => (isAnswered(vote) ? [] : [retry(firstOf(vote)!)]));
  const waiting = lost.find(isWaiting);
  if (waiting) return waiting;
  const votes = [first!, ...further].map(
    (vote): Vote =>
      isAnswered(vote)
        ? {
            score: scoreOfVerdicts(
              vote.map(({ verdict }) => verdict),
              rule,
            ),
            verdicts: vote,
          }
        : { score: null, verdicts: [] },
  );
  const deciding = decidingVote(votes, rule.threshold);
  if (deciding && deciding.score !== null) return { code: "ok", score: deciding.score, votes };
  if (deciding) return inapplicableBy(deciding.verdicts);
  if (lost[0]) return lost[0];
  if (votes.length === 1) return undecidedBy(first!, criteria);
  const passed = votes.filter(({ score }) => score !== null && score >= rule.threshold).length;
  const undecided = votes.filter(({ score }) => score === null).length;
  const data = { passed, failed: votes.length - passed - undecided, undecided };
  return unanswered("undecided", { code: "judge_votes_split", data });
}

/** Says why no criterion applies. */
function inapplicableBy(verdicts: CriterionVerdict[]): Unanswered {
  const comment = [...new Set(verdicts.map(({ reason }) => reason))].join(" ");
  return unanswered("undecided", { code: "does_not_apply", data: { comment } });
}

/** Names the criteria that the judge could not decide. */
function undecidedBy(verdicts: CriterionVerdict[], criteria: string[]): Unanswered {
  const undecided = verdicts.filter(({ verdict }) => verdict === "cannot_tell");
  if (undecided.every(({ redacted }) => redacted)) {
    const rules = [...new Set(undecided.flatMap(({ redacted = [] }) => redacted))];
    return unanswered("undecided", { code: "redacted", data: { rules } });
  }
  const open = verdicts.flatMap(({ verdict, reason }, at) =>
    verdict === "cannot_tell" ? [{ criterion: criteria[at]!, reason }] : [],
  );
  const comment = [...new Set(open.map(({ reason }) => reason))].join(" ");
  const named = open.map(({ criterion }) => shorten(criterion, 80));
  const data = { comment, ...(criteria.length > 1 ? { criteria: named } : {}) };
  return unanswered("undecided", { code: "judge_undecided", data });
}

/** Usage of one round, whose calls were made in parallel. Undefined if none was made. */
export function spentOn(round: Question<unknown>[][], answers: Answers<GivenVerdict>): Spent | undefined {
  const spent = round.flat().flatMap(({ key }) => {
    const answer = answers.get(key);
    return answer?.code === "ok" && answer.spent ? [answer.spent] : [];
  });
  return spent.length === 0 ? undefined : { ...sum(spent), ms: Math.max(...spent.map(({ ms }) => ms)) };
}

export function sum(all: Spent[]): Spent {
  const total = (read: (spent: Spent) => number) => all.reduce((sum, spent) => sum + read(spent), 0);
  return {
    ms: Math.round(total(({ ms }) => ms)),
    inputTokens: Math.round(total(({ inputTokens }) => inputTokens)),
    outputTokens: Math.round(total(({ outputTokens }) => outputTokens)),
    ...(all.some(({ estimated }) => estimated) ? { estimated: true } : {}),
  };
}
