// Claims do not pass the entries of runs claimed long ago, and find every run all the same.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import { claimRuns, nextDueMs } from "../../../src/store/runs/claims.ts";
import { QueueStarts } from "../../../src/store/runs/queue-starts.ts";
import { onCitus } from "../../support/postgres.ts";
import { makeSender, openTwice } from "../traces/make-write.ts";
import { entriesRead, onClient } from "./entries-read.ts";

const { db, close } = await openTwice();
after(close);
const [agentId, fullId] = [(await makeSender(db)).agentId, (await makeSender(db)).agentId];
beforeEach(() => db.pool.query("delete from queue"));

/** For each queue, the columns of a run that is in it. */
const queues = {
  due: { names: "state, due_at", values: "'pending', at" },
  waiting: { names: "state, due_at, next_try_at", values: "'running', now(), at" },
  leased: { names: "state, due_at, lease, lease_until", values: "'running', now(), gen_random_uuid(), at" },
};

/** Runs that have been in the queue for this many seconds. */
async function addRuns(
  count: number,
  agoS: number,
  queue: keyof typeof queues,
  database: Database = db,
  agent = agentId,
): Promise<void> {
  const { names, values } = queues[queue];
  await database.pool.query(
    `insert into queue (id, trace_id, agent_id, ${names})
      select gen_random_uuid(), gen_random_uuid(), $1::uuid, ${values}
      from generate_series(1, $2) n, lateral (
        select now() - ($3::float8 - n * 0.000001) * interval '1 s' as at
      ) time`,
    [agent, count, agoS],
  );
}

const claim = async (starts: QueueStarts | undefined, database: Database = db, fullAgents: string[] = []) => {
  const due = { lease: randomUUID(), leaseMs: 60_000, runsMax: 10, fullAgents, ...(starts && { starts }) };
  return (await claimRuns(database, due)).runs.length;
};

suite("claims that begin where the queue does", () => {
  for (const fullAgents of [[], [fullId]]) {
    const beside = fullAgents.length > 0 ? ", beside the backlog of an agent at its limit" : "";

    // The statements of a group of shards are the same.
    test(`read no entries of runs that ended, even while a long transaction keeps them${beside}`, {
      skip: onCitus,
    }, async t => {
      const { db: own, close: closeOwn } = await openTwice();
      for (const queue of ["due", "waiting", "leased"] as const) {
        await addRuns(1_000, 600, queue, own);
        await addRuns(1_000, 600, queue, own, fullId);
      }
      const [reader, client] = [await own.pool.connect(), await own.pool.connect()];
      t.after(async () => {
        for (const one of [reader, client]) one.release();
        await closeOwn();
      });
      await reader.query("begin isolation level repeatable read");
      await reader.query("select count(*) from queue");
      await own.pool.query("delete from queue");
      for (const _ of fullAgents) await addRuns(300, 40, "due", own, fullId);
      await addRuns(40, 30, "due", own);
      const database = onClient(own, client);
      const read = (starts?: QueueStarts) =>
        entriesRead(client, async () => {
          assert.ok((await nextDueMs(database, { fullAgents, ...(starts && { starts }) }))! < 0);
          assert.equal(await claim(starts, database, fullAgents), 10);
        });
      for (const isAnalyzed of [false, true]) {
        if (isAnalyzed) await client.query("analyze queue");
        for (const mode of ["force_custom_plan", "force_generic_plan"]) {
          await client.query(`set plan_cache_mode = ${mode}`);
          const starts = new QueueStarts();
          await starts.of(database);
          const [all, few] = [await read(), await read(starts)];
          const most = fullAgents.length > 0 ? 600 : 200;
          assert.ok(all > 6_000 && few < most, `${all} from the first entry, ${few} from the start, ${mode}`);
        }
      }
    });
  }

  for (const queue of ["due", "waiting", "leased"] as const) {
    const most = queue === "leased" ? 1 : queue === "waiting" ? 5 : 10;

    test(`find ${queue} runs at the start and after it, and earlier ones within a minute`, async () => {
      let now = 0;
      const starts = new QueueStarts(() => now);
      await addRuns(1, 600, queue);
      assert.ok((await nextDueMs(db, { starts }))! < -590_000);
      await addRuns(20, 500, queue);
      assert.equal(await claim(starts), most);
      await db.pool.query("delete from queue");
      now = 10_000;
      assert.equal(await nextDueMs(db, { starts }), undefined);
      await addRuns(20, 50, queue);
      assert.equal(await claim(starts), most);
      await db.pool.query("delete from queue");
      await addRuns(20, 3_000, queue);
      now = 59_999;
      assert.equal(await nextDueMs(db, { starts }), undefined);
      assert.equal(await claim(starts), 0);
      now = 70_000;
      assert.equal(await claim(starts), most);
    });
  }

  test("hold for 10 s, and are moved on then", async () => {
    let now = 0;
    const starts = new QueueStarts(() => now);
    await addRuns(1, 600, "due");
    const first = await starts.of(db);
    await db.pool.query("delete from queue");
    now = 9_999;
    assert.deepEqual(await starts.of(db), first);
    now = 10_000;
    assert.notEqual((await starts.of(db)).due, first.due);
  });

  test("are moved on where the whole queue takes longer to read than a statement may", async () => {
    let now = 0;
    let isSlow = false;
    const query = (statement: { text: string; values: string[] }) =>
      isSlow && statement.values.includes("-infinity")
        ? Promise.reject(new Error("canceling statement due to statement timeout"))
        : db.pool.query(statement);
    const slow = { pool: Object.assign(Object.create(db.pool), { query }) };
    const starts = new QueueStarts(() => now);
    await addRuns(1, 600, "due");
    const first = await starts.of(slow);
    await db.pool.query("delete from queue");
    isSlow = true;
    now = 60_000;
    assert.notEqual((await starts.of(slow)).due, first.due);
    await assert.rejects(new QueueStarts().of(slow), /statement timeout/);
  });
});
