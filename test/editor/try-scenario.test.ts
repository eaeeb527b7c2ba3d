// A scenario tried on recent inputs: each distinct input once, in a question of its own, costs first, and every outage as it is.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import { openEditor } from "../../src/editor.ts";
import type {
  Judge,
  JudgeContext,
  RouteEstimate,
  RouteSpent,
  RoutingAnswer,
  RoutingQuestion,
} from "../../src/model/judge/judge.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import { systemClock } from "../../src/remote/clock.ts";
import { idAt } from "../../src/store/listing.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { canonicalWrite, limits, makeSender, openTwice, type Sender } from "../store/traces/make-write.ts";
import { budgetSpent, unansweredBy } from "../support/judge-answers.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sandbox = { answer: async () => assert.fail("Nothing is asked of the sandbox.") };
const nobodyLeaves = new AbortController().signal;

let sender: Sender;
let asked: { question: RoutingQuestion; context: JudgeContext }[];
let answer: (input: string, signal?: AbortSignal) => RoutingAnswer | Promise<RoutingAnswer>;
let estimate: ((input: string) => RouteEstimate) | undefined;
let deadlines: { ms: number; end: () => void }[];

beforeEach(async () => {
  sender = await makeSender(db);
  asked = [];
  deadlines = [];
  answer = () => labelled("match");
  estimate = undefined;
});

function labelled(label: "match" | "unsure" | "no_match", more: object = {}): RoutingAnswer {
  return { code: "ok", labels: new Map([["draft", { label, reason: "as told" }]]), spent, ...more };
}

const spent: RouteSpent = { calls: 1, inputTokens: 100, outputTokens: 10, costUsd: 0.25 };
const known: RouteSpent = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };

const clock = {
  ...systemClock,
  timeout(ms: number) {
    const controller = new AbortController();
    deadlines.push({ ms, end: () => controller.abort() });
    return controller.signal;
  },
};

const editor = openEditor({
  db,
  sandbox,
  clock,
  judgeOf: context =>
    ({
      async route(question, signal) {
        asked.push({ question, context });
        return answer(question.userInput, signal);
      },
      ask: async () => assert.fail("No reply is judged."),
      ...(estimate && { estimateRoute: async ({ userInput }) => estimate!(userInput) }),
    }) satisfies Judge,
});

const firstMs = Date.now();
let made = 0;

/** From the first to the latest; null: a conversation without an input. */
async function store(...inputs: (string | null)[]): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) {
    const attributes = input === null ? {} : { "gen_ai.prompt": input };
    // Ids of the same millisecond have no order.
    const write = { ...canonicalWrite(sender, { attributes }), traceId: idAt(firstMs + made++) };
    await writer.write(write);
    ids.push(write.traceId);
  }
  return ids;
}

function tryIt({ count = 50, estimate = false, signal = nobodyLeaves } = {}) {
  const ask = { agentId: sender.agentId, scenario: "Asks for a parcel.", count, estimate };
  return editor.tryScenario(ask, signal);
}

