// Criterion questions: verdicts on replies in few calls, two more votes where the score is close, a score per check.
import { decidingVote, isNearThreshold, isTie, scoreOfVerdicts } from "../evaluate/semantic-score.ts";
import { suspicionOf } from "../evaluate/suspicion.ts";
import type { Judges } from "../judge.ts";
import { criteriaPerCall } from "../model/judge/call.ts";
import type { SemanticAnswer, SemanticQuestion, Spent, VerdictWord, Vote } from "../model/judge/judge.ts";
import { isWaiting, type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { hasWord } from "../model/strip-invisible.ts";
import { semanticRequest } from "../remote/judge/client.ts";
import { together } from "./batches.ts";
import { type CriterionQuestion, identityOf, keysFor, oncePerText } from "./keys.ts";
import { type Answers, type Asker, byKey, type Question, type QuestionKind } from "./question.ts";
import { withRetry } from "./retry.ts";

/** `overruled`: the judge's own verdict was better, but its quotation did not support it. */
type Verdict = { verdict: VerdictWord; evidence: string; reason: string; overruled?: true };

/** `check` names the check whose criteria stay in one call if possible. */
type CheckCriterion = CriterionQuestion & { check: number };

/** About one trace. The answers are in the order of the questions. */
export async function judgeReplies(
  judges: Judges,
  questions: SemanticQuestion[],
  asker: Asker,
  signal?: AbortSignal,
): Promise<SemanticAnswer[]> {
  const identity = identityOf(asker.access);
  const keys = keysFor(identity);
  const suspicious = oncePerText(suspicionOf);
  const ballot = (check: number, vote: number) =>
    questions[check]!.criteria.map((criterion): Question<CheckCriterion> => {
      const { testId, scenario, reference, userInput, response: reply } = questions[check]!;
      const about = reference === undefined ? {} : { reference };
      const content = { criterion, scenario, ...about, userInput, reply, vote, check };
      return { key: keys.ofCriterion(content), content, testIds: [testId] };
    });

  // Many judges accept replies like ":" or "👍", so they are not asked.
  const worded = questions.flatMap(({ response }, check) => (hasWord(response) ? [check] : []));
  const ballots = new Map(worded.map(check => [check, [ballot(check, 1)]]));
  const answers = await judges.answer(kind, [...ballots.values()].flat(2), asker, signal);
  const close = worded.filter(check => {
    const verdicts = verdictsOf(ballots.get(check)![0]!, answers);
    const words = verdicts?.map(({ verdict }) => verdict);
    return words && isNearThreshold(words, questions[check]!.threshold);
  });
  for (const check of close) ballots.get(check)!.push(ballot(check, 2), ballot(check, 3));
  const further = close.flatMap(check => ballots.get(check)!.slice(1).flat());
  for (const [key, answer] of await judges.answer(kind, further, asker, signal)) answers.set(key, answer);

  const retry = (outcome: Unanswered) => withRetry(outcome, asker.context, judges.clock);
  return questions.map(({ response, threshold }, check): SemanticAnswer => {
    const votes = ballots.get(check);
    if (!votes) return unanswered("undecided", { code: "reply_without_words" });
    const result = tally(votes, answers, threshold, retry);
    if (result.code !== "ok") return result;
    const { model, promptVersion } = identity;
    const why = suspicious(response);
    return { ...result, model, promptVersion, ...(why === undefined ? {} : { suspicious: why }) };
  });
}

const kind: QuestionKind<CheckCriterion, Verdict> = {
  /** A call never has the same question twice, so votes are separate; so are inputs, though a trace has only one. */
  batches(questions) {
    const by = (name: "vote" | "userInput" | "check") => (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content }) => content[name]).values(),
    ];
    return by("vote")(questions)
      .flatMap(by("userInput"))
      .flatMap(part => together(by("check")(part), criteriaPerCall));
  },
  request(questions) {
    const texts = [...new Set(questions.map(({ content }) => content.reply))];
    const replies = texts.map((text, at) => ({ id: `r${at + 1}`, text }));
    const criteria = questions.map(({ content: { criterion, scenario, reference, reply } }, at) => ({
      ...{ id: `c${at + 1}`, replyId: `r${texts.indexOf(reply) + 1}`, scenario, criterion },
      ...(reference === undefined ? {} : { reference }),
    }));
    const { userInput } = questions[0]!.content;
    return byKey(semanticRequest({ userInput, replies, criteria }), "c", questions);
  },
  isReusable: ({ overruled }) => overruled !== true,
};

