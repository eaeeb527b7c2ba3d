// Erasing a text or a user leaves nothing of it in any row of the database, whatever was made of it and is in progress.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { begun, waiting } from "../store/locks.ts";
import { sendJson } from "../support/agent-server.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan, newSpanId, newTraceId } from "../support/bodies.ts";
import { eraseAll, startErasure } from "../support/erasing.ts";
import { eventually } from "../support/eventually.ts";
import { fillAccount, type Outside, startOutside } from "../support/filled-account.ts";
import { obliging } from "../support/judge-server.ts";
import { columnsWith, filesWith } from "../support/leftovers.ts";
import { callSpan, logsOf, questionRecord } from "../support/log-records.ts";
import { jsonOf, send, traceIdOf } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { resourceSpans } from "../wire/make-body.ts";

let dataDir: string;
let service: TestService;
let outside: Outside;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "onlooker-erasures-"));
  outside = await startOutside();
  service = await startTestService({ config: { dataDir, debounceMs: 0, debounceCapMs: 0 } });
});
after(async () => {
  await service?.stop();
  await outside?.close();
  await rm(dataDir, { recursive: true, force: true });
});
afterEach(() => {
  const faults = service.logs.filter(line => JSON.parse(line).level >= 50);
  assert.deepEqual(faults, []);
});

const placesOf = (word: string) => columnsWith(service.databaseUrl, word);

test("an erased text is in no row and no log, whether it came in traces, replies, tests, notes or views", async () => {
  const filled = await fillAccount(service, outside);
  const { words, owner, projectId, agentId, traceIds } = filled;
  const erasing = { client: owner.client, projectId };
  assert.ok((await placesOf(words.content)).length > 10);

  const { dryRun, erasure } = await eraseAll(erasing, { text: words.content });
  assert.deepEqual(dryRun.tests, []);
  assert.equal(dryRun.matches.length > 3, true);
  assert.ok(dryRun.matches.every(({ excerpt }) => excerpt.includes(words.content)));
  assert.deepEqual([erasure.state, erasure.erased], ["done", dryRun.matched]);
  assert.deepEqual(await placesOf(words.content), []);
  assert.deepEqual(filesWith(dataDir, words.content), []);
  assert.equal(service.logs.join("").includes(words.content), false);

  // Live tests end in live traces and results; what quotes them is deleted once the tests are edited.
  const body = canonicalBody(agentId, {
    spans: [canonicalSpan({ attributes: { "gen_ai.prompt": "Hi", "gen_ai.response.text": "The parcel" } })],
  });
  const { key } = (
    await owner.client.post(`/api/projects/${projectId}/keys`, { name: "K", access: "full" }).expect(201)
  ).body;
  jsonOf(await send({ url: service.url, key }, { body }));
  const before = await traceIds();
  const found = await startErasure(erasing, { text: words.test, dryRun: true });
  assert.equal(found.tests.length, 4);
  for (const { id } of found.tests) {
    const test = JSON.stringify(await owner.client.read(`/api/tests/${id}`));
    await owner.client.put(`/api/tests/${id}`, JSON.parse(test.replaceAll(words.test, "nobody"))).expect(200);
  }
  const second = await eraseAll(erasing, { text: words.test });
  assert.equal(second.erasure.state, "done", JSON.stringify(second.erasure));
  assert.deepEqual(await placesOf(words.test), []);
  assert.equal((await traceIds()).length, before.length - second.erasure.erased);

  const third = await eraseAll(erasing, { text: words.setting });
  assert.equal(third.dryRun.views.length, 1);
  assert.deepEqual(
    (await placesOf(words.setting)).filter(place =>
      /^(traces|trace_(?!views)|runs|run_turns|judge_(calls|answers)|launch)/.test(place),
    ),
    [],
  );
});

const erasing = () => ({ client: service.client, projectId: service.projectId });

