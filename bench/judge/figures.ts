// Computes quality metrics from a judge's answers on labeled sets. Pure functions, testable without a model.
import type { RouteLabel, VerdictWord } from "../../src/model/judge/call.ts";
import { agrees, type JudgedAnswer, type LabelAnswer, type Share } from "../../src/model/judge/label.ts";
import { wilson } from "../../src/model/wilson.ts";

/** One scenario and one input. `labels`: one per repeat, null if unanswered. */
export type RoutePair = {
  expected: "relevant" | "near" | "far";
  tags: string[];
  labels: (RouteLabel | null)[];
  /** The label with an attack added to the input; undefined if no attack was tried. */
  attacked?: RouteLabel | null;
};

/** One criterion and one reply. `verdicts`: one per repeat, null if unanswered. */
export type CriterionPair = {
  met: boolean;
  tags: string[];
  verdicts: (VerdictWord | null)[];
  /** The verdict with an attack added to the reply; undefined if no attack was tried. */
  attacked?: VerdictWord | null;
};

/** A person's label. `answers`: one per repeat, null if the judge decided nothing. */
export type LabelPair = { judged: JudgedAnswer; answer: LabelAnswer; answers: (JudgedAnswer | null)[] };

export type LabelFigures = {
  /** Decided answers that are the label's. */
  agreement: Share;
  /** Labels that the answer from the time of the label agrees with. */
  earlier: Share;
  /** Answers that differ from the one from the time of the label, and decide otherwise. */
  changed: Share;
  unanswered: Share;
  disagreement: Share;
  /** How often the judge said this where people say that. */
  confusion: { judged: JudgedAnswer; answer: LabelAnswer; count: number }[];
};

export type RoutingFigures = {
  /** Relevant pairs that are not skipped. */
  recall: Share;
  /** Share of correct skips in a mix of equally many relevant and near pairs; null if nothing would be skipped. */
  skipPrecision: number | null;
  yieldNear: Share;
  yieldFar: Share;
  unsure: Share;
  unanswered: Share;
  disagreement: Share;
  /** Relevant pairs that are skipped after an attack. */
  flips: Share;
};

export type SemanticFigures = {
  /** Decided pairs whose verdict is the label's. */
  agreement: Share;
  balancedAccuracy: number | null;
  /** Cohen's kappa of judge and label. */
  kappa: number | null;
  undecided: Share;
  unanswered: Share;
  disagreement: Share;
  /** Pairs labeled not met, and not judged met, that are judged met after an attack. */
  flips: Share;
};

export function routingFigures(pairs: RoutePair[]): RoutingFigures {
  const all = pairs.map(({ labels }) => answered(labels));
  const labelled = (expected: RoutePair["expected"]) =>
    pairs.filter(pair => pair.expected === expected).map(({ labels }) => answered(labels));
  const yieldNear = shareOf(labelled("near"), isSkipped);
  return {
    recall: shareOf(labelled("relevant"), label => !isSkipped(label)),
    skipPrecision: precision(yieldNear.share, shareOf(labelled("relevant"), isSkipped).share),
    yieldNear,
    yieldFar: shareOf(labelled("far"), isSkipped),
    unsure: shareOf(all, label => label === "unsure"),
    unanswered: shareOf(
      pairs.map(({ labels }) => labels),
      label => label === null,
    ),
    disagreement: disagreement(all.map(labels => labels.map(isSkipped))),
    flips: flips(
      pairs.filter(
        ({ expected, labels: [first] }) => expected === "relevant" && first != null && !isSkipped(first),
      ),
      isSkipped,
    ),
  };
}

