// Whatever befalls the judge, a question is waited for or left unjudged with the reason: never passed, never failed.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import pino from "pino";
import { clientOpener, type OpenClient } from "../../src/judge/connections.ts";
import { isWaiting, type Unanswered, wasCalled } from "../../src/model/judge/outcome.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import { type Clock, systemClock } from "../../src/remote/clock.ts";
import { judgeLimits } from "../../src/remote/judge/bounds.ts";
import { type JudgeClient, openJudgeClient } from "../../src/remote/judge/client.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import { openDatabase } from "../../src/store/db.ts";
import { findAgentJudge } from "../../src/store/judge/agent-judge.ts";
import { deleteJudgeConnection, saveJudgeConnection } from "../../src/store/judge/connections.ts";
import { findJudgeState, fingerprintOf, resumeJudge } from "../../src/store/judge/states.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { Semaphore } from "../../src/threads/semaphore.ts";
import { startCuttingProxy } from "../store/connection/cutting-proxy.ts";
import { openTwice } from "../store/traces/make-write.ts";
import { eventually } from "../support/eventually.ts";
import {
  askedOf,
  completion,
  cutOff,
  declined,
  labelsOf,
  obliging,
  type Reply,
  raw,
  refusal,
  type Script,
  silence,
  startJudgeServer,
  verdictsOf,
} from "../support/judge-server.ts";
import {
  contextOf,
  makeJudgedAgent,
  openTestJudges,
  semanticQuestion,
  testVault,
} from "../support/judges.ts";
import { makeAgentRow, makeProject } from "../support/rows.ts";
import { storeRunning } from "../support/stored-traces.ts";

const { url, db, other, close } = await openTwice();
const server = await startJudgeServer();
after(async () => {
  await server.close();
  await close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const accountOf = async (agentId: string) =>
  (await findAgentJudge(db, { ...judgeSources, agentId }))!.accountId;
const judgeSources = { vault: testVault, environment: null, timeoutMs: 60_000 };

let now = Date.UTC(2026, 10, 21, 12);
/** Stands still unless a test moves it; chance is always in the middle. */
const clock: Clock = { ...systemClock, now: () => now, random: () => 0.5 };

/** A connection of its own each time, so that no pause or rest outlives its test. */
const fresh = (more: object = {}) => server.connection({ apiKey: randomUUID(), ...more });
const routing = { userInput: "Where is my parcel?", scenarios: [{ testId: "t", scenario: "A parcel." }] };

/** By the time that stands still. */
let standingClient: JudgeClient | undefined;
const openStandingClient: OpenClient = (connection, { mode, onMode }) => {
  standingClient = openJudgeClient(connection, { log: pino({ level: "silent" }), mode, onMode, clock });
  return standingClient;
};

/** What comes of both kinds of questions, each on a connection of its own. */
async function bothOf(script: Script, context: object = {}, more: object = {}): Promise<Unanswered[]> {
  const answers: unknown[] = [];
  for (const kind of ["route", "semantic"]) {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh(more), { clock });
    const judge = judges.judgeOf(contextOf(agentId, context));
    server.script = script;
    answers.push(kind === "route" ? await judge.route(routing) : (await judge.ask([semanticQuestion()]))[0]);
    await judges.close();
  }
  return answers as Unanswered[];
}

const nan: Script = request => {
  const asked = askedOf(request);
  return completion(
    asked.kind === "route"
      ? '{"labels":[{"id":"s1","why":"x","label":NaN}]}'
      : '{"verdicts":[{"id":"c1","evidence":"","reason":"x","verdict":NaN}]}',
  );
};
const missing: Script = () => completion({ labels: [], verdicts: [] });
const contradicting: Script = request => {
  if (askedOf(request).kind === "route") {
    return completion({ labels: [...labelsOf(request), ...labelsOf(request, () => "no_match")] });
  }
  const verdicts = verdictsOf(request);
  return completion({ verdicts: [...verdicts, ...verdictsOf(request, { verdict: () => "not_met" })] });
};

const unusable: [string, Script][] = [
  ["talks instead of JSON", () => completion("I think it went rather well!")],
  ["breaks its JSON", () => completion('{"labels":[{"id":"s1",')],
  ["answers NaN", nan],
  ["answers HTML", () => raw(200, "text/html", "<p>Welcome</p>")],
  ["is cut short", () => completion({ labels: [], verdicts: [] }, "length")],
  ["is filtered", () => completion("", "content_filter")],
  ["declines", () => declined],
  ["answers 10 MB", () => completion("x".repeat(10_000_000))],
  ["leaves every id out, twice", missing],
  ["contradicts itself, twice", contradicting],
  ["names other ids", () => completion({ labels: [{ id: "s9", why: "x", label: "match" }], verdicts: [] })],
  ["refuses the request", () => refusal(400)],
];
const unavailable: [string, Script][] = [
  ["answers 429", () => refusal(429, {}, { "retry-after": "2" })],
  ["answers 500", () => refusal(500)],
  ["answers 503", () => refusal(503)],
  ["breaks off", () => cutOff],
  ["does not answer in time", () => silence],
];

suite("a judge that cannot be relied on", () => {
  test("leaves the question unjudged with the reason", async () => {
    for (const [what, script] of unusable) {
      for (const answer of await bothOf(script, { deadlineAt: now + 900_000 })) {
        assert.equal(answer.code, "unusable", `${what}: ${JSON.stringify(answer)}`);
        assert.match(reasonText(answer.detail), /judge.+\.$/, what);
      }
    }
  });

  test("is not asked the same again by the run that comes back", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh(), { clock });
    const misquoted = obliging({ evidence: () => "It is in Paris." });
    for (const [script, state] of [
      [() => completion("", "content_filter"), "unusable"],
      [misquoted, "undecided"],
    ] as const) {
      server.requests.length = 0;
      server.script = script;
      const question = semanticQuestion({ criteria: [`Is ${state}.`] });
      const run = { runId: randomUUID(), deadlineAt: now + 900_000 };
      for (const tries of [0, 1]) {
        const [answer] = await judges.judgeOf(contextOf(agentId, { ...run, tries })).ask([question]);
        assert.equal(answer?.code, state);
      }
      assert.equal(server.requests.length, 1);
      await judges.judgeOf(contextOf(agentId, { ...run, runId: randomUUID() })).ask([question]);
      assert.equal(server.requests.length, 2);
      await judges.judgeOf(contextOf(agentId, { ...run, tries: 2 })).ask([question]);
      assert.equal(server.requests.length, 2, "another run makes nothing forgotten");
    }
    await judges.close();
  });
});

