// Criterion questions: verdicts on replies in few calls, two more votes where the score is close, a score per check.
import {
  type DecisionRule,
  decidingVote,
  isNearThreshold,
  scoreOfVerdicts,
} from "../evaluate/semantic-score.ts";
import { suspicionOf } from "../evaluate/suspicion.ts";
import type { Judges } from "../judge.ts";
import { criteriaPerCall, type GivenVerdict, type RestsOn } from "../model/judge/call.ts";
import type {
  CriterionVerdict,
  SemanticAnswer,
  SemanticQuestion,
  Spent,
  Vote,
} from "../model/judge/judge.ts";
import { isWaiting, type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { promptBounds } from "../model/judge/prompt-bounds.ts";
import { hasWord } from "../model/strip-invisible.ts";
import { semanticRequest } from "../remote/judge/client.ts";
import { replyParts } from "../remote/judge/prompts.ts";
import { together } from "./batches.ts";
import { Classifier } from "./classes.ts";
import { type CriterionQuestion, identityOf, keysFor, oncePerText } from "./keys.ts";
import { type Answers, type Asker, byKey, type Question, type QuestionKind } from "./question.ts";
import { withRetry } from "./retry.ts";
import { isFavorable, isOpenWithoutClass, verdictOf } from "./verdict.ts";

/** `check` names the check whose criteria stay in one call if possible. */
type CheckCriterion = CriterionQuestion & { check: number };

/** One vote on a check: for each criterion a question per part of the reply. */
type Ballot = Question<CheckCriterion>[][];

/** All questions are about one trace; the answers are in their order. */
export async function judgeReplies(
  judges: Judges,
  questions: SemanticQuestion[],
  asker: Asker,
  signal?: AbortSignal,
): Promise<SemanticAnswer[]> {
  const identity = identityOf(asker.access);
  const keys = keysFor(identity);
  const suspicious = oncePerText(suspicionOf);
  const partsOf = oncePerText(replyParts);
  const classifier = new Classifier(judges, asker, keys);
  const ballot = (check: number, vote: number): Ballot => {
    const { testId, criteria, scenario, reference, userInput, response } = questions[check]!;
    const parts = partsOf(response)!;
    const about = reference === undefined ? {} : { reference };
    return criteria.map(criterion =>
      parts.map((reply, at): Question<CheckCriterion> => {
        const part = parts.length > 1 ? { part: { at: at + 1, of: parts.length } } : {};
        const content = { criterion, scenario, ...about, userInput, reply, ...part, vote, check };
        return { key: keys.ofCriterion(content), content, testIds: [testId] };
      }),
    );
  };

  // Many judges accept replies like ":" or "👍", so they are not asked.
  const judged = questions.flatMap(({ response }, check) =>
    hasWord(response) && partsOf(response) ? [check] : [],
  );
  const ballots = new Map(judged.map(check => [check, [ballot(check, 1)]]));
  const answers: Answers<GivenVerdict> = new Map();
  const cast = async (added: Ballot[]) => {
    for (const [key, answer] of await judges.answer(kind, added.flat(2), asker, signal)) {
      answers.set(key, answer);
    }
    const unclear = added.flatMap(ballot =>
      ballot.flatMap(parts => {
        const { check, criterion } = parts[0]!.content;
        const { testId, criteria, restsOn } = questions[check]!;
        const given = givenBy(parts, answers);
        return given && !restsOn?.[criteria.indexOf(criterion)] && isOpenWithoutClass(given)
          ? [{ criterion, testId }]
          : [];
      }),
    );
    await classifier.classify(unclear, signal);
  };
  const verdictsOf = (ballot: Ballot): CriterionVerdict[] | Unanswered[] => {
    const outcomes = ballot.map((parts): CriterionVerdict | Unanswered => {
      const { check, criterion } = parts[0]!.content;
      const { criteria, restsOn } = questions[check]!;
      const given = givenBy(parts, answers);
      if (!given) return failureOf(parts, answers)!;
      const own: RestsOn | null = restsOn?.[criteria.indexOf(criterion)] ?? null;
      const known = own ?? (isOpenWithoutClass(given) ? classifier.classOf(criterion) : null);
      return known !== null && typeof known === "object" ? known : verdictOf(given, known);
    });
    const failures = outcomes.filter(outcome => "code" in outcome);
    return failures.length > 0 ? failures : (outcomes as CriterionVerdict[]);
  };

  await cast([...ballots.values()].flat());
  const close = judged.filter(check => {
    const verdicts = verdictsOf(ballots.get(check)![0]!);
    if (!isAnswered(verdicts)) return false;
    return isNearThreshold(
      verdicts.map(({ verdict }) => verdict),
      questions[check]!,
    );
  });
  for (const check of close) ballots.get(check)!.push(ballot(check, 2), ballot(check, 3));
  await cast(close.flatMap(check => ballots.get(check)!.slice(1)));

  const retry = (outcome: Unanswered) => withRetry(outcome, asker.context, judges.clock);
  return questions.map((question, check): SemanticAnswer => {
    const { response } = question;
    const votes = ballots.get(check);
    if (!votes) return notJudged(response);
    const result = tally(votes.map(verdictsOf), question, retry);
    if (result.code !== "ok") return result;
    const rounds = [votes[0]!, votes.slice(1).flat()];
    const spent = rounds.flatMap(round => spentOn(round, answers) ?? []);
    const cached = spent.length === 0;
    const why = suspicious(response);
    return {
      ...result,
      ...{
        provider: identity.provider,
        model: identity.model,
        promptVersion: identity.promptVersion,
        cached,
      },
      ...(cached ? {} : { spent: sum(spent) }),
      ...(why === undefined ? {} : { suspicious: why }),
    };
  });
}

function notJudged(response: string): Unanswered {
  if (!hasWord(response)) return unanswered("undecided", { code: "reply_without_words" });
  const { reply, replyOverlap, replyParts } = promptBounds;
  const shown = replyParts * reply - (replyParts - 1) * replyOverlap;
  return unanswered("undecided", { code: "reply_too_long", data: { shown, of: response.length } });
}

const kind: QuestionKind<CheckCriterion, GivenVerdict> = {
  /** One call per vote, since no call asks a question twice, and per input, though a trace has only one. */
  batches(questions) {
    const by = (name: "vote" | "userInput" | "check") => (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content }) => content[name]).values(),
    ];
    // Each part of a long reply fills a call, so all questions about it go into that call.
    const byLongReply = (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content }) => (content.part ? content.reply : "")).values(),
    ];
    return by("vote")(questions)
      .flatMap(by("userInput"))
      .flatMap(byLongReply)
      .flatMap(part => together(by("check")(part), criteriaPerCall));
  },
  request(questions) {
    const replies = new Map(
      questions.map(({ content: { reply, part } }) => [reply, part ? { part } : {}] as const),
    );
    const texts = [...replies.keys()];
    const criteria = questions.map(({ content: { criterion, scenario, reference, reply } }, at) => ({
      ...{ id: `c${at + 1}`, replyId: `r${texts.indexOf(reply) + 1}`, scenario, criterion },
      ...(reference === undefined ? {} : { reference }),
    }));
    const { userInput } = questions[0]!.content;
    const shown = [...replies].map(([text, part], at) => ({ id: `r${at + 1}`, ...part, text }));
    return byKey(semanticRequest({ userInput, replies: shown, criteria }), "c", questions);
  },
  isReusable: ({ verdict, quotation }) =>
    quotation === "found" || quotation === "empty" || (quotation === "elsewhere" && !isFavorable(verdict)),
};

