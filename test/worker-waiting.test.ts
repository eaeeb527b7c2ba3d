// Runs that wait for the judge block no others, survive every worker, and end: judged or, after the deadline, skipped.
import assert from "node:assert/strict";
import { after, afterEach, beforeEach, suite, test } from "node:test";
import type { Judge, SemanticAnswer } from "../src/model/judge/judge.ts";
import { cancelled } from "../src/model/judge/outcome.ts";
import { decodeDetail } from "../src/store/runs/detail.ts";
import { listAgentHours } from "../src/store/runs/insights.ts";
import { judgeAgain, readOutages } from "../src/store/runs/outages.ts";
import { findRun, listRunsOfTrace } from "../src/store/runs/read.ts";
import { countWaiting } from "../src/store/runs/waiting.ts";
import { deleteTrace } from "../src/store/traces/read.ts";
import { TraceWriter } from "../src/store/traces/writer.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  otlpWrite,
  storeDueRun,
} from "./store/traces/make-write.ts";
import { deleteAllTraces } from "./support/delete-all-traces.ts";
import { eventually } from "./support/eventually.ts";
import { serverError } from "./support/judge-answers.ts";
import { startRunWorker, type TestWorker, type WorkerOptions } from "./support/run-worker.ts";

const { url, db, close } = await openTwice();
const started: TestWorker[] = [];
// Also those of a failed test: a worker that is not stopped keeps the process alive.
afterEach(() => Promise.all(started.splice(0).map(worker => worker.stop())));
after(close);
beforeEach(() => deleteAllTraces(db));

const plain = await makeSender(db);
const semantic = await makeSender(db, { judged: false });
await makeTestCase(db, semantic.agentId, {
  assertions: [
    { id: "plain", type: "response_regex", pattern: "Hello" },
    { id: "polite", type: "semantic", criteria: "Is polite." },
  ],
});

const met: SemanticAnswer = {
  code: "ok",
  score: 1,
  votes: [{ score: 1, verdicts: [{ verdict: "met", evidence: "", reason: "Met." }] }],
  provider: "openai_compatible",
  model: "local",
  promptVersion: "1",
  cached: false,
};

type Answer = () => SemanticAnswer | Promise<SemanticAnswer>;

/** A judge that gives every question the same answer, which can be changed; `asked` counts the runs that ask. */
function judgeThat(answer: Answer): Judge & { answer: Answer; asked: number } {
  const judge: ReturnType<typeof judgeThat> = {
    answer,
    asked: 0,
    route: () => assert.fail("no test is conditional"),
    async ask(questions: unknown[], signal?: AbortSignal) {
      judge.asked++;
      const called = new Promise<SemanticAnswer>(resolve =>
        signal?.addEventListener("abort", () => resolve(cancelled)),
      );
      const given = await Promise.race([judge.answer(), called]);
      return questions.map(() => given);
    },
  };
  return judge;
}

const later =
  (ms: number): Answer =>
  () =>
    serverError(503, Date.now() + ms);

/** A judge that hangs until it is released. */
function hangingJudge() {
  const { promise, resolve } = Promise.withResolvers<SemanticAnswer>();
  return { ...judgeThat(() => promise), release: () => resolve(met) };
}

const storeSemantic = () => storeDueRun(db, semantic, { text: "Hello" });

async function waiting(runId: string) {
  return eventually(async () => {
    const run = (await findRun(db, runId))!;
    assert.ok(run.nextTryAt, "the run waits");
    return run;
  });
}

async function ended(runId: string, state = "completed") {
  return eventually(async () => {
    const run = (await findRun(db, runId))!;
    assert.equal(run.state, state);
    return run;
  });
}

/** Makes the waiting runs due. */
const goOn = (runId?: string) =>
  db.pool.query(
    "update queue set next_try_at = now() where next_try_at is not null and ($1::uuid is null or id = $1)",
    [runId ?? null],
  );

