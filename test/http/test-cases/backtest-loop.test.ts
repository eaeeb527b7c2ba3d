// The background loop of backtests with a real database and a scripted editor: leases, cancelling, stopping, errors.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import pino from "pino";
import type { BacktestPart, BacktestRequest } from "../../../src/editor/backtest.ts";
import { BacktestLoop } from "../../../src/http/test-cases/backtest-loop.ts";
import { Refusal } from "../../../src/model/refusal.ts";
import { parseDraft } from "../../../src/model/test-case/test-case.ts";
import { newest } from "../../../src/store/listing.ts";
import { listUntried } from "../../../src/store/runs/backtest-results.ts";
import {
  backtestsKept,
  endBacktest,
  findBacktest,
  insertBacktest,
  listBacktests,
} from "../../../src/store/runs/backtests.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { canonicalWrite, limits, makeSender, openTwice, type Sender } from "../../store/traces/make-write.ts";
import { eventually } from "../../support/eventually.ts";

const { db, close } = await openTwice();
after(close);

let sender: Sender;
let asked: BacktestRequest[];
let answer: (request: BacktestRequest, signal: AbortSignal) => Promise<BacktestPart>;
let loop: BacktestLoop;

beforeEach(async () => {
  sender = await makeSender(db);
  asked = [];
  answer = async ({ traceIds }) => passed(traceIds);
  const editor = {
    backtest: (request: BacktestRequest, signal: AbortSignal) => {
      asked.push(request);
      return answer(request, signal);
    },
  };
  loop = new BacktestLoop({ db, log: pino({ level: "silent" }), editor });
});

const usage = { calls: 1, inputTokens: 100, outputTokens: 10, costUsd: 0.5, unpricedTokens: 0 };
const document = parseDraft({ name: "Tried", assertions: [{ type: "response_regex", pattern: "." }] });

function passed(traceIds: string[]): BacktestPart {
  const items = traceIds.map(traceId => ({
    traceId,
    after: "passed" as const,
    reason: "Fine.",
    check: null,
  }));
  return { items, usage };
}

/** Never answers, until it is aborted. */
function hang(_: BacktestRequest, signal: AbortSignal): Promise<BacktestPart> {
  return new Promise(resolve => signal.addEventListener("abort", () => resolve({ items: [], usage })));
}

async function store(count: number): Promise<string[]> {
  const writes = Array.from({ length: count }, () => canonicalWrite(sender));
  const writer = new TraceWriter(db, limits);
  await Promise.all(writes.map(write => writer.write(write)));
  return writes.map(({ traceId }) => traceId);
}

async function start(traceIds: string[]): Promise<string> {
  const { agentId } = sender;
  const more = { testId: null, version: null, draftedFrom: [], judged: true };
  const id = await insertBacktest(db, { agentId, document, traceIds, ...more });
  loop.start({ id, agentId, testId: null, test: document, judged: true });
  return id;
}

const read = async (id: string) => (await findBacktest(db, id))!;
const ended = (id: string) =>
  eventually(async () => {
    const backtest = await read(id);
    assert.notEqual(backtest.state, "running");
    return backtest;
  });

suite("a backtest in the background", () => {
  test("tries its traces in parts, newest first, and adds up what the judge took", async () => {
    const ids = await store(45);
    const backtest = await ended(await start(ids));
    assert.deepEqual(
      [backtest.state, backtest.traces, backtest.tried, backtest.usage.calls, backtest.usage.costUsd],
      ["completed", 45, 45, 3, 1.5],
    );
    assert.deepEqual(backtest.groups, [{ before: null, after: "passed", change: "new", traces: 45 }]);
    assert.deepEqual(
      asked.flatMap(({ traceIds }) => traceIds),
      ids.toSorted((one, other) => (one < other ? 1 : -1)),
    );
  });

  test("asks again for traces that a part did not reach", async () => {
    const ids = await store(3);
    answer = async ({ traceIds }) => passed(traceIds.slice(0, 1));
    assert.equal((await ended(await start(ids))).tried, 3);
    assert.equal(asked.length, 3);
  });

  test("runs once per agent at a time, and again after it was cancelled, whose work is aborted", async () => {
    answer = hang;
    const ids = await store(2);
    const first = await start(ids);
    await assert.rejects(start(ids), { code: "CONFLICT" });
    // As another process cancels it: only the heartbeat notices.
    await endBacktest(db, first, "cancelled");
    const second = await start(ids);
    answer = async ({ traceIds }) => passed(traceIds);
    await loop.stop();
    assert.deepEqual([(await read(first)).state, (await read(second)).state], ["cancelled", "interrupted"]);
    assert.equal((await read(first)).tried, 0);
  });

  test("is interrupted when the service stops, and keeps the results so far", async () => {
    const ids = await store(25);
    answer = async (request, signal) =>
      asked.length === 1 ? passed(request.traceIds) : hang(request, signal);
    const id = await start(ids);
    await eventually(async () => assert.equal(asked.length, 2));
    await loop.stop();
    const { state, tried, finishedAt } = await read(id);
    assert.deepEqual([state, tried, finishedAt !== null], ["interrupted", 20, true]);
  });

  test("counts as interrupted once its process is gone, and blocks no other", async () => {
    answer = hang;
    const ids = await store(1);
    const first = await start(ids);
    await db.pool.query("update backtests set lease_until = now() - interval '1 s' where id = $1", [first]);
    assert.equal((await read(first)).state, "interrupted");
    answer = async ({ traceIds }) => passed(traceIds);
    assert.equal((await ended(await start(ids))).state, "completed");
    assert.equal((await read(first)).state, "interrupted");
    await loop.stop();
  });

  test("ends with the reason if the editor cannot try its traces, and with none of a bug's words", async () => {
    const ids = await store(1);
    answer = async () => Promise.reject(new Refusal("UNAVAILABLE", { message: "This took too much time." }));
    const refused = await ended(await start(ids));
    assert.deepEqual([refused.state, refused.error], ["error", "This took too much time."]);
    answer = async () => Promise.reject(new Error("secret"));
    const failed = await ended(await start(ids));
    assert.deepEqual([failed.state, failed.error], ["error", "Internal error; see the service log."]);
  });

  test("forgets a trace that is deleted, and goes on with the others", async () => {
    const [gone, ...others] = await store(3);
    answer = async ({ traceIds }) => {
      await deleteTrace(db, gone!);
      return passed(traceIds);
    };
    const id = await start([gone!, ...others]);
    const { state, traces, tried } = await ended(id);
    assert.deepEqual([state, traces, tried], ["completed", 2, 2]);
    assert.deepEqual(await listUntried(db, id, 10), []);
  });

  test("is kept with the latest ones of its agent only", async () => {
    const ids = await store(1);
    for (let count = 0; count < backtestsKept + 2; count++) await ended(await start(ids));
    const kept = await listBacktests(db, sender.agentId, { before: newest, rowsMax: 100 });
    assert.equal(kept.length, backtestsKept);
  });
});
