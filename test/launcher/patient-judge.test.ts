// A manual run waits for its judge: until the deadline, no longer than somebody wants it, and once for all of its launch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Patience, patientJudge } from "../../src/launcher/patient-judge.ts";
import type { JudgeContext, SemanticAnswer, SemanticQuestion, Unjudged } from "../../src/model/judge.ts";
import { standingClock } from "../support/standing-clock.ts";

const deadlineMs = 60_000;
const behalf = { agentId: "agent", traceId: "trace", runId: "run", launchId: "launch" };

const question = (criterion: string): SemanticQuestion => ({
  testId: "test",
  assertionId: criterion,
  scenario: "",
  userInput: "Hi",
  response: "Hello",
  criteria: [criterion],
  threshold: 0.7,
});

const met: SemanticAnswer = {
  state: "ok",
  score: 1,
  votes: [],
  model: "m",
  promptVersion: "p",
  cached: false,
};

/** A judge that answers a criterion by its script, once after the other; as it is away where that has come to its end. */
function played(script: Record<string, SemanticAnswer[]>, patience?: Patience, time = standingClock()) {
  const contexts: JudgeContext[] = [];
  const asked: string[][] = [];
  const waited: string[] = [];
  const { clock } = time;
  const away = ({ deadlineAt }: JudgeContext): SemanticAnswer => {
    const nextTryAt = clock.now() + 20_000;
    if (nextTryAt < deadlineAt!) return { state: "waiting", reason: "The judge is away.", nextTryAt };
    return { state: "unavailable", reason: "The judge is unavailable." };
  };
  const judge = patientJudge(
    context => ({
      route: () => assert.fail("nobody asks for routing"),
      ask: async questions => {
        contexts.push(context);
        asked.push(questions.map(({ assertionId }) => assertionId));
        return questions.map(({ assertionId }) => script[assertionId]?.shift() ?? away(context));
      },
    }),
    behalf,
    {
      patience: patience ?? new Patience(deadlineMs, clock),
      clock,
      onWait: async ({ reason }) => void waited.push(reason),
    },
  );
  return { judge, contexts, asked, waited, time };
}

const waiting = (nextTryAt: number, more: Partial<Unjudged> = {}): SemanticAnswer =>
  ({ state: "waiting", reason: "The judge is busy.", nextTryAt, ...more }) as SemanticAnswer;

test("only what waits is asked again, not before all of it may be, and the answers keep their places", async () => {
  const time = standingClock();
  const now = time.clock.now();
  const script = { a: [waiting(now + 3_000), met], b: [met], c: [waiting(now + 5_000), met] };
  const { judge, asked, waited, contexts } = played(script, undefined, time);
  const answers = await judge.ask(["a", "b", "c"].map(question));
  assert.deepEqual(asked, [
    ["a", "b", "c"],
    ["a", "c"],
  ]);
  assert.deepEqual(time.waits, [5_000]);
  assert.deepEqual(
    answers.map(({ state }) => state),
    ["ok", "ok", "ok"],
  );
  assert.deepEqual(waited, ["The judge is busy."]);
  assert.deepEqual(
    contexts.map(({ tries, chosen }) => [tries, chosen]),
    [
      [0, true],
      [1, true],
    ],
  );
});

test("one that was not asked at all, others being first, has tried nothing in vain", async () => {
  const time = standingClock();
  const script = { a: [waiting(time.clock.now() + 1_000, { unasked: true } as object), met] };
  const { judge, contexts } = played(script, undefined, time);
  await judge.ask([question("a")]);
  assert.deepEqual(
    contexts.map(({ tries }) => tries),
    [0, 0],
  );
});

test("at the deadline what is not answered is given up with the reason", async () => {
  const { judge, time } = played({ a: [met] });
  const [known, open] = await judge.ask([question("a"), question("b")]);
  assert.equal(known?.state, "ok");
  assert.deepEqual(open, { state: "unavailable", reason: "The judge is unavailable." });
  assert.deepEqual(time.waits, [20_000, 20_000]);
});

test("an outage is waited out once: the launch's next run asks once, and waits again after an answer", async () => {
  const time = standingClock();
  const patience = new Patience(deadlineMs, time.clock);
  await played({}, patience, time).judge.ask([question("a")]);
  time.pass(deadlineMs);
  const waits = time.waits.length;

  const next = played({}, patience, time);
  const [given] = await next.judge.ask([question("a")]);
  assert.deepEqual([given?.state, next.asked.length, time.waits.length], ["unavailable", 1, waits]);

  await played({ a: [{ ...met, cached: true }] }, patience, time).judge.ask([question("a")]);
  const known = played({}, patience, time);
  await known.judge.ask([question("b")]);
  assert.equal(known.asked.length, 1, "what is known already says nothing of the judge");

  await played({ a: [met] }, patience, time).judge.ask([question("a")]);
  const later = played({}, patience, time);
  await later.judge.ask([question("b")]);
  assert.ok(later.asked.length > 1);
  assert.ok(patience.deadlineAt("another launch") > patience.deadlineAt(behalf.launchId));
});

test("whoever gives the run up ends the wait, and nothing more is asked", async () => {
  const time = standingClock();
  const abort = new AbortController();
  const { clock } = time;
  const sleep = async (_ms: number, signal?: AbortSignal) => {
    abort.abort();
    signal?.throwIfAborted();
  };
  const { judge, asked } = played({}, undefined, { ...time, clock: { ...clock, sleep } });
  const [given] = await judge.ask([question("a")], abort.signal);
  assert.deepEqual([given?.state, asked.length], ["waiting", 1]);
});
