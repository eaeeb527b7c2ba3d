// A project's judge over the API: its key is never returned, and a connection test stores its findings.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { trialsPerMinute } from "../../../src/http/frame/rate-limit.ts";
import { registerJudgeConnections } from "../../../src/http/judge/connections.ts";
import type {
  GivenVerdict,
  JudgeCall,
  JudgeConnection,
  JudgeMode,
  Verdicts,
} from "../../../src/model/judge/call.ts";
import { unanswered } from "../../../src/model/judge/outcome.ts";
import type { JudgeReply, JudgeRequest } from "../../../src/remote/judge/client.ts";
import { findJudgeConnection } from "../../../src/store/judge/connections.ts";
import { findJudgeState, fingerprintOf, pauseJudge } from "../../../src/store/judge/states.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { type Owner, startTestApp, type TestApp } from "../../support/app.ts";
import { endWindows } from "../../support/attempts.ts";
import { keyRejected, serverError } from "../../support/judge-answers.ts";

const apiKey = "sk-never-to-be-shown-1234";
const vault = openVault(Buffer.alloc(32, 1));
const environmentJudge: JudgeConnection = {
  provider: "openai_compatible",
  url: "http://10.0.0.7:8000/v1",
  model: "house-7b",
  apiKey: "sk-of-the-operator",
  timeoutMs: 1_000,
  concurrency: 8,
  tokensPerMinute: null,
};

/** The connections that were opened, and how each question ends. */
let opened: { connection: JudgeConnection; userSupplied: boolean }[];
let answer: (mode: JudgeMode, signal: AbortSignal | undefined) => Promise<JudgeReply<Verdicts>>;

const verdict: GivenVerdict = {
  ...{ verdict: "met", evidence: "", reason: "", quotation: "empty" },
  ...{ comparedWith: "", comparison: "empty", evidenceHint: null, comparisonHint: null },
};
const asExpected: typeof answer = async mode => ({
  code: "ok",
  value: new Map([["c1", verdict]]),
  call: { mode } as JudgeCall,
});

let bare: TestApp;
let service: TestApp;
let owner: Owner;
before(async () => {
  const start = (environment: JudgeConnection | null) =>
    startTestApp({
      extend: (app, deps) =>
        registerJudgeConnections(app, {
          ...deps,
          vault,
          environmentJudge: environment,
          judgeTimeoutMs: 12_000,
          async openProbe(connection, { userSupplied }) {
            opened.push({ connection, userSupplied });
            // As a client does, the second call begins in the mode that the first one found to work.
            let known: JudgeMode;
            const call = async <T>({ kind }: JudgeRequest<T>, signal?: AbortSignal) => {
              if (kind === "semantic") {
                const reply = (await answer(known, signal)) as JudgeReply<T>;
                known = reply.call?.mode ?? known;
                return reply;
              }
              const value = new Map([["s1", { label: "match", reason: "" }]]) as T;
              return { code: "ok", value, call: { mode: known } as JudgeCall } as JudgeReply<T>;
            };
            return mode => {
              known = mode;
              return { call };
            };
          },
        }),
    });
  [service, bare] = await Promise.all([start(environmentJudge), start(null)]);
  owner = await service.verifiedAccount();
});
after(async () => {
  await service.close();
  await bare.close();
});
beforeEach(async () => {
  opened = [];
  answer = asExpected;
  await endWindows(service.db);
});

const openai = { provider: "openai", model: "gpt-small", apiKey };

/** The URL of the judge of a new project. */
async function newPath(of: Owner = owner) {
  const { body } = await of.client.post("/api/projects", { name: "Shop" }).expect(201);
  return `/api/projects/${body.id}/judge` as const;
}

