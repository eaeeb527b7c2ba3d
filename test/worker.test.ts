// The worker evaluates due runs, keeps its lease while it lives, and gives runs up in every other case.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import { HeapSemaphore } from "../src/load/heap-semaphore.ts";
import type { Judge, SemanticAnswer } from "../src/model/judge/judge.ts";
import type { SandboxAnswer } from "../src/model/sandbox.ts";
import { decodeDetail } from "../src/store/runs/detail.ts";
import { findRun } from "../src/store/runs/read.ts";
import { deleteTrace, findTrace } from "../src/store/traces/read.ts";
import { TraceWriter } from "../src/store/traces/writer.ts";
import { traceHeapBytes } from "../src/threads/heap.ts";
import { begun, waiting } from "./store/locks.ts";
import {
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  otlpWrite,
  storeDueRun,
} from "./store/traces/make-write.ts";
import { deleteAllTraces } from "./support/delete-all-traces.ts";
import { eventually } from "./support/eventually.ts";
import { makeAgentRow } from "./support/rows.ts";
import { startRunWorker, type WorkerOptions } from "./support/run-worker.ts";

const { url, db, close } = await openTwice();
after(close);
beforeEach(() => deleteAllTraces(db));

const plain = await makeSender(db);
const semantic = await makeSender(db, { judged: false });
await makeTestCase(db, semantic.agentId, { assertions: [{ type: "semantic", criteria: "Is polite." }] });

const met = (model: string): SemanticAnswer => ({
  code: "ok",
  score: 1,
  votes: [{ score: 1, verdicts: [{ verdict: "met", evidence: "", reason: "Met." }] }],
  provider: "openai_compatible",
  model,
  promptVersion: "1",
  cached: false,
});

/** A judge that answers when it is told to. */
function slowJudge() {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const judge: Judge = {
    route: () => assert.fail("no test is conditional"),
    async ask(questions, signal) {
      asked.resolve();
      await Promise.race([
        released.promise,
        new Promise(resolve => signal?.addEventListener("abort", resolve)),
      ]);
      return questions.map(() => met("slow"));
    },
  };
  return { judge, asked: asked.promise, release: () => released.resolve() };
}

const quickJudge: Judge = {
  route: () => assert.fail("no test is conditional"),
  ask: async questions => questions.map(() => met("quick")),
};