type Ballot = Question<CheckCriterion>[];

function verdictsOf(ballot: Ballot, answers: Answers<Verdict>): Verdict[] | undefined {
  const verdicts = ballot.flatMap(({ key }) => {
    const answer = answers.get(key);
    return answer?.code === "ok" ? [answer.value] : [];
  });
  return verdicts.length === ballot.length ? verdicts : undefined;
}

function failuresOf(ballot: Ballot, answers: Answers<Verdict>): Unanswered[] {
  return ballot.flatMap(({ key }) => {
    const answer = answers.get(key)!;
    return answer.code === "ok" ? [] : [answer];
  });
}

type Tally = Omit<SemanticAnswer & { code: "ok" }, "model" | "promptVersion" | "suspicious"> | Unanswered;

/**
 * From the first vote, and from two further ones if they were asked for and answered. A further vote that failed never
 * changes the outcome: if it may still come, the check waits; otherwise the others decide if they agree.
 */
function tally(
  [first, ...further]: Ballot[],
  answers: Answers<Verdict>,
  threshold: number,
  retry: (outcome: Unanswered) => Unanswered,
): Tally {
  const failures = failuresOf(first!, answers);
  // Of several reasons, one that no retry changes comes first.
  const failure = failures.find(({ code }) => code !== "later") ?? failures[0];
  if (failure) return retry(failure);
  const lost = further.flatMap(ballot => failuresOf(ballot, answers)).map(retry);
  const waiting = lost.find(isWaiting);
  if (waiting) return waiting;
  const votes = [first!, ...further].flatMap(ballot => {
    const verdicts = verdictsOf(ballot, answers);
    return verdicts ? [voteOf(verdicts)] : [];
  });
  const deciding = decidingVote(votes);
  if (!deciding) {
    const comment = [...new Set(votes[0]!.verdicts.map(({ reason }) => reason))].join(" ");
    return unanswered("undecided", { code: "judge_undecided", data: { comment } });
  }
  if (isTie(votes, threshold)) return lost[0] ?? unanswered("undecided", { code: "judge_tied" });
  const spent = [first!, further.flat()].flatMap(round => spentOn(round, answers) ?? []);
  const cached = spent.length === 0;
  return { code: "ok", score: deciding.score, votes, cached, ...(cached ? {} : { spent: sum(spent) }) };
}

function voteOf(verdicts: Verdict[]): Vote {
  return {
    score: scoreOfVerdicts(verdicts.map(({ verdict }) => verdict)),
    verdicts: verdicts.map(({ verdict, evidence, reason }) => ({ verdict, evidence, reason })),
  };
}

/** Usage of one round, whose calls were made in parallel. Undefined if none was made. */
function spentOn(round: Ballot, answers: Answers<Verdict>): Spent | undefined {
  const spent = round.flatMap(({ key }) => {
    const answer = answers.get(key);
    return answer?.code === "ok" && answer.spent ? [answer.spent] : [];
  });
  return spent.length === 0 ? undefined : { ...sum(spent), ms: Math.max(...spent.map(({ ms }) => ms)) };
}

function sum(all: Spent[]): Spent {
  const total = (read: (spent: Spent) => number) => all.reduce((sum, spent) => sum + read(spent), 0);
  return {
    ms: Math.round(total(({ ms }) => ms)),
    inputTokens: Math.round(total(({ inputTokens }) => inputTokens)),
    outputTokens: Math.round(total(({ outputTokens }) => outputTokens)),
  };
}