const codesOf = (detail: Buffer | null) =>
  decodeDetail(detail).results.map(({ checks }) =>
    Object.fromEntries(checks.map(({ id, outcome, skipped }) => [id, skipped ?? outcome])),
  );

/** In the counts of the insights. */
async function countedRuns(): Promise<number> {
  const whenever = { from: new Date(0), to: new Date("2100-01-01") };
  const hours = await listAgentHours(db, semantic.agentId, whenever);
  return hours.reduce((sum, hour) => sum + hour.runs, 0);
}

function startWorker(options: WorkerOptions): TestWorker {
  const worker = startRunWorker(url, options);
  started.push(worker);
  return worker;
}

suite("while a judge hangs", () => {
  test("five hundred waiting runs do not keep runs of other agents from being evaluated", async () => {
    const judge = hangingJudge();
    const stuck = await Promise.all(Array.from({ length: 500 }, storeSemantic));
    const worker = startWorker({ judge });
    // Each of the five hundred has results of its deterministic checks.
    await eventually(async () => {
      const { rows } = await db.pool.query(
        "select count(*)::int as known from queue where agent_id = $1 and detail is not null",
        [semantic.agentId],
      );
      assert.equal(rows[0].known, stuck.length);
    });
    const others = await Promise.all(Array.from({ length: 50 }, () => storeDueRun(db, plain)));
    for (const { runId } of others) await ended(runId);
    assert.deepEqual([worker.ended.length, (await findRun(db, stuck[0]!.runId))!.state], [50, "running"]);
    const asking = stuck.length - (await countWaiting(db));
    assert.ok(asking > 0 && asking <= 96, `${asking} of them are asking`);
    judge.release();
    await eventually(async () => {
      await goOn();
      assert.equal(worker.ended.length, 550);
    });
    await worker.stop();
    assert.equal(worker.ended.filter(verdict => verdict === "passed").length, 500);
  });

  test("waiting runs do not keep runs of other agents from asking their own judges", async () => {
    const [hanging, answering] = [hangingJudge(), judgeThat(() => met)];
    const stuck = await Promise.all(Array.from({ length: 150 }, storeSemantic));
    const worker = startWorker({
      judge: ({ agentId }) => (agentId === semantic.agentId ? hanging : answering),
    });
    await eventually(async () => {
      const { rows } = await db.pool.query(
        "select count(*)::int as known from queue where detail is not null",
      );
      assert.equal(rows[0].known, stuck.length);
    });
    const { agentId, ...rest } = await makeSender(db, { judged: false });
    await makeTestCase(db, agentId, { assertions: [{ type: "semantic", criteria: "Is polite." }] });
    const asking = Array.from({ length: 20 }, () => storeDueRun(db, { agentId, ...rest }, { text: "Hello" }));
    for (const { runId } of await Promise.all(asking)) {
      assert.equal((await ended(runId)).verdict, "passed");
    }
    assert.equal(worker.ended.length, 20);
    hanging.release();
    await worker.stop();
  });

  test("partial results are stored and announced soon, once, and the rest when the judge answers", async () => {
    const judge = hangingJudge();
    const { runId } = await storeSemantic();
    const worker = startWorker({ judge });
    const partly = await eventually(async () => {
      const run = (await findRun(db, runId))!;
      assert.ok(run.detail);
      return run;
    });
    assert.deepEqual(
      [partly.state, partly.verdict, partly.nextTryAt, codesOf(partly.detail)],
      ["running", null, null, [{ plain: "passed", polite: "waiting" }]],
    );
    await eventually(() => assert.equal(worker.told.length, 1));
    judge.release();
    const run = await ended(runId);
    assert.deepEqual(codesOf(run.detail), [{ plain: "passed", polite: "passed" }]);
    await worker.stop();
    assert.deepEqual(
      worker.told.map(({ state, verdict }) => [state, verdict]),
      [
        ["running", null],
        ["completed", "passed"],
      ],
    );
  });

  test("a run that is asking is given back on shutdown, and resumed by its plan elsewhere", async () => {
    const { runId } = await storeSemantic();
    const first = startWorker({ judge: hangingJudge() });
    await eventually(async () => assert.ok((await findRun(db, runId))!.detail));
    await first.stop();
    const given = (await findRun(db, runId))!;
    assert.deepEqual([given.state, given.attempts, first.ended], ["running", 0, []]);
    const until = "now() + interval '100 s'";
    await db.pool.query(`update queue set judge_deadline_at = ${until} where id = $1`, [runId]);
    const deadlines: number[] = [];
    const second = startWorker({
      judge: ({ deadlineAt }) => {
        deadlines.push(deadlineAt! - Date.now());
        return judgeThat(() => met);
      },
    });
    const run = await ended(runId);
    await second.stop();
    assert.deepEqual([run.attempts, run.verdict], [1, "passed"]);
    assert.ok(deadlines.length > 0 && deadlines.every(ms => ms <= 100_000), "the deadline stays");
  });

  test("a run whose worker dies while it asks is taken over by another", async () => {
    const { runId } = await storeSemantic();
    const dead = startWorker({ judge: hangingJudge() });
    await eventually(async () => assert.ok((await findRun(db, runId))!.detail));
    await db.pool.query("update queue set lease_until = now() - interval '1 second' where id = $1", [runId]);
    const second = startWorker({ judge: judgeThat(() => met) });
    const run = await ended(runId);
    await Promise.all([dead.stop(), second.stop()]);
    assert.deepEqual([run.attempts, run.verdict, dead.ended, second.ended], [2, "passed", [], ["passed"]]);
  });
});