suite("a scenario that is tried", () => {
  test("asks about each distinct input of the latest traces separately, and lists the answers newest first", async () => {
    const ids = await store("Where is it?", "Hello", null, " Where  is\nit? ", "Refund me");
    answer = input => labelled(input === "Hello" ? "no_match" : "match");
    const tried = await tryIt();
    assert.deepEqual(
      tried.items.map(({ traceId, input, traces, label }) => [traceId, input, traces, label]),
      [
        [ids[4], "Refund me", 1, "match"],
        [ids[3], " Where  is\nit? ", 2, "match"],
        [ids[1], "Hello", 1, "no_match"],
      ],
    );
    assert.deepEqual(
      asked.map(({ question }) => question.scenarios.map(({ scenario }) => scenario)),
      Array(3).fill(["Asks for a parcel."]),
    );
    assert.deepEqual(
      asked.map(({ question, context }) => [question.userInput, context]),
      tried.items.map(({ input, traceId }) => [
        input,
        { agentId: sender.agentId, traceId, runId: null, deadlineAt: null, tries: 0 },
      ]),
    );
    const { items: _, ...figures } = tried;
    assert.deepEqual(figures, {
      traces: 5,
      withoutInput: 1,
      unread: 0,
      inputs: 3,
      cached: 0,
      calls: 3,
      inputTokens: 300,
      outputTokens: 30,
      costUsd: 0.75,
      left: 0,
      unavailable: null,
    });
  });

  test("reads the whole of an input that its row has only the beginning of", async () => {
    const long = `${"a long story ".repeat(100)}and where is my parcel?`;
    await store(long);
    const tried = await tryIt();
    assert.equal(asked[0]?.question.userInput, long);
    assert.ok(tried.items[0]!.input.length <= 500);
  });

  test("looks at as many traces as asked for, and at no test runs", async () => {
    const ids = await store("one", "two", "three");
    await db.pool.query("update traces set kind = 'test_run' where id = $1", [ids[2]]);
    const tried = await tryIt({ count: 1 });
    assert.deepEqual([tried.traces, tried.items.map(({ input }) => input)], [1, ["two"]]);
  });

  test("says of an agent without traces that there is nothing to try it on", async () => {
    const tried = await tryIt();
    assert.deepEqual([tried.traces, tried.inputs, tried.calls, tried.costUsd], [0, 0, 0, 0]);
  });

  test("asks nothing for an estimate, and counts what is known already as free", async () => {
    await store("known", "new", "newer");
    estimate = input => ({ code: "ok", ...(input === "known" ? known : spent) });
    const tried = await tryIt({ estimate: true });
    assert.deepEqual([asked.length, tried.items, tried.left], [0, [], 3]);
    assert.deepEqual([tried.inputs, tried.cached, tried.calls, tried.inputTokens], [3, 1, 2, 200]);
    assert.equal(tried.costUsd, 0.5);
  });

  test("names no price where one of the calls has none", async () => {
    await store("priced", "unpriced");
    estimate = input => ({ code: "ok", ...spent, costUsd: input === "priced" ? 1 : null });
    assert.equal((await tryIt({ estimate: true })).costUsd, null);
  });

  test("says before anything is asked that the judge would not answer", async () => {
    await store("one");
    estimate = () => unansweredBy.not_configured;
    const tried = await tryIt({ estimate: true });
    const reason = reasonText(unansweredBy.not_configured.detail);
    assert.deepEqual(tried.unavailable, { state: "not_configured", reason });
    assert.equal(asked.length, 0);
  });

  test("marks what was known before, and tells of an input that speaks to the judge", async () => {
    await store("known", "You are a judge");
    answer = input =>
      input === "known"
        ? labelled("match", { spent: known })
        : labelled("unsure", { suspicious: "It says so." });
    const tried = await tryIt();
    assert.deepEqual(
      tried.items.map(({ cached, suspicious }) => [cached, suspicious]),
      [
        [false, "It says so."],
        [true, undefined],
      ],
    );
    assert.deepEqual([tried.cached, tried.calls, tried.costUsd], [1, 1, 0.25]);
  });

  test("stops at an outage, keeps what was answered, and leaves the rest", async () => {
    await store(...Array.from({ length: 20 }, (_, at) => `input ${at}`));
    answer = () => (asked.length < 3 ? labelled("match") : budgetSpent);
    const tried = await tryIt();
    const reason = reasonText(budgetSpent.detail);
    assert.deepEqual(tried.unavailable, { state: "budget", reason });
    assert.equal(tried.items.length + tried.left, 20);
    assert.ok(tried.items.length >= 2 && asked.length < 12, `${asked.length} were asked`);
  });

  test("tells of an input that the judge said nothing sound of, and goes on", async () => {
    await store("silent", "garbled", "fine");
    answer = input =>
      input === "fine"
        ? labelled("match")
        : input === "silent"
          ? { code: "ok", labels: new Map() }
          : { ...unansweredBy.unusable, spent };
    const tried = await tryIt();
    assert.deepEqual([tried.calls, tried.costUsd], [2, 0.5]);
    assert.deepEqual(
      tried.items.map(({ label, reason }) => [label, reason]),
      [
        ["match", "as told"],
        [null, "The judge did not answer with the requested JSON."],
        [null, "The judge gave no answer for this input."],
      ],
    );
    assert.equal(tried.unavailable, null);
  });

  test("begins no further input once its time is up, and ends those under way later", async () => {
    await store(...Array.from({ length: 20 }, (_, at) => `input ${at}`));
    answer = (_, signal) => {
      if (asked.length === 1) return labelled("match");
      return new Promise(resolve => {
        signal!.addEventListener("abort", () => resolve(unansweredBy.aborted));
        if (asked.length === 4) for (const { end } of deadlines) end();
      });
    };
    const tried = await tryIt();
    assert.deepEqual([asked.length, tried.items.length, tried.left, tried.unavailable], [4, 1, 19, null]);
    const [begin, end] = deadlines;
    assert.ok(begin!.ms < end!.ms && end!.ms < 60_000);
  });
});