test("a project without its own judge shows the environment's, but neither its key nor its URL", async () => {
  const body = await owner.client.read(await newPath());
  assert.deepEqual(body, {
    source: "environment",
    provider: "openai_compatible",
    host: "10.0.0.7:8000",
    url: null,
    model: "house-7b",
    headers: [],
    keySet: true,
    keyLastFour: null,
    concurrency: 8,
    tokensPerMinute: null,
    votes: false,
    mode: null,
    testedAt: null,
    waiting: null,
    lowCount: null,
    pausedReason: null,
    environment: { provider: "openai_compatible", host: "10.0.0.7:8000", model: "house-7b" },
  });
});

test("a project without any judge says so", async () => {
  const other = await bare.verifiedAccount();
  const path = await newPath(other);
  const body = await other.client.read(path);
  assert.deepEqual([body.source, body.model, body.environment], [null, null, null]);
  const trial = await other.client.post(`${path}/test`).expect(200);
  assert.deepEqual([trial.body.ok, trial.body.tried], [false, []]);
  assert.match(trial.body.reason, /No judge is configured/);
});

test("a judge is added, returned without its key, changed with the key kept, and removed", async () => {
  const path = await newPath();
  const given = await owner.client
    .put(path, { ...openai, concurrency: 3, tokensPerMinute: 60_000, votes: true })
    .expect(200);
  assert.deepEqual(given.body, {
    source: "project",
    provider: "openai",
    host: "api.openai.com",
    url: null,
    model: "gpt-small",
    headers: [],
    keySet: true,
    keyLastFour: "1234",
    concurrency: 3,
    tokensPerMinute: 60_000,
    votes: true,
    mode: null,
    testedAt: null,
    waiting: null,
    lowCount: null,
    pausedReason: null,
    environment: { provider: "openai_compatible", host: "10.0.0.7:8000", model: "house-7b" },
  });
  const { apiKey: _, ...unsaid } = openai;
  const changed = await owner.client.put(path, { ...unsaid, model: "gpt-large" }).expect(200);
  assert.deepEqual(
    [changed.body.model, changed.body.keyLastFour, changed.body.concurrency],
    ["gpt-large", "1234", 8],
  );
  assert.deepEqual(await owner.client.read(path), changed.body);
  await owner.client.delete(path).expect(204);
  assert.equal((await owner.client.read(path)).source, "environment");
});

test("the key is stored encrypted, and is in no response and no log line", async () => {
  const path = await newPath();
  const { body: saved } = await owner.client.put(path, openai).expect(200);
  const refused = await owner.client.put(path, { ...openai, provider: "nobody" }).expect(400);
  const { rows } = await service.db.pool.query<{ api_key: Buffer }>(
    "select api_key from judge_connections where project_id = $1",
    [path.split("/")[3]],
  );
  assert.equal(rows[0]!.api_key.includes(Buffer.from(apiKey)), false);
  const told =
    JSON.stringify([saved, refused.body, (await owner.client.get(path)).body]) + service.logs.join("");
  assert.equal(told.includes(apiKey), false);
});

test("not even the end of a short key is returned", async () => {
  const path = await newPath();
  const { body } = await owner.client.put(path, { ...openai, apiKey: "short" }).expect(200);
  assert.deepEqual([body.keySet, body.keyLastFour], [true, null]);
});

test("errors are reported at their fields, and leave the stored judge unchanged", async () => {
  const path = await newPath();
  await owner.client.put(path, openai).expect(200);
  for (const [input, field] of [
    [{ ...openai, provider: "nobody" }, "provider"],
    [{ ...openai, model: " " }, "model"],
    [{ ...openai, url: "nowhere" }, "url"],
    [{ ...openai, concurrency: 0 }, "concurrency"],
    [{ ...openai, tokensPerMinute: 10 }, "tokensPerMinute"],
    [{ ...openai, apiKey: "" }, "apiKey"],
    [{ provider: "openai_compatible", model: "m", apiKey: null }, "url"],
    [{ provider: "google", model: "m" }, "apiKey"],
  ] as const) {
    const { body } = await owner.client.put(path, input).expect(400);
    assert.deepEqual([body.code, body.issues![0]!.path], ["VALIDATION_ERROR", field]);
  }
  assert.equal((await owner.client.read(path)).model, "gpt-small");
});

