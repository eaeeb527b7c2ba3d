// Parts of a backtest: few traces in memory at a time, one retry of a busy judge, and every trace gets an outcome or a reason.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import { openEditor } from "../../src/editor.ts";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import type { Judge, JudgeContext, SemanticAnswer } from "../../src/model/judge/judge.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import { parseDraft } from "../../src/model/test-case/test-case.ts";
import { systemClock } from "../../src/remote/clock.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { canonicalWrite, limits, makeSender, openTwice, type Sender } from "../store/traces/make-write.ts";
import { eventually } from "../support/eventually.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sandbox = { answer: async () => assert.fail("Nothing is asked of the sandbox.") };

let sender: Sender;
let contexts: JudgeContext[];
let slept: number[];
let ask: (count: number) => Promise<SemanticAnswer>;

beforeEach(async () => {
  sender = await makeSender(db);
  contexts = [];
  slept = [];
});

const scored = (score: number): SemanticAnswer => ({
  ...{
    code: "ok",
    score,
    votes: [],
    cached: false,
    provider: "openai_compatible",
    model: "local",
    promptVersion: "1",
  },
});
const clock = { ...systemClock, sleep: async (ms: number) => void slept.push(ms) };

function editorWith(heap?: HeapSemaphore) {
  let asked = 0;
  const judge: Judge = {
    route: async () => assert.fail("No scenario is matched."),
    ask: async questions => Promise.all(questions.map(() => ask(++asked))),
  };
  const judgeOf = (context: JudgeContext) => {
    contexts.push(context);
    return judge;
  };
  return openEditor({ db, sandbox, clock, judgeOf, ...(heap && { heap }) });
}

const document = parseDraft({
  name: "Answers",
  passiveBehavior: "always_run",
  assertions: [{ id: "s", type: "semantic", criteria: "Answers." }],
});

async function store(...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) {
    const write = canonicalWrite(sender, { text });
    await writer.write(write);
    ids.push(write.traceId);
  }
  return ids;
}

const request = (traceIds: string[]) => ({ agentId: sender.agentId, document, traceIds, judged: true });

suite("a part of a backtest", () => {
  test("holds at most four traces while the judge takes its time, and ends when nobody waits for it", async () => {
    const ids = await store(...Array.from({ length: 7 }, (_, at) => `Reply ${at}.`));
    const leave = new AbortController();
    ask = () => {
      const { promise, resolve } = Promise.withResolvers<SemanticAnswer>();
      const cancelled = unanswered("aborted", { code: "judge_cancelled" });
      leave.signal.addEventListener("abort", () => resolve(cancelled));
      return promise;
    };
    const part = editorWith().backtest(request(ids), leave.signal);
    await eventually(async () => assert.equal(contexts.length, 4));
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(contexts.length, 4);
    leave.abort();
    assert.deepEqual((await part).items, []);
    assert.equal(contexts.length, 4);
  });

  test("asks a judge that is busy once more, and then leaves the trace without an outcome", async () => {
    const ids = await store("A reply.");
    const busy = () => unanswered("later", { code: "judge_busy" }, systemClock.now() + 60_000);
    ask = async count => (count === 1 ? busy() : scored(1));
    const nobody = new AbortController().signal;
    const { items } = await editorWith().backtest(request(ids), nobody);
    assert.deepEqual([items[0]!.after, slept], ["passed", [10_000]]);
    assert.deepEqual(
      contexts.map(({ runId, traceId, cachedOnly }) => [runId, traceId, cachedOnly]),
      [[null, ids[0], undefined]],
    );
    ask = async () => busy();
    const later = await editorWith().backtest(request(ids), nobody);
    assert.deepEqual(later.items, [
      {
        ...{ traceId: ids[0], after: null },
        reason: "The judge is busy with other traces.",
        check: { id: "s", type: "semantic" },
      },
    ]);
  });

  test("gives a reason for a trace that is too large or was deleted, and tries the others", async () => {
    const [small, large] = await store("Short.", "x".repeat(100_000));
    const gone = "7f0c1a52-94e8-4c5b-9d7e-3a1f6b2c8d40";
    ask = async () => scored(0);
    const heap = new HeapSemaphore({ bytes: 20_000, elements: 100 });
    const { items } = await editorWith(heap).backtest(
      request([small!, large!, gone]),
      new AbortController().signal,
    );
    const found = new Map(items.map(({ traceId, ...item }) => [traceId, item]));
    assert.equal(found.get(small!)!.after, "failed");
    assert.match(found.get(large!)!.reason, /too many values/);
    assert.deepEqual(found.get(gone), { after: null, reason: "The trace was deleted.", check: null });
  });
});
