// Claims beside agents at their limit: what is claimed, and how much of their backlogs is read.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import type { DueRuns } from "../../../src/store/runs/claim.ts";
import { ClaimTurns } from "../../../src/store/runs/claim-turns.ts";
import { claimRuns, nextDueMs } from "../../../src/store/runs/claims.ts";
import { onCitus, openFresh } from "../../support/postgres.ts";
import { makeAgentRow } from "../../support/rows.ts";
import { makeSender, openTwice } from "../traces/make-write.ts";
import { entriesRead, onClient } from "./entries-read.ts";

const { url, db, close } = await openTwice();
after(close);
const [full, busy, quiet] = await Promise.all(
  Array.from({ length: 3 }, async () => (await makeSender(db)).agentId),
);
const fullAgents = [full!];
beforeEach(() => db.pool.query("delete from queue"));

type Queue = "due" | "waiting";

/** Runs of the agent, due this many seconds ago, the first for the longest. Their ids. */
async function addRuns(
  agentId: string,
  count: number,
  agoS: number,
  queue: Queue = "due",
  database: Database = db,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const at = "now() - ($4::float8 - (n - 1) * 0.000001) * interval '1 s'";
  const columns =
    queue === "due"
      ? { names: "state, due_at", values: `'pending', ${at}` }
      : { names: "state, due_at, next_try_at", values: `'running', now(), ${at}` };
  await database.pool.query(
    `insert into queue (id, trace_id, agent_id, ${columns.names})
      select id, trace_id, $1::uuid, ${columns.values}
      from unnest($2::uuid[], $3::uuid[]) with ordinality as run (id, trace_id, n)`,
    [agentId, ids, ids.map(() => randomUUID()), agoS],
  );
  return ids;
}

const claim = async (more: Partial<DueRuns> = {}, database: Database = db) => {
  const { runs } = await claimRuns(database, {
    ...{ lease: randomUUID(), leaseMs: 60_000, runsMax: 32, fullAgents },
    ...more,
  });
  return runs.map(({ id }) => id);
};
const sorted = (...ids: string[][]) => ids.flat().toSorted();

suite("beside the backlog of an agent at its limit", () => {
  for (const queue of ["due", "waiting"] as const) {
    // The statements of a group of shards are the same.
    test(`a claim reads a limited number of its ${queue} runs`, { skip: onCitus }, async t => {
      // Without the entries of runs that other tests deleted.
      const { db: own, close: closeOwn } = await openTwice();
      await addRuns(full!, 3_000, 100, queue, own);
      await addRuns(busy!, 40, 50, queue, own);
      await addRuns(quiet!, 1, 20, queue, own);
      const client = await own.pool.connect();
      t.after(async () => {
        client.release();
        await closeOwn();
      });
      const database = onClient(own, client);
      for (const isAnalyzed of [false, true]) {
        if (isAnalyzed) await client.query("analyze runs");
        for (const mode of ["force_custom_plan", "force_generic_plan"]) {
          await client.query(`set plan_cache_mode = ${mode}`);
          const toAsk = await entriesRead(client, async () => {
            assert.ok((await nextDueMs(database, { fullAgents }))! < -40_000);
          });
          const toClaim = await entriesRead(client, async () => {
            assert.equal((await claim({}, database)).length, queue === "due" ? 32 : 16);
          });
          assert.ok(toAsk < 200 && toClaim < 500, `${toAsk} to ask, ${toClaim} to claim, ${mode}`);
        }
      }
    });

    // Between the places of a cluster, the shares are those of places.
    test(`others' ${queue} runs are claimed by turns, in the order of time`, { skip: onCitus }, async () => {
      await addRuns(full!, 300, 100, queue);
      const early = await addRuns(busy!, 10, 50, queue);
      const late = await addRuns(busy!, 10, 10, queue);
      const between = await addRuns(quiet!, 10, 30, queue);
      await addRuns(quiet!, 10, -60, queue);
      const runsMax = queue === "due" ? 15 : 30;
      assert.deepEqual(sorted(await claim({ runsMax })), sorted(early.slice(0, 8), between.slice(0, 7)));
      assert.deepEqual(sorted(await claim({ runsMax })), sorted(early.slice(8), late, between.slice(7)));
      assert.deepEqual(await claim(), []);
      const ms = (await nextDueMs(db, { fullAgents }))!;
      assert.ok(ms > 50_000 && ms <= 60_000, `${ms}`);
      assert.ok((await nextDueMs(db))! < 0);
    });
  }

  test("at most half of a claim are runs that waited, no more than may continue, and none in hand", async () => {
    await addRuns(full!, 200, 100, "waiting");
    await addRuns(full!, 200, 100);
    const waited = await addRuns(busy!, 40, 50, "waiting");
    const due = await addRuns(quiet!, 40, 40);
    const [first, ...others] = waited as [string, ...string[]];
    const claimed = await claim({ inHand: [first], resumedMax: 5 });
    // Places of a cluster share the five: those whose runs did not wait leave theirs to the next claim.
    const resumed = onCitus ? others.filter(id => claimed.includes(id)).length : 5;
    assert.ok(resumed >= 3 && resumed <= 5, `${resumed} resumed`);
    assert.deepEqual(sorted(claimed), sorted(others.slice(0, resumed), due.slice(0, 32 - resumed)));
    const next = sorted([first], others.slice(resumed, resumed + 15), due.slice(32 - resumed));
    assert.deepEqual(sorted(await claim()), next);
    await claim();
    const left = others.slice(resumed + 31);
    assert.ok((await nextDueMs(db, { fullAgents, inHand: left }))! > 0);
    assert.ok((await nextDueMs(db, { fullAgents, resumes: false }))! > 0);
    assert.ok((await nextDueMs(db, { fullAgents }))! < 0);
  });

  test("each run is claimed by one worker only, however many ask at once", async () => {
    await addRuns(full!, 300, 100);
    const runIds = sorted(await addRuns(busy!, 100, 50), await addRuns(quiet!, 100, 50));
    const pools = Array.from({ length: 3 }, () => openFresh(url));
    const claimed = await Promise.all(
      pools.map(async pool => {
        const mine: string[] = [];
        while (((await nextDueMs(pool, { fullAgents })) ?? 1) <= 0)
          mine.push(...(await claim({ runsMax: 7 }, pool)));
        return mine;
      }),
    );
    await Promise.all(pools.map(pool => pool.close()));
    assert.deepEqual(sorted(...claimed), runIds);
  });
});

