// Criterion questions: verdicts on replies in few calls, two more votes where one verdict decides, a score per check.
import { rulesIn } from "../evaluate/redacted.ts";
import { isNearThreshold } from "../evaluate/semantic-score.ts";
import { suspicionOf } from "../evaluate/suspicion.ts";
import { criteriaPerCall, type GivenVerdict, unknownClass } from "../model/judge/call.ts";
import type { CriterionVerdict, SemanticAnswer, SemanticQuestion } from "../model/judge/judge.ts";
import { type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { promptBounds } from "../model/judge/prompt-bounds.ts";
import { oncePerText } from "../model/once-per-text.ts";
import { placesOf } from "../model/redaction.ts";
import { semanticRequest } from "../remote/judge/client.ts";
import { replyParts } from "../remote/judge/prompts.ts";
import { together } from "./batches.ts";
import { Classifier } from "./classes.ts";
import { type CriterionQuestion, hashOfMaterial, identityOf, keysFor, type QuestionKey } from "./keys.ts";
import {
  type Answering,
  type Answers,
  type Asker,
  byKey,
  type Question,
  type QuestionKind,
} from "./question.ts";
import { QuoteFinder } from "./quotes.ts";
import { withRetry } from "./retry.ts";
import { classedVerdictOf, isFavorable, needsClass, writtenClass } from "./verdict.ts";
import {
  decidingFailures,
  failureOf,
  givenBy,
  isAnswered,
  isBeyondBudget,
  spentOn,
  sum,
  tally,
} from "./votes.ts";

/** `check` names the check whose criteria stay in one call if possible; `place` orders them alike in all votes. */
type CheckCriterion = CriterionQuestion & { check: number; place: QuestionKey };

/** One vote on a check: for each criterion a question per part of the reply. */
type Ballot = Question<CheckCriterion>[][];

/** All questions are about one trace; the answers are in their order. */
export async function judgeReplies(
  judges: Answering,
  questions: SemanticQuestion[],
  asker: Asker,
  signal?: AbortSignal,
): Promise<SemanticAnswer[]> {
  const identity = identityOf(asker.access);
  const keys = keysFor(identity);
  const suspicious = oncePerText(suspicionOf);
  const partsOf = oncePerText(replyParts);
  const classifier = new Classifier(judges, asker, keys);
  const finder = new QuoteFinder();
  const redactedIn = (check: number): string[] => {
    const { redacted = [], response } = questions[check]!;
    return rulesIn(placesOf(redacted, response));
  };
  const ballot = (check: number, vote: number): Ballot => {
    const { testId, criteria, scenario, reference, userInput, response, material, time, redacted } =
      questions[check]!;
    const parts = partsOf(response)!;
    const about = {
      ...(reference === undefined ? {} : { reference }),
      ...(material === undefined ? {} : { material }),
      ...(time === undefined ? {} : { time }),
      ...(redacted === undefined ? {} : { redacted }),
    };
    return criteria.map(criterion =>
      parts.map((reply, at): Question<CheckCriterion> => {
        const part = parts.length > 1 ? { part: { at: at + 1, of: parts.length } } : {};
        const asked = { criterion, scenario, ...about, userInput, reply, ...part, vote: 1 };
        const place = keys.ofCriterion(asked);
        const content = { ...asked, vote, check, place };
        return { key: vote === 1 ? place : keys.ofCriterion(content), content, testIds: [testId] };
      }),
    );
  };

  const judged = questions.flatMap(({ response }, check) => (partsOf(response) ? [check] : []));
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
        const written = writtenClass(criterion, restsOn?.[criteria.indexOf(criterion)]);
        // What is not known may be asked: an estimate includes it.
        const mayBe = written.restsOn === null && asker.context.cachedOnly === true;
        return (given ? needsClass(given, written) : mayBe) ? [{ criterion, testId }] : [];
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
      const written = writtenClass(criterion, restsOn?.[criteria.indexOf(criterion)]);
      const judged = needsClass(given, written) ? classifier.classOf(criterion) : unknownClass;
      if ("code" in judged) return judged;
      return classedVerdictOf(given, written, judged, {
        quotesOf: one => finder.quotesOf(one, questions[check]!),
        redacted: redactedIn(check),
      });
    });
    const failures = outcomes.filter(outcome => "code" in outcome);
    return failures.length > 0 ? failures : (outcomes as CriterionVerdict[]);
  };

  await cast([...ballots.values()].flat());
  const words = new Map<number, CriterionVerdict["verdict"][]>();
  for (const check of judged) {
    const verdicts = verdictsOf(ballots.get(check)![0]!);
    if (isAnswered(verdicts))
      words.set(
        check,
        verdicts.map(({ verdict }) => verdict),
      );
  }
  const close = judged.filter(
    check => words.has(check) && isNearThreshold(words.get(check)!, questions[check]!),
  );
  const failing = asker.access.judge.connection.votes ? decidingFailures(questions, words, close) : [];
  for (const check of [...close, ...failing]) ballots.get(check)!.push(ballot(check, 2), ballot(check, 3));
  await cast([...close, ...failing].flatMap(check => ballots.get(check)!.slice(1)));
  // Where the budget ended, these votes were not cast.
  for (const check of failing) {
    ballots.set(
      check,
      ballots.get(check)!.filter(vote => !isBeyondBudget(verdictsOf(vote))),
    );
  }

  const retry = (outcome: Unanswered) => withRetry(outcome, asker.context, judges.clock);
  return questions.map((question, check): SemanticAnswer => {
    const { response } = question;
    const votes = ballots.get(check);
    if (!votes) return tooLong(response);
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

function tooLong(response: string): Unanswered {
  const { reply, replyOverlap, replyParts } = promptBounds;
  const shown = replyParts * reply - (replyParts - 1) * replyOverlap;
  return unanswered("undecided", { code: "reply_too_long", data: { shown, of: response.length } });
}

/** In an order that nobody can choose, and in each vote in another, so that a model that repeats itself repeats no places. */
function ordered(questions: Question<CheckCriterion>[]): Question<CheckCriterion>[] {
  const first = questions.toSorted((a, b) => (a.content.place < b.content.place ? -1 : 1));
  const vote = questions[0]!.content.vote;
  if (vote === 1) return first;
  if (vote === 2) return first.reverse();
  const half = Math.floor(first.length / 2);
  return [...first.slice(half), ...first.slice(0, half)];
}

const kind: QuestionKind<CheckCriterion, GivenVerdict> = {
  /**
   * One call per vote, since no call asks a question twice, per input, though a trace has only one, and per conversation
   * that is shown, so that no criterion gets more than its context allows.
   */
  batches(questions) {
    const by = (name: "vote" | "userInput" | "time" | "check") => (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content }) => content[name]).values(),
    ];
    const byMaterial = (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content: { material, reply } }) => {
        if (!material) return "";
        // The reply stands among the items, so they go with one reply only.
        return JSON.stringify([hashOfMaterial(material), material.items.length > 0 && reply]);
      }).values(),
    ];
    // Each part of a long reply fills a call, so all questions about it go into that call.
    const byLongReply = (part: Question<CheckCriterion>[]) => [
      ...Map.groupBy(part, ({ content }) => (content.part ? content.reply : "")).values(),
    ];
    return by("vote")(questions)
      .flatMap(by("userInput"))
      .flatMap(by("time"))
      .flatMap(byMaterial)
      .flatMap(byLongReply)
      .flatMap(part => together(by("check")(part), criteriaPerCall));
  },
  request(batch) {
    const questions = ordered(batch);
    const replies = new Map(
      questions.map(({ content: { reply, part } }) => [reply, part ? { part } : {}] as const),
    );
    const texts = [...replies.keys()];
    const criteria = questions.map(({ content: { criterion, scenario, reference, reply } }, at) => ({
      ...{ id: `c${at + 1}`, replyId: `r${texts.indexOf(reply) + 1}`, scenario, criterion },
      ...(reference === undefined ? {} : { reference }),
    }));
    const { userInput, material, time, redacted, vote } = questions[0]!.content;
    const shown = [...replies].map(([text, part], at) => ({ id: `r${at + 1}`, ...part, text }));
    const around = {
      ...(material === undefined ? {} : { material }),
      ...(time === undefined ? {} : { time }),
      ...(redacted === undefined ? {} : { redacted }),
    };
    const ask = { userInput, ...around, replies: shown, criteria };
    return byKey(semanticRequest(ask, vote), "c", questions);
  },
  isReusable: ({ verdict, quotation, comparison }) =>
    comparison !== "invented" &&
    (quotation === "found" || quotation === "empty" || (quotation === "elsewhere" && !isFavorable(verdict))),
};