suite("a judge that is away", () => {
  test("is waited for before the deadline, and given up on without one", async () => {
    for (const [what, script] of unavailable) {
      const more = { timeoutMs: 150 };
      for (const answer of await bothOf(script, { deadlineAt: now + 900_000 }, more)) {
        assert.ok(answer.code === "later" && isWaiting(answer), `${what}: ${JSON.stringify(answer)}`);
        assert.match(reasonText(answer.detail), /^The judge/, what);
      }
      for (const answer of await bothOf(script, {}, more)) {
        assert.ok(answer.code === "later" && !isWaiting(answer), what);
        assert.match(reasonText(answer.detail), /^The judge.+[^.]\.$/, what);
      }
    }
  });

  test("is asked again ever later, at most two minutes apart and never sooner than it asked for", async () => {
    const waits = async (script: Script, tries: number) => {
      const [route] = await bothOf(script, { deadlineAt: now + 900_000, tries });
      return route && isWaiting(route) ? route.retryAt - now : route;
    };
    const down: Script = () => refusal(503);
    const pauses: unknown[] = [];
    for (const tries of [0, 1, 2, 6, 20]) pauses.push(await waits(down, tries));
    assert.deepEqual(pauses, [2_000, 4_000, 8_000, 120_000, 120_000]);
    assert.equal(await waits(() => refusal(429, {}, { "retry-after": "77" }), 0), 77_500);
  });

  test("is asked a last time shortly before the deadline, unless it asked to be left alone beyond it", async () => {
    const next = async (script: Script, leftMs: number, tries = 6) => {
      const [route] = await bothOf(script, { deadlineAt: now + leftMs, tries });
      return route && isWaiting(route) ? route.retryAt - now : reasonText(route!.detail);
    };
    const down: Script = () => refusal(503);
    assert.equal(await next(down, 100_000), 99_000);
    assert.equal(await next(down, 2_000), 1_000);
    assert.equal(await next(down, 1_999), "The judge answered with status 503 (7 tries).");
    const busy: Script = () => refusal(429, {}, { "retry-after": "101" });
    assert.equal(
      await next(busy, 100_000),
      "The judge answered with status 429 (not called again for 101 s; 7 tries).",
    );
  });

  test("and is left alone after a row of failures counts as tried by those alone who asked it", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh(), { clock });
    server.script = () => refusal(503);
    const ask = (more: object) =>
      judges.judgeOf(contextOf(agentId, { deadlineAt: now + 900_000, ...more })).route(routing);
    for (let failed = 0; failed < judgeLimits.failuresMax; failed++) await ask({});
    const denied = await ask({ tries: 1 });
    assert.equal(server.requests.length, judgeLimits.failuresMax + 1, "the last, and a known question");
    assert.ok(isWaiting(denied) && !wasCalled(denied.detail));
    const because = { code: "judge_http_error", data: { status: 503 } };
    assert.deepEqual(denied.detail, { code: "judge_suspended", data: { because } });
    assert.ok(denied.retryAt - now > judgeLimits.suspendedMs / 2, "not before the rest is over");
    const given = await ask({ tries: 1, deadlineAt: now + 5_000 });
    assert.ok(given.code === "later" && !isWaiting(given));
    await judges.close();
  });

  test("is not asked any more by one whose deadline passes in its queue, but by one who comes after it", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const gate = Promise.withResolvers<void>();
    server.script = async (request, index) => {
      await gate.promise;
      return obliging()(request, index);
    };
    const judges = openTestJudges(db, fresh({ concurrency: 1 }), { clock, openClient: openStandingClient });
    const ask = (userInput: string, deadlineAt: number) =>
      judges.judgeOf(contextOf(agentId, { deadlineAt })).route({ ...routing, userInput });
    const first = ask("One?", now + 900_000);
    await server.arrived(1);
    const late = ask("Two?", now + 60_000);
    const accountId = await accountOf(agentId);
    await eventually(() => assert.equal(standingClient?.queued(accountId), 1));
    now += 60_000;
    gate.resolve();
    assert.equal(((await late) as Unanswered).detail.code, "judge_busy_until_deadline");
    assert.equal((await first).code, "ok");
    assert.equal((await ask("Three?", now - 3_600_000)).code, "ok");
    assert.equal(server.requests.length, 2);
    await judges.close();
  });

  test("whose line is full puts off for ever longer, up to a bound, and counts no try", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh({ concurrency: 1 }), { clock });
    server.script = () => silence;
    const asker = new AbortController();
    const ask = (more: object) =>
      judges.judgeOf(contextOf(agentId, { runId: randomUUID(), deadlineAt: now + 900_000, ...more }));
    const full = Promise.withResolvers<void>();
    const crowd = Array.from({ length: 30 }, async (_, at) => {
      await ask({}).route({ ...routing, userInput: `Parcel ${at}?` }, asker.signal);
      full.resolve();
    });
    await full.promise;
    for (const [waitedMs, pauseMs] of [
      [0, 1_000],
      [20_000, 5_000],
      [600_000, 15_000],
    ] as const) {
      const userInput = `And after ${waitedMs}?`;
      const answer = await ask({ waitedMs }).route({ ...routing, userInput }, asker.signal);
      assert.ok(isWaiting(answer) && !wasCalled(answer.detail));
      assert.equal(answer.retryAt - now, pauseMs);
    }
    const watching = judges.judgeOf(contextOf(agentId)).route(routing, asker.signal);
    const { agentId: neighbor } = await makeJudgedAgent(db, 0);
    const context = contextOf(neighbor, { runId: randomUUID(), deadlineAt: now + 900_000 });
    const next = judges.judgeOf(context).route(routing, asker.signal);
    await setImmediate();
    asker.abort();
    assert.equal((await watching).code, "aborted", "an interactive request is let through");
    assert.equal((await next).code, "aborted", "so is another account's run");
    await Promise.all(crowd);
    await judges.close();
  });

  test("that asks to wait beyond the deadline is given up on at once, with how often it was asked", async () => {
    const busy: Script = () => refusal(429, {}, { "retry-after": "3600" });
    const [route, semantic] = await bothOf(busy, { deadlineAt: now + 900_000, tries: 5 });
    assert.equal(
      reasonText(route!.detail),
      "The judge answered with status 429 (not called again for 60 min; 6 tries).",
    );
    assert.ok(semantic?.code === "later" && !isWaiting(semantic));
  });

  test("is not asked while the database is away, and waited for all the same", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const proxy = await startCuttingProxy(url);
    const proxied = openDatabase(proxy.url);
    const judges = openTestJudges(proxied, fresh(), { clock });
    try {
      for (const deadlineAt of [now + 900_000, null]) {
        proxy.loseAnswerTo("judge-answers");
        const answer = await judges.judgeOf(contextOf(agentId, { deadlineAt })).route(routing);
        assert.equal(isWaiting(answer), deadlineAt !== null);
        assert.equal((answer as Unanswered).detail.code, "judge_database_unavailable");
      }
    } finally {
      await judges.close();
      await proxied.close();
      await proxy.close();
    }
    assert.deepEqual([proxy.lost, server.requests.length], [2, 0]);
  });

  test("is not waited for by a check of which another part was answered in vain", async () => {
    for (const broken of [0, 1]) {
      const { agentId } = await makeJudgedAgent(db, 0);
      const judges = openTestJudges(db, fresh({ concurrency: 1 }), { clock });
      server.requests.length = 0;
      server.script = (_, index) => (index === broken ? completion("", "content_filter") : refusal(503));
      const criteria = Array.from({ length: 11 }, (_, at) => `Criterion ${at}.`);
      const judge = judges.judgeOf(contextOf(agentId, { deadlineAt: now + 900_000 }));
      const [answer] = await judge.ask([semanticQuestion({ criteria })]);
      assert.deepEqual([answer?.code, server.requests.length], ["unusable", 2]);
      await judges.close();
    }
  });

  test("makes a whole routing question wait, and nothing that was answered is asked again", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh(), { clock });
    const scenarios = Array.from({ length: 17 }, (_, at) => ({
      testId: `t${at}`,
      scenario: `Scenario ${at}.`,
    }));
    server.script = (request, index) => (index === 0 ? refusal(503) : obliging()(request, index));
    const run = await storeRunning(db, agentId);
    const waiting = judges.judgeOf(contextOf(agentId, { ...run, deadlineAt: now + 900_000 }));
    assert.ok(isWaiting(await waiting.route({ userInput: "Hello", scenarios })));
    const answer = await waiting.route({ userInput: "Hello", scenarios });
    assert.equal(answer.code === "ok" && answer.labels.size, 17);
    assert.equal(server.requests.length, 3);
    await judges.close();
  });

  test("leaves unlabelled what could not be asked, once nobody waits any more", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const judges = openTestJudges(db, fresh({ concurrency: 1 }), { clock });
    const scenarios = Array.from({ length: 17 }, (_, at) => ({
      testId: `t${at}`,
      scenario: `Scenario ${at}.`,
    }));
    server.script = (request, index) => (index === 0 ? refusal(503) : obliging()(request, index));
    const answer = await judges.judgeOf(contextOf(agentId)).route({ userInput: "Hello", scenarios });
    assert.ok(answer.code === "ok" && answer.unlabelled);
    assert.equal(answer.labels.size, 8);
    assert.deepEqual(
      [...answer.unlabelled.values()].map(({ code, retryAt }) => [code, retryAt]),
      Array(9).fill(["later", null]),
    );
    await judges.close();
  });
});

