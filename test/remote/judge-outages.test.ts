// Every way a judge can fail: each is a value, none is waited for longer than promised, none passes for an answer.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import pino from "pino";
import type { SemanticQuestion } from "../../src/model/judge.ts";
import { type JudgeCall, openJudge } from "../../src/remote/judge.ts";
import { answerBytesMax } from "../../src/remote/judge-call.ts";
import { type Clock, deadlineMs, patience } from "../../src/remote/clock.ts";
import {
  completion,
  cutOff,
  json,
  obliging,
  type Reply,
  raw,
  refusal,
  type Script,
  silence,
  startJudgeServer,
} from "../support/judge-server.ts";

const log = pino({ level: "silent" });
const server = await startJudgeServer();
after(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const config = { url: server.url, model: "local-model", apiKey: "key-1", timeoutMs: 30_000, concurrency: 4 };

const question: SemanticQuestion = {
  testId: "test-1",
  assertionId: "assertion-1",
  scenario: "The user asks where a parcel is.",
  userInput: "Where is my parcel?",
  response: "It is in Lyon.",
  criteria: "Says where the parcel is.",
};
const routing = {
  userInput: "Where is my parcel?",
  scenarios: [{ testId: "test-1", scenario: "A parcel." }],
};

/** Time that passes only by waiting, and a timeout that comes when it is told to. */
function standingClock() {
  let time = 1_000_000;
  const waits: number[] = [];
  const timeouts: { ms: number; controller: AbortController }[] = [];
  const clock: Clock = {
    now: () => time,
    sleep: async ms => {
      waits.push(ms);
      time += ms;
    },
    timeout: ms => {
      const controller = new AbortController();
      timeouts.push({ ms, controller });
      return controller.signal;
    },
    random: () => 0.5,
  };
  const pass = (ms: number) => {
    time += ms;
  };
  /** The latest timeout comes. */
  const expire = () => {
    const { ms, controller } = timeouts.at(-1)!;
    time += ms;
    controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
  };
  return { clock, waits, timeouts, pass, expire };
}

function open(script: Script, more: Partial<typeof config> = {}) {
  server.script = script;
  const time = standingClock();
  const calls: JudgeCall[] = [];
  const judge = openJudge({ ...config, ...more }, log, {
    clock: time.clock,
    onCall: call => calls.push(call),
  });
  return { judge, calls, ...time };
}

const favourable = { id: "c1", evidence: "", reason: "Yes.", verdict: "met" };
const verdicts = (text: string) =>
  completion(`{"verdicts":[{"id":"c1","evidence":"","reason":"Yes.",${text}}]}`);

describe("an answer of no use", () => {
  const cases: Record<string, Reply> = {
    "HTML with 200": raw(200, "text/html", "<html><body>Sign in</body></html>"),
    "an empty body": raw(200, "application/json", ""),
    "an error with 200": json(200, { error: { message: "overloaded" } }),
    "no choices": json(200, { id: "1", choices: [] }),
    "10 MB, however right": completion({ verdicts: [{ ...favourable, reason: "yes ".repeat(2_500_000) }] }),
    "just beyond the bound": completion({
      verdicts: [{ ...favourable, reason: "x".repeat(answerBytesMax) }],
    }),
    "no content": completion(""),
    prose: completion("The reply is fine, I would say."),
    "truncated JSON": completion('{"verdicts":[{"id":"c1","evid', "length"),
    "JSON that looks whole but was cut": completion({ verdicts: [favourable] }, "length"),
    "a score that is NaN": verdicts('"score":NaN'),
    "a score out of range": verdicts('"score":1.7'),
    "a score beside the verdict": verdicts('"verdict":"met","score":17'),
    "a verdict of its own": verdicts('"verdict":"excellent"'),
    "no verdict": completion({ verdicts: [] }),
    "another criterion": completion({
      verdicts: [{ ...favourable, id: "c2" }],
    }),
    "two verdicts": completion({
      verdicts: [favourable, { ...favourable, verdict: "not_met" }],
    }),
    "a request it will not have": refusal(400, { message: "This model's maximum context length is 4096." }),
    "an answer its filter tampered with": completion({ verdicts: [favourable] }, "content_filter"),
  };
  for (const [name, reply] of Object.entries(cases)) {
    it(`is unusable, and asked for once: ${name}`, async () => {
      const { judge, waits } = open(() => reply);
      const answer = await judge.ask(question);
      assert.equal(answer.state, "unusable");
      assert.match((answer as { reason: string }).reason, /^The judge's answer is unusable: .+\.$/);
      assert.equal(server.requests.length, 1);
      assert.deepEqual(waits, []);
    });
  }

  it("makes routing unusable too", async () => {
    const { judge } = open(() => completion("match, I think"));
    assert.equal((await judge.route(routing)).state, "unusable");
  });
});

describe("a judge that is down", () => {
  const cases: Record<string, [reply: Reply, reason: RegExp]> = {
    "500": [refusal(500), /it answered 500, 3 tries/],
    "503": [raw(503, "text/plain", "upstream unavailable"), /it answered 503, 3 tries/],
    "429": [refusal(429, {}, { "retry-after": "1" }), /it answered 429, 3 tries/],
    "a cut answer": [cutOff, /its answer broke off, 3 tries/],
    "a dropped connection": [response => response.destroy(), /it could not be reached, 3 tries/],
  };
  for (const [name, [reply, reason]] of Object.entries(cases)) {
    it(`is unavailable after three tries: ${name}`, async () => {
      const { judge, calls } = open(() => reply);
      const answer = await judge.ask(question);
      assert.equal(answer.state, "unavailable");
      assert.match((answer as { reason: string }).reason, reason);
      assert.equal(server.requests.length, 3);
      assert.deepEqual(
        calls.map(({ state }) => state),
        ["unavailable", "unavailable", "unavailable"],
      );
    });
    it(`makes routing unavailable: ${name}`, async () => {
      const { judge } = open(() => reply);
      assert.equal((await judge.route(routing)).state, "unavailable");
    });
  }

  it("is unavailable when nothing listens", async () => {
    const gone = await startJudgeServer();
    await gone.close();
    const { judge } = open(obliging(), { url: gone.url });
    assert.equal((await judge.ask(question)).state, "unavailable");
  });

  it("answers after all when a later try succeeds", async () => {
    const { judge, waits } = open((request, index) =>
      index < 2 ? refusal(503) : obliging()(request, index),
    );
    assert.equal((await judge.ask(question)).state, "ok");
    assert.equal(waits.length, 2);
    assert.ok(waits[0]! >= patience.backoffMs / 2 && waits[1]! > waits[0]!);
  });
});

describe("Retry-After", () => {
  const busyOnce =
    (retryAfter: string): Script =>
    (request, index) =>
      index === 0 ? refusal(429, {}, { "retry-after": retryAfter }) : obliging()(request, index);

  it("is waited out", async () => {
    const { judge, waits } = open(busyOnce("7"), { timeoutMs: 30_000 });
    assert.equal((await judge.ask(question)).state, "ok");
    assert.ok(waits[0]! >= 7_000 && waits[0]! < 8_000);
  });

  it("beyond what we are ready to wait ends the question at once", async () => {
    const { judge, waits } = open(busyOnce("120"), { timeoutMs: 300_000 });
    assert.equal((await judge.ask(question)).state, "unavailable");
    assert.equal(server.requests.length, 1);
    assert.deepEqual(waits, []);
  });

  it("past the question's deadline ends it at once", async () => {
    const script: Script = () => refusal(503, {}, { "retry-after": "15" });
    const { judge, waits } = open(script, { timeoutMs: 1_000 });
    assert.equal((await judge.ask(question)).state, "unavailable");
    assert.equal(waits.length, 1);
    assert.equal(server.requests.length, 2);
  });
});

describe("a judge that refuses us", () => {
  for (const status of [401, 403]) {
    it(`is asked once and the reason names the key's variable: ${status}`, async () => {
      const { judge } = open(() => refusal(status, { message: "Incorrect API key provided: key-1" }));
      const answer = await judge.ask(question);
      assert.equal(answer.state, "unavailable");
      const { reason } = answer as { reason: string };
      assert.match(reason, new RegExp(`${status}.*SVC_JUDGE_API_KEY`));
      assert.ok(!reason.includes("key-1"));
      assert.equal(server.requests.length, 1);
    });
  }

  it("names address and model where it knows neither", async () => {
    const { judge } = open(() => refusal(404, { code: "model_not_found" }));
    const answer = await judge.ask(question);
    assert.match((answer as { reason: string }).reason, /SVC_JUDGE_URL and SVC_JUDGE_MODEL/);
    assert.equal(server.requests.length, 1);
  });

  for (const reply of [refusal(429, { code: "insufficient_quota" }), refusal(402)]) {
    it("for want of money is a matter of budget, and no reason to try again", async () => {
      const { judge } = open(() => reply);
      assert.equal((await judge.ask(question)).state, "budget");
      assert.equal((await judge.route(routing)).state, "unavailable");
      assert.equal(server.requests.length, 2);
    });
  }

  it("is not followed elsewhere: a redirect gets neither prompt nor key", async t => {
    const elsewhere = await startJudgeServer();
    t.after(() => elsewhere.close());
    const { judge } = open(() =>
      raw(307, "text/plain", "", { location: `${elsewhere.url}/chat/completions` }),
    );
    assert.equal((await judge.ask(question)).state, "unusable");
    assert.equal(elsewhere.requests.length, 0);
  });
});

describe("a judge that keeps silent", () => {
  it("is given up on at the timeout of each call and, in all, at the question's deadline", async () => {
    const { judge, expire, timeouts, waits } = open(() => silence);
    const asked = judge.ask(question);
    for (const count of [1, 2, 3]) {
      await server.arrived(count);
      expire();
    }
    const answer = await asked;
    assert.equal(answer.state, "unavailable");
    assert.match((answer as { reason: string }).reason, /it did not answer in time, 3 tries/);
    const [first, second, third] = timeouts.map(({ ms }) => ms);
    assert.deepEqual([first, second], [config.timeoutMs, config.timeoutMs]);
    assert.equal(first! + waits[0]! + second! + waits[1]! + third!, deadlineMs(config.timeoutMs));
  });

  it("is left at once when the question is withdrawn", async () => {
    const { judge, calls } = open(() => silence);
    const caller = new AbortController();
    const asked = judge.ask(question, caller.signal);
    await server.arrived(1);
    caller.abort();
    assert.equal((await asked).state, "unavailable");
    assert.deepEqual(
      calls.map(({ state }) => state),
      ["aborted"],
    );
    assert.equal(server.requests.length, 1);
  });

  it("is not asked at all by a question already withdrawn", async () => {
    const { judge } = open(() => silence);
    assert.equal((await judge.route(routing, AbortSignal.abort())).state, "unavailable");
    assert.equal(server.requests.length, 0);
  });
});

describe("the calls of a process", () => {
  it("are never more at a time than configured, and all are made in the end", async () => {
    const gate = Promise.withResolvers<void>();
    let most = 0;
    let running = 0;
    const { judge } = open(
      async (request, index) => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
        return obliging()(request, index);
      },
      { concurrency: 3 },
    );
    const asked = Array.from({ length: 10 }, () => judge.ask(question));
    await server.arrived(3);
    gate.resolve();
    const answers = await Promise.all(asked);
    assert.ok(answers.every(({ state }) => state === "ok"));
    assert.equal(most, 3);
    assert.equal(server.requests.length, 10);
  });

  it("do not hold up a question that is withdrawn while it waits for its turn", async () => {
    const gate = Promise.withResolvers<void>();
    const { judge } = open(
      async (request, index) => {
        await gate.promise;
        return obliging()(request, index);
      },
      { concurrency: 1 },
    );
    const first = judge.ask(question);
    await server.arrived(1);
    const caller = new AbortController();
    const second = judge.ask(question, caller.signal);
    caller.abort();
    assert.equal((await second).state, "unavailable");
    gate.resolve();
    assert.equal((await first).state, "ok");
    assert.equal((await judge.ask(question)).state, "ok");
    assert.equal(server.requests.length, 2);
  });

  it("are not made any more for a question whose deadline passes while it waits for its next turn", async () => {
    const gate = Promise.withResolvers<void>();
    const { judge, pass, waits } = open(
      async (request, index) => {
        if (index === 0) return refusal(503);
        await gate.promise;
        return obliging()(request, index);
      },
      { concurrency: 1 },
    );
    const first = judge.ask(question);
    const second = judge.ask(question);
    await server.arrived(2);
    assert.equal(waits.length, 1);
    pass(deadlineMs(config.timeoutMs));
    gate.resolve();
    assert.equal((await second).state, "ok");
    assert.equal((await first).state, "unavailable");
    assert.equal(server.requests.length, 2);
  });
});

describe("after a row of failures", () => {
  const failing = async () => {
    const opened = open(() => refusal(503));
    for (let asked = 0; asked < 2; asked += 1) await opened.judge.ask(question);
    return opened;
  };

  it("the judge is left alone for a while, and every question told so at once", async () => {
    const { judge, waits } = await failing();
    assert.equal(server.requests.length, patience.failuresBeforePause);
    const waited = waits.length;
    const answer = await judge.ask(question);
    assert.equal(answer.state, "unavailable");
    assert.match((answer as { reason: string }).reason, /it answered 503, and is not asked again/);
    assert.equal(server.requests.length, patience.failuresBeforePause);
    assert.equal(waits.length, waited);
  });

  it("one more failure after the pause starts the next", async () => {
    const { judge, pass } = await failing();
    pass(patience.pauseMs);
    await judge.ask(question);
    assert.equal(server.requests.length, patience.failuresBeforePause + 1);
  });

  it("an answer after the pause makes all well again", async () => {
    const { judge, pass } = await failing();
    pass(patience.pauseMs);
    server.script = obliging();
    assert.equal((await judge.ask(question)).state, "ok");
    server.script = () => refusal(503);
    server.requests.length = 0;
    await judge.ask(question);
    assert.equal(server.requests.length, 3);
  });

  it("questions that were withdrawn do not count", async () => {
    const { judge } = open(() => silence);
    for (let asked = 1; asked <= patience.failuresBeforePause; asked += 1) {
      const caller = new AbortController();
      const answer = judge.ask(question, caller.signal);
      await server.arrived(asked);
      caller.abort();
      await answer;
    }
    server.script = obliging();
    assert.equal((await judge.ask(question)).state, "ok");
  });
});

describe("a mixture of faults", () => {
  it("never turns one into a score", async () => {
    const faults: Reply[] = [
      refusal(500),
      refusal(429),
      cutOff,
      completion("?"),
      raw(200, "text/html", "<p>"),
    ];
    const { judge, pass } = open((request, index) =>
      index % 2 === 0 ? faults[(index / 2) % faults.length]! : obliging()(request, index),
    );
    for (let asked = 0; asked < 30; asked += 1) {
      const before = server.requests.length;
      const answer = await judge.ask(question);
      const answered = (server.requests.length - 1) % 2 === 1 && server.requests.length > before;
      assert.equal(answer.state === "ok", answered);
      pass(patience.pauseMs);
    }
  });
});