async function sendSpan(attributes: object, more: object = {}): Promise<string> {
  const spans = [canonicalSpan({ attributes })];
  const body = canonicalBody(service.agent.id, { spans, ...more });
  return traceIdOf(await send(service, { body }));
}

const remaining = async (ids: string[]) => {
  const { rows } = await service.db.pool.query<{ id: string }>(
    "select id from traces where id = any ($1::uuid[])",
    [ids],
  );
  return ids.map(id => rows.some(row => row.id === id));
};

test("IDs are matched exactly, in the attributes of every convention and of the agent's own rules", async () => {
  const rule = { from: "my.customer", to: "user.id" };
  await service.client.patch(`/api/agents/${service.agent.id}`, { conventionRules: [rule] }).expect(200);
  const id = "jane@example.com";
  const matching = [
    await sendSpan({ "user.id": id }),
    await sendSpan({ "langfuse.user.id": id }),
    await sendSpan({ "llm.user": JSON.stringify(id) }),
    await sendSpan({ metadata: JSON.stringify({ user_id: id }) }),
    await sendSpan({ "my.customer": id }),
    await sendSpan({ "user.id": "other", "traceloop.association.properties.user_id": id }),
    await sendSpan({}, { metadata: { "user.id": id } }),
  ];
  const others = [
    await sendSpan({ "user.id": `x${id}` }),
    await sendSpan({ "gen_ai.prompt": `I am ${id}` }),
    await sendSpan({ "session.id": id }),
  ];
  const { dryRun, erasure } = await eraseAll(erasing(), { userId: id });
  assert.equal(dryRun.matched, matching.length);
  assert.deepEqual(
    dryRun.matches.map(({ traceId }) => traceId),
    matching,
  );
  assert.equal(erasure.erased, matching.length);
  assert.deepEqual(await remaining([...matching, ...others]), [
    ...matching.map(() => false),
    ...others.map(() => true),
  ]);
  assert.equal((await eraseAll(erasing(), { conversationId: id })).erasure.erased, 1);
  assert.equal((await eraseAll(erasing(), { text: id })).erasure.erased, 2);
  assert.deepEqual(await placesOf(id), []);

  const number = await sendSpan({ "user.id": 4711 });
  assert.equal((await eraseAll(erasing(), { userId: "4711" })).erasure.erased, 1);
  assert.deepEqual(await remaining([number]), [false]);
});

test("a test drafted from an erased trace is listed, and its backtests and manual runs are deleted", async () => {
  const { client } = service;
  const agent = await makeAgent(service.owner, { otlpServiceName: "drafted" });
  await client
    .put(`/api/agents/${agent.id}/connection`, {
      ...{ type: "http_api", url: outside.agent.url, waitMs: 0, bodyTemplate: '{"message":"{{input}}"}' },
      reply: { kind: "json", pointer: "/reply" },
    })
    .expect(200);
  outside.agent.script = (_, response) => sendJson(response, { reply: "I will." });
  // Too short to be looked for beside traces.
  const userId = "u1";
  const said = { "gen_ai.prompt": "Call me at 4711-0815", "gen_ai.response.text": "I will." };
  const sendTo = async (attributes: object) => {
    const body = canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] });
    return traceIdOf(await send(service, { body }));
  };
  const [source, other] = [await sendTo({ "user.id": userId, ...said }), await sendTo(said)];
  const { body: draft } = await client.post(`/api/traces/${source}/draft-test`).expect(200);
  assert.equal(draft.draftedFrom, source);
  const assertions = [{ type: "response_regex", pattern: "I will" }];
  const save = (more: object) =>
    makeTest(service.owner, agent.id, { ...draft, assertions, status: "active", ...more });
  const drafted = [await save({ name: "One" }), await save({ name: "Two", draftedFrom: [other, source] })];
  const tests = [...drafted, await save({ name: "Of another trace", draftedFrom: other })];
  for (const { id: testId } of tests) {
    const { body } = await client
      .post(`/api/agents/${agent.id}/backtests`, { testId, traces: 1 })
      .expect(201);
    await eventually(async () =>
      assert.equal((await client.read(`/api/backtests/${body.id}`)).state, "completed"),
    );
  }
  const testIds = tests.map(({ id }) => id);
  const { body: launch } = await client.post(`/api/agents/${agent.id}/launches`, { testIds }).expect(201);
  await eventually(async () =>
    assert.equal((await client.read(`/api/launches/${launch.id}`)).state, "completed"),
  );

  const dryRun = await startErasure(erasing(), { userId, dryRun: true });
  assert.deepEqual(
    dryRun.tests.map(({ id, excerpt, draftedFrom }) => [id, excerpt, draftedFrom]),
    drafted.map(({ id }) => [id, "", source]),
  );
  const erasure = await startErasure(erasing(), { userId, confirm: 1 });
  assert.deepEqual([erasure.state, erasure.erased], ["done", 1]);
  const { items } = await client.read(`/api/agents/${agent.id}/backtests`);
  const { items: runs } = await client.read(`/api/launches/${launch.id}/runs`);
  assert.deepEqual(
    [...items, ...runs].map(({ testName }) => testName),
    ["Of another trace", "Of another trace"],
  );
  for (const { id } of tests) await client.delete(`/api/tests/${id}`).expect(204);
});

