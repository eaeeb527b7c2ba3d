// Statements about the runs of a few traces read no others, whatever statistics say: neither waiting nor completed ones.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type pg from "pg";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { transaction } from "../../../src/store/db.ts";
import { closeOutages } from "../../../src/store/runs/outages.ts";
import { findReplacements } from "../../../src/store/runs/replacements.ts";
import { dropSameRevision } from "../../../src/store/runs/same-revision.ts";
import { moveRuns } from "../../../src/store/traces/schedule.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { rowsRead } from "../rows-read.ts";
import { limits, makeSender, openTwice, otlpWrite } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);
const sender = await makeSender(db);
const { agentId } = sender;
const writer = new TraceWriter(db, limits);
const others = 2_000;

async function insertOthers(state: string): Promise<void> {
  const into =
    state === "pending"
      ? ["queue (id, trace_id, agent_id, due_at)", ""]
      : ["runs (id, trace_id, agent_id, due_at, kind, state, outage_open)", ", 'passive', 'completed', true"];
  await db.pool.query(
    `insert into ${into[0]}
      select id_at(now() - at * interval '1 s', gen_random_uuid()), id_at(now() - at * interval '1 s', gen_random_uuid()),
        $1, now()${into[1]} from generate_series(1, $2::int) at`,
    [agentId, others],
  );
}

type Run = { id: string; traceId: string; agentId: string; cause: "traffic"; hasOthers: boolean };

/** The runs of three traces, which are pending. */
async function makeRuns(name: string): Promise<Run[]> {
  const traces = await Promise.all(
    [1, 2, 3].map(at => writer.write(otlpWrite(sender, { externalId: `${name} ${at}` }))),
  );
  const { rows } = await db.pool.query<Run>(
    `select id, trace_id as "traceId", agent_id as "agentId", cause, true as "hasOthers" from queue
      where agent_id = $1 and trace_id = any ($2::uuid[])`,
    [agentId, traces.map(({ traceId }) => traceId)],
  );
  assert.equal(rows.length, 3);
  return rows;
}

/** How many runs a transaction with the agent's rows reads. */
async function readBy(work: (client: pg.PoolClient) => Promise<unknown>): Promise<number> {
  return transaction(await placeOf(db, agentId), async client => {
    const count = async () => (await rowsRead(client, "runs")) + (await rowsRead(client, "queue"));
    // No index has this column: an index alone, once the table is vacuumed, counts as nothing read.
    await client.query("select detail from runs where agent_id = $1 order by id desc limit 1", [agentId]);
    const before = await count();
    assert.ok(before > 0, "readings are counted");
    await work(client);
    return (await count()) - before;
  });
}

const statements: Record<string, (client: pg.PoolClient, runs: Run[]) => Promise<unknown>> = {
  "moving the runs of merged traces": (client, runs) => moveRuns(client, runs, limits),
  "finding what completed runs replace": (client, runs) => findReplacements(client, runs),
  "dropping runs of an evaluated revision": (client, runs) => dropSameRevision(client, runs),
  "closing outages of evaluated traces": (client, runs) => closeOutages(client, runs),
};

for (const [name, states] of Object.entries({
  "waiting runs and statistics of completed ones": ["completed", "pending"],
  "completed runs and statistics of waiting ones": ["pending", "completed"],
})) {
  suite(`with ${name}`, () => {
    let runs: Run[];
    before(async () => {
      for (const table of ["runs", "queue"])
        await db.pool.query(`delete from ${table} where agent_id = $1`, [agentId]);
      await insertOthers(states[0]!);
      await db.pool.query("analyze runs, queue");
      await insertOthers(states[1]!);
      runs = await makeRuns(name);
    });

    for (const [statement, work] of Object.entries(statements)) {
      test(`${statement} reads no others`, async () => {
        // A session keeps a plan from the sixth time on.
        for (let time = 0; time < 7; time++) {
          const read = await readBy(client => work(client, runs));
          assert.ok(read < 50, `${read} runs read`);
        }
      });
    }
  });
}
