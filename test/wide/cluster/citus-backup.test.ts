// A cluster is backed up and restored with the commands of docs/scaling.md while the service runs: what was acknowledged before
// the restore point is there afterwards, what came after it is not, and everything goes on.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { blocksOf, readPages } from "../../docs/pages.ts";
import { startLoad } from "../../flow/load.ts";
import { bootstrapped, startProcess, stopProcess, stopProcesses } from "../../flow/processes.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { hasCitusServer, startCitusServers } from "../support/citus-servers.ts";
import { svc } from "../support/svc.ts";

const skip = !hasCitusServer() && "needs Citus 12.1 or newer for Debian's PostgreSQL 15";

const blocks = blocksOf(readPages().find(({ name }) => name === "docs/scaling.md")!);

function blockOf(beginning: string): string {
  const block = blocks.find(({ text }) => text.startsWith(beginning));
  assert.ok(block, `docs/scaling.md has no block that begins with: ${beginning}`);
  return block.text;
}

test("a restore point of all nodes restores a cluster", { skip }, async t => {
  const dataDir = await mkdtemp(join(tmpdir(), "onlooker-citus-backup-"));
  const cluster = await startCitusServers(blockOf("archive_mode ="));
  after(async () => {
    await stopProcesses();
    await cluster.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  for (const { url } of cluster.nodes.slice(1)) await query(url, blockOf("set citus.enable_ddl_propagation"));
  const env = { DATABASE_URL: cluster.url, SVC_DATA_DIR: dataDir, SVC_DEBOUNCE_MS: "0" };
  const made = await bootstrapped(env);
  const { code, stderr } = await svc(["scale", "init", "--shards", "4"], env);
  assert.equal(code, 0, stderr);

  const before = await startProcess(env);
  const load = startLoad({ url: before.url, ...made }, { retries: false });
  const acknowledges = async (more: number) => {
    const until = load.acknowledged.size + more;
    await eventually(() => assert.ok(load.acknowledged.size >= until));
  };
  await acknowledges(50);
  const [backup, point] = blockOf("pg_basebackup").trim().split("\n") as [string, string];
  const baseOf = (port: number) => `base-${port}`;
  for (const { port, run } of cluster.nodes) {
    const host = `-h 127.0.0.1 -p ${port}`;
    await run(backup.replace("-h db0.internal", host).replace("/backup/base", baseOf(port)));
  }
  await acknowledges(50);
  const acknowledged = [...load.acknowledged.keys()];
  await cluster.nodes[0]!.run(point, { DATABASE_URL: cluster.url });
  const atPoint = load.acknowledged.size;
  const meanwhile = [...load.acknowledged.keys()].slice(acknowledged.length);
  await acknowledges(50);
  await load.stop();
  assert.equal(await stopProcess(before), 0);
  for (const { url, log } of cluster.nodes) {
    const [{ file }] = await query(url, "select pg_walfile_name(pg_switch_wal()) as file");
    await eventually(async () => assert.ok((await readdir(log)).includes(file)));
  }

  const since = performance.now();
  for (const node of cluster.nodes) {
    await node.restore(baseOf(node.port), ["recovery.signal"], blockOf("restore_command ="));
  }
  for (const { url } of cluster.nodes) {
    await eventually(async () =>
      assert.deepEqual(await query(url, "select pg_is_in_recovery() as is"), [{ is: false }]),
    );
  }
  await query(cluster.url, "select recover_prepared_transactions()");
  t.diagnostic(`restored in ${((performance.now() - since) / 1_000).toFixed(1)} s`);

  const again = await startProcess(env);
  const rows = await query(
    cluster.url,
    `select external_id as id, response_text as text,
       (select count(*)::int from trace_batches b where b.agent_id = t.agent_id and b.trace_id = t.id) as batches
     from traces t where agent_id = $1`,
    [made.agentId],
  );
  const stored = new Map(rows.map(({ id, ...row }) => [id, row]));
  for (const id of acknowledged)
    assert.deepEqual(stored.get(id), { text: load.acknowledged.get(id), batches: 1 }, id);
  const later = [...load.acknowledged.keys()].slice(atPoint);
  const restored = later.filter(id => stored.has(id));
  // Answered after the point, but some were committed before it.
  assert.ok(restored.length <= 4 && later.length >= 50, `${restored.length} of ${later.length} later traces`);
  t.diagnostic(
    `${acknowledged.length} before the point, ${meanwhile.length} beside it, ${later.length} after it`,
  );
  const to = { url: again.url, key: made.apiKey };
  assert.equal((await send(to, { body: canonicalBody(made.agentId) })).status, 201);
  assert.equal(await stopProcess(again), 0);
});

async function query(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
