// Of the runs that ask the judge at a time, those of one agent or account leave room for others; one too many is put off unasked.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JudgeContext } from "../../src/model/judge/judge.ts";
import { isWaiting } from "../../src/model/judge/outcome.ts";
import { judgeOfRun, judgePermits } from "../../src/run/admission.ts";
import { undecided } from "../support/judge-answers.ts";
import { contextOf, semanticQuestion } from "../support/judges.ts";

const now = Date.UTC(2026, 0, 1);
const clock = { now: () => now, random: () => 0.5 };

/** A judge whose every question is open until the next of `ends` is called. */
function openJudge(askingMax: number) {
  const ends: ((error?: Error) => void)[] = [];
  const judgeOf = () => ({
    route: () => assert.fail("nothing is routed"),
    async ask(questions: unknown[]) {
      await new Promise<void>((resolve, reject) => ends.push(error => (error ? reject(error) : resolve())));
      return questions.map(() => undecided);
    },
  });
  const permits = judgePermits(askingMax);
  const ask = (
    agentId: string,
    more: Partial<JudgeContext> = {},
    questions = 1,
    accountId = `account of ${agentId}`,
  ) =>
    judgeOfRun(
      { judgeOf, clock, enter: () => permits.tryAcquire([accountId, agentId]) },
      { ...contextOf(agentId, more), deadlineAt: more.deadlineAt ?? now + 900_000 },
    ).ask(Array.from({ length: questions }, () => semanticQuestion()));
  return { permits, ask, ends };
}

test("runs of one agent take no more places than they leave free, and give back each, however it ends", async () => {
  const { permits, ask, ends } = openJudge(4);
  const statesOf = async (asked: ReturnType<typeof ask>) =>
    (await asked).map(answer => (isWaiting(answer) ? "waiting" : answer.code));
  const first = [ask("a"), ask("a")];
  assert.deepEqual(await statesOf(ask("a")), ["waiting"]);
  const second = ask("b");
  assert.deepEqual(await statesOf(ask("b")), ["waiting"]);
  const third = ask("c");
  assert.deepEqual([await statesOf(ask("d")), permits.free], [["waiting"], 0]);
  for (const end of ends.splice(1)) end();
  await Promise.all([first[1], second, third]);
  assert.equal(permits.free, 3);
  const again = ask("a");
  assert.deepEqual(await statesOf(ask("a")), ["waiting"]);
  for (const end of ends) end(new Error("It broke."));
  await Promise.allSettled([first[0], again]);
  assert.equal(permits.free, 4);
});

test("runs of all agents of one account leave a quarter to others", async () => {
  const { permits, ask, ends } = openJudge(100);
  const asked = Array.from({ length: 200 }, (_, at) => ask(`agent ${at}`, {}, 1, "many"));
  assert.equal(permits.free, 25);
  asked.push(ask("one"));
  assert.equal(permits.free, 24);
  for (const end of ends) end();
  await Promise.all(asked);
  assert.equal(permits.free, 100);
});

test("each question of a run that is put off waits without a try, or is given up on at the deadline", async () => {
  const { ask } = openJudge(0);
  const [one, two, ...more] = await ask("a", {}, 2);
  const waiting = { code: "later", detail: { code: "judge_busy" }, retryAt: now + 1_000 };
  assert.deepEqual([one, two, more], [waiting, waiting, []]);
  const [late] = await ask("a", { deadlineAt: now + 1_000 });
  const detail = { code: "judge_busy_until_deadline" };
  assert.deepEqual(late, { code: "later", detail, retryAt: null });
});
