// Secrets survive a restart, and a process with another key reports them as unreadable instead of failing.
import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startAgentServer } from "../support/agent-server.ts";
import { makeAgent, newClient } from "../support/app.ts";
import { freshDatabase } from "../support/postgres.ts";
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
  const path = `/api/agents/${id}/connection`;
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
  const { body } = await client.get(path).expect(200);
  assert.deepEqual(body.connection.headers, [{ name: "Authorization", secret: true, set: false }]);
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