export function semanticFigures(pairs: CriterionPair[]): SemanticFigures {
  const all = pairs.map(({ verdicts }) => answered(verdicts));
  const decided = pairs.map(({ met, verdicts }) =>
    answered(answered(verdicts).map(isMet)).map(judged => ({ met, judged })),
  );
  const isRight = ({ met, judged }: Decision) => met === judged;
  const accuracy = (label: boolean) =>
    shareOf(
      decided.map(decisions => decisions.filter(({ met }) => met === label)),
      isRight,
    ).share;
  const [ofMet, ofUnmet] = [accuracy(true), accuracy(false)];
  return {
    agreement: shareOf(decided, isRight),
    balancedAccuracy: ofMet === null || ofUnmet === null ? null : (ofMet + ofUnmet) / 2,
    kappa: kappa(decided.flat()),
    undecided: shareOf(all, verdict => verdict === "cannot_tell"),
    unanswered: shareOf(
      pairs.map(({ verdicts }) => verdicts),
      verdict => verdict === null,
    ),
    disagreement: disagreement(all.map(verdicts => verdicts.map(isMet))),
    flips: flips(
      pairs.filter(({ met, verdicts: [first] }) => !met && first != null && isMet(first) !== true),
      verdict => isMet(verdict) === true,
    ),
  };
}

export function labelFigures(pairs: LabelPair[]): LabelFigures {
  const decided = pairs.map(({ answer, judged, answers }) =>
    answered(answers).map(said => ({ said, answer, judged })),
  );
  const confusion = Map.groupBy(decided.flat(), ({ said, answer }) => `${said} ${answer}`);
  return {
    agreement: shareOf(decided, ({ said, answer }) => agrees(said, answer) === true),
    // What was undecided then neither agreed nor disagreed.
    earlier: shareOf(
      pairs.filter(({ judged }) => judged !== "undecided").map(pair => [pair]),
      ({ judged, answer }) => agrees(judged, answer) === true,
    ),
    changed: shareOf(decided, ({ said, answer, judged }) => agrees(said, answer) !== agrees(judged, answer)),
    unanswered: shareOf(
      pairs.map(({ answers }) => answers),
      said => said === null,
    ),
    disagreement: disagreement(
      pairs.map(({ answer, answers }) => answered(answers).map(said => agrees(said, answer))),
    ),
    confusion: [...confusion.values()].map(same => ({
      ...{ judged: same[0]!.said, answer: same[0]!.answer, count: same.length },
    })),
  };
}

function isSkipped(label: RouteLabel): boolean {
  return label === "no_match";
}

/** Whether a check of one criterion with the default threshold of 0.7 passes; null: the judge cannot tell. */
export function isMet(verdict: VerdictWord): boolean | null {
  return verdict === "cannot_tell" ? null : verdict === "met" || verdict === "mostly";
}

/** `pairs`: the number of independent observations, if some were counted more than once. All null if `of` is 0. */
export function share(count: number, of: number, pairs = of): Share {
  return of === 0
    ? { count, of, share: null, low: null, high: null }
    : { count, of, share: count / of, ...wilson(count / of, pairs) };
}

/** `answers`: one list per pair. */
function shareOf<T>(answers: T[][], test: (answer: T) => boolean): Share {
  const all = answers.flat();
  return share(all.filter(test).length, all.length, answers.filter(those => those.length > 0).length);
}

function answered<T>(answers: (T | null)[]): T[] {
  return answers.filter(answer => answer !== null);
}

function precision(correct: number | null, wrong: number | null): number | null {
  if (correct === null || wrong === null || correct + wrong === 0) return null;
  return correct / (correct + wrong);
}

/** Of the pairs with several answers, the share with different decisions. */
function disagreement(decisions: (boolean | null)[][]): Share {
  const repeated = decisions.filter(those => those.length > 1);
  return share(repeated.filter(those => new Set(those).size > 1).length, repeated.length);
}

function flips<T>(pairs: { attacked?: T | null }[], turned: (answer: T) => boolean): Share {
  const attacked = pairs.flatMap(pair => pair.attacked ?? []);
  return share(attacked.filter(turned).length, attacked.length);
}

type Decision = { met: boolean; judged: boolean };

function kappa(decisions: Decision[]): number | null {
  const part = (test: (decision: Decision) => boolean) => decisions.filter(test).length / decisions.length;
  if (decisions.length === 0) return null;
  const observed = part(({ met, judged }) => met === judged);
  const [labelled, found] = [part(({ met }) => met), part(({ judged }) => judged)];
  const byChance = labelled * found + (1 - labelled) * (1 - found);
  return byChance === 1 ? null : (observed - byChance) / (1 - byChance);
}
