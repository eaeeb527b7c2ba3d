// A run whose judge does not answer yet: what is known is told soon, and what waits goes on later by the same plan.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { JudgeContext, RoutingAnswer, SemanticAnswer } from "../../src/model/judge/judge.ts";
import { type Unanswered, unanswered } from "../../src/model/judge/outcome.ts";
import type { Result } from "../../src/model/run/run.ts";
import type { Clock } from "../../src/remote/clock.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { type EvaluatedRun, evaluateRuns, type PartialRun } from "../../src/run.ts";
import { updateAgent } from "../../src/store/accounts/agents.ts";
import type { ClaimedRun } from "../../src/store/runs/claim.ts";
import { claimRuns } from "../../src/store/runs/claims.ts";
import { savePartial } from "../../src/store/runs/waiting.ts";
import { deleteTestCase, updateTestCase } from "../../src/store/test-cases.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  type Sender,
  storeDueRun,
} from "../store/traces/make-write.ts";
import { serverError } from "../support/judge-answers.ts";

const { db, close } = await openTwice();
const sandbox = new Sandbox({ budgetMs: 5_000 });
after(async () => {
  await sandbox.close();
  await close();
});

const now = Date.UTC(2026, 0, 1);
const judgeDeadlineMs = 900_000;
const lease = crypto.randomUUID();

/** Time stands still; a pause ends when `elapse` is called, and what is asked for is kept. */
function stoppedClock() {
  const asked: number[] = [];
  const elapsed = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => now,
    async sleep(ms, signal) {
      asked.push(ms);
      await elapsed.promise;
      signal?.throwIfAborted();
    },
    timeout: () => new AbortController().signal,
    random: () => 0.5,
  };
  return { clock, asked, elapse: () => elapsed.resolve() };
}

type Script = {
  route?: () => RoutingAnswer | Promise<RoutingAnswer>;
  ask?: (criterion: string) => SemanticAnswer | Promise<SemanticAnswer>;
};

/** A judge that answers as scripted, and keeps on whose behalf and for what it was asked. */
function scripted({ route, ask = () => met }: Script) {
  const contexts: JudgeContext[] = [];
  const asked: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  return {
    contexts,
    asked,
    /** Which withdraw what was asked. */
    signals,
    judgeOf(context: JudgeContext) {
      contexts.push(context);
      return {
        async route(_question: unknown, signal?: AbortSignal) {
          asked.push("route");
          signals.push(signal);
          return route ? route() : assert.fail("no test is conditional");
        },
        async ask(questions: { criteria: string[] }[], signal?: AbortSignal) {
          signals.push(signal);
          asked.push(...questions.flatMap(({ criteria }) => criteria));
          return Promise.all(questions.map(({ criteria }) => ask(criteria[0]!)));
        },
      };
    },
  };
}

const met: SemanticAnswer = {
  code: "ok",
  score: 1,
  votes: [{ score: 1, verdicts: [{ verdict: "met", evidence: "", reason: "Met." }] }],
  provider: "openai_compatible",
  model: "local",
  promptVersion: "1",
  cached: false,
};
const laterBy = (ms: number, status = 503): Unanswered => serverError(status, now + ms);

async function makeAgent(): Promise<{ sender: Sender; always: string; relevant: string }> {
  const sender = await makeSender(db, { judged: false });
  const always = await makeTestCase(db, sender.agentId, {
    name: "always",
    assertions: [
      { id: "plain", type: "response_regex", pattern: "Lyon" },
      { id: "polite", type: "semantic", criteria: "Is polite." },
      { id: "after", type: "response_regex", pattern: "Lyon", depends_on: ["polite"] },
    ],
  });
  const relevant = await makeTestCase(db, sender.agentId, {
    name: "relevant",
    passiveBehavior: "run_when_relevant",
    scenario: "The user asks for a parcel.",
    assertions: [{ id: "plain", type: "response_regex", pattern: "Lyon" }],
  });
  return { sender, always: always.id, relevant: relevant.id };
}