suite("behind the backlog of another account", () => {
  for (const queue of ["due", "waiting"] as const) {
    test(`a later ${queue} run is in the next claim`, async () => {
      await addRuns(full!, 300, 100, queue);
      const [late] = await addRuns(quiet!, 1, 1, queue);
      assert.ok((await claim({ fullAgents: [] })).includes(late!));
    });
  }

  test("a run that becomes due during four floods of 10,000 is in the next claim once 100 ms are over", async () => {
    let ms = 0;
    const turns = new ClaimTurns(() => ms);
    const { projectId, agentId } = await makeSender(db);
    for (const agent of [agentId, ...(await addAgents(projectId, 3))]) await addRuns(agent, 10_000, 100);
    for (let count = 0; count < 3; count++) assert.equal((await claim({ fullAgents: [], turns })).length, 32);
    const [late] = await addRuns(quiet!, 1, 1);
    ms += 100;
    const next = await claim({ fullAgents: [], turns });
    assert.equal(next.length, 32);
    assert.ok(next.includes(late!));
  });

  test("runs claimed one at a time are of accounts in turns, whichever waits for longer", {
    skip: onCitus,
  }, async () => {
    const turns = new ClaimTurns();
    const first = await addRuns(full!, 300, 100);
    const second = await addRuns(busy!, 300, 50);
    const third = await addRuns(quiet!, 2, 1);
    const claimed: string[] = [];
    for (let count = 0; count < 7; count++)
      claimed.push(...(await claim({ fullAgents: [], runsMax: 1, turns })));
    assert.deepEqual(claimed, [first[0], second[0], third[0], first[1], second[1], third[1], first[2]]);
  });

  test("agents of an account have its turns in turns, and all of them get one", {
    skip: onCitus,
  }, async () => {
    const turns = new ClaimTurns();
    const { projectId, agentId } = await makeSender(db);
    const runOf = new Map<string, string>();
    for (const agent of [agentId, ...(await addAgents(projectId, 299))])
      runOf.set((await addRuns(agent, 1, 100))[0]!, agent);
    const [late] = await addRuns(quiet!, 1, 1);
    const claimed: string[] = [];
    for (let count = 0; count < 5; count++)
      claimed.push(...(await claim({ fullAgents: [], runsMax: 8, turns })));
    assert.ok(claimed.includes(late!));
    assert.equal(new Set(claimed.map(id => runOf.get(id) ?? id)).size, 40);
  });
});

async function addAgents(projectId: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => makeAgentRow(db, { projectId })));
}
