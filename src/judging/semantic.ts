// Whether replies meet criteria: verdicts from few calls, more votes where it is close, a score for each check.
import { decidingVote, isNearThreshold, isTie, scoreOfVerdicts } from "../evaluate/semantic-score.ts";
import { criteriaPerCall } from "../model/judge/call.ts";
import type {
  SemanticAnswer,
  SemanticQuestion,
  Spent,
  Unjudged,
  VerdictWord,
  Vote,
} from "../model/judge/judge.ts";
import { hasWord } from "../model/strip-invisible.ts";
import type { Clock } from "../remote/clock.ts";
import { type Fault, gravest, unjudgedBy } from "./faults.ts";
import { type Basis, type CriterionAsk, type Keys, keysOver, perText, type QuestionKey } from "./keys.ts";
import { together } from "./packing.ts";
import type { Asking, Behalf, Kind, Question, Settled } from "./question-broker.ts";
import { byKey } from "./route.ts";

/** `overruled`: the judge's own word was a better one, which its quotation did not bear. */
type Verdict = { verdict: VerdictWord; evidence: string; reason: string; overruled?: true };

/** `check` names the check whose criteria stay together where they can. */
type PosedAsk = CriterionAsk & { check: number };

export type SemanticDeps = {
  asking: Asking;
  clock: Pick<Clock, "now" | "random">;
  /** Why a text looks as if it were addressed to a judge. */
  suspicionOf: (text: string) => string | undefined;
};

/** Of one trace. The answers are in the order of the questions. */
export async function ask(
  { asking, clock, suspicionOf }: SemanticDeps,
  questions: SemanticQuestion[],
  basis: Basis,
  behalf: Behalf,
  signal?: AbortSignal,
): Promise<SemanticAnswer[]> {
  const keys = keysOver(basis);
  const suspicious = perText(suspicionOf);
  const posed = (check: number, vote: number) => posedBy(keys, questions[check]!, check, vote);
  const worded = questions.flatMap(({ response }, check) => (hasWord(response) ? [check] : []));
  const first = new Map(worded.map(check => [check, posed(check, 1)]));
  const settled = await asking.settle(kind, [...first.values()].flat(), behalf, signal);
  const close = worded.filter(check => {
    const verdicts = verdictsOf(first.get(check)!, settled)?.map(({ verdict }) => verdict);
    return verdicts && isNearThreshold(verdicts, questions[check]!.threshold);
  });
  const further = new Map(close.map(check => [check, [posed(check, 2), posed(check, 3)]]));
  const added = await asking.settle(kind, [...further.values()].flat(2), behalf, signal);
  for (const [key, answer] of added) settled.set(key, answer);

  return questions.map(({ response, threshold }, check): SemanticAnswer => {
    const votes = first.get(check);
    if (!votes) return wordless;
    const unjudged = (fault: Fault) => unjudgedBy(fault, behalf.context, clock);
    const answer = answerOf([votes, ...(further.get(check) ?? [])], settled, { threshold, basis, unjudged });
    const why = suspicious(response);
    return answer.state !== "ok" || why === undefined ? answer : { ...answer, suspicious: why };
  });
}

// Such replies (":", "👍") win over many judges, so none is asked; nothing was judged, so nothing is failed.
const wordless = {
  state: "undecided",
  reason: "The reply has no word in it, so it was not put to the judge.",
} as const;

const tied = {
  state: "undecided",
  reason: "The judge could not decide: as many of its votes reach the threshold as do not.",
} as const;

function posedBy(keys: Keys, question: SemanticQuestion, check: number, vote: number): Question<PosedAsk>[] {
  const { testId, scenario, reference, userInput, response: reply } = question;
  return question.criteria.map(criterion => {
    const ask = {
      ...{ criterion, scenario, userInput, reply, vote, check },
      ...(reference === undefined ? {} : { reference }),
    };
    return { key: keys.ofCriterion(ask), ask, testIds: [testId] };
  });
}