/** An agent whose one test asks for these criteria. */
async function makeAsking(...criteria: string[]): Promise<Sender> {
  const sender = await makeSender(db, { judged: false });
  const assertions = criteria.map(text => ({ id: text, type: "semantic", criteria: text }));
  await makeTestCase(db, sender.agentId, { assertions });
  return sender;
}

async function claimed(runId: string): Promise<ClaimedRun> {
  const { runs } = await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 100 });
  return runs.find(run => run.id === runId)!;
}

async function fresh(sender: Sender): Promise<ClaimedRun> {
  const { runId } = await storeDueRun(db, sender, {
    text: "It is in Lyon.",
    attributes: { "gen_ai.prompt": "Where is my parcel?" },
  });
  return claimed(runId);
}

type End = { judged: EvaluatedRun; waits?: never } | { waits: PartialRun; judged?: never };

/** Where the run goes, and what was told of it before. */
function judging(
  run: ClaimedRun,
  judge: ReturnType<typeof scripted>,
  clock: Clock = stoppedClock().clock,
): { end: Promise<End>; partly: Promise<PartialRun>; told: PartialRun[] } {
  const { promise: end, resolve, reject } = Promise.withResolvers<End>();
  const { promise: partly, resolve: tell } = Promise.withResolvers<PartialRun>();
  const told: PartialRun[] = [];
  const deps = { db, judgeOf: judge.judgeOf, sandbox, judgeDeadlineMs, clock };
  evaluateRuns(deps, [run], new AbortController().signal, {
    evaluated: judged => resolve({ judged }),
    waiting: waits => resolve({ waits }),
    partial(known) {
      told.push(known);
      tell(known);
    },
    failed: (_run, error) => reject(error),
    deleted: () => reject(new Error("The trace is gone.")),
  }).catch(reject);
  return { end, partly, told };
}

async function waited(run: ClaimedRun, judge: ReturnType<typeof scripted>) {
  const { waits } = await judging(run, judge).end;
  assert.ok(waits, "the run waits");
  return waits;
}

async function judged(run: ClaimedRun, judge: ReturnType<typeof scripted>) {
  const { judged } = await judging(run, judge).end;
  assert.ok(judged, "the run is judged");
  return judged;
}

/** The run as it is claimed when it goes on, `tries` in vain behind it. */
async function goneOn(run: ClaimedRun, partly: PartialRun): Promise<ClaimedRun> {
  const { run: _, wait, ...known } = partly;
  await savePartial(db, lease, [{ id: run.id, ...known, wait: { ...wait!, nextTryMs: 0 } }]);
  return claimed(run.id);
}

const codesOf = ({ checks }: Result) =>
  Object.fromEntries(checks.map(({ id, outcome, skipped }) => [id, skipped ?? outcome]));
const whysOf = (partly: { verdict: { tests: { why: string }[] } }) =>
  partly.verdict.tests.map(({ why }) => why);

