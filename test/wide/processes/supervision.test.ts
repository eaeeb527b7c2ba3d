// A service that crashes under the launcher is back on the same port within seconds, with everything it acknowledged.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bootstrapped, startProcess, stopProcess } from "../../flow/processes.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send } from "../../support/send.ts";

const database = await freshDatabase();
after(() => database.drop());
const env = { DATABASE_URL: database.url };

test("a service whose process aborts is started again and has lost nothing", async () => {
  const made = await bootstrapped(env);
  const launcher = await startProcess({ ...env, PORT: String(await freePort()) }, { launched: true });
  after(() => launcher.kill("SIGKILL"));
  const readyLines = () => launcher.logs.filter(line => line.includes("ready at"));
  const [serving] = readyLines();
  const { pid } = JSON.parse(serving!) as { pid: number };
  assert.notEqual(pid, launcher.pid);

  const to = { url: launcher.url, key: made.apiKey };
  const body = canonicalBody(made.agentId, { spans: [canonicalSpan()] });
  const named = { headers: { "x-request-id": "before-the-crash" } };
  assert.equal((await send(to, { body, ...named })).status, 201);
  process.kill(pid, "SIGABRT");

  await eventually(() => assert.equal(readyLines().length, 2));
  assert.ok(launcher.logs.some(line => /the service ended unexpectedly \(SIGABRT\)/.test(line)));
  assert.equal((await send(to, { body, ...named })).status, 200); // stored before the crash, replaced now
  assert.equal(await stopProcess(launcher), 0);
});