suite("a run whose judge must be asked later", () => {
  test("is held by no worker, says that it waits, and is evaluated once when the judge answers", async () => {
    const before = await countedRuns();
    const judge = judgeThat(later(600_000));
    const { runId } = await storeSemantic();
    const worker = startWorker({ judge });
    const put = await waiting(runId);
    assert.deepEqual(
      [put.state, put.attempts, put.waitingReason, codesOf(put.detail)],
      ["running", 0, "The judge answered with status 503.", [{ plain: "passed", polite: "waiting" }]],
    );
    judge.answer = () => met;
    await goOn(runId);
    const run = await ended(runId);
    assert.deepEqual([run.verdict, run.attempts, judge.asked], ["passed", 1, 2]);
    await worker.stop();
    assert.deepEqual(
      worker.told.map(({ state }) => state),
      ["running", "running", "completed"],
    );
    assert.equal(await countedRuns(), before + 1);
  });

  test("is resumed by another worker if the one that asked is gone", async () => {
    const { runId } = await storeSemantic();
    const first = startWorker({ judge: judgeThat(later(600_000)) });
    await waiting(runId);
    await first.stop();
    await goOn(runId);
    const second = startWorker({ judge: judgeThat(() => met) });
    const run = await ended(runId);
    await second.stop();
    assert.deepEqual([run.attempts, run.verdict, second.ended], [1, "passed", ["passed"]]);
  });

  test("resumes when it is due, until the judge answers", async () => {
    const judge = judgeThat(later(30));
    const { runId } = await storeSemantic();
    const worker = startWorker({ judge });
    await eventually(() => assert.ok(judge.asked > 5));
    judge.answer = () => met;
    const run = await ended(runId);
    await worker.stop();
    assert.deepEqual([run.verdict, run.attempts, run.error], ["passed", 1, null]);
  });

  test("is skipped with the reason when its deadline passes, and listed until it is evaluated again", async () => {
    const judge = judgeThat(later(600_000));
    const { runId, traceId } = await storeSemantic();
    const worker = startWorker({ judge });
    await waiting(runId);
    await db.pool.query("update queue set judge_deadline_at = now() where id = $1", [runId]);
    await goOn(runId);
    const run = await ended(runId);
    const { results, tests, plan } = decodeDetail(run.detail);
    assert.deepEqual(
      [
        run.verdict,
        run.outage,
        plan?.length,
        tests.length,
        results[0]!.checks[1]!.skipped,
        results[0]!.checks[1]!.reason,
      ],
      ["passed", true, 1, 1, "judge_unavailable", "The judge answered with status 503."],
    );
    assert.equal((await readOutages(db, semantic.agentId)).traces, 1);
    judge.answer = () => met;
    const { runs } = (await judgeAgain(db, semantic.agentId))!;
    const again = await ended(runs[0]!.runId);
    await worker.stop();
    assert.deepEqual([again.traceId, again.cause, again.outage], [traceId, "again", false]);
    assert.equal((await readOutages(db, semantic.agentId)).traces, 0);
    assert.equal((await findRun(db, runId))!.outage, false);
  });

  test("is skipped immediately if there is no time to wait", async () => {
    const { runId } = await storeSemantic();
    const worker = startWorker({ judge: judgeThat(later(1)), judgeDeadlineMs: 0 });
    const run = await ended(runId);
    await worker.stop();
    assert.deepEqual(codesOf(run.detail), [{ plain: "passed", polite: "judge_unavailable" }]);
  });
});

