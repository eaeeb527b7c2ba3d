// Secrets survive a restart, and a process with another key reports them as unreadable instead of failing.
import assert from "node:assert/strict";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startAgentServer } from "../support/agent-server.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "../support/bodies.ts";
import { type Client, newClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { columnsWith } from "../support/leftovers.ts";
import { freshDatabase } from "../support/postgres.ts";
import { jsonOf, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

const dataDir = await mkdtemp(join(tmpdir(), "onlooker-secrets-"));
const agentServer = await startAgentServer();
const running: TestService[] = [];
after(async () => {
  for (const service of running) await service.stop();
  await agentServer.close();
  await rm(dataDir, { recursive: true });
});

test("a stored secret is used after a restart, must be entered again under another key, and is never returned", async () => {
  const database = await freshDatabase();
  const start = async (config: { secretKey?: string } = {}) => {
    const options = { databaseUrl: database.url, config: { dataDir, roles: ["http"] as const, ...config } };
    const service = await startTestService(options);
    running.push(service);
    return service;
  };
  const first = await start();
  assert.match(first.logs.join("\n"), /private addresses: 127\.0\.0\.0\/8, ::1/);
  const { id } = await makeAgent(first.owner);
  const path = `/api/agents/${id}/connection` as const;
  const document = {
    url: agentServer.url,
    bodyTemplate: '{"message": "{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    headers: [{ name: "Authorization", value: "Bearer hidden-text" }],
  };
  await first.client.put(path, document).expect(200);
  await first.stop();
  assert.equal((await stat(join(dataDir, "secret.key"))).mode & 0o777, 0o600);

  const signedIn = (service: TestService) =>
    Object.assign(newClient(service.url), { cookie: first.client.cookie });
  const second = await start();
  const trial = await signedIn(second).post(`${path}/test`, { input: "Hello" }).expect(200);
  assert.equal(trial.body.text, "You said: Hello");
  assert.equal(agentServer.requests.at(-1)!.headers.authorization, "Bearer hidden-text");

  const third = await start({ secretKey: "ab".repeat(32) });
  const client = signedIn(third);
  const body = await client.read(path);
  assert.deepEqual(body.connection!.headers, [{ name: "Authorization", secret: true, set: false }]);
  const refused = await client.post(`${path}/test`, { input: "Hello" }).expect(409);
  assert.match(refused.body.message, /encrypted with another key/);
  const { issues } = (await client.put(path, body.connection).expect(400)).body;
  assert.deepEqual(issues, [
    { path: "headers[0].value", message: "Encrypted with another key. Enter it again." },
  ]);
  await client.put(path, document).expect(200);
  await client.post(`${path}/test`, { input: "Hello" }).expect(200);
  for (const { logs } of running) assert.doesNotMatch(logs.join("\n"), /hidden-text/);
});

test("without the key that pseudonyms were made with, nothing is stored in their place, and the service says what to do", async () => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(dataDir, "lost-"));
  const keyFile = join(folder, "secret.key");
  let client: Client;
  const start = async () => {
    const options = {
      databaseUrl: database.url,
      config: { dataDir: folder, debounceMs: 0, debounceCapMs: 0 },
    };
    const service = await startTestService(options);
    running.push(service);
    if (client) client = Object.assign(newClient(service.url), { cookie: client.cookie });
    return service;
  };
  const first = await start();
  client = first.client;
  const { projectId, agent, key } = first;
  const privacy = `/api/projects/${projectId}/privacy` as const;
  await client.put(privacy, { builtIn: ["*"], pseudonyms: ["user.id", "gen_ai.input.messages"] }).expect(200);
  const user = "user-4711@example.com";
  const post = async ({ url }: TestService, attributes: object) => {
    const answer = await send(
      { url, key },
      { body: canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] }) },
    );
    return { status: answer.status, retry: answer.headers["retry-after"], body: jsonOf(answer) };
  };
  const userOf = async (service: TestService) => {
    const { status, body } = await post(service, { "user.id": user, text: `I am ${user}` });
    assert.equal(status, 201);
    return (await client.read(`/api/traces/${body.traceId as string}`)).userId;
  };
  const pseudonym = await userOf(first);
  assert.match(pseudonym!, /^p_/);
  await first.stop();

  await rename(keyFile, `${keyFile}.kept`);
  const second = await start();
  assert.match(second.logs.join("\n"), /another key/);
  const refused = await post(second, { "user.id": user });
  assert.deepEqual([refused.status, refused.body.code], [503, "UNAVAILABLE"]);
  assert.ok(refused.retry);
  assert.match(refused.body.hint, /Restore .*SVC_SECRET_KEY/);
  const otlp = await send(
    { url: second.url, key },
    {
      body: exportOf([exportedSpan({ attributes: [{ key: "user.id", value: { stringValue: user } }] })]),
    },
  );
  assert.equal(otlp.status, 503);
  // Saving settings makes no other key, and what needs none is stored and redacted.
  await client.put(privacy, { builtIn: ["*"], pseudonyms: ["user.id", "gen_ai.input.messages"] }).expect(200);
  assert.equal((await post(second, { "user.id": user })).status, 503);
  assert.equal((await post(second, { text: `I am ${user}` })).status, 201);
  assert.equal((await client.read(`${privacy}/pseudonym-key`)).readable, false);
  // The trace of a manual run has one of the attributes, too.
  await client
    .put(`/api/agents/${agent.id}/connection`, {
      ...{ type: "http_api", url: agentServer.url, bodyTemplate: '{"message": "{{input}}"}', waitMs: 0 },
      reply: { kind: "json", pointer: "/reply" },
    })
    .expect(200);
  const { id } = await makeTest({ ...second.owner, client, projectId }, agent.id, {
    passiveBehavior: "manual_only",
    turns: [{ input: "Hello" }],
  });
  const launch = await client.post(`/api/agents/${agent.id}/launches`, { testIds: [id] }).expect(201);
  const ended = await eventually(async () => {
    const body = await client.read(`/api/launches/${launch.body.id}`);
    assert.notEqual(body.finishedAt, null);
    return body;
  });
  assert.equal(ended.runs[0]!.state, "error");
  assert.match(ended.runs[0]!.error!, /pseudonyms/);
  assert.deepEqual(await columnsWith(database.url, "user-4711"), []);
  await second.stop();

  await rename(`${keyFile}.kept`, keyFile);
  const third = await start();
  assert.equal(await userOf(third), pseudonym);
  await third.stop();
});
