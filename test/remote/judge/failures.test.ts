// Every way a judge can fail: each is a value that says what may be done about it, and none passes for an answer.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JudgeConnection, JudgeMode, SemanticAsk } from "../../../src/model/judge/call.ts";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import { answerBytesMax } from "../../../src/remote/judge/call.ts";
import type { JudgeReply } from "../../../src/remote/judge/client.ts";
import { openClient, serveJudge } from "../../support/judge-clients.ts";
import {
  completion,
  cutOff,
  declined,
  json,
  obliging,
  type Reply,
  raw,
  refusal,
  reset,
  type Script,
  type ScriptedVerdict,
  silence,
  startJudgeServer,
  usage,
  verdictsOf,
} from "../../support/judge-server.ts";
import { standingClock } from "../../support/standing-clock.ts";

const server = await serveJudge();

const question: SemanticAsk = {
  userInput: "Where is my parcel?",
  replies: [{ id: "r1", text: "It is in Lyon." }],
  criteria: [{ id: "a", replyId: "r1", scenario: "A parcel.", criterion: "Says where the parcel is." }],
};
const routing = { userInput: "Where is my parcel?", scenarios: [{ id: "s1", scenario: "A parcel." }] };

function open(script: Script, more: Partial<JudgeConnection> = {}) {
  server.script = script;
  const time = standingClock();
  const learned: JudgeMode[] = [];
  const client = openClient(server.connection(more), {
    clock: time.clock,
    onMode: mode => learned.push(mode),
  });
  return { client, ...time };
}

function failed<T>(reply: JudgeReply<T>) {
  assert.ok(reply.code !== "ok");
  const reason = reasonText(reply.detail);
  assert.match(reason, /^[A-Z][^\n]+\.$/);
  if (reply.call) assert.deepEqual([reply.call.state, reply.call.reason], [reply.code, reason]);
  return { ...reply, reason };
}

/** What an obliging judge would answer, changed. */
const altered =
  (change: (verdicts: ScriptedVerdict[]) => unknown): Script =>
  request =>
    completion(change(verdictsOf(request)));
suite("an answer of no use", () => {
  const cases: Record<string, Script> = {
    "HTML with 200": () => raw(200, "text/html", "<html><body>Sign in</body></html>"),
    "an empty body": () => raw(200, "application/json", ""),
    "bad JSON": () => raw(200, "application/json", '{"id":"chatcmpl-1","choices":[{]}'),
    "an error with 200": () => json(200, { error: { message: "overloaded" } }),
    "no choices": () => json(200, { id: "1", choices: [] }),
    "10 MB, however right": altered(verdicts => ({
      verdicts: verdicts.map(one => ({ ...one, reason: "yes ".repeat(2_500_000) })),
    })),
    "just beyond the bound": altered(verdicts => ({
      verdicts: verdicts.map(one => ({ ...one, reason: "x".repeat(answerBytesMax) })),
    })),
    "no content": () => completion(""),
    prose: () => completion("The reply is fine, I would say."),
    "a refusal": () => declined,
    "truncated JSON": () => completion('{"verdicts":[{"id":"c1","evid', "length"),
    "JSON that looks whole but was cut": request => completion({ verdicts: verdictsOf(request) }, "length"),
    "an answer its filter tampered with": request =>
      completion({ verdicts: verdictsOf(request) }, "content_filter"),
    "a request it will not have": () =>
      refusal(400, { message: "This model's maximum context length is 4096." }),
    "a request too large": () => refusal(413),
    "an input its moderation flags": () => refusal(403, { message: "Your input was flagged by moderation." }),
  };
  for (const [name, script] of Object.entries(cases)) {
    test(`is unusable, and asked for once: ${name}`, async () => {
      const { client, waits } = open(script);
      const reply = failed(await client.judge(question));
      assert.equal(reply.code, "unusable");
      assert.equal(server.requests.length, 1);
      assert.deepEqual(waits, []);
    });
  }

  test("is counted with what it took and what it said, as far as it did", async () => {
    const { client } = open(() => completion('{"verdicts":[{"id', "length"));
    const { call } = await client.judge(question);
    assert.deepEqual(
      [call!.inputTokens, call!.outputTokens, call!.answer],
      [usage.prompt_tokens, usage.completion_tokens, '{"verdicts":[{"id'],
    );
  });

  for (const provider of ["openai", "anthropic", "google"] as const) {
    test(`is one in the words of ${provider}: a refusal, one cut short, one withheld`, async () => {
      const replies = [declined, completion("{}", "length"), completion("{}", "content_filter")];
      for (const reply of replies) {
        const { client } = open(() => reply, { provider });
        const { code, call } = failed(await client.judge(question));
        assert.equal(code, "unusable");
        assert.match(call!.reason!, /cut short|refused to answer/);
        assert.equal(call!.inputTokens, usage.prompt_tokens);
      }
    });
  }
});

