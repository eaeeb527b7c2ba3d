// An agent's connection over the API: secrets are never returned, and a test message reports its result.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { trialsPerMinute } from "../../../src/http/frame/rate-limit.ts";
import { registerAgentConnections } from "../../../src/http/projects/agent-connections.ts";
import { type Outbound, openOutbound } from "../../../src/remote/outbound.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import {
  type AgentServer,
  failing,
  httpAgent,
  startAgentServer,
  toMetadata,
} from "../../support/agent-server.ts";
import { makeAgent, type Owner, startTestApp, type TestApp } from "../../support/app.ts";
import { endWindows } from "../../support/attempts.ts";

let service: TestApp;
let agentServer: AgentServer;
let outbound: Outbound;
let owner: Owner;

before(async () => {
  agentServer = await startAgentServer();
  outbound = openOutbound({ allow: ["127.0.0.1"] });
  const vault = openVault(Buffer.alloc(32));
  service = await startTestApp({
    extend: (app, deps) => registerAgentConnections(app, { ...deps, vault, outbound }),
  });
  owner = await service.verifiedAccount();
});
after(async () => {
  await service.close();
  await outbound.close();
  await agentServer.close();
});

const document = () => ({
  url: `${agentServer.url}/chat`,
  bodyTemplate: '{"message": "{{input}}"}',
  reply: { kind: "json", pointer: "/reply" },
  headers: [{ name: "Authorization", value: "Bearer hidden-text" }],
});

/** An agent with a connection; each test message is in a minute of its own. */
async function connected() {
  await endWindows(service.db);
  agentServer.script = httpAgent;
  const { id } = await makeAgent(owner);
  await owner.client.put(`/api/agents/${id}/connection`, document()).expect(200);
  return `/api/agents/${id}/connection` as const;
}

test("a connection is created, returned without its secret, changed and deleted", async () => {
  const { id, type } = await makeAgent(owner);
  const path = `/api/agents/${id}/connection` as const;
  assert.deepEqual(await owner.client.read(path), {
    type,
    connection: null,
    updatedAt: null,
  });
  const made = await owner.client.put(path, document()).expect(200);
  assert.deepEqual(made.body.connection!.headers, [{ name: "Authorization", secret: true, set: true }]);
  assert.deepEqual(await owner.client.read(path), made.body);
  const changed = await owner.client.put(path, { ...made.body.connection, waitMs: 1 }).expect(200);
  assert.equal(changed.body.connection!.waitMs, 1);
  await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
  assert.equal(agentServer.requests.at(-1)!.headers.authorization, "Bearer hidden-text");
  await owner.client.delete(path).expect(204);
  assert.equal((await owner.client.read(path)).connection, null);
});

test("errors are reported at their fields", async () => {
  const path = await connected();
  const { body } = await owner.client.put(path, { ...document(), url: "nowhere" }).expect(400);
  assert.deepEqual(
    [body.code, body.issues!.map((issue: { path: string }) => issue.path)],
    ["VALIDATION_ERROR", ["url"]],
  );
});

