// How well the judge agrees with labels: undecided checks are counted apart, neither right nor wrong.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agreementOf, agrees, judgedAnswers, kindOf } from "../../../src/model/judge/label.ts";

test("an undecided check neither agrees nor disagrees", () => {
  assert.deepEqual([agrees("undecided", "pass"), agrees("undecided", "fail")], [null, null]);
  assert.deepEqual([agrees("pass", "pass"), agrees("fail", "pass")], [true, false]);
  assert.deepEqual([agrees("unsure", "match"), agrees("unsure", "no_match")], [true, false]);
  assert.deepEqual(
    judgedAnswers.filter(answer => kindOf(answer) === "check"),
    ["pass", "fail", "undecided"],
  );
});

test("labels of undecided checks are counted, and in no share", () => {
  const { labels, agreed, undecided, share, confusion } = agreementOf([
    { judged: "pass", answer: "pass", count: 3 },
    { judged: "fail", answer: "pass", count: 1 },
    { judged: "undecided", answer: "fail", count: 2 },
    { judged: "undecided", answer: "pass", count: 1 },
  ]);
  assert.deepEqual([labels, agreed, undecided, share], [4, 3, 3, 0.75]);
  assert.equal(confusion.length, 4);
  const only = agreementOf([{ judged: "undecided", answer: "fail", count: 2 }]);
  assert.deepEqual([only.labels, only.undecided, only.share, only.low], [0, 2, null, null]);
});
