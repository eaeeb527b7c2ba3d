// A launch of 10,000 runs: other agents are not delayed, each step looks at few rows, and it is cancelled at once.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { listRunsOfLaunch } from "../../../src/store/runs/launched-runs.ts";
import { cancelLaunch, findLaunch, insertLaunch } from "../../../src/store/runs/launches.ts";
import { claimManualRuns, listWaitingAgents } from "../../../src/store/runs/manual-claims.ts";
import { endManualRun } from "../../../src/store/runs/manual-runs.ts";
import { openFresh } from "../../support/postgres.ts";
import { makeSender, makeTestCase, openTwice, runnable } from "../traces/make-write.ts";

const { url, close } = await openTwice();
// One connection: the statistics of others arrive a second later.
const db = openFresh(url, 1);
after(async () => {
  await db.close();
  await close();
});

const large = await makeSender(db);
const small = await makeSender(db);
// U+0000 and half a character: no text column holds them.
const odd = '\0 \ud800 \\ " 😀';
const inputs = Array.from({ length: 1_000 }, (_, at) => ({ input: at === 1 ? odd : `Question ${at}` }));
const tests = await Promise.all(
  Array.from({ length: 10 }, (_, at) => makeTestCase(db, large.agentId, { name: `Set ${at}`, inputs })),
);
const one = await makeTestCase(db, small.agentId);
const launchOf = (agentId: string, chosen: typeof tests) =>
  insertLaunch(db, { agentId, createdBy: "nobody", source: "api", tests: runnable(chosen) });
const launch = await launchOf(large.agentId, tests);
const other = await launchOf(small.agentId, [one]);
const lease = randomUUID();
const claim = (runsMax: number) =>
  claimManualRuns(db, {
    lease,
    leaseMs: 30_000,
    runsMax,
    concurrency: new Map([
      [large.agentId, 20],
      [small.agentId, 2],
    ]),
  });

test("runs are in the order of tests and inputs, and each is claimed with its own input", async () => {
  assert.deepEqual([launch.runCount, launch.counts.open], [10_000, 10_000]);
  const agents = await listWaitingAgents(db);
  assert.deepEqual(new Set(agents), new Set([large.agentId, small.agentId]));
  const runs = await claim(4);
  const own = runs.filter(({ launchId }) => launchId === launch.id);
  assert.equal(own.length, 3, "the agent with one run gets its place at once");
  assert.deepEqual(
    own.map(({ test }) => [test.id, test.turns, test.inputs, test.version]),
    [0, 1, 2].map(at => [tests[0]!.id, [inputs[at]], undefined, 1]),
  );
  assert.deepEqual(runs.find(({ launchId }) => launchId === other.id)?.test.turns, one.turns);
  const [, second] = await listRunsOfLaunch(db, launch.id, { rowsMax: 2 });
  assert.deepEqual([second?.row, second?.input], [2, odd]);
  for (const run of own) await endManualRun(db, { lease, run }, { code: "worker_stopped" });
});

test("claiming and ending a run do not read the other 9,999", async () => {
  const place = await placeOf(db, large.agentId);
  const tables = [await tableOf("runs", large.agentId), await tableOf("queue", large.agentId)];
  const read = async (work: () => Promise<unknown>) => {
    const rows = async () => {
      await place.pool.query("select pg_stat_force_next_flush()");
      // As in pg_stat_user_tables, from which Citus hides shards.
      const { rows } = await place.pool.query<{ read: number }>(
        `select sum(pg_stat_get_tuples_fetched(id) + (
           select sum(pg_stat_get_tuples_fetched(indexrelid)) from pg_index where indrelid = id
         ))::int as read from unnest($1::regclass[]) as of_table (id)`,
        [tables],
      );
      return rows[0]!.read;
    };
    const before = await rows();
    await work();
    return (await rows()) - before;
  };
  const [run] = await claim(1);
  assert.ok(run);
  const claiming = await read(() => claim(1));
  assert.ok(claiming > 0 && claiming < 200, `${claiming} rows`);
  assert.ok((await read(() => endManualRun(db, { lease, run }, { code: "worker_stopped" }))) < 200);
});

/** On a cluster, the shard that has this agent's. */
async function tableOf(table: string, agentId: string): Promise<string> {
  if (!db.places) return `public.${table}`;
  const { rows } = await db.pool.query<{ shard: number }>(
    "select get_shard_id_for_distribution_column($2::regclass, $1::uuid) as shard",
    [agentId, table],
  );
  return `public.${table}_${rows[0]!.shard}`;
}

test("a cancelled launch has no run left to claim", async () => {
  const cancelled = await cancelLaunch(db, launch.id);
  assert.ok(cancelled.length > 9_000);
  assert.deepEqual(await claim(20), []);
  const { counts } = (await findLaunch(db, launch.id))!;
  assert.equal(counts.cancelled + counts.error + counts.open, 10_000);
});
