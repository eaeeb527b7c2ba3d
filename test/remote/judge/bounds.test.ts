// How hard a judge is asked: never by more at a time than it takes, nor for more than it gives, nor while it is down.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import type { JudgeConnection, RouteAsk } from "../../../src/model/judge/call.ts";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import { judgeLimits } from "../../../src/remote/judge/bounds.ts";
import type { Owners } from "../../../src/threads/fair-queue.ts";
import {
  type PermitGrant,
  SharedSemaphores,
  shareSemaphores,
} from "../../../src/threads/shared-semaphore.ts";
import { openClient } from "../../support/judge-clients.ts";
import {
  completion,
  echoing,
  json,
  labelsOf,
  obliging,
  type Reply,
  refusal,
  type Script,
  silence,
  startJudgeServer,
  usage,
} from "../../support/judge-server.ts";
import { standingClock } from "../../support/standing-clock.ts";

const server = await startJudgeServer();
after(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
});

const question: RouteAsk = {
  userInput: "Where is my parcel?",
  scenarios: [{ id: "s1", scenario: "The user asks where an order is." }],
};

function open(script: Script, more: Partial<JudgeConnection> = {}) {
  server.script = script;
  const time = standingClock();
  const client = openClient(server.connection(more), { clock: time.clock });
  return {
    client,
    ask: (signal?: AbortSignal) => client.route(question, signal),
    enter: () => client.enter(question),
    ...time,
  };
}

/** Answers only once it is told to. */
function gated() {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const script: Script = async (request, index) => {
    running += 1;
    most = Math.max(most, running);
    await gate.promise;
    running -= 1;
    return obliging()(request, index);
  };
  return { script, open: gate.resolve, most: () => most };
}

suite("the calls of a process", () => {
  test("are never more at a time than configured; the others wait, are counted, and are made in the end", async () => {
    const gate = gated();
    const { ask, client } = open(gate.script, { concurrency: 3 });
    const asked = Array.from({ length: 10 }, () => ask());
    await server.arrived(3);
    assert.equal(client.queued, 7);
    gate.open();
    const replies = await Promise.all(asked);
    assert.ok(replies.every(({ code }) => code === "ok"));
    assert.deepEqual([gate.most(), server.requests.length, client.queued], [3, 10, 0]);
  });

  test("are none more where a question comes after another was let in", async () => {
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const script: Script = async (request, index) => {
      await gates[index]!.promise;
      return obliging()(request, index);
    };
    const { ask, client } = open(script, { concurrency: 1 });
    const asked = [ask(), ask()];
    gates[0]!.resolve();
    await server.arrived(2);
    asked.push(ask());
    assert.equal(client.queued, 1);
    for (const gate of gates) gate.resolve();
    assert.ok((await Promise.all(asked)).every(({ code }) => code === "ok"));
  });

  test("do not hold up a question that is withdrawn while it waits for its turn", async () => {
    const gate = gated();
    const { ask, client } = open(gate.script, { concurrency: 1 });
    const first = ask();
    await server.arrived(1);
    const asker = new AbortController();
    const second = ask(asker.signal);
    assert.equal(client.queued, 1);
    asker.abort();
    assert.equal((await second).code, "aborted");
    assert.equal(client.queued, 0);
    gate.open();
    assert.equal((await first).code, "ok");
    assert.equal((await ask()).code, "ok");
    assert.equal(server.requests.length, 2);
  });
});

suite("accounts that share a judge", () => {
  const [large, small] = [["large", "a"] as const, ["small", "b"] as const];

  test("take turns at its permits, over all threads", async () => {
    server.script = obliging();
    const main = new SharedSemaphores();
    const [one, two] = [1, 2].map(() => {
      const port = { postMessage: ({ id, pause }: PermitGrant) => own.granted(id, pause) };
      const own = shareSemaphores(request => void main.receive(port, request));
      return openClient(server.connection({ concurrency: 1 }), { semaphore: own.semaphore("judge", 1) });
    });
    const order: string[] = [];
    const asked = [..."abcdef"].map(async name => {
      await one!.route(question, undefined, large);
      order.push(name);
    });
    asked.push(two!.route(question, undefined, small).then(() => void order.push("small")));
    await Promise.all(asked);
    assert.deepEqual(order, ["a", "b", "small", "c", "d", "e", "f"]);
  });

  test("leave each other room at the tokens of a minute", async () => {
    const { client, clock } = open(obliging(), { concurrency: 200, tokensPerMinute: 60_000 });
    clock.sleep = async () => undefined;
    const entered = async (owners: Owners) => "end" in (await client.enter(question, owners));
    let turns = 0;
    while (await entered(large)) turns += 1;
    assert.ok(turns > 1);
    assert.deepEqual([await entered(small), await entered(large)], [true, false]);
  });
});

suite("a permit", () => {
  test("and its tokens are given back by a turn that ends without a call", async () => {
    const { ask, enter } = open(obliging(), { concurrency: 1, tokensPerMinute: 1_000 });
    for (const _ of [1, 2, 3]) {
      const turn = await enter();
      assert.ok("end" in turn);
      turn.end();
    }
    assert.equal((await ask()).code, "ok");
    assert.equal(server.requests.length, 1);
  });
});