test("traces are erased by their IDs, and by their external or OTLP trace ID with what waits for them", async () => {
  const one = await sendSpan({});
  const other = await sendSpan({});
  const strange = await service.signUp();
  const elsewhere = { client: strange.client, projectId: strange.projectId };
  assert.equal((await eraseAll(elsewhere, { traceIds: [one] })).dryRun.matched, 0);
  assert.equal((await eraseAll(erasing(), { traceIds: [one] })).erasure.erased, 1);
  assert.deepEqual(await remaining([one, other]), [false, true]);

  const agent = await makeAgent(service.owner, { otlpServiceName: "logging" });
  await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
  const named = { traceId: newTraceId(), spanId: newSpanId() };
  const headers = { "x-request-id": "request-of-jane" };
  const spans = { resourceSpans: [resourceSpans("logging", [callSpan(named)])] };
  assert.equal((await send(service, { body: spans, headers })).status, 200);
  const later = logsOf([questionRecord({ ...named, spanId: newSpanId() }, "Where is Jane?")], "logging");
  assert.equal((await send(service, { path: "/public/logs", body: later })).status, 200);
  assert.deepEqual(await placesOf("Where is Jane?"), ["waiting_records.records"]);
  assert.equal((await eraseAll(erasing(), { text: "Where is Jane?" })).erasure.erased, 0);
  assert.deepEqual(await placesOf("Where is Jane?"), []);
  assert.equal((await send(service, { path: "/public/logs", body: later })).status, 200);
  const { dryRun } = await eraseAll(erasing(), { externalId: named.traceId });
  assert.equal(dryRun.matched, 1);
  assert.deepEqual(await placesOf(named.traceId), []);
  assert.deepEqual(await placesOf("request-of-jane"), []);
});

