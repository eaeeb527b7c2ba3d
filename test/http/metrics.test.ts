// The metrics of the database: what an operator is alerted by.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type pg from "pg";
import { measureDatabase } from "../../src/http/health.ts";
import type { Database, Places } from "../../src/store/db.ts";
import { claimRuns, extendLeases } from "../../src/store/runs/claims.ts";
import { makeSender, storeDueRun } from "../store/traces/make-write.ts";
import { startTestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

const service = await startTestApp();
after(() => service.close());
const sender = await makeSender(service.db);

/** Waits until the longest time that a due run has waited for a worker is so, as an operator reads it. */
async function overdue(isSo: (seconds: number) => boolean): Promise<void> {
  await eventually(async () => {
    const body = await service.client().read("/metrics");
    const seconds = Number(/^svc_runs_overdue_seconds (\S+)$/m.exec(body as string)![1]);
    assert.ok(isSo(seconds), String(seconds));
  });
}

test("where no worker runs, a metric says for how long the first due run has waited for one", async () => {
  await storeDueRun(service.db, sender);
  const { runId } = await storeDueRun(service.db, sender);
  await service.db.pool.query("update queue set due_at = now() - interval '1 hour' where id = $1", [runId]);
  await overdue(seconds => seconds >= 3_600 && seconds < 3_700);

  const lease = randomUUID();
  const { runs } = await claimRuns(service.db, { lease, leaseMs: 30_000, runsMax: 10 });
  await overdue(seconds => seconds === 0);

  // The lease of a worker that died ends.
  const runIds = runs.map(({ id }) => id);
  await extendLeases(service.db, { lease, leaseMs: 0, runIds });
  await overdue(seconds => seconds > 0 && seconds < 60);
});

test("scrapes within a second are answered alike", async () => {
  const bodies = await Promise.all(Array.from({ length: 20 }, () => service.client().read("/metrics")));
  // A slow machine may take longer than a second for them.
  assert.ok(new Set(bodies).size <= 2);
});

test("on a cluster, scrapes within a few seconds ask the shards once", async () => {
  const asked: string[] = [];
  const { pool } = service.db;
  const query = (statement: pg.QueryConfig) => {
    asked.push(statement.name!);
    return pool.query(statement);
  };
  const places = { findUnavailable: async () => ({ workers: [], of: 1 }) } as unknown as Places;
  const cluster: Database = { ...service.db, pool: Object.assign(Object.create(pool), { query }), places };
  await Promise.all([measureDatabase(cluster), measureDatabase(cluster)]);
  await measureDatabase(cluster);
  assert.deepEqual(asked, ["count_waiting", "queue_starts", "next_due"]);
});
