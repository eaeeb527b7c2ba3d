// semantic: whether the judge's score of the reply reaches the threshold.

import type { RestsOn, VerdictWord } from "../../model/judge/call.ts";
import type { SemanticAnswer, SemanticQuestion, Withheld } from "../../model/judge/judge.ts";
import { defaultContext, type MaterialSummary, type Place } from "../../model/judge/material.ts";
import { isWaiting, type Unanswered } from "../../model/judge/outcome.ts";
import { isSameModel } from "../../model/price/names.ts";
import type { ReasonData } from "../../model/run/reason.ts";
import type { Check, SemanticActual } from "../../model/run/run.ts";
import { hasWord } from "../../model/strip-invisible.ts";
import { type AssertionOf, matchOf } from "../../model/test-case/assertion.ts";
import { isThreshold } from "../../model/test-case/test-case.ts";
import type { FoundText } from "../../model/trace/trace.ts";
import { allOrAny, type Try } from "../all-or-any.ts";
import { type CheckOf, type Context, questionKey } from "../check-context.ts";
import { placeOfText } from "../evidence.ts";
import { evidenceMax, shortName } from "../excerpt.ts";
import { materialFor, summaryOf, timeOf } from "../material.ts";
import { decidingVote } from "../semantic-score.ts";
import { findTexts, unlessUntold } from "../targets.ts";

export const semantic: CheckOf<"semantic"> = (assertion, given) => {
  const { criteria, target_node } = assertion;
  const { view } = given;
  const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : given.test.threshold;
  const expected = { criteria, threshold };
  if (!isThreshold(threshold)) {
    const reason = { code: "invalid_threshold" } as const;
    return { kind: "skipped", skipped: "threshold", reason, expected, actual: null, evidence: [] };
  }
  const target = findTexts(target_node, view, expected);
  if (!("texts" in target)) return target;
  const { texts } = target;
  const result = allOrAny(matchOf(assertion), texts, found => scoreText(assertion, found, threshold, given));
  if (result.kind === "open") return result;
  const evidence = texts.slice(-evidenceMax).map(placeOfText);
  const context = assertion.context ?? defaultContext;
  const summaryFor = (found: FoundText) =>
    summaryOf(materialFor(view, { found, ofSpan: target_node !== undefined }, context), context);
  if (result.kind === "skipped") {
    // What was left out may be why the judge could not decide.
    const actual = result.skipped === "undecided" ? { material: summaryFor(texts.at(-1)!) } : null;
    return { ...result, expected, actual, evidence };
  }
  const holds = result.kind === "holds";
  const untold = unlessUntold(assertion, target, holds, expected);
  if (untold) return untold;
  // Of several that hold the one that just does, of several that do not the one that nearly did.
  const { found, answer } = result.values.reduce((a, b) =>
    scoreOf(b) < scoreOf(a) === holds && scoreOf(b) !== scoreOf(a) ? b : a,
  );
  if (answer === null) {
    const reason = {
      code: "reply_without_words",
      data: target_node === undefined ? {} : { target: shortName(target_node) },
    } as const;
    return { kind: "compared", holds: false, reason, expected, actual: null, evidence };
  }
  const material = withoutResults(summaryFor(found), answer.withheld);
  const isSame = isSameModel(answer.model, view.derived.models);
  const actual = {
    ...actualOf(assertion, answer, threshold),
    material,
    ...(isSame ? { sameModel: true as const } : {}),
  };
  return {
    kind: "compared",
    holds,
    reason: { code: "judge_score", data: scoreData(actual, threshold) },
    expected,
    actual,
    evidence: result.values.length === 1 ? [placeOfText(found)] : evidence,
    score: actual.score,
    ...(answer.suspicious === undefined ? {} : { suspicious: answer.suspicious }),
  };
};

type OkAnswer = SemanticAnswer & { code: "ok" };

/** `answer` null: a text without words, which the judge is not asked about. Many judges accept replies like ":" or "👍". */
type Judged = { found: FoundText; answer: OkAnswer | null };

function scoreOf({ answer }: Judged): number {
  return answer?.score ?? -1;
}