suite("a judge that takes its time", () => {
  test("is waited for 50 ms, then what is known without it is told, and the run ends when it answers", async () => {
    const { sender } = await makeAgent();
    const { promise: answer, resolve: give } = Promise.withResolvers<RoutingAnswer>();
    const { clock, asked, elapse } = stoppedClock();
    const { end, partly } = judging(await fresh(sender), scripted({ route: () => answer }), clock);
    elapse();
    const known = await partly;
    assert.deepEqual(asked, [50]);
    assert.deepEqual(known.verdict.results.map(codesOf), [
      { plain: "passed", polite: "waiting", after: "waiting" },
    ]);
    assert.deepEqual(known.verdict.results[0]!.reason, "Waiting for the judge, 1 of 3 checked");
    assert.deepEqual(whysOf(known), ["always_run", "routing_waiting"]);
    assert.deepEqual([known.wait, known.leftMs, known.plan.length], [undefined, judgeDeadlineMs, 2]);
    give(serverError(500));
    assert.equal((await end).judged!.verdict.verdict, "passed");
  });

  test("leaves scenarios decided that it has told of already", async () => {
    const { sender, relevant } = await makeAgent();
    const { clock, elapse } = stoppedClock();
    const labels = new Map([[relevant, { label: "match" as const, reason: "It is one." }]]);
    const { promise: answer, resolve: give } = Promise.withResolvers<SemanticAnswer>();
    const judge = scripted({
      route: () => ({ code: "ok", labels }),
      ask() {
        elapse();
        return answer;
      },
    });
    const { end, partly } = judging(await fresh(sender), judge, clock);
    const known = await partly;
    assert.deepEqual(whysOf(known), ["always_run", "scenario_matched"]);
    assert.deepEqual(known.verdict.results.map(codesOf), [
      { plain: "passed", polite: "waiting", after: "waiting" },
      { plain: "passed" },
    ]);
    const [whole, ...more] = judge.signals;
    assert.ok(whole && more.length === 1 && more[0] === whole, "both are withdrawn with the run");
    give(met);
    assert.deepEqual((await end).judged!.verdict.results.map(codesOf), [
      { plain: "passed", polite: "passed", after: "passed" },
      { plain: "passed" },
    ]);
  });

  test("and answers within 50 ms, or is not asked at all, has no partial verdict", async () => {
    const [asking, plain] = [await makeAsking("Is polite."), await makeSender(db)];
    const { clock, asked } = stoppedClock();
    const quick = judging(await fresh(asking), scripted({}), clock);
    assert.ok((await quick.end).judged);
    const unasked = judging(await fresh(plain), scripted({}), clock);
    assert.ok((await unasked.end).judged);
    assert.deepEqual([quick.told, unasked.told, asked], [[], [], [50]]);
  });
});

suite("a judge that is to be asked later", () => {
  test("makes the run wait until the last of its questions is worth asking again", async () => {
    const sender = await makeAsking("one", "two", "three");
    const answers: Record<string, SemanticAnswer> = {
      one: laterBy(2_000),
      two: laterBy(9_000, 429),
      three: met,
    };
    const { wait, verdict } = await waited(
      await fresh(sender),
      scripted({ ask: criterion => answers[criterion]! }),
    );
    assert.deepEqual(wait, { nextTryMs: 9_000, reason: "The judge answered with status 429.", tried: true });
    assert.deepEqual(verdict.results.map(codesOf), [{ one: "waiting", two: "waiting", three: "passed" }]);
  });

  test("for scenarios is asked nothing about replies before", async () => {
    const { sender } = await makeAgent();
    const judge = scripted({ route: () => laterBy(2_000) });
    const { wait, verdict } = await waited(await fresh(sender), judge);
    assert.deepEqual([judge.asked, wait!.nextTryMs], [["route"], 2_000]);
    assert.deepEqual(verdict.results.map(codesOf), [
      { plain: "passed", polite: "waiting", after: "waiting" },
    ]);
  });

  test("is waited for by what is left: the time that asking took is part of it", async () => {
    let time = now;
    const clock = { ...stoppedClock().clock, now: () => time };
    const judge = scripted({
      ask() {
        time += 60_000;
        return laterBy(62_000);
      },
    });
    const { waits } = await judging(await fresh(await makeAsking("one")), judge, clock).end;
    assert.deepEqual([waits!.leftMs, waits!.wait!.nextTryMs], [judgeDeadlineMs - 60_000, 2_000]);
  });

  test("because others are first was not asked in vain", async () => {
    const sender = await makeAsking("one", "two");
    const unasked = () => unanswered("later", { code: "judge_busy" }, now + 1_000);
    const { wait } = await waited(await fresh(sender), scripted({ ask: unasked }));
    assert.equal(wait!.tried, false);
    const mixed = scripted({ ask: criterion => (criterion === "one" ? laterBy(1) : unasked()) });
    assert.equal((await waited(await fresh(sender), mixed)).wait!.tried, true);
  });

  test("is given up on at the run's deadline, with its last reason, and that is an outage", async () => {
    const sender = await makeAsking("one");
    for (const nextTry of [judgeDeadlineMs, judgeDeadlineMs + 1]) {
      const { verdict, outage } = await judged(
        await fresh(sender),
        scripted({ ask: () => laterBy(nextTry) }),
      );
      const [check] = verdict.results[0]!.checks;
      assert.deepEqual(
        [check!.outcome, check!.skipped, check!.reason, outage],
        ["skipped", "judge_unavailable", "The judge answered with status 503.", true],
      );
    }
    assert.ok(await waited(await fresh(sender), scripted({ ask: () => laterBy(judgeDeadlineMs - 1) })));
  });
});