suite("a judge that is down", () => {
  const cases: Record<string, [reply: Reply, reason: string]> = {
    "500": [refusal(500), "The judge answered with status 500."],
    "503": [raw(503, "text/plain", "upstream unavailable"), "The judge answered with status 503."],
    "529": [refusal(529), "The judge answered with status 529."],
    "429": [refusal(429), "The judge answered with status 429."],
    "408": [refusal(408), "The judge answered with status 408."],
    "409": [refusal(409), "The judge answered with status 409."],
    "a cut answer": [cutOff, "The judge's answer broke off."],
    "a dropped connection": [
      reset,
      "The judge's server closed the connection without an answer (does its port need https://?).",
    ],
  };
  for (const [name, [reply, reason]] of Object.entries(cases)) {
    test(`may be asked later, and is asked once: ${name}`, async () => {
      for (const provider of ["openai_compatible", "openai", "anthropic", "google"] as const) {
        server.requests.length = 0;
        const { client, waits } = open(() => reply, { provider });
        const answer = failed(await client.judge(question));
        assert.deepEqual([answer.code, answer.reason], ["later", reason]);
        assert.equal(answer.retryAt, null);
        assert.equal(server.requests.length, 1);
        assert.deepEqual(waits, []);
        assert.equal(answer.call!.inputTokens, 0);
      }
    });
  }

  test("may be asked later when nothing listens", async () => {
    const gone = await startJudgeServer();
    await gone.close();
    const { client } = open(obliging(), { url: gone.url });
    assert.equal(
      failed(await client.judge(question)).reason,
      "The judge could not be reached: the connection was refused.",
    );
  });
});

suite("the time a server asks to wait", () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toUTCString();
  const ahead = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 5, 0, seconds)).toUTCString();
  const behind = (seconds: number) => new Date(Date.UTC(2025, 11, 31, 5, 0, seconds)).toUTCString();
  for (const [what, headers, ms] of [
    ["in seconds", { "retry-after": "7" }, 7_000],
    ["up to an hour", { "retry-after": "86400" }, 3_600_000],
    ["as a date, up to an hour", { "retry-after": at(90_000), date: at(0) }, 3_600_000],
    ["as a date", { "retry-after": at(120), date: at(0) }, 120_000],
    ["as a date, by a clock that is hours ahead", { "retry-after": ahead(120), date: ahead(0) }, 120_000],
    ["as a date, by a clock that is hours behind", { "retry-after": behind(120), date: behind(0) }, 120_000],
    ["as a date that has passed", { "retry-after": new Date(0).toUTCString() }, 0],
    ["in milliseconds", { "retry-after-ms": "1500", "retry-after": "2" }, 1_500],
    ["in fractions of a second", { "retry-after": "0.25" }, 250],
    ["in no way that is known", { "retry-after": "soon" }, undefined],
    ["in two headers, of which the longer counts", { "retry-after": "10, 20" }, 20_000],
    ["in a negative number, which is no year", { "retry-after": "-40" }, undefined],
    ["in no number that is one", { "retry-after": "", "retry-after-ms": "NaN" }, undefined],
  ] as const) {
    test(`is told in full: ${what}`, async () => {
      for (const status of [429, 503]) {
        const { client, clock } = open(() => refusal(status, {}, headers));
        const reply = failed(await client.judge(question));
        assert.deepEqual([reply.code, reply.retryAt], ["later", ms === undefined ? null : clock.now() + ms]);
      }
    });
  }

  test("is read where Google says it", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "21.5s" }];
    const error = { code: 429, message: "No.", status: "RESOURCE_EXHAUSTED", details };
    const { client, clock } = open(() => json(429, { error }), { provider: "google" });
    const reply = failed(await client.judge(question));
    assert.deepEqual([reply.code, reply.retryAt], ["later", clock.now() + 21_500]);
  });

  test("holds for every question, without a call, and for no longer", async () => {
    const { client, pass, clock } = open(() => refusal(429, {}, { "retry-after": "60" }));
    await client.judge(question);
    pass(20_000);
    server.script = obliging();
    const reply = failed(await client.route(routing));
    assert.deepEqual([reply.retryAt, reply.call], [clock.now() + 40_000, null]);
    assert.equal(server.requests.length, 1);
    pass(40_000);
    assert.equal((await client.route(routing)).code, "ok");
  });
});