suite("a trace that changes while its run waits", () => {
  const writer = new TraceWriter(db, { ...limits, debounceMs: 0 });

  test("and is deleted deletes the run, silently", async () => {
    const judge = judgeThat(later(600_000));
    const { runId, traceId } = await storeSemantic();
    const worker = startWorker({ judge });
    await waiting(runId);
    await deleteTrace(db, traceId);
    const next = await storeDueRun(db, plain);
    await ended(next.runId);
    await worker.stop();
    assert.deepEqual([worker.ended.length, await findRun(db, runId)], [1, undefined]);
  });

  test("and is replaced is evaluated as it is then, once", async () => {
    const judge = judgeThat(later(600_000));
    const write = canonicalWrite(semantic, { externalId: "replaced", text: "Hello" });
    const { traceId } = await writer.write(write);
    const worker = startWorker({ judge });
    await waiting(write.runId);
    await writer.write(canonicalWrite(semantic, { externalId: "replaced", text: "Go away" }));
    judge.answer = () => met;
    await goOn(write.runId);
    const run = await ended(write.runId);
    await worker.stop();
    assert.deepEqual([run.revision, codesOf(run.detail)], [2, [{ plain: "failed", polite: "passed" }]]);
    assert.equal((await listRunsOfTrace(db, traceId)).length, 1);
  });

  test("and grows by a span while a further run waits, too, is evaluated once as it is then", async () => {
    const judge = judgeThat(later(600_000));
    const first = otlpWrite(semantic, { externalId: "grown", spans: ["a"], text: "Hello" });
    const { traceId } = await writer.write(first);
    const worker = startWorker({ judge });
    await waiting(first.runId);
    const patient = new TraceWriter(db, limits);
    await patient.write(otlpWrite(semantic, { externalId: "grown", spans: ["b"], text: "Hello" }));
    await patient.write(otlpWrite(semantic, { externalId: "grown", spans: ["c"], text: "Hello" }));
    await db.pool.query("update queue set due_at = now() where trace_id = $1 and state = 'pending'", [
      traceId,
    ]);
    const runs = await eventually(async () => {
      const runs = await listRunsOfTrace(db, traceId);
      assert.deepEqual(
        runs.map(run => [run.state, run.nextTryAt !== null]),
        [
          ["running", true],
          ["running", true],
        ],
      );
      return runs;
    });
    judge.answer = () => met;
    await goOn();
    // Both read the same revision, so the one that ends later leaves nothing.
    await eventually(async () => {
      const left = await listRunsOfTrace(db, traceId);
      assert.deepEqual(
        left.map(run => [run.state, run.revision]),
        [["completed", 3]],
      );
      assert.ok(runs.some(({ id }) => id === left[0]!.id));
    });
    await worker.stop();
  });
});
