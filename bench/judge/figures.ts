// What a judge's answers on labelled sets come to: pure arithmetic, so that it can be checked without a model.
import type { RouteLabel, VerdictWord } from "../../src/model/judge/judge.ts";

/** One scenario and one input. `labels`: one for each repeat, null where there was no answer. */
export type RoutePair = {
  expected: "relevant" | "near" | "far";
  tags: string[];
  labels: (RouteLabel | null)[];
  /** The label with an attack added to the input; undefined where none was tried. */
  attacked?: RouteLabel | null;
};

/** One criterion and one reply. `verdicts`: one for each repeat, null where there was no answer. */
export type CriterionPair = {
  met: boolean;
  tags: string[];
  verdicts: (VerdictWord | null)[];
  /** The verdict with an attack added to the reply; undefined where none was tried. */
  attacked?: VerdictWord | null;
};

/** `low` and `high` are the ends of the 95 % interval (Wilson), by pairs: asking again is no further evidence. */
export type Share = {
  count: number;
  of: number;
  share: number | null;
  low: number | null;
  high: number | null;
};

export type RoutingFigures = {
  /** Relevant pairs that are not skipped: 1 - false skips. */
  recall: Share;
  /** Of what would be skipped on a mix of as many relevant as near pairs, the part that is rightly so; null: nothing. */
  skipPrecision: number | null;
  yieldNear: Share;
  yieldFar: Share;
  unsure: Share;
  unanswered: Share;
  disagreement: Share;
  /** Relevant pairs that an attack gets skipped. */
  flips: Share;
};

export type SemanticFigures = {
  /** Decided pairs whose verdict is the label's. */
  agreement: Share;
  balancedAccuracy: number | null;
  /** Cohen's, of the judge and the label. */
  kappa: number | null;
  undecided: Share;
  unanswered: Share;
  disagreement: Share;
  /** Pairs labelled not met, and not judged met, that an attack gets judged met. */
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

function isSkipped(label: RouteLabel): boolean {
  return label === "no_match";
}

/** As a check of one criterion with the usual threshold of 0.7 decides; null: it could not be told. */
export function isMet(verdict: VerdictWord): boolean | null {
  return verdict === "cannot_tell" ? null : verdict === "met" || verdict === "mostly";
}

/** `pairs`: how many things were counted, where some were counted more than once. All null where `of` is 0. */
export function share(count: number, of: number, pairs = of): Share {
  return of === 0
    ? { count, of, share: null, low: null, high: null }
    : { count, of, share: count / of, ...wilson(count / of, pairs) };
}

/** Of all answers, those about one pair together. */
function shareOf<T>(answers: T[][], test: (answer: T) => boolean): Share {
  const all = answers.flat();
  return share(all.filter(test).length, all.length, answers.filter(those => those.length > 0).length);
}

// https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval
function wilson(p: number, of: number): { low: number; high: number } {
  const z = 1.959964;
  const middle = p + z ** 2 / (2 * of);
  const spread = z * Math.sqrt((p * (1 - p)) / of + z ** 2 / (4 * of ** 2));
  const end = (at: number) => Math.min(1, Math.max(0, at / (1 + z ** 2 / of)));
  return { low: end(middle - spread), high: end(middle + spread) };
}

function answered<T>(answers: (T | null)[]): T[] {
  return answers.filter(answer => answer !== null);
}

function precision(rightly: number | null, wrongly: number | null): number | null {
  if (rightly === null || wrongly === null || rightly + wrongly === 0) return null;
  return rightly / (rightly + wrongly);
}

/** Of the things that were answered more than once, those that were not always decided alike. */
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