suite("a judge that refuses", () => {
  test("pauses its connection for every process, until a test of it succeeds", async () => {
    const { agentId } = await makeJudgedAgent(db, 0);
    const connection = fresh();
    const judges = openTestJudges(db, connection, { clock });
    const elsewhere = openTestJudges(other, connection, { clock });
    server.script = () => refusal(401);
    const [refused] = await judges
      .judgeOf(contextOf(agentId, { deadlineAt: now + 900_000 }))
      .ask([semanticQuestion()]);
    const rejected = "The judge rejected the API key (401).";
    assert.equal(reasonText((refused as Unanswered).detail), rejected);
    for (const { judgeOf } of [judges, elsewhere]) {
      const answer = await judgeOf(contextOf(agentId, { deadlineAt: now + 900_000 })).route(routing);
      assert.equal(answer.code, "refused");
      assert.deepEqual((answer as Unanswered).detail, { code: "judge_paused", data: { why: rejected } });
    }
    assert.equal(server.requests.length, 2, "the question, and the known one");
    assert.ok((await findJudgeState(db, fingerprintOf(connection, null)))?.pausedReason);
    server.script = obliging();
    await resumeJudge(db, fingerprintOf(connection, null), "json_schema");
    now += 1_000;
    for (const { judgeOf } of [judges, elsewhere]) {
      assert.equal((await judgeOf(contextOf(agentId)).route(routing)).code, "ok");
    }
    await Promise.all([judges.close(), elsewhere.close()]);
  });

  test("is paused for the project that may not call it, and for nobody else who has it called", async t => {
    const house = fresh({ apiKey: null, model: randomUUID() });
    const projectId = await makeProject(db);
    const ownAgent = await makeAgentRow(db, { projectId });
    const { agentId } = await makeJudgedAgent(db, 0);
    await saveJudgeConnection(db, testVault, projectId, () => house);
    const outbound = openOutbound({ allow: [] });
    t.after(() => outbound.close());
    const log = pino({ level: "silent" });
    const judges = openTestJudges(db, house, {
      clock,
      openClient: clientOpener({ outbound, log, semaphore: (_, concurrency) => new Semaphore(concurrency) }),
    });
    for (const tries of [0, 1]) {
      const refused = await judges.judgeOf(contextOf(ownAgent, { tries })).route(routing);
      assert.match(reasonText((refused as Unanswered).detail), /127\.0\.0\.1 is a loopback address/);
    }
    assert.equal((await judges.judgeOf(contextOf(agentId)).route(routing)).code, "ok");
    assert.equal(server.requests.length, 1);
    await judges.close();
  });

  test("one account's trace is called for another's all the same, and pauses nobody", async () => {
    const [{ agentId }, { agentId: neighbor }] = [await makeJudgedAgent(db, 0), await makeJudgedAgent(db, 0)];
    const judges = openTestJudges(db, fresh(), { clock });
    const bad = { ...routing, userInput: "Ignore the firewall." };
    const ask = (of: string, question = routing) => judges.judgeOf(contextOf(of)).route(question);
    const blocking =
      (reply: Reply): Script =>
      (request, index) =>
        request.material.includes("firewall") ? reply : obliging()(request, index);
    server.script = blocking(refusal(403));
    const refused = await ask(agentId, bad);
    assert.deepEqual(
      [refused.code, (refused as Unanswered).detail],
      ["unusable", { code: "judge_request_rejected", data: { status: 403 } }],
    );
    assert.equal((await ask(neighbor)).code, "ok");
    server.script = blocking(refusal(500));
    for (let failed = 0; failed < 2 * judgeLimits.failuresMax; failed++) {
      assert.equal((await ask(agentId, bad)).code, "later");
    }
    assert.equal((await ask(neighbor, { ...routing, userInput: "And today?" })).code, "ok");
    await judges.close();
  });

  test("says so where the provider has no money left, as of an outage that may pass", async () => {
    for (const answer of await bothOf(() => refusal(429, { code: "insufficient_quota" }))) {
      assert.equal(answer.code, "later");
      assert.equal(answer.detail.code, "judge_quota_exceeded");
    }
  });
});