suite("the tokens of a minute", () => {
  /** Answers without usage if `tokens` is left out. */
  const taking =
    (tokens?: number): Script =>
    request =>
    (response, asked) => {
      const content = JSON.stringify(echoing({ labels: labelsOf(request) }, request));
      const message = { role: "assistant", content };
      const half = tokens === undefined ? undefined : tokens / 2;
      json(200, {
        id: "1",
        model: request.model,
        choices: [{ index: 0, finish_reason: "stop", message }],
        usage: half && { prompt_tokens: half, completion_tokens: half, total_tokens: tokens },
      })(response, asked);
    };

  test("are counted as the server counts them, and waited for where that is short", async () => {
    const { ask, waits } = open(taking(6_000), { tokensPerMinute: 12_000 });
    await ask();
    await ask();
    assert.deepEqual(waits, []);
    await ask();
    // All is used up, and the estimate of a call comes back at 200 tokens a second.
    assert.equal(waits.length, 1);
    assert.ok(waits[0]! > 5_000 && waits[0]! < judgeLimits.tokenWaitMaxMs);
    assert.equal(server.requests.length, 3);
  });

  test("that would be waited for too long are asked for later, without a call", async () => {
    const { ask, waits, pass, clock } = open(taking(12_000), { tokensPerMinute: 6_000 });
    await ask();
    const reply = await ask();
    assert.ok(reply.code === "later" && reply.call === null);
    assert.equal(reply.detail.code, "judge_rate_limited");
    const waitMs = reply.retryAt! - clock.now();
    assert.ok(waitMs > 60_000);
    assert.deepEqual([waits, server.requests.length], [[], 1]);
    pass(waitMs);
    assert.equal((await ask()).code, "ok");
  });

  test("let even a question through that takes more than a minute has, once all of them are there", async () => {
    const { client, waits } = open(obliging(), { tokensPerMinute: 1_000 });
    const long = { ...question, userInput: "Where is it? ".repeat(600) };
    assert.equal((await client.route(long)).code, "ok");
    assert.deepEqual(waits, []);
    assert.equal((await client.route(long)).code, "later");
  });

  test("of calls that failed are given back", async () => {
    let down = true;
    const { ask, waits } = open((request, index) => (down ? refusal(500) : obliging()(request, index)), {
      tokensPerMinute: 1_000,
    });
    for (let asked = 1; asked < judgeLimits.failuresMax; asked += 1)
      assert.equal((await ask()).code, "later");
    down = false;
    assert.equal((await ask()).code, "ok");
    assert.deepEqual(waits, []);
  });

  test("are not taken by a question that is withdrawn while it waits for them", async () => {
    const { ask, clock } = open(taking(12_000), { tokensPerMinute: 12_000 });
    await ask();
    const asker = new AbortController();
    clock.sleep = (_, signal) =>
      new Promise((_, reject) => {
        signal!.addEventListener("abort", () => reject(signal!.reason));
        asker.abort();
      });
    assert.equal((await ask(asker.signal)).code, "aborted");
    clock.sleep = async () => undefined;
    assert.equal((await ask()).code, "ok");
  });

  test("are estimated where the server does not say", async () => {
    const { ask, waits } = open(taking(), { tokensPerMinute: 2_600 });
    const { call } = await ask();
    assert.ok(call!.tokensEstimated && call!.inputTokens > 0 && call!.outputTokens > 0);
    assert.equal((await ask()).code, "ok");
    assert.equal(waits.length, 1);
  });
});

