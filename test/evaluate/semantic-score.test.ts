// The arithmetic behind a judge's words: the score, when more votes are asked for, and the outcome of several votes.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { decidingVote, isNearThreshold, scoreOfVerdicts } from "../../src/evaluate/semantic-score.ts";
import type { VerdictWord } from "../../src/model/judge/call.ts";
import type { Vote } from "../../src/model/judge/judge.ts";

const words: VerdictWord[] = ["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"];
const ordered: VerdictWord[] = ["met", "mostly", "partly", "not_met"];
const at = (threshold: number, negate = false) => ({ threshold, negate });

const someVerdicts = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 });
const someRule = fc.record({
  threshold: fc.integer({ min: 0, max: 100 }).map(percent => percent / 100),
  negate: fc.boolean(),
});

suite("the score of verdicts", () => {
  for (const [verdicts, rule, score] of [
    [["met"], at(0.7), 1],
    [["mostly"], at(0.7), 0.75],
    [["partly"], at(0.7), 0.4],
    [["not_met"], at(0.7), 0],
    [["met", "mostly", "partly"], at(0.7), 0.716666667],
    [["met", "partly", "mostly", "mostly", "partly", "partly"], at(0.7), 0.616666667],
    [["met", "partly"], at(0.7), 0.7],
    // Undecided ones count as 0 and as 1, and both must fall on the same side.
    [["met", "cannot_tell"], at(0.5), 0.5],
    [["met", "cannot_tell"], at(1), null],
    [["met", "cannot_tell"], at(0.7), null],
    [["not_met", "cannot_tell"], at(0.7), 0.5],
    [["not_met", "cannot_tell"], at(0.7, true), null],
    [["met", "cannot_tell", "cannot_tell", "cannot_tell", "cannot_tell", "cannot_tell"], at(0.7), null],
    [["met", "met", "met", "met", "met", "cannot_tell"], at(0.7), 0.833333333],
    [["cannot_tell"], at(0.7), null],
    [["cannot_tell"], at(0), 0],
    [[], at(0.7), null],
    // Left out.
    [["not_applicable"], at(0.7), null],
    [["not_applicable"], at(0.7, true), null],
    [["not_applicable"], at(0), null],
    [["not_applicable", "not_met"], at(0.4), 0],
    [["not_applicable", "met", "partly"], at(0.7), 0.7],
    [["not_applicable", "cannot_tell"], at(0.7), null],
    [["not_applicable", "met"], at(0.7, true), 1],
    // Negated, none of them may be met.
    [["met", "not_met", "not_met"], at(0.7, true), 1],
    [["mostly", "not_met"], at(0.7, true), 0.75],
    [["partly", "not_met"], at(0.7, true), 0.4],
    [["met", "cannot_tell"], at(0.7, true), 1],
  ] as [VerdictWord[], { threshold: number; negate: boolean }, number | null][]) {
    const name = `of ${verdicts.join(", ") || "none"} at ${rule.threshold}${rule.negate ? ", negated," : ""}`;
    test(`${name} is ${score}`, () => assert.equal(scoreOfVerdicts(verdicts, rule), score));
  }

  test("is on the side of the threshold on which every way to settle the undecided ones is", () => {
    fc.assert(
      fc.property(someVerdicts, someRule, (verdicts, rule) => {
        const score = scoreOfVerdicts(verdicts, rule);
        const settled = (word: VerdictWord) =>
          scoreOfVerdicts(
            verdicts.map(verdict => (verdict === "cannot_tell" ? word : verdict)),
            rule,
          )!;
        const sides = new Set(ordered.map(word => settled(word) >= rule.threshold));
        if (verdicts.every(verdict => verdict === "not_applicable")) return assert.equal(score, null);
        assert.equal(score === null, sides.size === 2);
        if (score !== null) assert.ok(sides.has(score >= rule.threshold));
      }),
    );
  });

  test("of a check and of its negation never both pass", () => {
    fc.assert(
      fc.property(someVerdicts, someRule, (verdicts, { threshold }) => {
        const passes = (scoreOfVerdicts(verdicts, at(threshold)) ?? -1) >= threshold;
        const negationPasses = (scoreOfVerdicts(verdicts, at(threshold, true)) ?? 2) < threshold;
        assert.ok(!passes || !negationPasses);
      }),
    );
  });
});

suite("more votes are worth asking for", () => {
  test("if one verdict, had it been the next better or the next worse, would have changed the outcome", () => {
    fc.assert(
      fc.property(someVerdicts, someRule, (verdicts, rule) => {
        const passes = (verdicts: VerdictWord[]) => {
          const score = scoreOfVerdicts(verdicts, rule);
          return score === null ? null : score >= rule.threshold;
        };
        const neighbors = verdicts.flatMap((verdict, at) =>
          [-1, 1].flatMap(step => {
            const other = ordered.includes(verdict) ? ordered[ordered.indexOf(verdict) + step] : undefined;
            return other ? [verdicts.with(at, other)] : [];
          }),
        );
        const turns =
          passes(verdicts) !== null && neighbors.some(other => passes(other) !== passes(verdicts));
        assert.equal(isNearThreshold(verdicts, rule), turns);
      }),
    );
  });

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
    [["not_applicable"], 1, false],
  ] as [VerdictWord[], number, boolean][]) {
    test(`${verdicts} at ${threshold}: ${near ? "yes" : "no"}`, () =>
      assert.equal(isNearThreshold(verdicts, at(threshold)), near));
  }
});

const vote = (score: number | null): Vote => ({ score, verdicts: [] });

suite("votes at a threshold of 0.7", () => {
  for (const [scores, score] of [
    [[0.75], 0.75],
    [[null], undefined],
    [[0.75, null, null], undefined],
    [[0.75, 0.4, null], undefined],
    [[0.75, 1, null], 0.75],
    [[0.75, 1, 0.4], 0.75],
    [[0.75, 0.4, 0], 0.4],
    [[0.4, null, 0], 0],
    [[null, null, null], undefined],
  ] as [(number | null)[], number | undefined][]) {
    test(`${scores.map(score => score ?? "undecided").join(", ")} decide ${score ?? "nothing"}`, () =>
      assert.equal(decidingVote(scores.map(vote), 0.7)?.score, score));
  }

  test("say that no criterion applies where most of them do", () => {
    const none: Vote = {
      score: null,
      verdicts: [{ verdict: "not_applicable", evidence: "", reason: "No." }],
    };
    assert.equal(decidingVote([none], 0.7), none);
    assert.equal(decidingVote([vote(0.75), none, none], 0.7), none);
    assert.equal(decidingVote([vote(0.75), vote(1), none], 0.7)?.score, 0.75);
    assert.equal(decidingVote([vote(0.75), vote(null), none], 0.7), undefined);
  });

  test("decide as a majority of the decided ones does, and never by one of several", () => {
    const score = fc.constantFrom(null, 0, 0.4, 0.7, 0.75, 1);
    fc.assert(
      fc.property(
        fc.array(score, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(0.4, 0.7, 1),
        (scores, threshold) => {
          const decided = scores.filter(score => score !== null);
          const passing = decided.filter(score => score >= threshold).length;
          const deciding = decidingVote(scores.map(vote), threshold);
          if (!deciding) {
            const majority = Math.max(passing, decided.length - passing);
            assert.ok(majority * 2 <= decided.length || majority < 2);
            return;
          }
          const agreeing = deciding.score! >= threshold ? passing : decided.length - passing;
          assert.ok(agreeing * 2 > decided.length && (scores.length === 1 || agreeing >= 2));
        },
      ),
    );
  });
});