test("a successful connection test stores the mode and its time, and ends the pause", async () => {
  const path = await newPath();
  await owner.client.put(path, openai).expect(200);
  const stored = await findJudgeConnection(service.db, vault, path.split("/")[3]!);
  await pauseJudge(
    service.db,
    fingerprintOf(stored!.connection, path.split("/")[3]!),
    "The judge rejected the API key (401).",
  );
  assert.equal((await owner.client.read(path)).pausedReason, "The judge rejected the API key (401).");
  answer = async (_mode, signal) => asExpected("tool", signal);
  const { body } = await owner.client.post(`${path}/test`).expect(200);
  assert.deepEqual(
    { ...body, ms: 0 },
    {
      ok: true,
      mode: "tool",
      ms: 0,
      reason: "The judge works.",
      fault: null,
      tried: [
        { mode: "json_schema", ok: false, reason: "Not supported." },
        { mode: "tool", ok: true, reason: "Works." },
      ],
    },
  );
  assert.deepEqual(
    opened.map(({ connection, userSupplied }) => [connection.apiKey, connection.timeoutMs, userSupplied]),
    [[apiKey, 12_000, true]],
  );
  const view = await owner.client.read(path);
  assert.deepEqual([view.mode, view.pausedReason], ["tool", null]);
  assert.ok(Math.abs(Date.now() - Date.parse(view.testedAt!)) < 60_000);
});

test("a rejected connection test pauses the connection until it is edited", async () => {
  const path = await newPath();
  await owner.client.put(path, { ...openai, apiKey: `${apiKey}-revoked` }).expect(200);
  answer = async () => ({ ...keyRejected, call: null });
  const { body } = await owner.client.post(`${path}/test`).expect(200);
  assert.deepEqual([body.ok, body.mode, body.reason], [false, null, "The judge rejected the API key (401)."]);
  assert.equal((await owner.client.get(path)).body.pausedReason, "The judge rejected the API key (401).");
  const edited = await owner.client.put(path, openai).expect(200);
  assert.equal(edited.body.pausedReason, null);
});

test("a connection test that finds the quota used up says what to do about that, and pauses nothing", async () => {
  const path = await newPath();
  await owner.client.put(path, openai).expect(200);
  for (const code of ["judge_quota_exceeded", "judge_gateway_budget_exceeded"] as const) {
    answer = async () => ({ ...unanswered("later", { code, data: {} }), call: null });
    const { body } = await owner.client.post(`${path}/test`).expect(200);
    assert.deepEqual([body.ok, body.fault], [false, "budget"]);
    await endWindows(service.db);
  }
  assert.equal((await owner.client.get(path)).body.pausedReason, null);
});

test("a connection test that finds the judge busy changes nothing", async () => {
  const path = await newPath();
  await owner.client.put(path, { ...openai, model: "busy" }).expect(200);
  answer = async () => ({ ...serverError(503), call: null });
  assert.equal(
    (await owner.client.post(`${path}/test`).expect(200)).body.reason,
    "The judge answered with status 503.",
  );
  const stored = await findJudgeConnection(service.db, vault, path.split("/")[3]!);
  assert.equal(
    await findJudgeState(service.db, fingerprintOf(stored!.connection, path.split("/")[3]!)),
    undefined,
  );
});

test("an unsaved connection can be tested with the stored key, and its findings are kept when it is saved", async () => {
  const path = await newPath();
  await owner.client.put(path, openai).expect(200);
  const draft = { provider: "openai", model: "gpt-draft" };
  answer = async (_mode, signal) => asExpected("text", signal);
  const { body } = await owner.client.post(`${path}/test`, { connection: draft }).expect(200);
  assert.deepEqual([body.ok, body.mode], [true, "text"]);
  assert.deepEqual([opened[0]!.connection.apiKey, opened[0]!.connection.model], [apiKey, "gpt-draft"]);
  assert.equal((await owner.client.get(path)).body.model, "gpt-small");
  assert.equal((await owner.client.put(path, draft).expect(200)).body.mode, "text");
  const elsewhere = { provider: "openai_compatible", url: "https://evil.example.com/v1", model: "m" };
  const refused = await owner.client.post(`${path}/test`, { connection: elsewhere }).expect(400);
  assert.equal(refused.body.issues![0]!.path, "apiKey");
  assert.equal(opened.length, 1, "the stored key went nowhere else");
});