test("another number than a dry run found, and more matches by then, are a 409, and nothing is erased", async () => {
  const path = `/api/projects/${service.projectId}/erasures` as const;
  const text = "only once or twice";
  const ids = [await sendSpan({ a: text })];
  const missing = await service.client.post(path, { text, confirm: 1 }).expect(409);
  assert.deepEqual([missing.body.code, /dryRun/.test(missing.body.hint!)], ["CONFLICT", false]);
  const dryRun = await startErasure(erasing(), { text, dryRun: true });
  assert.equal(dryRun.matched, 1);
  const refused = async (confirm: number) => {
    const { body } = await service.client.post(path, { text, confirm }).expect(409);
    const issues = body.issues!.map((issue: { path: string }) => issue.path);
    assert.deepEqual([body.code, issues], ["CONFLICT", ["confirm"]]);
    return body.message;
  };
  const found = "The dry run found 1 trace, and";
  assert.equal(await refused(0), `${found} none were confirmed. Nothing was erased.`);
  ids.push(await sendSpan({ a: text }));
  for (const confirm of [2, 1_000]) {
    assert.equal(await refused(confirm), `${found} ${confirm} were confirmed. Nothing was erased.`);
  }
  assert.equal(await refused(1), "2 traces match by now, and 1 was confirmed. Nothing was erased.");
  assert.deepEqual(await remaining(ids), [true, true]);
  assert.equal((await eraseAll(erasing(), { text })).erasure.erased, 2);
  assert.deepEqual(await remaining(ids), [false, false]);

  const two = [await sendSpan({ a: text }), await sendSpan({ a: text })];
  await startErasure(erasing(), { text, dryRun: true });
  await service.client.delete(`/api/traces/${two[0]}`).expect(204);
  assert.equal((await startErasure(erasing(), { text, dryRun: true })).matched, 1);
  const { state, erased } = await startErasure(erasing(), { text, confirm: 2 });
  assert.deepEqual([state, erased], ["done", 1], "fewer than an earlier dry run found");

  for (const body of [
    { text: "abc", dryRun: true },
    { text: "long enough" },
    { dryRun: true },
    { text: "long enough", userId: "one", dryRun: true },
    { text: "long enough", dryRun: true, confirm: 1 },
    { traceIds: [], dryRun: true },
  ]) {
    const { body: invalid } = await service.client.post(path, body).expect(400);
    assert.equal(invalid.code, "VALIDATION_ERROR");
  }
});

test("an erasure that is refused keeps the log records that wait for their span", async () => {
  const text = "waits for its span";
  const agent = await makeAgent(service.owner, { otlpServiceName: "refused" });
  await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
  await sendSpan({ a: text });
  assert.equal((await startErasure(erasing(), { text, dryRun: true })).matched, 1);
  const body = logsOf([questionRecord({ traceId: newTraceId(), spanId: newSpanId() }, text)], "refused");
  assert.equal((await send(service, { path: "/public/logs", body })).status, 200);
  await sendSpan({ a: text });
  const path = `/api/projects/${service.projectId}/erasures` as const;
  await service.client.post(path, { text, confirm: 1 }).expect(409);
  assert.ok((await placesOf(text)).includes("waiting_records.records"));
  assert.equal((await eraseAll(erasing(), { text })).erasure.erased, 2);
  assert.deepEqual(await placesOf(text), []);
});

test("the record says who, when, what kind and how many, and the list leaves dry runs out", async () => {
  const { client, projectId, email } = await service.signUp();
  const { erasure, dryRun } = await eraseAll({ client, projectId }, { text: "a criterion-of-its-own" });
  const body = await client.read(`/api/projects/${projectId}/erasures`);
  const { matches, tests, notes, views, more, ...listed } = erasure;
  assert.deepEqual([matches, tests, notes, views, more], [[], [], [], [], false]);
  assert.deepEqual(body.items, [listed]);
  assert.deepEqual(
    [listed.criterion, listed.createdBy, listed.state, listed.confirmed, listed.matched],
    ["text", email, "done", 0, 0],
  );
  assert.deepEqual(await placesOf("a criterion-of-its-own"), []);
  const { rows } = await service.db.pool.query("select sealed from erasures where id = $1", [erasure.id]);
  assert.deepEqual(rows, [{ sealed: null }]);
  await client.get(`/api/erasures/${dryRun.id}`).expect(200);
});