suite("a judge that refuses us", () => {
  for (const provider of ["openai_compatible", "openai", "anthropic", "google"] as const) {
    for (const status of [401, 403]) {
      test(`is told as such, without the key: ${status} of ${provider}`, async () => {
        const { client } = open(() => refusal(status, { message: "Incorrect API key provided: key-1" }), {
          provider,
        });
        const reply = failed(await client.judge(question));
        assert.deepEqual(
          [reply.code, reply.reason],
          ["refused", `The judge rejected the API key (${status}).`],
        );
        assert.ok(!JSON.stringify(reply).includes("key-1"));
      });
    }
  }

  test("is known by Google's own word for a wrong key, but not by that word elsewhere", async () => {
    const details = [{ reason: "API_KEY_INVALID", domain: "googleapis.com" }];
    const error = { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" };
    const google = open(() => json(400, { error: { ...error, details } }), { provider: "google" });
    assert.equal(failed(await google.client.judge(question)).code, "refused");
    const echoing = open(() => json(400, { error: { ...error, message: "API_KEY_INVALID" } }), {
      provider: "google",
    });
    assert.equal(failed(await echoing.client.judge(question)).code, "unusable");
  });

  test("is not asked by those that waited for their turn meanwhile, but by those that come after", async () => {
    const gate = Promise.withResolvers<Reply>();
    const { client } = open(() => gate.promise, { concurrency: 1 });
    const asked = Array.from({ length: 5 }, () => client.judge(question));
    await server.arrived(1);
    gate.resolve(refusal(401));
    for (const reply of await Promise.all(asked)) assert.equal(failed(reply).code, "refused");
    assert.equal(server.requests.length, 1);
    server.script = obliging();
    assert.equal((await client.judge(question)).code, "ok");
  });

  for (const [what, reply, provider] of [
    ["402", refusal(402), "openai_compatible"],
    ["OpenAI's quota", refusal(429, { code: "insufficient_quota" }), "openai"],
    [
      "Anthropic's credit",
      refusal(400, { message: "Your credit balance is too low to access the API." }),
      "anthropic",
    ],
  ] as const) {
    test(`without money left is asked again, but seldom: ${what}`, async () => {
      const { client, clock, pass } = open(() => reply, { provider });
      const answer = failed(await client.judge(question));
      assert.deepEqual(
        [answer.code, answer.reason, answer.retryAt],
        ["later", "The quota at the judge's provider is used up.", clock.now() + 60_000],
      );
      assert.equal(failed(await client.route(routing)).code, "later");
      assert.equal(server.requests.length, 1);
      pass(60_000);
      server.script = obliging();
      assert.equal((await client.route(routing)).code, "ok");
    });
  }

  test("is not followed elsewhere: a redirect gets neither prompt nor key", async t => {
    const elsewhere = await startJudgeServer();
    t.after(() => elsewhere.close());
    const { client } = open(() =>
      raw(307, "text/plain", "", { location: `${elsewhere.url}/chat/completions` }),
    );
    const reply = failed(await client.judge(question));
    assert.deepEqual(
      [reply.code, reply.reason],
      ["refused", "The judge redirects elsewhere, which is not followed (307)."],
    );
    assert.equal(elsewhere.requests.length, 0);
  });

  test("at an address that may not be called is told so, in the words of who keeps watch", async () => {
    const refused = Object.assign(new Error("10.0.0.7 is a private address."), { name: "OutboundRefused" });
    const client = openClient(server.connection(), {
      fetch: () => Promise.reject(refused),
    });
    const reply = failed(await client.judge(question));
    assert.deepEqual(
      [reply.code, reply.reason],
      ["refused", "The judge's URL is blocked: 10.0.0.7 is a private address."],
    );
    assert.equal(server.requests.length, 0);
  });

  test("because its key could not even be sent is told so, without the key", async () => {
    const { client } = open(obliging(), { apiKey: "key-1\nwith a break" });
    const reply = failed(await client.judge(question));
    assert.equal(reply.code, "unusable");
    assert.ok(!JSON.stringify(reply).includes("key-1"));
  });
});

suite("a judge that keeps silent", () => {
  test("is given up on at the timeout of the call", async () => {
    const { client, expire, timeouts } = open(() => silence);
    const asked = client.judge(question);
    await server.arrived(1);
    expire();
    const reply = failed(await asked);
    assert.deepEqual(
      [reply.code, reply.reason, reply.call!.ms],
      ["later", "The judge did not answer in time.", 30_000],
    );
    assert.deepEqual(
      timeouts.map(({ ms }) => ms),
      [30_000],
    );
  });

  test("in the middle of its answer is given up on, too", async () => {
    const { client, expire } = open(() => response => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":');
    });
    const asked = client.judge(question);
    await server.arrived(1);
    expire();
    assert.equal(failed(await asked).reason, "The judge did not answer in time.");
  });

  test("is left at once when the question is withdrawn", async () => {
    const { client } = open(() => silence);
    const asker = new AbortController();
    const asked = client.judge(question, asker.signal);
    await server.arrived(1);
    asker.abort();
    const reply = failed(await asked);
    assert.deepEqual([reply.code, reply.call!.state], ["aborted", "aborted"]);
    assert.equal(server.requests.length, 1);
  });

  test("is not asked at all by a question already withdrawn", async () => {
    const { client } = open(() => silence);
    const reply = failed(await client.route(routing, AbortSignal.abort()));
    assert.deepEqual([reply.code, reply.call], ["aborted", null]);
    assert.equal(server.requests.length, 0);
  });
});

suite("a mixture of faults", () => {
  test("never turns one into a verdict", async () => {
    const faults: Reply[] = [
      refusal(500),
      refusal(429),
      cutOff,
      reset,
      completion("?"),
      declined,
      raw(200, "text/html", "<p>"),
    ];
    const { client } = open((request, index) =>
      index % 2 === 0 ? faults[(index / 2) % faults.length]! : obliging()(request, index),
    );
    for (let asked = 0; asked < 4 * faults.length; asked += 1) {
      assert.equal((await client.judge(question)).code === "ok", asked % 2 === 1);
    }
    assert.equal(server.requests.length, 4 * faults.length);
  });
});