suite("a run that goes on", () => {
  test("tells the judge how often it was asked in vain, and until when it is worth waiting", async () => {
    const sender = await makeAsking("one");
    const run = await fresh(sender);
    const judge = scripted({ ask: () => laterBy(2_000) });
    const first = await waited(run, judge);
    const second = await goneOn(run, first);
    await waited(second, judge);
    assert.deepEqual(judge.contexts[0], {
      agentId: sender.agentId,
      traceId: run.traceId,
      runId: run.id,
      deadlineAt: now + judgeDeadlineMs,
      tries: 0,
      waitedMs: 0,
    });
    assert.equal(judge.contexts[1]!.tries, 1);
    // The deadline is the first one's, not a new one, by the database's clock.
    assert.equal(judge.contexts[1]!.deadlineAt, now + second.judgeLeftMs!);
    assert.equal(judge.contexts[1]!.waitedMs, judgeDeadlineMs - second.judgeLeftMs!);
    assert.ok(second.judgeLeftMs! <= judgeDeadlineMs && second.judgeLeftMs! > judgeDeadlineMs - 60_000);
  });

  test("is judged by the tests as they were when it began, and by the trace as it is now", async () => {
    const { sender, always, relevant } = await makeAgent();
    const run = await fresh(sender);
    const first = await waited(run, scripted({ route: () => laterBy(2_000) }));
    await updateTestCase(db, always, current => ({ ...current, name: "renamed" }));
    await deleteTestCase(db, relevant);
    await makeTestCase(db, sender.agentId, { name: "added" });
    await db.pool.query(
      `with named as (update trace_identities set external_id = 'replaced' where trace_id = $1)
       update traces set external_id = 'replaced' where id = $1 and external_id <> 'replaced'`,
      [run.traceId],
    );
    await new TraceWriter(db, limits).write(
      canonicalWrite(sender, {
        externalId: "replaced",
        text: "It is in Paris.",
        attributes: { "gen_ai.prompt": "Where is my parcel?" },
      }),
    );
    const labels = new Map([[relevant, { label: "match" as const, reason: "It is one." }]]);
    const { verdict, loaded } = await judged(
      await goneOn(run, first),
      scripted({ route: () => ({ code: "ok", labels }) }),
    );
    assert.deepEqual(
      verdict.results.map(result => [result.name, codesOf(result)["plain"]]),
      [
        ["always", "failed"],
        ["relevant", "failed"],
      ],
    );
    assert.equal(loaded.revision, 2);
  });

  test("reads its trace by the conventions that it began with, and later runs by those chosen since", async () => {
    const sender = await makeAsking("one");
    const run = await fresh(sender);
    const first = await waited(run, scripted({ ask: () => laterBy(2_000) }));
    assert.deepEqual(first.verdict.conventions, []);
    await updateAgent(db, sender.agentId, { conventions: ["*"] });
    const { verdict, loaded } = await judged(await goneOn(run, first), scripted({}));
    assert.deepEqual([verdict.conventions, loaded.conventions], [[], ["*"]]);
    const later = await judged(await fresh(sender), scripted({}));
    assert.deepEqual(later.verdict.conventions, ["*"]);
  });

  test("has no partial verdict either: what is known was kept when it was put away", async () => {
    const sender = await makeAsking("one");
    const run = await fresh(sender);
    const first = await waited(run, scripted({ ask: () => laterBy(2_000) }));
    const { clock, asked } = stoppedClock();
    assert.ok((await judging(await goneOn(run, first), scripted({}), clock).end).judged);
    assert.deepEqual(asked, []);
  });
});
