// PostgreSQL crashes and recovers under load: nothing acknowledged is lost or duplicated, and no response is a 500.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { assertOnly, startLoad } from "../../flow/load.ts";
import { bootstrapped, signedIn, startProcess, stopProcess } from "../../flow/processes.ts";
import { makeTest } from "../../support/app.ts";
import { startCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";

const crashes = 3;

const cluster = await startCluster();
after(() => cluster.stop());

test("a database that crashes under load causes only 503 responses", async () => {
  const env = { DATABASE_URL: cluster.url, SVC_LEASE_MS: "1000" };
  const made = await bootstrapped(env);
  const service = await startProcess(env);
  const owner = await signedIn(service, made);
  await makeTest(owner, made.agentId, { assertions: [{ type: "response_regex", pattern: "^Reply" }] });

  const load = startLoad({ url: service.url, ...made });
  for (let crash = 0; crash < crashes; crash++) {
    const before = load.acknowledged.size;
    await eventually(() => assert.ok(load.acknowledged.size > before + 50));
    await cluster.crash();
    await cluster.resume();
  }
  const before = load.acknowledged.size;
  await eventually(() => assert.ok(load.acknowledged.size > before + 50));
  await load.stop();
  assertOnly(load, [200, 201, 503]);

  const db = openDatabase(cluster.url, 2);
  const { rows } = await db.pool.query<{ external_id: string; response_text: string }>(
    "select external_id, response_text from traces",
  );
  assert.equal(rows.length, load.acknowledged.size);
  assert.deepEqual(new Map(rows.map(row => [row.external_id, row.response_text])), load.acknowledged);
  await eventually(async () => {
    const runs = await db.pool.query(
      `select count(*)::int as runs, count(distinct trace_id)::int as traces,
        count(*) filter (where state = 'completed' and verdict = 'passed' and passed = 1)::int as passed from runs`,
    );
    const all = load.acknowledged.size;
    assert.deepEqual(runs.rows, [{ runs: all, traces: all, passed: all }]);
  });
  await db.close();
  assert.equal(await stopProcess(service), 0);
});
