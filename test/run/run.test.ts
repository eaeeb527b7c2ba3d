// A run is judged by the tests as they are, and whatever becomes of the judge, nothing is passed or failed by it.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import type { JudgeOf } from "../../src/model/judge/judge.ts";
import type { Result } from "../../src/model/run/run.ts";
import type { TestCase } from "../../src/model/test-case/test-case.ts";
import { type Clock, systemClock } from "../../src/remote/clock.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { type EvaluatedRun, evaluateRuns } from "../../src/run.ts";
import { type ClaimedRun, claimRuns } from "../../src/store/runs/claims.ts";
import { deleteTestCase, updateTestCase } from "../../src/store/test-cases.ts";
import { deleteTrace } from "../../src/store/traces/read.ts";
import { makeSender, makeTestCase, openTwice, type Sender, storeDueRun } from "../store/traces/make-write.ts";
import {
  askedOf,
  completion,
  cutOff,
  idsOf,
  labelsOf,
  obliging,
  raw,
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

describe("a judge that answers", () => {
  it("lets a matching test run, and its semantic check count", async () => {
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

  it("lets a test of which it is unsure run", async () => {
    const { sender } = await makeAgent();
    server.script = obliging({ label: () => "unsure" });
    const { routing, results, tests } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual([routing, results.length, tests[1]!.why], ["ok", 2, "scenario_unsure"]);
  });

  it("makes a test whose scenario does not match skipped, never failed", async () => {
    const { sender } = await makeAgent();
    server.script = obliging({ label: () => "no_match" });
    const { verdict, results, tests } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ["passed", "skipped"],
    );
    assert.deepEqual([verdict, tests[1]!.applied, tests[1]!.why], ["passed", false, "scenario_no_match"]);
  });

  it("fails a semantic check that it finds unmet", async () => {
    const { sender } = await makeAgent();
    server.script = obliging({ verdict: () => "not_met" });
    const { verdict, results } = await verdictOf(openHurried(), await claimed(sender));
    assert.equal(verdict, "failed");
    assert.deepEqual(skippedOf(results[0]!), { plain: "passed", semantic: "failed" });
  });

  it("is asked once more for a test it left out, which then counts as routing unavailable", async () => {
    const { sender } = await makeAgent();
    await makeTestCase(db, sender.agentId, {
      name: "left out",
      passiveBehavior: "run_when_relevant",
      scenario: "Something else.",
    });
    const routings: string[][] = [];
    const answer = obliging();
    server.script = (request, index) => {
      const asked = askedOf(request);
      if (asked.kind !== "route") return answer(request, index);
      routings.push(asked.scenarios.map(({ scenario }) => scenario).toSorted((a, b) => a.localeCompare(b)));
      const left = asked.scenarios.find(({ scenario }) => scenario === "Something else.")?.id;
      return completion({ labels: labelsOf(request).filter(({ id }) => id !== left) });
    };
    const { routing, tests } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual(routings, [["Something else.", "The user asks for a parcel."], ["Something else."]]);
    assert.equal(routing, "ok");
    assert.deepEqual(
      tests.map(({ why }) => why),
      ["always_run", "scenario_matched", "routing_unavailable"],
    );
  });
});

describe("a judge that does not answer", () => {
  const outages: [string, string, () => { judge: JudgeOf; script?: Script }][] = [
    ["that is not configured", "no_judge", () => ({ judge: openTestJudges(db, null).judgeOf })],
    [
      "that is down",
      "judge_unavailable",
      () => ({ judge: openHurried({ url: "http://127.0.0.1:1/v1", concurrency: 1 }) }),
    ],
    [
      "that is too slow",
      "judge_unavailable",
      () => ({ judge: openHurried({ timeoutMs: 100 }), script: () => silence }),
    ],
    [
      "that refuses with 500",
      "judge_unavailable",
      () => ({ judge: openHurried(), script: () => refusal(500) }),
    ],
    ["that breaks off", "judge_unavailable", () => ({ judge: openHurried(), script: () => cutOff })],
    [
      "that talks nonsense",
      "judge_unusable",
      () => ({ judge: openHurried(), script: () => completion("I think it went rather well!") }),
    ],
    [
      "that names other ids than were asked for",
      "judge_unusable",
      () => ({
        judge: openHurried(),
        script: () =>
          completion({
            labels: [{ id: "s99", why: "", label: "match" }],
            verdicts: [{ id: "c99", evidence: "", reason: "Good.", verdict: "met" }],
          }),
      }),
    ],
    [
      "that is no JSON API at all",
      "judge_unusable",
      () => ({ judge: openHurried(), script: () => raw(200, "text/html", "<p>Welcome</p>") }),
    ],
  ];
  for (const [name, why, open] of outages) {
    it(`${name} leaves routing unavailable and its checks skipped; the rest of Always-run tests counts`, async () => {
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

  it("leaves a test of semantic checks alone skipped, without a score", async () => {
    const sender = await makeSender(db, { judged: false });
    await makeTestCase(db, sender.agentId, { assertions: [{ type: "semantic", criteria: "Is polite." }] });
    const judge = openTestJudges(db, null).judgeOf;
    const { verdict, score } = await verdictOf(judge, await claimed(sender));
    assert.deepEqual([verdict, score], ["skipped", null]);
  });

  it("is not asked where a threshold is not a number from 0 to 1: the check is skipped", async () => {
    const sender = await makeSender(db, { judged: false });
    for (const threshold of [1.5, -0.1, "high", null]) {
      await makeTestCase(db, sender.agentId, {
        threshold,
        assertions: [{ id: "semantic", type: "semantic", criteria: "Is polite." }],
      });
    }
    const { results } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual(results.map(skippedOf), Array(4).fill({ semantic: "threshold" }));
    assert.equal(server.requests.length, 0);
  });
});

describe("routing", () => {
  it("without user input is not asked for: conditional tests are not routed, Always-run tests run", async () => {
    const { sender } = await makeAgent();
    const { routing, results, tests } = await verdictOf(openHurried(), await claimed(sender, {}));
    assert.equal(routing, "no_user_input");
    assert.deepEqual(
      results.map(({ name }) => name),
      ["always"],
    );
    assert.deepEqual(
      tests.map(({ why }) => why),
      ["always_run", "no_user_input"],
    );
    assert.equal(server.requests.length, 1);
  });

  it("is not needed, and the judge not asked, where no test is conditional or semantic", async () => {
    const sender = await makeSender(db);
    const { routing, verdict } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual([routing, verdict, server.requests.length], ["not_needed", "passed", 0]);
  });

  it("asks for all conditional tests of a trace at once", async () => {
    const { sender } = await makeAgent();
    for (const scenario of ["A refund.", "A complaint."]) {
      await makeTestCase(db, sender.agentId, { passiveBehavior: "run_when_relevant", scenario });
    }
    await verdictOf(openHurried(), await claimed(sender));
    const routings = server.requests.filter(request => askedOf(request).kind === "route");
    assert.equal(idsOf(routings[0]!).length, 3);
  });
});

describe("a run", () => {
  it("is judged by the tests as they are when it begins, and keeps them as they were", async () => {
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

  it("says of every test of the agent why it does not run", async () => {
    const { sender } = await makeAgent();
    await makeTestCase(db, sender.agentId, { status: "disabled" });
    await makeTestCase(db, sender.agentId, { passiveBehavior: "manual_only" });
    await makeTestCase(db, sender.agentId, { turns: [{ input: "One" }, { input: "Two" }] });
    const { tests, results } = await verdictOf(openHurried(), await claimed(sender));
    assert.deepEqual(
      tests.slice(2).map(({ applied, why }) => [applied, why]),
      [
        [false, "disabled"],
        [false, "manual_only"],
        [false, "multi_turn"],
      ],
    );
    assert.equal(results.length, 2);
  });

  it("whose trace was deleted ends quietly, and those beside it are judged", async () => {
    const { sender } = await makeAgent();
    const [gone, there] = [await claimed(sender), await claimed(sender)];
    await deleteTrace(db, gone.traceId);
    const ends = await evaluated(openHurried(), gone, there);
    assert.deepEqual(
      [ends.deleted.map(run => run.id), ends.evaluated.map(({ run }) => run.id)],
      [[gone.id], [there.id]],
    );
  });

  it("that is called off goes nowhere", async () => {
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