const kind: Kind<PosedAsk, Verdict> = {
  /** A question is never put twice in one call, so votes go apart; so do inputs, though a trace has but one. */
  pack(questions) {
    const by = (name: "vote" | "userInput" | "check") => (part: Question<PosedAsk>[]) => [
      ...Map.groupBy(part, ({ ask }) => ask[name]).values(),
    ];
    return by("vote")(questions)
      .flatMap(by("userInput"))
      .flatMap(part => together(by("check")(part), criteriaPerCall));
  },
  async put(line, questions, signal, mayGo) {
    const shuffled = questions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const texts = [...new Set(shuffled.map(({ ask }) => ask.reply))];
    const criteria = shuffled.map(({ ask: { criterion, scenario, reference, reply } }, at) => ({
      ...{ id: `c${at + 1}`, replyId: `r${texts.indexOf(reply) + 1}`, scenario, criterion },
      ...(reference === undefined ? {} : { reference }),
    }));
    const replies = texts.map((text, at) => ({ id: `r${at + 1}`, text }));
    const { userInput } = shuffled[0]!.ask;
    const reply = await line.judge({ userInput, replies, criteria }, signal, mayGo);
    return byKey(reply, new Map(shuffled.map(({ key }, at) => [`c${at + 1}`, key])));
  },
  isLasting: ({ overruled }) => overruled !== true,
};

type AllSettled = Map<QuestionKey, Settled<Verdict>>;

function verdictsOf(questions: Question<PosedAsk>[], settled: AllSettled): Verdict[] | undefined {
  const verdicts = questions.flatMap(({ key }) => {
    const answer = settled.get(key);
    return answer?.state === "ok" ? [answer.value] : [];
  });
  return verdicts.length === questions.length ? verdicts : undefined;
}

type Means = { threshold: number; basis: Basis; unjudged: (fault: Fault) => Unjudged };

/**
 * From the first vote, and from the further ones as far as they were asked for and could be had. What keeps one of these
 * from being had never turns the outcome: it is waited for, or else the others decide where they agree.
 */
function answerOf(
  [first, ...further]: Question<PosedAsk>[][],
  settled: AllSettled,
  { threshold, basis: { model, promptVersion }, unjudged }: Means,
): SemanticAnswer {
  const fault = gravest(faultsOf(first!, settled));
  if (fault) return unjudged(fault);
  const lost = further.flatMap(vote => faultsOf(vote, settled)).map(unjudged);
  const waiting = lost.find(({ state }) => state === "waiting");
  if (waiting) return waiting;
  const cast = [first!, ...further.filter(vote => verdictsOf(vote, settled))];
  const votes = cast.map(vote => voteOf(verdictsOf(vote, settled)!));
  const deciding = decidingVote(votes);
  if (!deciding) {
    const reasons = [...new Set(votes[0]!.verdicts.map(({ reason }) => reason))].join(" ");
    return { state: "undecided", reason: `The judge could not decide: ${reasons}` };
  }
  if (isTie(votes, threshold)) return lost[0] ?? tied;
  const spent = [first!, further.flat()].flatMap(round => spentOn(round, settled) ?? []);
  return {
    state: "ok",
    score: deciding.score,
    votes,
    model,
    promptVersion,
    cached: spent.length === 0,
    ...(spent.length === 0 ? {} : { spent: sum(spent) }),
  };
}

function faultsOf(vote: Question<PosedAsk>[], settled: AllSettled): Fault[] {
  return vote.flatMap(({ key }) => {
    const answer = settled.get(key)!;
    return answer.state === "ok" ? [] : [answer];
  });
}

function voteOf(verdicts: Verdict[]): Vote {
  return {
    score: scoreOfVerdicts(verdicts.map(({ verdict }) => verdict)),
    verdicts: verdicts.map(({ verdict, evidence, reason }) => ({ verdict, evidence, reason })),
  };
}

/** What was asked in one round, by calls that were made side by side. Undefined where none was. */
function spentOn(round: Question<PosedAsk>[], settled: AllSettled): Spent | undefined {
  const spent = round.flatMap(({ key }) => {
    const answer = settled.get(key);
    return answer?.state === "ok" && answer.spent ? [answer.spent] : [];
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
