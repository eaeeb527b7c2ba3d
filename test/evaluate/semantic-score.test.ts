// The arithmetic behind a judge's words: the score, when more votes are asked for, and what several votes come to.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decidingVote, isNearThreshold, isTie, scoreOfVerdicts } from "../../src/evaluate/semantic-score.ts";
import type { VerdictWord, Vote } from "../../src/model/judge/judge.ts";

const words: VerdictWord[] = ["met", "mostly", "partly", "not_met", "cannot_tell"];
const ordered: VerdictWord[] = ["met", "mostly", "partly", "not_met"];

describe("the score of verdicts", () => {
  for (const [verdicts, score] of [
    [["met"], 1],
    [["mostly"], 0.75],
    [["partly"], 0.4],
    [["not_met"], 0],
    [["met", "mostly", "partly"], 0.716666667],
    [["met", "partly", "mostly", "mostly", "partly", "partly"], 0.616666667],
    [["met", "partly"], 0.7],
    [["met", "cannot_tell"], 1],
    [["cannot_tell", "not_met", "met"], 0.5],
    [["cannot_tell", "cannot_tell"], null],
    [[], null],
  ] as [VerdictWord[], number | null][]) {
    it(`of ${verdicts.join(", ") || "none"} is ${score}`, () =>
      assert.equal(scoreOfVerdicts(verdicts), score));
  }
});

describe("more votes are worth asking for", () => {
  it("only where one verdict, had it been the next better or the next worse, would turn the outcome", () => {
    const verdicts = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 });
    const threshold = fc.integer({ min: 0, max: 100 }).map(percent => percent / 100);
    fc.assert(
      fc.property(verdicts, threshold, (verdicts, threshold) => {
        const passes = (verdicts: VerdictWord[]) => {
          const score = scoreOfVerdicts(verdicts);
          return score === null ? null : score >= threshold;
        };
        const neighbours = verdicts.flatMap((verdict, at) =>
          [-1, 1].flatMap(step => {
            const other = verdict === "cannot_tell" ? undefined : ordered[ordered.indexOf(verdict) + step];
            return other ? [verdicts.with(at, other)] : [];
          }),
        );
        const turns = neighbours.some(other => passes(other) !== passes(verdicts));
        assert.equal(isNearThreshold(verdicts, threshold), turns);
      }),
    );
  });

  it("which for a few of them is so, and for the others is not", () => {
    for (const [verdicts, threshold, near] of [
      [["met"], 0, false],
      [["not_met"], 0, false],
      [["met"], 0.7, false],
      [["mostly"], 0.7, true],
      [["partly"], 0.7, true],
      [["not_met"], 0.7, false],
      [["met"], 1, true],
      [["met", "met", "met", "met", "met", "met"], 0.9, false],
      [["cannot_tell"], 0.5, false],
    ] as [VerdictWord[], number, boolean][]) {
      assert.equal(isNearThreshold(verdicts, threshold), near, `${verdicts} at ${threshold}`);
    }
  });
});

const vote = (score: number | null): Vote => ({ score, verdicts: [] });

describe("several votes", () => {
  it("come to the outcome that most of those that decided have, and to none where they are even", () => {
    const score = fc.constantFrom(null, 0, 0.4, 0.7, 0.75, 1);
    fc.assert(
      fc.property(fc.array(score, { maxLength: 5 }), fc.constantFrom(0.4, 0.7, 1), (scores, threshold) => {
        const votes = scores.map(vote);
        const decided = scores.filter(score => score !== null);
        const passing = decided.filter(score => score >= threshold).length;
        assert.equal(isTie(votes, threshold), passing === decided.length - passing);
        const deciding = decidingVote(votes);
        assert.equal(deciding === undefined, decided.length === 0);
        if (!deciding || isTie(votes, threshold)) return;
        assert.equal(deciding.score >= threshold, passing > decided.length - passing);
      }),
    );
  });
});