/** The verdicts on the parts of a reply; undefined if one is missing. */
function givenBy(
  parts: Question<CheckCriterion>[],
  answers: Answers<GivenVerdict>,
): GivenVerdict[] | undefined {
  const given = parts.flatMap(({ key }) => {
    const answer = answers.get(key);
    return answer?.code === "ok" ? [answer.value] : [];
  });
  return given.length === parts.length ? given : undefined;
}

function failureOf(
  parts: Question<CheckCriterion>[],
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

function isAnswered(verdicts: CriterionVerdict[] | Unanswered[]): verdicts is CriterionVerdict[] {
  return !verdicts.some(verdict => "code" in verdict);
}

type Tally = Pick<SemanticAnswer & { code: "ok" }, "code" | "score" | "votes"> | Unanswered;

/**
 * Decides by the first vote, and by two further ones if they were asked for. A further vote that failed counts as undecided;
 * if it may still come, the check waits.
 */
function tally(
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
  if (deciding) return { code: "ok", score: deciding.score, votes };
  if (lost[0]) return lost[0];
  if (votes.length === 1) return undecidedBy(first!, criteria);
  const passed = votes.filter(({ score }) => score !== null && score >= rule.threshold).length;
  const undecided = votes.filter(({ score }) => score === null).length;
  const data = { passed, failed: votes.length - passed - undecided, undecided };
  return unanswered("undecided", { code: "judge_votes_split", data });
}

/** Names the criteria that the judge could not decide. */
function undecidedBy(verdicts: CriterionVerdict[], criteria: string[]): Unanswered {
  const open = verdicts.flatMap(({ verdict, reason }, at) =>
    verdict === "cannot_tell" ? [{ criterion: criteria[at]!, reason }] : [],
  );
  const comment = [...new Set(open.map(({ reason }) => reason))].join(" ");
  const named = open.map(({ criterion }) =>
    criterion.length <= 80 ? criterion : `${criterion.slice(0, 79)}…`,
  );
  const data = { comment, ...(criteria.length > 1 ? { criteria: named } : {}) };
  return unanswered("undecided", { code: "judge_undecided", data });
}

/** Usage of one round, whose calls were made in parallel. Undefined if none was made. */
function spentOn(round: Question<CheckCriterion>[][], answers: Answers<GivenVerdict>): Spent | undefined {
  const spent = round.flat().flatMap(({ key }) => {
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
