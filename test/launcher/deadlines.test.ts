// A manual run waits for its judge until the deadline, which all runs of its launch share.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchDeadlines } from "../../src/launcher/deadlines.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import { serverError } from "../support/judge-answers.ts";
import { standingClock } from "../support/standing-clock.ts";

const deadlineMs = 60_000;
const met = {
  code: "ok" as const,
  score: 1,
  votes: [],
  provider: "openai" as const,
  model: "m",
  promptVersion: "p",
  cached: false,
};
const away = serverError(503, 0);

test("runs of a launch share their deadline, until the judge answers again", () => {
  const { clock, pass } = standingClock();
  const deadlines = new LaunchDeadlines(deadlineMs, clock);
  const begun = clock.now();
  assert.equal(deadlines.deadlineAt("one"), begun + deadlineMs);
  deadlines.note("one", [away]);
  pass(deadlineMs);
  deadlines.note("one", [away]);
  assert.equal(deadlines.deadlineAt("one"), clock.now());
  assert.equal(deadlines.deadlineAt("another"), clock.now() + deadlineMs);
  deadlines.note("one", [{ ...met, cached: true }]);
  assert.equal(deadlines.deadlineAt("one"), clock.now(), "what is known already says nothing of the judge");
  deadlines.note("one", [met, away]);
  assert.equal(deadlines.deadlineAt("one"), clock.now() + deadlineMs);
});

test("the rest of the deadline says how long a run has waited", () => {
  const deadlines = new LaunchDeadlines(deadlineMs, standingClock().clock);
  assert.deepEqual([deadlines.waitedMs(deadlineMs), deadlines.waitedMs(10_000)], [0, 50_000]);
  assert.equal(deadlines.waitedMs(2 * deadlineMs), 0, "the deadline was a longer one");
});

test("a judge that was not asked because others came first is not unavailable", () => {
  const { clock, pass } = standingClock();
  const deadlines = new LaunchDeadlines(deadlineMs, clock);
  deadlines.note("one", [unanswered("later", { code: "judge_busy" }, 0)]);
  pass(1_000);
  assert.equal(deadlines.deadlineAt("one"), clock.now() + deadlineMs);
});
