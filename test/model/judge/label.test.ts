// How well the judge agrees with labels: undecided checks and ties are counted apart, and each kind of error separately.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agrees,
  type CountedAnswers,
  checkAgreement,
  judgedAnswers,
  kindOf,
  scenarioAgreement,
} from "../../../src/model/judge/label.ts";

const counted = (
  judged: CountedAnswers["judged"],
  answer: CountedAnswers["answer"],
  count: number,
  disputed = 0,
) => ({ judged, answer, count, disputed });

test("an undecided check neither agrees nor disagrees", () => {
  assert.deepEqual([agrees("undecided", "pass"), agrees("undecided", "fail")], [null, null]);
  assert.deepEqual([agrees("pass", "pass"), agrees("fail", "pass")], [true, false]);
  assert.deepEqual([agrees("unsure", "match"), agrees("unsure", "no_match")], [true, false]);
  assert.deepEqual(
    judgedAnswers.filter(answer => kindOf(answer) === "check"),
    ["pass", "fail", "undecided"],
  );
});

test("a judge that passes nearly everything has few false failures and many false passes, of what it decided", () => {
  const about = checkAgreement([
    counted("pass", "pass", 90),
    counted("pass", "fail", 4, 1),
    counted("fail", "fail", 1),
    counted("undecided", "fail", 3),
    counted("undecided", "pass", 2),
    // As many say one as the other.
    counted("pass", null, 2, 2),
  ]);
  const { labels, agreed, undecided, disputed, share, decidedShare, falsePass, falseFail } = about;
  assert.deepEqual([labels, agreed, undecided, disputed], [95, 91, 5, 3]);
  assert.deepEqual([share, decidedShare], [91 / 95, 0.95]);
  assert.deepEqual([falsePass.count, falsePass.of, falsePass.share], [4, 5, 0.8]);
  assert.deepEqual([falseFail.count, falseFail.of, falseFail.share], [0, 90, 0]);
  assert.ok(falsePass.low! < 0.4 && falsePass.high! > 0.95 && falseFail.high! < 0.05);
  assert.equal(about.confusion.length, 5);
});

test("of scenario matches, one that the test needlessly ran for is no missed one, and unsure runs it", () => {
  const { falseNoMatch, falseMatch } = scenarioAgreement([
    counted("match", "match", 2),
    counted("unsure", "match", 1),
    counted("unsure", "no_match", 1),
    counted("no_match", "match", 1),
  ]);
  assert.deepEqual([falseNoMatch.count, falseNoMatch.of, falseMatch.count, falseMatch.of], [1, 4, 1, 1]);
});

test("without decided answers there is no share", () => {
  const only = checkAgreement([counted("undecided", "fail", 2), counted("pass", null, 1, 1)]);
  assert.deepEqual(
    [only.labels, only.undecided, only.share, only.low, only.decidedShare],
    [0, 2, null, null, 0],
  );
  assert.deepEqual(only.falsePass, { count: 0, of: 0, share: null, low: null, high: null });
  assert.equal(checkAgreement([counted("pass", null, 1, 1)]).decidedShare, null);
});