test("a test message shows the reply, and is sent with its own id, unsampled", async () => {
  const path = await connected();
  const { body } = await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
  const { ms, requestId, ...rest } = body;
  assert.deepEqual(rest, {
    ok: true,
    status: 200,
    text: "You said: Hello",
    contentType: "application/json; charset=utf-8",
    code: null,
    reason: null,
  });
  assert.ok(ms >= 0);
  const { headers } = agentServer.requests.at(-1)!;
  assert.equal(headers["x-request-id"], requestId);
  assert.match(String(headers["traceparent"]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test("an unsaved connection can be tested with the stored secret", async () => {
  const path = await connected();
  const headers = [{ name: "Authorization", secret: true }];
  const connection = { ...document(), headers, bodyTemplate: '{"message": "<{{input}}>"}' };
  const { body } = await owner.client.post(`${path}/test`, { input: "Hello", connection }).expect(200);
  assert.equal(body.text, "You said: <Hello>");
  assert.equal(agentServer.requests.at(-1)!.headers.authorization, "Bearer hidden-text");
  const elsewhere = { ...connection, url: agentServer.url.replace("127.0.0.1", "localhost") };
  const refused = await owner.client
    .post(`${path}/test`, { input: "Hello", connection: elsewhere })
    .expect(400);
  assert.equal(refused.body.issues![0]!.path, "headers[0].value");
});

test("errors are reported in the result, not thrown", async () => {
  const path = await connected();
  agentServer.script = failing;
  const failed = await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
  assert.deepEqual(
    [failed.body.ok, failed.body.status, failed.body.text, failed.body.code],
    [false, 500, "I am out of order.", "http_status"],
  );
  agentServer.script = toMetadata;
  const refused = await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
  assert.deepEqual([refused.body.ok, refused.body.code], [false, "refused_target"]);
  assert.match(refused.body.reason!, /SVC_ALLOW_PRIVATE_TARGETS/);
});

test("without a connection there is nothing to test", async () => {
  const { id } = await makeAgent(owner);
  const { body } = await owner.client
    .post(`/api/agents/${id}/connection/test`, { input: "Hello" })
    .expect(409);
  assert.match(body.message, /no connection/);
});

test("test messages are limited to one at a time and a number per minute", async () => {
  const path = await connected();
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  agentServer.script = async (request, response) => {
    arrived.resolve();
    await answer.promise;
    httpAgent(request, response);
  };
  const first = owner.client.post(`${path}/test`, { input: "Hello" });
  await arrived.promise;
  await owner.client.post(`${path}/test`, { input: "Hello" }).expect(429);
  answer.resolve();
  await first.expect(200);
  for (let at = 1; at < trialsPerMinute; at += 1) {
    await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
  }
  const { headers, body } = await owner.client.post(`${path}/test`, { input: "Hello" }).expect(429);
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds > 30 && seconds <= 60, `waits ${seconds} s`);
  assert.equal(body.hint, `Try again in ${seconds} s.`);
  await endWindows(service.db);
  await owner.client.post(`${path}/test`, { input: "Hello" }).expect(200);
});

test("a test message is aborted when its client disconnects", async () => {
  const path = await connected();
  const closed = Promise.withResolvers<void>();
  const leaving = new AbortController();
  agentServer.script = (_request, response) => {
    response.on("close", closed.resolve);
    leaving.abort();
  };
  const call = fetch(`${service.url}${path}/test`, {
    method: "POST",
    headers: { cookie: owner.client.cookie, "content-type": "application/json" },
    body: '{"input": "Hello"}',
    signal: leaving.signal,
  });
  await assert.rejects(call, { name: "AbortError" });
  await closed.promise;
});

test("an account with an unverified email cannot call an agent", async () => {
  const newcomer = await service.signUp();
  const { id } = await makeAgent(newcomer);
  await newcomer.client.put(`/api/agents/${id}/connection`, document()).expect(200);
  const before = agentServer.requests.length;
  const { body } = await newcomer.client
    .post(`/api/agents/${id}/connection/test`, { input: "Hello" })
    .expect(403);
  assert.equal(body.code, "EMAIL_NOT_VERIFIED");
  assert.equal(agentServer.requests.length, before);
});

test("a change of the agent's type requires a new connection", async () => {
  const path = await connected();
  const agent = path.replace("/connection", "");
  await owner.client.patch(agent, { type: "workflow" }).expect(200);
  const body = await owner.client.read(path);
  assert.deepEqual([body.type, body.connection], ["workflow", null]);
  await owner.client.put(path, { kind: "chat", url: agentServer.url }).expect(200);
});

test("no secret reaches the log", () => {
  assert.ok(service.logs.length > 0);
  assert.doesNotMatch(service.logs.join("\n"), /hidden-text/);
});