suite("who judges", () => {
  test("is the project's own connection, which an edit changes for the next call; else the environment's; else nobody", async () => {
    const projectId = await makeProject(db);
    const agentId = await makeAgentRow(db, { projectId });
    const house = fresh({ model: "house" });
    const judges = openTestJudges(db, house, { clock });
    const modelOf = async () => {
      const answer = await judges.judgeOf(contextOf(agentId)).route(routing);
      return answer.code === "ok" ? answer.model : answer.code;
    };
    assert.equal(await modelOf(), "house");
    await saveJudgeConnection(db, testVault, projectId, () => fresh({ model: "own" }));
    assert.equal(await modelOf(), "own");
    await saveJudgeConnection(db, testVault, projectId, () => fresh({ model: "other" }));
    assert.equal(await modelOf(), "other");
    await deleteJudgeConnection(db, projectId);
    assert.equal(await modelOf(), "house");
    assert.deepEqual(
      server.requests.map(({ model }) => model),
      ["house", "own", "other"],
    );
    const bare = openTestJudges(db, null, { clock });
    const { agentId: homeless } = await makeJudgedAgent(db, 0);
    const [answer] = await bare.judgeOf(contextOf(homeless)).ask([semanticQuestion()]);
    assert.equal(answer?.code, "not_configured");
    await Promise.all([judges.close(), bare.close()]);
  });

  test("is not the former one of a call that waited in its queue while it was edited", async () => {
    const projectId = await makeProject(db);
    const agentId = await makeAgentRow(db, { projectId });
    await saveJudgeConnection(db, testVault, projectId, () => fresh({ concurrency: 1 }));
    const judges = openTestJudges(db, null, { clock, openClient: openStandingClient });
    const { promise: edited, resolve } = Promise.withResolvers<void>();
    server.script = async (request, index) => {
      await edited;
      return obliging()(request, index);
    };
    const judge = judges.judgeOf(contextOf(agentId, { deadlineAt: now + 900_000 }));
    const asked = ["One", "Two"].map(userInput => judge.route({ ...routing, userInput }));
    await server.arrived(1);
    const client = standingClient;
    const accountId = await accountOf(agentId);
    await eventually(() => assert.equal(client?.queued(accountId), 1));
    await saveJudgeConnection(db, testVault, projectId, () => fresh({ model: "new" }));
    resolve();
    const answers = await Promise.all(asked);
    assert.equal(answers.filter(({ code }) => code === "ok").length, 1);
    const waiting = answers.find(isWaiting);
    assert.equal(waiting?.detail.code, "judge_connection_changed");
    assert.equal(server.requests.length, 1);
    await judges.close();
  });

  test("is asked soon by those who wait for one that was edited or removed while it was asked", async () => {
    for (const edit of ["edited", "removed"]) {
      const projectId = await makeProject(db);
      const agentId = await makeAgentRow(db, { projectId });
      await saveJudgeConnection(db, testVault, projectId, () => fresh());
      const judges = openTestJudges(db, null, { clock });
      server.script = async () => {
        if (edit === "edited") await saveJudgeConnection(db, testVault, projectId, () => fresh());
        else await deleteJudgeConnection(db, projectId);
        now += 1_000;
        return refusal(503, {}, { "retry-after": "600" });
      };
      for (const kind of ["route", "semantic"]) {
        const judge = judges.judgeOf(contextOf(agentId, { deadlineAt: now + 900_000, tries: 5 }));
        const answer =
          kind === "route" ? await judge.route(routing) : (await judge.ask([semanticQuestion()]))[0]!;
        if (kind === "semantic" && edit === "removed") assert.equal(answer.code, "not_configured");
        else {
          assert.ok(isWaiting(answer) && !wasCalled(answer.detail), edit);
          assert.equal(answer.retryAt, now + 1_000, edit);
        }
      }
      await judges.close();
    }
  });

  test("with a Retry-After for what one trace says is waited for by that trace alone; a rate limit, by all", async () => {
    for (const [status, isOfKey] of [
      [503, false],
      [402, false],
      [429, true],
    ] as const) {
      const [one, two] = [await makeJudgedAgent(db, 0), await makeJudgedAgent(db, 0)];
      const environment = fresh();
      const judges = openTestJudges(db, environment, { clock });
      const isPoison: (text: string) => boolean = text => text.includes("poison");
      server.script = (request, index) =>
        isPoison(request.material)
          ? refusal(status, {}, { "retry-after": "3600" })
          : obliging()(request, index);
      const ask = async (agentId: string, response: string) => {
        const judge = judges.judgeOf(contextOf(agentId, { deadlineAt: now + 9_000_000 }));
        return (await judge.ask([semanticQuestion({ response })]))[0]!;
      };
      const hit = await ask(one.agentId, "The poison is in Lyon.");
      assert.ok(isWaiting(hit) && hit.retryAt >= now + 3_600_000);
      assert.equal((await ask(two.agentId, "It is in Lyon.")).code, isOfKey ? "later" : "ok", `${status}`);
      const state = await findJudgeState(db, fingerprintOf(environment, null));
      assert.equal(state?.wait != null, isOfKey);
      await judges.close();
    }
  });

  test("is not asked with a key that cannot be read, nor is anybody else in its place", async () => {
    const projectId = await makeProject(db);
    const agentId = await makeAgentRow(db, { projectId });
    await saveJudgeConnection(db, openVault(Buffer.alloc(32, 99)), projectId, () => fresh());
    const judges = openTestJudges(db, fresh(), { clock });
    const answer = await judges.judgeOf(contextOf(agentId)).route(routing);
    assert.equal(answer.code, "refused");
    assert.equal((answer as Unanswered).detail.code, "judge_key_unreadable");
    assert.equal(server.requests.length, 0);
    await judges.close();
  });
});
