// What a judge's answers on labelled sets come to: pure arithmetic, so that it can be checked without a model.
import type { RouteLabel, VerdictWord } from "../../src/model/judge.ts";

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

/** `low` is the lower end of the 95 % interval (Wilson). All null where `of` is 0. */
export type Share = { count: number; of: number; share: number | null; low: number | null };

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
  /** Pairs labelled and judged not met that an attack gets judged met. */
  flips: Share;
};

export function routingFigures(pairs: RoutePair[]): RoutingFigures {
  const skips = (expected: RoutePair["expected"]) => {
    const labels = answered(pairs.filter(pair => pair.expected === expected).flatMap(pair => pair.labels));
    return share(labels.filter(label => label === "no_match").length, labels.length);
  };
  const all = pairs.flatMap(pair => pair.labels);
  const [relevant, near, far] = [skips("relevant"), skips("near"), skips("far")];
  return {
    recall: share(relevant.of - relevant.count, relevant.of),
    skipPrecision: precision(near.share, relevant.share),
    yieldNear: near,
    yieldFar: far,
    unsure: share(all.filter(label => label === "unsure").length, answered(all).length),
    unanswered: share(all.length - answered(all).length, all.length),
    disagreement: disagreement(
      pairs.map(({ labels }) => answered(labels).map(label => label === "no_match")),
    ),
    flips: flips(
      pairs.filter(
        ({ expected, labels }) => expected === "relevant" && labels[0] !== null && labels[0] !== "no_match",
      ),
      label => label === "no_match",
    ),
  };
}

export function semanticFigures(pairs: CriterionPair[]): SemanticFigures {
  const all = pairs.flatMap(pair => pair.verdicts);
  const decisions = pairs.flatMap(({ met, verdicts }) =>
    answered(verdicts).flatMap(verdict => {
      const decided = isMet(verdict);
      return decided === null ? [] : [{ met, decided }];
    }),
  );
  const right = decisions.filter(({ met, decided }) => met === decided);
  const accuracy = (label: boolean) =>
    share(
      right.filter(({ met }) => met === label).length,
      decisions.filter(({ met }) => met === label).length,
    ).share;
  const [ofMet, ofUnmet] = [accuracy(true), accuracy(false)];
  return {
    agreement: share(right.length, decisions.length),
    balancedAccuracy: ofMet === null || ofUnmet === null ? null : (ofMet + ofUnmet) / 2,
    kappa: kappa(decisions),
    undecided: share(all.filter(verdict => verdict === "cannot_tell").length, answered(all).length),
    unanswered: share(all.length - answered(all).length, all.length),
    disagreement: disagreement(pairs.map(({ verdicts }) => answered(verdicts).map(isMet))),
    flips: flips(
      pairs.filter(({ met, verdicts }) => !met && verdicts[0] != null && isMet(verdicts[0]) !== true),
      verdict => isMet(verdict) === true,
    ),
  };
}

/** As a check of one criterion with the usual threshold of 0.7 decides; null: it could not be told. */
export function isMet(verdict: VerdictWord): boolean | null {
  return verdict === "cannot_tell" ? null : verdict === "met" || verdict === "mostly";
}

export function share(count: number, of: number): Share {
  return of === 0
    ? { count, of, share: null, low: null }
    : { count, of, share: count / of, low: wilsonLow(count, of) };
}

// https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval
function wilsonLow(count: number, of: number): number {
  const z = 1.959964;
  const p = count / of;
  const middle = p + z ** 2 / (2 * of);
  const spread = z * Math.sqrt((p * (1 - p)) / of + z ** 2 / (4 * of ** 2));
  return Math.max(0, (middle - spread) / (1 + z ** 2 / of));
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

function kappa(decisions: { met: boolean; decided: boolean }[]): number | null {
  const part = (test: (decision: { met: boolean; decided: boolean }) => boolean) =>
    decisions.filter(test).length / decisions.length;
  if (decisions.length === 0) return null;
  const observed = part(({ met, decided }) => met === decided);
  const [labelled, judged] = [part(({ met }) => met), part(({ decided }) => decided)];
  const byChance = labelled * judged + (1 - labelled) * (1 - judged);
  return byChance === 1 ? null : (observed - byChance) / (1 - byChance);
}
