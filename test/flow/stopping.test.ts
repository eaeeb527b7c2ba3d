// SIGTERM, or the end of the terminal: accepted requests are answered and stored, runs are finished or given back, and the process ends.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { deleteAllTraces } from "../support/delete-all-traces.ts";
import { eventually } from "../support/eventually.ts";
import { silence, startJudgeServer } from "../support/judge-server.ts";
import { freshDatabase, openFresh } from "../support/postgres.ts";
import { send } from "../support/send.ts";
import { assertOnly, startLoad } from "./load.ts";
import { bootstrapped, signedIn, startProcess, stopProcess } from "./processes.ts";

/** How long supervisors are told to wait before they kill. */
const withinMs = 25_000;

const judge = await startJudgeServer(() => silence);
const database = await freshDatabase();
const db = openFresh(database.url, 2);
after(async () => {
  await db.close();
  await database.drop();
  await judge.close();
});
const env = { DATABASE_URL: database.url, SVC_JUDGE_URL: judge.url, SVC_JUDGE_MODEL: "local-model" };
const made = await bootstrapped(env);

test("under load no accepted request fails, and every acknowledged trace is stored", async () => {
  for (let round = 0; round < 3; round++) {
    await deleteAllTraces(db);
    const service = await startProcess({ ...env, SVC_ROLES: "http" });
    const load = startLoad({ url: service.url, ...made }, { clients: 8, retries: false });
    await eventually(() => assert.ok(load.acknowledged.size > 100));
    assert.equal(await stopProcess(service), 0);
    await load.stop();
    assertOnly(load, [201, "broken"]);
    const { rows } = await db.pool.query<{ external_id: string; response_text: string }>(
      "select external_id, response_text from traces",
    );
    // Everything stored was acknowledged, and everything acknowledged is stored.
    const stored = new Map(rows.map(row => [row.external_id, row.response_text]));
    assert.deepEqual(stored, load.acknowledged);
  }
});

test("a run that waits for the judge is given back within the time that supervisors wait", async () => {
  const service = await startProcess(env);
  const owner = await signedIn(service, made);
  await makeTest(owner, made.agentId, { assertions: [{ type: "semantic", criteria: "Is polite." }] });
  const spans = [canonicalSpan({ attributes: { "gen_ai.response.text": "Hello" } })];
  await send({ url: service.url, key: made.apiKey }, { body: canonicalBody(made.agentId, { spans }) });
  await judge.arrived(1);
  const asked = performance.now();
  assert.equal(await stopProcess(service), 0);
  assert.ok(performance.now() - asked < withinMs);
  const { rows } = await db.pool.query("select state, attempts, lease_until < now() as free from queue");
  assert.deepEqual(rows, [{ state: "running", attempts: 0, free: true }]);
});

test("a terminal that is closed stops it as SIGTERM does", async () => {
  const service = await startProcess(env);
  service.kill("SIGHUP");
  assert.equal(await service.exited, 0);
  assert.match(service.logs.at(-1)!, /"msg":"Stopped"/);
});
