// Deleting a trace, a test case, a run of tests, an agent, a project or an account leaves none of its text in the database
// or the data folder, whatever was made of it and whatever is in progress.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { httpAgent, sendJson } from "../support/agent-server.ts";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import {
  type FilledAccount,
  fillAccount,
  type Outside,
  startOutside,
  type Words,
} from "../support/filled-account.ts";
import { obliging } from "../support/judge-server.ts";
import { columnsWith, filesWith } from "../support/leftovers.ts";
import { send, traceIdOf } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

let dataDir: string;
let service: TestService;
let outside: Outside;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "onlooker-deletion-"));
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

/** Work in progress may end first. */
const isGone = (word: string) =>
  eventually(async () => assert.deepEqual([...(await placesOf(word)), ...filesWith(dataDir, word)], []));

async function deleteTraces({ owner, traceIds }: FilledAccount): Promise<void> {
  for (const id of await traceIds()) await owner.client.delete(`/api/traces/${id}`).expect(204);
}

/** Where each kind of text is before anything is deleted: proof that the search finds it. It searches new places, too. */
const places: Record<keyof Words, string[]> = {
  content: words(`judge_answers.answer judge_calls.detail labels.note labels.question result_states.note
    run_turns.document run_turns.reply runs.detail shared_resources.resource trace_batches.spans
    trace_identities.external_id trace_values.value traces.external_id traces.name traces.response_text traces.tools traces.user_input`),
  test: words(`backtests.test judge_answers.answer judge_calls.detail labels.question launch_inputs.input
    launch_tests.document launch_tests.name run_turns.document run_turns.reply runs.detail test_cases.document
    test_cases.inputs test_cases.name trace_batches.spans traces.response_text traces.user_input`),
  setting: words(`access_tokens.name agent_connections.document agents.name agents.otlp_service_name
    ingestion_minutes.service_name judge_prices.model keys.name projects.name shared_resources.resource
    trace_views.name trace_views.search`),
  account: words("accounts.email accounts.name email_links.email"),
};

function words(text: string): string[] {
  return text.split(/\s+/);
}

test("a deleted trace leaves nothing of its content, and a deleted test nothing once its results are deleted", async () => {
  const filled = await fillAccount(service, outside);
  const { words, owner, testIds } = filled;
  for (const [kind, expected] of Object.entries(places)) {
    assert.deepEqual(await placesOf(words[kind as keyof Words]), expected, kind);
  }
  await deleteTraces(filled);
  await isGone(words.content);
  assert.deepEqual(
    await placesOf(words.test),
    ["backtests.test", "test_cases.document", "test_cases.inputs", "test_cases.name"],
    "the tests themselves",
  );
  for (const id of testIds) await owner.client.delete(`/api/tests/${id}`).expect(204);
  await isGone(words.test);
});

test("results keep a copy of a deleted test until their traces and runs are deleted", async () => {
  const filled = await fillAccount(service, outside);
  const { words, owner, testIds, launchId } = filled;
  const get: Client["read"] = path => owner.client.read(path);
  for (const id of testIds) await owner.client.delete(`/api/tests/${id}`).expect(204);
  const kept = places.test.filter(place => !/^(backtests|labels|test_cases)\./.test(place));
  assert.deepEqual(await placesOf(words.test), kept);
  await owner.client.delete(`/api/launches/${launchId}`).expect(204);
  await owner.client.get(`/api/launches/${launchId}`).expect(404);
  const { items } = await get(`/api/agents/${filled.agentId}/traces?kind=test_run`);
  assert.deepEqual(items, [], "the traces of a run are deleted with it");
  assert.equal(
    (await placesOf(words.test)).some(place => /^(launch|run_turns)/.test(place)),
    false,
  );
  await deleteTraces(filled);
  await isGone(words.test);
  await isGone(words.content);
});

test("a deleted agent, a deleted project and a deleted account leave nothing", async () => {
  const { words, owner, agentId, projectId } = await fillAccount(service, outside);
  await owner.client.delete(`/api/agents/${agentId}`).expect(204);
  await isGone(words.content);
  await isGone(words.test);
  await owner.client.delete(`/api/projects/${projectId}`).expect(204);
  assert.deepEqual(await placesOf(words.setting), ["access_tokens.name"]);

  const other = await fillAccount(service, outside);
  await other.owner.client.delete(`/api/projects/${other.projectId}`).expect(204);
  await isGone(other.words.content);
  await isGone(other.words.test);

  const last = await fillAccount(service, outside);
  await eventually(() => assert.notDeepEqual(filesWith(dataDir, last.words.account), []));
  const { accountId, email, password, client } = last.owner;
  await client.post("/api/auth/request-password-reset", { email }).expect(200);
  await client.post("/api/auth/delete-user", { password }).expect(200);
  for (const word of [...Object.values(last.words), accountId, last.projectId, last.agentId])
    await isGone(word);
});

test("what is being evaluated, asked or called during a deletion ends quietly and writes nothing back", async () => {
  const filled = await fillAccount(service, outside);
  const { owner, words, agentId, projectId } = filled;
  await owner.client.put(`/api/agents/${agentId}/connection`, {
    type: "http_api",
    url: outside.agent.url,
    bodyTemplate: '{"message":"{{input}}","before":"{{history}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  });
  const { id: keyId, key } = (
    await owner.client.post(`/api/projects/${projectId}/keys`, { name: "K", access: "full" }).expect(201)
  ).body;
  assert.ok(keyId);
  await deleteTraces(filled);

  // The judge is asked about a trace, and answers once the trace is deleted.
  const asked = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  outside.judge.script = async request => {
    asked.resolve();
    await deleted.promise;
    return obliging()(request, 0);
  };
  const attributes = { "gen_ai.prompt": "Where?", "gen_ai.response.text": `The parcel of ${words.content}` };
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
  const traceId = traceIdOf(await send({ url: service.url, key }, { body }));
  await asked.promise;
  await owner.client.delete(`/api/traces/${traceId}`).expect(204);
  deleted.resolve();
  await isGone(words.content);

  // The second turn is in progress when the trace of the first is deleted: it repeats the first in its history.
  const { id } = await makeTest(owner, agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: "One" }, { input: "Two" }],
  });
  const second = Promise.withResolvers<void>();
  const firstDeleted = Promise.withResolvers<void>();
  outside.agent.script = async ({ body: { message } }, response) => {
    if (message === "Two") {
      second.resolve();
      await firstDeleted.promise;
    }
    sendJson(response, { reply: `${message}: ${words.content}` });
  };
  const start = await owner.client.post(`/api/agents/${agentId}/launches`, { testIds: [id] }).expect(201);
  const launch = `/api/launches/${start.body.id}` as const;
  await second.promise;
  assert.equal((await owner.client.delete(launch).expect(409)).body.hint, "Cancel it first.");
  await deleteTraces(filled);
  firstDeleted.resolve();
  const { body: ended } = await eventually(async () => {
    const answer = await owner.client.get(launch).expect(200);
    assert.equal(answer.body.state, "completed");
    return answer;
  });
  assert.equal(ended.runs[0]!.error, "The trace of a turn was deleted during the run.");
  await isGone(words.content);

  // A turn is in progress when the agent is deleted.
  outside.agent.script = async (request, response) => {
    await owner.client.delete(`/api/agents/${agentId}`);
    httpAgent(request, response);
  };
  await owner.client.post(`/api/agents/${agentId}/launches`, { testIds: [id] }).expect(201);
  // The ingestion log counts for seven days.
  const counted = ["ingestion_minutes.agent_id"];
  await eventually(async () => assert.deepEqual(await placesOf(agentId), counted));
});