function startWorker({ judge = quickJudge, ...options }: Partial<WorkerOptions> = {}) {
  const worker = startRunWorker(url, { judge, ...options });
  return {
    ...worker,
    /** Breaks its database connections. */
    async disconnect() {
      const { rows } = await worker.db.pool.query("select pg_backend_pid() as pid");
      assert.equal(rows.length, 1);
      await db.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and application_name = '' and query not like '%pg_terminate_backend%'`,
      );
    },
  };
}

async function ended(runId: string, state = "completed") {
  return eventually(async () => {
    const run = (await findRun(db, runId))!;
    assert.equal(run.state, state);
    return run;
  });
}

async function leaseEnd(runId: string): Promise<number> {
  const { rows } = await db.pool.query("select lease_until from queue where id = $1", [runId]);
  return rows[0].lease_until.getTime();
}

suite("a worker", () => {
  test("evaluates every due run once, next to another worker", async () => {
    const stored = await Promise.all(Array.from({ length: 80 }, () => storeDueRun(db, plain)));
    const workers = [startWorker(), startWorker()];
    for (const { runId } of stored) {
      const run = await ended(runId);
      assert.deepEqual(
        [run.verdict, run.attempts, decodeDetail(run.detail).results.length],
        ["missing_instrumentation", 1, 1],
      );
    }
    await Promise.all(workers.map(worker => worker.stop()));
    assert.equal(workers.flatMap(worker => worker.ended).length, 80);
  });

  for (const [whose, agentCount] of [
    ["another agent", 1],
    ["twenty agents of another account", 20],
  ] as const) {
    test(`evaluates an agent's runs while 140 earlier ones of ${whose} take long`, async () => {
      const slow = await makeSender(db, { judged: false });
      const agents = [slow];
      while (agents.length < agentCount) {
        agents.push({ ...slow, agentId: await makeAgentRow(db, { projectId: slow.projectId }) });
      }
      for (const { agentId } of agents) {
        await makeTestCase(db, agentId, {
          assertions: [{ type: "json_schema", target_node: "a", field: "o", schema: { minimum: 1 } }],
        });
      }
      const earlier = await Promise.all(
        Array.from({ length: 140 }, (_, at) =>
          storeDueRun(db, agents[at % agentCount]!, { attributes: { o: 1 } }),
        ),
      );
      const released = Promise.withResolvers<SandboxAnswer>();
      let asked = 0;
      const worker = startWorker({
        sandbox: {
          answer() {
            asked++;
            return released.promise;
          },
        },
      });
      // Half of its 128 places for one agent, three quarters for an account: at most another claim of 32 is on its way.
      await eventually(() => assert.ok(asked >= 64));
      const { runId } = await storeDueRun(db, plain);
      await ended(runId);
      assert.ok(asked <= 96, `${asked} runs were claimed`);
      released.resolve({ state: "ok", holds: true, faults: [] });
      for (const one of earlier) assert.equal((await ended(one.runId)).verdict, "passed");
      await worker.stop();
    });
  }

  test("updates the columns of a merged trace with the run that evaluates it", async () => {
    const writer = new TraceWriter(db, { ...limits, debounceMs: 0 });
    await writer.write(otlpWrite(plain, { externalId: "merged", text: "old" }));
    const { traceId } = await writer.write(otlpWrite(plain, { externalId: "merged", text: "new" }));
    const worker = startWorker();
    await eventually(async () => assert.equal((await findTrace(db, traceId))!.responseText, "new"));
    await worker.stop();
  });

  test("ends a run as an error immediately if its trace is too large to load, and evaluates the others", async () => {
    const list = Array.from({ length: 5_000 }, () => 0);
    const dense = await storeDueRun(db, plain, { attributes: { list } });
    const others = await Promise.all([1, 2].map(() => storeDueRun(db, plain)));
    const worker = startWorker({ heap: new HeapSemaphore({ bytes: 10_000, elements: 1_000 }) });
    for (const { runId } of others) await ended(runId);
    const run = await ended(dense.runId, "error");
    await worker.stop();
    assert.equal(run.attempts, 1);
    assert.match(run.error!, /too many values .* Send fewer or smaller spans/s);
  });

  test("evaluates a trace that did not fit in memory once others have released some", async () => {
    const heap = new HeapSemaphore({ bytes: 10_000, elements: 1_000 });
    const held = (await heap.take(traceHeapBytes({ bytes: 10_000, elements: 1_000 })))!;
    const { runId } = await storeDueRun(db, plain);
    const worker = startWorker({ heap });
    await ended(runId, "running");
    held.release();
    await ended(runId);
    // All memory is released.
    assert.ok(await heap.take(traceHeapBytes({ bytes: 10_000, elements: 1_000 })));
    await worker.stop();
  });

  test("releases the memory of a trace once it is evaluated, before its results are stored", async () => {
    const heap = new HeapSemaphore({ bytes: 10_000, elements: 1_000 });
    const { runId } = await storeDueRun(db, plain);
    const counts = await begun(db);
    await counts.query("lock table agent_hours in access exclusive mode", []);
    const worker = startWorker({ heap });
    await waiting(db, "insert into agent_hours");
    const all = traceHeapBytes({ bytes: 10_000, elements: 1_000 });
    const taken = await heap.take(all, AbortSignal.timeout(5_000));
    await counts.commit();
    await ended(runId);
    await worker.stop();
    assert.ok(taken);
  });

  test("gives a run back when it stops while the trace waits for memory", async () => {
    const heap = new HeapSemaphore({ bytes: 10_000, elements: 1_000 });
    await heap.take(traceHeapBytes({ bytes: 10_000, elements: 1_000 }));
    const { runId } = await storeDueRun(db, plain);
    const worker = startWorker({ heap });
    await ended(runId, "running");
    await worker.stop(10_000);
    const other = startWorker();
    assert.equal((await ended(runId)).attempts, 1);
    await other.stop();
  });

  test("extends its lease while a run takes long, so no other worker takes the run over", async () => {
    const { runId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const worker = startWorker({ judge: slow.judge, leaseMs: 2_000 });
    await slow.asked;
    const other = startWorker();
    const first = await leaseEnd(runId);
    await eventually(async () => assert.ok((await leaseEnd(runId)) > first + 2_000));
    slow.release();
    const run = await ended(runId);
    assert.equal(run.attempts, 1);
    await Promise.all([worker.stop(), other.stop()]);
    assert.deepEqual([worker.ended, other.ended], [["passed"], []]);
  });

  test("stores nothing of a run that another worker has taken over", async () => {
    const { runId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const silent = startWorker({ judge: slow.judge });
    await slow.asked;
    await db.pool.query("update queue set lease_until = now() - interval '1 second' where id = $1", [runId]);
    const other = startWorker();
    const before = await ended(runId);
    slow.release();
    await silent.stop(10_000);
    assert.deepEqual(await findRun(db, runId), before);
    await other.stop();
    assert.deepEqual([silent.ended, other.ended], [[], ["passed"]]);
  });

  test("says that more may be due only when it has claimed as many as it takes", async () => {
    let backlogs = 0;
    const idle = { idleMaxMs: 60_000, onBacklog: () => void backlogs++ };
    for (let count = 0; count < 40; count++) await storeDueRun(db, plain);
    const worker = startWorker(idle);
    await eventually(() => assert.equal(worker.ended.length, 40));
    await worker.stop(10_000);
    assert.equal(backlogs, 1);
    await storeDueRun(db, plain);
    const other = startWorker(idle);
    await eventually(() => assert.equal(other.ended.length, 1));
    await other.stop(10_000);
    assert.equal(backlogs, 1);
  });

  test("continues after its database connections broke", async () => {
    const { runId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const worker = startWorker({ judge: slow.judge });
    await slow.asked;
    await worker.disconnect();
    slow.release();
    await ended(runId);
    const next = await storeDueRun(db, plain);
    await ended(next.runId);
    await worker.stop();
  });
});

suite("a run that cannot be evaluated", () => {
  test("becomes an error alone if its trace cannot be read, and runs claimed with it are evaluated", async () => {
    const stored = await Promise.all(Array.from({ length: 6 }, () => storeDueRun(db, plain)));
    const broken = stored[3]!;
    await db.pool.query("update trace_batches set spans = 'no zstd' where trace_id = $1", [broken.traceId]);
    const worker = startWorker();
    for (const { runId } of stored) await ended(runId, runId === broken.runId ? "error" : "completed");
    const later = await storeDueRun(db, plain);
    await ended(later.runId);
    await worker.stop();
    assert.equal(worker.ended.filter(word => word === "error").length, 1);
    assert.match((await findRun(db, broken.runId))!.error!, /Internal error/);
  });

  test("is announced as an error after it crashed three workers", async () => {
    const { runId } = await storeDueRun(db, plain);
    await db.pool.query(
      `update queue set state = 'running', attempts = 3, lease = gen_random_uuid(),
        lease_until = now() - interval '1 second' where id = $1`,
      [runId],
    );
    const worker = startWorker();
    await ended(runId, "error");
    await eventually(() => assert.deepEqual(worker.ended, ["error"]));
    await worker.stop();
  });

  test("ends silently if its trace was deleted in the meantime", async () => {
    const { traceId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const worker = startWorker({ judge: slow.judge });
    await slow.asked;
    await deleteTrace(db, traceId);
    slow.release();
    const next = await storeDueRun(db, plain);
    await ended(next.runId);
    await worker.stop(10_000);
    assert.deepEqual(worker.ended, ["missing_instrumentation"]);
  });
});

suite("a worker that stops", () => {
  test("finishes its runs and takes no more", async () => {
    const { runId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const worker = startWorker({ judge: slow.judge });
    await slow.asked;
    const stopped = worker.stop(60_000);
    const late = await storeDueRun(db, plain);
    slow.release();
    await stopped;
    assert.equal((await findRun(db, runId))!.state, "completed");
    assert.equal((await findRun(db, late.runId))!.state, "pending");
  });

  test("gives back what it cannot finish, for another worker to evaluate immediately", async () => {
    const { runId } = await storeDueRun(db, semantic, { text: "Hello" });
    const slow = slowJudge();
    const worker = startWorker({ judge: slow.judge });
    await slow.asked;
    await worker.stop(0);
    assert.deepEqual(worker.ended, []);
    const given = (await findRun(db, runId))!;
    assert.deepEqual([given.state, given.attempts], ["running", 0]);
    const other = startWorker();
    const run = await ended(runId);
    await other.stop();
    assert.deepEqual([run.attempts, decodeDetail(run.detail).results.length], [1, 1]);
  });
});