suite("after a row of failures", () => {
  const failing = async (reply: Reply = refusal(503)) => {
    const opened = open(() => reply);
    for (let asked = 0; asked < judgeLimits.failuresMax; asked += 1) await opened.ask();
    return opened;
  };

  test("the judge is left alone for a while, and every question told so at once, and until when", async () => {
    const { ask, pass, clock } = await failing();
    pass(4_000);
    const reply = await ask();
    assert.ok(reply.code === "later" && reply.call === null);
    const because = { code: "judge_http_error", data: { status: 503 } };
    assert.deepEqual(reply.detail, { code: "judge_suspended", data: { because } });
    assert.equal(reply.retryAt! - clock.now(), judgeLimits.suspendedMs - 4_000);
    assert.equal(server.requests.length, judgeLimits.failuresMax);
  });

  test("those that waited for their turn are told so, too", async () => {
    const gate = Promise.withResolvers<Reply>();
    const { ask } = open(() => gate.promise, { concurrency: judgeLimits.failuresMax });
    const asked = Array.from({ length: 3 * judgeLimits.failuresMax }, () => ask());
    await server.arrived(judgeLimits.failuresMax);
    gate.resolve(refusal(500));
    const replies = await Promise.all(asked);
    assert.ok(replies.every(({ code }) => code === "later"));
    assert.ok(server.requests.length < 2 * judgeLimits.failuresMax);
  });

  test("those that were under way and fail with them are no further failure: the rest is as short", async () => {
    const gate = Promise.withResolvers<Reply>();
    const concurrency = judgeLimits.failuresMax + 3;
    const { ask, clock } = open(() => gate.promise, { concurrency });
    const asked = Array.from({ length: concurrency }, () => ask());
    await server.arrived(concurrency);
    gate.resolve(refusal(503));
    await Promise.all(asked);
    const reply = await ask();
    assert.equal(reply.code === "later" && reply.retryAt! - clock.now(), judgeLimits.suspendedMs);
  });

  test("one question alone is put once the rest is over; the others wait for what comes of it", async () => {
    const { ask, pass } = await failing();
    pass(judgeLimits.suspendedMs);
    const gate = gated();
    server.script = gate.script;
    const probe = ask();
    await server.arrived(judgeLimits.failuresMax + 1);
    const others = await Promise.all([ask(), ask()]);
    assert.ok(others.every(({ code, call }) => code === "later" && call === null));
    gate.open();
    assert.equal((await probe).code, "ok");
    assert.equal((await ask()).code, "ok");
  });

  test("what one call was asked to wait is waited for, whatever another under way hears later", async () => {
    const gate = Promise.withResolvers<Reply>();
    const { ask, clock } = open((_, index) => (index === 0 ? gate.promise : refusal(503)), {
      concurrency: 2,
    });
    const slow = ask();
    await server.arrived(1);
    server.script = () => refusal(429, {}, { "retry-after": "600" });
    assert.equal((await ask()).code, "later");
    gate.resolve(refusal(503));
    assert.equal((await slow).code, "later");
    const reply = await ask();
    const waitMs = reply.code === "later" && reply.retryAt! - clock.now();
    assert.deepEqual([waitMs, server.requests.length], [600_000, 2]);
  });

  test("what one thread was asked to wait is waited for by all of the process, also by calls that waited for a permit", async () => {
    const gate = Promise.withResolvers<Reply>();
    server.script = () => gate.promise;
    const { clock, pass } = standingClock();
    const main = new SharedSemaphores();
    const [one, two] = [1, 2].map(() => {
      const port = { postMessage: ({ id, pause }: PermitGrant) => own.granted(id, pause) };
      const own = shareSemaphores(request => void main.receive(port, request));
      return openClient(server.connection({ concurrency: 1 }), {
        clock,
        semaphore: own.semaphore("judge", 1),
      });
    });
    const first = one!.route(question);
    await server.arrived(1);
    const queued = two!.route(question);
    gate.resolve(refusal(429, {}, { "retry-after": "600" }));
    assert.equal((await first).code, "later");
    for (const reply of [await queued, await two!.route(question)]) {
      assert.ok(reply.code === "later" && reply.call === null);
      assert.equal(reply.retryAt! - clock.now(), 600_000);
      assert.match(reasonText(reply.detail), /suspended for a while\. .*429/);
    }
    assert.equal(server.requests.length, 1);
    pass(600_000);
    server.script = obliging();
    assert.equal((await two!.route(question)).code, "ok");
  });

  test("another failure doubles the rest, up to a bound", async () => {
    const { ask, pass, clock } = await failing();
    let restMs = judgeLimits.suspendedMs;
    for (let round = 0; round < 6; round += 1) {
      pass(restMs);
      const asked = server.requests.length;
      assert.equal((await ask()).code, "later");
      assert.equal(server.requests.length, asked + 1);
      restMs = Math.min(judgeLimits.suspendedMaxMs, 2 * restMs);
      const reply = await ask();
      assert.equal(reply.code === "later" && reply.retryAt! - clock.now(), restMs);
    }
    assert.equal(restMs, judgeLimits.suspendedMaxMs);
  });

  test("an answer makes all well again", async () => {
    const { ask, pass } = await failing();
    pass(judgeLimits.suspendedMs);
    server.script = obliging();
    assert.equal((await ask()).code, "ok");
    server.script = () => refusal(503);
    server.requests.length = 0;
    for (let asked = 0; asked < 3; asked += 1) await ask();
    assert.equal(server.requests.length, 3);
  });

  test("an answer of no use is an answer: the judge is there", async () => {
    const { ask } = open((_, index) => (index % 3 === 2 ? completion("Sorry?") : refusal(503)));
    for (let asked = 0; asked < 12; asked += 1) await ask();
    assert.equal(server.requests.length, 12);
  });

  test("questions that were withdrawn do not count, nor does a probe that was leave the others waiting", async () => {
    const { ask, pass } = await failing();
    pass(judgeLimits.suspendedMs);
    server.script = () => silence;
    const asker = new AbortController();
    const probe = ask(asker.signal);
    await server.arrived(judgeLimits.failuresMax + 1);
    asker.abort();
    assert.equal((await probe).code, "aborted");
    server.script = obliging();
    const reply = await ask();
    assert.ok(reply.code === "ok");
    assert.equal(reply.call!.inputTokens, usage.prompt_tokens);
  });
});
