// A run is judged by the tests as they are, and whatever becomes of the judge, nothing is passed or failed by it.

import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import type { JudgeOf } from "../../src/model/judge/judge.ts";
import type { Result } from "../../src/model/run/run.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { type Clock, systemClock } from "../../src/remote/clock.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { type EvaluatedRun, evaluateRuns } from "../../src/run.ts";
import type { ClaimedRun } from "../../src/store/runs/claim.ts";
import { claimRuns } from "../../src/store/runs/claims.ts";
import { deleteTestCase, updateTestCase } from "../../src/store/test-cases.ts";
import { deleteTrace } from "../../src/store/traces/read.ts";
import { makeSender, makeTestCase, openTwice, type Sender, storeDueRun } from "../store/traces/make-write.ts";
import {
  completion,
  obliging,
  refusal,
  type Script,
  silence,
  startJudgeServer,
} from "../support/judge-server.ts";
import { openTestJudges } from "../support/judges.ts";

const { db, close } = await openTwice();
const server = await startJudgeServer();
const sandbox = new Sandbox({ budgetMs: 5_000 });
after(async () => {
  await sandbox.close();
  await server.close();
  await close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

/** Real time, but no pause between two tries. */
const hurried: Clock = { ...systemClock, sleep: async () => undefined };
const config = server.connection({ concurrency: 8 });

function openHurried(more: Partial<typeof config> = {}): JudgeOf {
  return openTestJudges(db, { ...config, ...more }, { clock: hurried }).judgeOf;
}

const input = { "gen_ai.prompt": "Where is my parcel?" };

/** A trace's run, claimed. */
async function claimed(sender: Sender, attributes: object = input): Promise<ClaimedRun> {
  const { runId } = await storeDueRun(db, sender, {
    text: "It is in Lyon.",
    attributes: attributes as Record<string, unknown>,
  });
  const { runs } = await claimRuns(db, { lease: crypto.randomUUID(), leaseMs: 60_000, runsMax: 100 });
  return runs.find(run => run.id === runId)!;
}

/** Nobody waits for a later try. */
const judgeDeadlineMs = 0;

/** Evaluates the runs, and sorts them by how they ended. */
async function evaluated(judgeOf: JudgeOf, ...runs: ClaimedRun[]) {
  const ends: { evaluated: EvaluatedRun[]; deleted: ClaimedRun[] } = { evaluated: [], deleted: [] };
  await new Promise<void>((resolve, reject) => {
    const ended = () => {
      if (ends.evaluated.length + ends.deleted.length === runs.length) resolve();
    };
    evaluateRuns({ db, judgeOf, sandbox, judgeDeadlineMs }, runs, new AbortController().signal, {
      partial: () => {},
      waiting: ({ run }) => reject(new Error(`The run ${run.id} waits for the judge.`)),
      evaluated(run) {
        ends.evaluated.push(run);
        ended();
      },
      deleted(run) {
        ends.deleted.push(run);
        ended();
      },
      failed: (_run, error) => reject(error),
    }).catch(reject);
  });
  return ends;
}

async function verdictOf(judge: JudgeOf, run: ClaimedRun) {
  return (await evaluated(judge, run)).evaluated[0]!.verdict;
}

/** An agent with a test that is always run and asks the judge, and one that is run when relevant and does not. */
async function makeAgent(): Promise<{ sender: Sender; always: TestCase; relevant: TestCase }> {
  const sender = await makeSender(db, { judged: false });
  const always = await makeTestCase(db, sender.agentId, {
    name: "always",
    assertions: [
      { id: "plain", type: "response_regex", pattern: "Lyon" },
      { id: "semantic", type: "semantic", criteria: "Says where the parcel is." },
    ],
  });
  const relevant = await makeTestCase(db, sender.agentId, {
    name: "relevant",
    passiveBehavior: "run_when_relevant",
    scenario: "The user asks for a parcel.",
    assertions: [{ id: "plain", type: "response_regex", pattern: "Lyon" }],
  });
  return { sender, always, relevant };
}

const skippedOf = ({ checks }: Result) =>
  Object.fromEntries(checks.map(({ id, outcome, skipped }) => [id, skipped ?? outcome]));

suite("a judge that answers", () => {
  test("lets a matching test run, and its semantic check count", async () => {
    const { sender } = await makeAgent();
    const { routing, verdict, results, tests } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual([routing, verdict], ["ok", "passed"]);
    assert.deepEqual(results.map(skippedOf), [{ plain: "passed", semantic: "passed" }, { plain: "passed" }]);
    assert.deepEqual(
      tests.map(({ applied, why }) => [applied, why]),
      [
        [true, "always_run"],
        [true, "scenario_matched"],
      ],
    );
  });
});

suite("a judge that does not answer", () => {
  const outages: [string, string, () => { judge: JudgeOf; script?: Script }][] = [
    ["that is not configured", "no_judge", () => ({ judge: openTestJudges(db, null).judgeOf })],
    [
      "that refuses with 500",
      "judge_unavailable",
      () => ({ judge: openHurried(), script: () => refusal(500) }),
    ],
    [
      "that talks nonsense",
      "judge_unusable",
      () => ({ judge: openHurried(), script: () => completion("I think it went rather well!") }),
    ],
  ];
  for (const [name, why, open] of outages) {
    test(`${name} leaves routing unavailable and its checks skipped; the rest of Always-run tests counts`, async () => {
      const { sender, relevant } = await makeAgent();
      const { judge, script } = open();
      if (script) server.script = script;
      const { routing, verdict, counts, results, tests } = await verdictOf(judge, await claimed(sender));
      assert.deepEqual([routing, verdict], ["unavailable", "passed"]);
      assert.deepEqual(
        results.map(({ name }) => name),
        ["always"],
      );
      assert.deepEqual(skippedOf(results[0]!), { plain: "passed", semantic: why });
      assert.deepEqual(counts, { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 });
      const routed = tests.find(({ testId }) => testId === relevant.id)!;
      assert.deepEqual([routed.applied, routed.why], [false, "routing_unavailable"]);
    });
  }
});

suite("a run", () => {
  test("is judged by the tests as they are when it begins, and keeps them as they were", async () => {
    const { sender, always, relevant } = await makeAgent();
    const run = await claimed(sender);
    await deleteTestCase(db, relevant.id);
    await updateTestCase(db, always.id, current => ({
      ...current,
      name: "renamed",
      assertions: current.assertions.slice(0, 1),
    }));
    await makeTestCase(db, sender.agentId, { name: "added" });
    const { results } = await verdictOf(openHurried(), run);
    assert.deepEqual(
      results.map(result => result.test.name),
      ["renamed", "added"],
    );
    assert.equal(results[0]!.checks.length, 1);
  });

  test("whose trace was deleted ends quietly, and those beside it are judged", async () => {
    const { sender } = await makeAgent();
    const [gone, there] = [await claimed(sender), await claimed(sender)];
    await deleteTrace(db, gone.traceId);
    const ends = await evaluated(openHurried(), gone, there);
    assert.deepEqual(
      [ends.deleted.map(run => run.id), ends.evaluated.map(({ run }) => run.id)],
      [[gone.id], [there.id]],
    );
  });

  test("that is called off goes nowhere", async () => {
    const { sender } = await makeAgent();
    const run = await claimed(sender);
    server.script = () => silence;
    const calledOff = new AbortController();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const judgeOf = openHurried();
    const watched: JudgeOf = context => {
      const judge = judgeOf(context);
      return {
        ask: (questions, signal) => judge.ask(questions, signal),
        async route(question, signal) {
          asked.resolve();
          const answer = await judge.route(question, signal);
          setImmediate(answered.resolve);
          return answer;
        },
      };
    };
    const unexpected = () => assert.fail("a run that was called off has ended");
    const ends = {
      evaluated: unexpected,
      partial: () => {},
      waiting: unexpected,
      failed: unexpected,
      deleted: unexpected,
    };
    const deps = { db, judgeOf: watched, sandbox, judgeDeadlineMs };
    await evaluateRuns(deps, [run], calledOff.signal, ends);
    await asked.promise;
    calledOff.abort();
    await answered.promise;
  });
});

test("a claim's traces are opened by turns of accounts and agents, large ones too", async () => {
  const [many, one] = [await makeSender(db), await makeSender(db)];
  for (let count = 0; count < 12; count++) await storeDueRun(db, many);
  const { runId } = await storeDueRun(db, one, { attributes: { long: "word ".repeat(20_000) } });
  const { runs } = await claimRuns(db, { lease: crypto.randomUUID(), leaseMs: 60_000, runsMax: 32 });
  const began: string[] = [];
  const started = (run: ClaimedRun, release: () => void) => {
    began.push(run.id);
    release();
  };
  const deps = { db, judgeOf: openHurried(), sandbox, judgeDeadlineMs };
  await new Promise<void>((resolve, reject) => {
    let left = runs.length;
    const evaluated = () => {
      if (--left === 0) resolve();
    };
    const unexpected = () => reject(new Error("a run did not end with a verdict"));
    const ends = { started, evaluated, partial() {}, waiting() {}, failed: unexpected, deleted: unexpected };
    evaluateRuns(deps, runs, new AbortController().signal, ends).catch(reject);
  });
  assert.equal(began.length, 13);
  assert.ok(began.indexOf(runId) <= 1, `after ${began.indexOf(runId)} of another account`);
});