function scoreText(
  assertion: AssertionOf<"semantic">,
  found: FoundText,
  threshold: number,
  { view, test, answers }: Context,
): Try<Judged> {
  if (!hasWord(found.text)) return { kind: "fails", value: { found, answer: null } };
  const key = questionKey(test, assertion.id, found.spanId);
  const answer = answers.semantic.get(key);
  if (!answer) {
    const { context = defaultContext, target_node, reference } = assertion;
    const material = materialFor(view, { found, ofSpan: target_node !== undefined }, context);
    const { userInput } = view.derived;
    const time = timeOf(view.derived);
    const question: SemanticQuestion = {
      testId: test.id,
      assertionId: assertion.id,
      scenario: test.scenario,
      userInput: userInput?.text ?? null,
      response: found.text,
      criteria: [assertion.criteria].flat(),
      threshold,
      negate: assertion.negate,
      ...(assertion.rests_on === undefined ? {} : { restsOn: restsOnOf(assertion, assertion.rests_on) }),
      ...(reference === undefined ? {} : { reference }),
      ...(material === undefined ? {} : { material }),
      ...(time === undefined ? {} : { time }),
      replyPlace: placeOf(found),
      ...(userInput === null ? {} : { inputPlace: placeOf(userInput) }),
      ...(view.redacted.length === 0 ? {} : { redacted: view.redacted }),
    };
    return { kind: "open", asked: { semantic: [{ key, question }] } };
  }
  if (answer.code !== "ok") {
    return { kind: "skipped", skipped: skipCodeOf(answer), reason: answer.detail };
  }
  return { kind: answer.score >= threshold ? "holds" : "fails", value: { found, answer } };
}

function placeOf({ spanId, attribute }: FoundText): Place {
  return { spanId, attribute };
}

/** In the order of the criteria. */
function restsOnOf(
  { criteria }: AssertionOf<"semantic">,
  restsOn: NonNullable<AssertionOf<"semantic">["rests_on"]>,
): (RestsOn | null)[] {
  return [criteria].flat().map((_, at) => (Array.isArray(restsOn) ? (restsOn[at] ?? null) : restsOn));
}

function actualOf(
  { criteria }: AssertionOf<"semantic">,
  { score, votes, provider, model, promptVersion, cached, spent, withheld }: OkAnswer,
  threshold: number,
): Omit<SemanticActual, "material"> {
  const scores = votes.map(vote => vote.score);
  const verdicts = decidingVote(votes, threshold)?.verdicts ?? [];
  const passed = scores.filter(score => score !== null && score >= threshold).length;
  return {
    score,
    criteria: [criteria].flat().flatMap((criterion, at) => {
      const verdict = verdicts[at];
      return verdict ? [{ criterion, ...verdict }] : [];
    }),
    votes: { passed, of: votes.length, scores },
    provider,
    model,
    promptVersion,
    cached,
    ...(spent ? { spent } : {}),
    ...(withheld ? { withheld } : {}),
  };
}

/** Tool results that the judge was not shown count as left out. */
function withoutResults(summary: MaterialSummary, withheld: Withheld | undefined): MaterialSummary {
  if (withheld?.toolResults === undefined) return summary;
  const { tool_result: results, ...shown } = summary.shown;
  const before = summary.leftOut.tool_result ?? { items: 0, characters: 0 };
  const items = before.items + withheld.toolResults;
  const characters = before.characters + (results?.characters ?? 0);
  return { ...summary, shown, leftOut: { ...summary.leftOut, tool_result: { items, characters } } };
}

function scoreData({ score, votes, criteria }: SemanticActual, threshold: number): ReasonData["judge_score"] {
  const count = (word: VerdictWord) => criteria.filter(({ verdict }) => verdict === word).length;
  const [met, inapplicable, undecided] = [count("met"), count("not_applicable"), count("cannot_tell")];
  return {
    score,
    threshold,
    ...(votes.of > 1 ? { votes: { passed: votes.passed, of: votes.of } } : {}),
    ...(criteria.length === 1
      ? { comment: criteria[0]!.reason }
      : {
          criteria: {
            ...{ met, of: criteria.length },
            ...(inapplicable > 0 ? { inapplicable } : {}),
            ...(undecided > 0 ? { undecided } : {}),
          },
        }),
  };
}

function skipCodeOf(answer: Unanswered): NonNullable<Check["skipped"]> {
  if (isWaiting(answer)) return "waiting";
  if (answer.detail.code === "redacted" || answer.detail.code === "does_not_apply") return answer.detail.code;
  return answer.detail.code === "judge_withheld" ? "withheld" : skipCodes[answer.code];
}

/** Of an answer that is not waited for. */
const skipCodes: Record<Unanswered["code"], NonNullable<Check["skipped"]>> = {
  not_configured: "no_judge",
  later: "judge_unavailable",
  refused: "judge_unavailable",
  aborted: "judge_unavailable",
  unusable: "judge_unusable",
  budget: "budget",
  undecided: "undecided",
  not_sampled: "not_sampled",
};