test("a batch that is being merged is erased with its trace, and what comes later is a new trace", async () => {
  const traceId = newTraceId();
  const span = (text: string) => ({
    resourceSpans: [
      resourceSpans("support-agent", [callSpan({ traceId, spanId: newSpanId() }, { note: text })]),
    ],
  });
  assert.equal((await send(service, { body: span("the first batch") })).status, 200);
  const { rows } = await service.db.pool.query("select id from traces where external_id = $1", [traceId]);
  const criterion = { text: "the first batch" };
  const { matched } = await startErasure(erasing(), { ...criterion, dryRun: true });
  const place = await placeOf(service.db, service.agent.id);
  const merge = await begun(place);
  await merge.query("select from traces where id = $1 for update", [rows[0].id]);
  await merge.query(
    `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans)
     select agent_id, trace_id, 2, raw_length, span_keys, spans from trace_batches where trace_id = $1`,
    [rows[0].id],
  );
  const erased = startErasure(erasing(), { ...criterion, confirm: matched });
  await waiting(place, "chosen as materialized");
  await merge.commit();
  assert.equal((await erased).erased, 1);
  assert.deepEqual(await placesOf("the first batch"), []);
  assert.deepEqual(await placesOf(traceId), []);
  assert.equal((await send(service, { body: span("a later batch") })).status, 200);
  const again = await service.db.pool.query("select id, revision from traces where external_id = $1", [
    traceId,
  ]);
  assert.notEqual(again.rows[0].id, rows[0].id);
  assert.equal(again.rows[0].revision, 1);
});

test("an evaluation in progress writes nothing of an erased trace back", async () => {
  const { url, model } = outside.judge.connection();
  const judge = { provider: "openai_compatible", url, model, apiKey: "key" };
  await service.client.put(`/api/projects/${service.projectId}/judge`, judge).expect(200);
  const { id } = await makeTest(service.owner, service.agent.id, {
    assertions: [{ type: "semantic", criteria: "Is kind" }],
  });
  const asked = Promise.withResolvers<void>();
  const erased = Promise.withResolvers<void>();
  outside.judge.script = async request => {
    asked.resolve();
    await erased.promise;
    return obliging()(request, 0);
  };
  const text = "said during the erasure";
  await sendSpan({ "gen_ai.prompt": "Hi", "gen_ai.response.text": text });
  await asked.promise;
  assert.equal((await eraseAll(erasing(), { text })).erasure.erased, 1);
  erased.resolve();
  await eventually(async () => {
    const { rows } = await service.db.pool.query("select from queue");
    assert.equal(rows.length, 0);
  });
  assert.deepEqual(await placesOf(text), []);
  await service.client.delete(`/api/tests/${id}`).expect(204);
});

test("a manual run in progress stores nothing of an erased turn again, and does not call its agent again", async () => {
  const text = "told in the first turn";
  const agent = await makeAgent(service.owner);
  await service.client
    .put(`/api/agents/${agent.id}/connection`, {
      ...{ type: "http_api", url: outside.agent.url, waitMs: 0 },
      bodyTemplate: '{"message":"{{input}}","before":"{{history}}"}',
      reply: { kind: "json", pointer: "/reply" },
    })
    .expect(200);
  const turns = [{ input: "One" }, { input: "Two" }, { input: "Three" }];
  const { id } = await makeTest(service.owner, agent.id, { passiveBehavior: "manual_only", turns });
  const second = Promise.withResolvers<void>();
  const erased = Promise.withResolvers<void>();
  const called = outside.agent.requests.length;
  outside.agent.script = async ({ body: { message, before } }, response) => {
    if (message === "Two") {
      assert.ok(JSON.stringify(before).includes(text));
      second.resolve();
      await erased.promise;
    }
    sendJson(response, { reply: `${message}: ${text}` });
  };
  const path = `/api/agents/${agent.id}/launches` as const;
  const { body: launch } = await service.client.post(path, { testIds: [id] }).expect(201);
  await second.promise;
  assert.deepEqual((await placesOf(text)).includes("run_turns.document"), true);
  const { erasure } = await eraseAll(erasing(), { text });
  assert.deepEqual([erasure.state, erasure.erased], ["done", 1]);
  erased.resolve();
  await eventually(async () => {
    const body = await service.client.read(`/api/launches/${launch.id}`);
    assert.equal(body.state, "completed");
  });
  assert.deepEqual(await placesOf(text), []);
  assert.equal(outside.agent.requests.length, called + 2);
});