test("without its own judge the project tests the environment's, which is called as the operator configured", async () => {
  const { body } = await owner.client.post(`${await newPath()}/test`).expect(200);
  assert.equal(body.ok, true);
  assert.deepEqual(opened, [{ connection: environmentJudge, userSupplied: false }]);
});

test("a key sealed with another master key is reported, is not used, and must be entered again", async () => {
  const path = await newPath();
  await owner.client.put(path, openai).expect(200);
  const other = openVault(Buffer.alloc(32, 2)).seal(apiKey, `judge:${path.split("/")[3]}`);
  await service.db.pool.query("update judge_connections set api_key = $2 where project_id = $1", [
    path.split("/")[3],
    other,
  ]);
  const body = await owner.client.read(path);
  assert.equal(body.keySet, true);
  assert.match(body.pausedReason!, /encrypted with another key: enter it again/);
  const trial = await owner.client.post(`${path}/test`).expect(200);
  assert.match(trial.body.reason, /enter it again/);
  assert.deepEqual(opened, []);
  const { apiKey: _, ...unsaid } = openai;
  assert.equal((await owner.client.put(path, unsaid).expect(400)).body.issues![0]!.path, "apiKey");
  assert.equal((await owner.client.put(path, openai).expect(200)).body.pausedReason, null);
});

test("an account may run one connection test at a time and a number per minute", async () => {
  const path = `${await newPath()}/test`;
  let release = (): void => undefined;
  const asked = new Promise<void>(resolve => {
    answer = (mode, signal) => {
      resolve();
      return new Promise(answered => {
        release = () => void asExpected(mode, signal).then(answered);
      });
    };
  });
  const first = owner.client.post(path);
  await asked;
  const second = await owner.client.post(path).expect(429);
  assert.match(second.body.message, /already running/);
  answer = asExpected;
  release();
  assert.equal((await first).status, 200);
  for (let at = 1; at < trialsPerMinute; at += 1) await owner.client.post(path).expect(200);
  await owner.client.post(path).expect(429);
  await endWindows(service.db);
  await owner.client.post(path).expect(200);
});

test("an account with an unverified email cannot call a judge", async () => {
  const stranger = await service.signUp();
  const { body } = await stranger.client.post(`/api/projects/${stranger.projectId}/judge/test`).expect(403);
  assert.equal(body.code, "EMAIL_NOT_VERIFIED");
  assert.deepEqual(opened, []);
});

test("own headers are sealed, kept on save, used by tests and never returned", async () => {
  const path = await newPath();
  const value = "header-value-0123456789";
  const headers = [{ name: "x-portkey-virtual-key", value }];
  const { body } = await owner.client.put(path, { ...openai, headers }).expect(200);
  assert.deepEqual(body.headers, [{ name: "x-portkey-virtual-key" }]);
  const changed = await owner.client.put(path, { ...openai, model: "gpt-large" }).expect(200);
  const trial = await owner.client.post(`${path}/test`).expect(200);
  assert.deepEqual(opened[0]!.connection.headers, headers);
  for (const answer of [body, changed.body, trial.body, (await owner.client.get(path)).body]) {
    assert.doesNotMatch(JSON.stringify(answer), new RegExp(value));
  }
  assert.deepEqual(changed.body.headers, body.headers);
  const { rows } = await service.db.pool.query("select * from judge_connections");
  assert.ok(rows.every(row => !Object.values(row).some(field => String(field).includes(value))));
  const elsewhere = { ...openai, url: "https://other.example.com/v1" };
  const refused = await owner.client.put(path, elsewhere).expect(400);
  assert.equal(refused.body.issues![0]!.path, "headers[0].value");
});
