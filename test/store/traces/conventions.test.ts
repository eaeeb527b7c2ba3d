// Conventions of agents: which traces a change leaves to be derived again, and columns that were derived with former ones.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { refreshStale } from "../../../src/load/stale.ts";
import { readByNothing } from "../../../src/model/agent/read-by.ts";
import { updateAgent } from "../../../src/store/accounts/agents.ts";
import { admitKeys } from "../../../src/store/accounts/keys.ts";
import { continueRereading, findRereading, portionMax } from "../../../src/store/accounts/rereading.ts";
import type { Database } from "../../../src/store/db.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { updateColumns } from "../../../src/store/traces/stale.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { fillList, makeAgentRow } from "../../support/rows.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite, type Sender } from "./make-write.ts";

const vault = openVault(Buffer.alloc(32));

let db: Database;
let close: () => Promise<void>;
let writer: TraceWriter;
before(async () => {
  ({ db, close } = await openTwice());
  writer = new TraceWriter(db, limits);
});
after(() => close());

const openInference = {
  "openinference.span.kind": "AGENT",
  "input.value": "Where is my parcel?",
  "output.value": "In Lyon.",
  "gen_ai.response.text": null,
};

/** Without batches; the newest has the most spans. */
async function storeOldTraces(agentId: string, count: number): Promise<void> {
  await db.pool.query(
    `insert into traces (id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision, name, failed, span_count)
      select ('00000000-0000-7000-8000-' || lpad(to_hex(at), 12, '0'))::uuid, $1, at, 'live', 'otlp', at, 1, 1, 'old', false, 1
      from generate_series(1, $2::int) as at`,
    [agentId, count],
  );
}

const rowsOf = async (agentId: string) => {
  const { rows } = await db.pool.query(
    `select user_input as input, response_text as reply, derived_revision as derived, revision
     from traces where agent_id = $1 order by id`,
    [agentId],
  );
  return rows;
};

async function choose(sender: Sender, conventions: string[]): Promise<void> {
  await updateAgent(db, sender.agentId, { conventions });
}

test("a change leaves the agent's traces to be derived again, counts them, and schedules no run", async () => {
  const sender = await makeSender(db);
  const other = await makeSender(db);
  for (const one of [sender, sender, other]) {
    await writer.write(canonicalWrite(one, { attributes: openInference }));
  }
  const runsBefore = await db.pool.query("select id, state, due_at from queue order by id");
  assert.equal(await findRereading(db, sender.agentId), null);

  await choose(sender, ["openinference"]);
  assert.deepEqual(await findRereading(db, sender.agentId), { left: 2, of: 2 });
  assert.equal(await findRereading(db, other.agentId), null);
  assert.equal(await refreshStale(db, { limit: 1 }), 1);
  assert.deepEqual(await findRereading(db, sender.agentId), { left: 1, of: 2 });
  await refreshStale(db, {});
  assert.equal(await findRereading(db, sender.agentId), null);
  const read = { input: "Where is my parcel?", reply: "In Lyon.", derived: 1, revision: 1 };
  assert.deepEqual(await rowsOf(sender.agentId), [read, read]);
  assert.deepEqual(
    (await rowsOf(other.agentId)).map(row => row.input),
    [null],
  );
  assert.deepEqual(
    (await db.pool.query("select id, state, due_at from queue order by id")).rows,
    runsBefore.rows,
  );

  await choose(sender, ["openinference"]);
  assert.equal(await findRereading(db, sender.agentId), null);
  await choose(sender, []);
  await refreshStale(db, {});
  assert.deepEqual(
    (await rowsOf(sender.agentId)).map(row => row.input),
    [null, null],
  );
});

test("columns derived with conventions that the agent no longer has are derived again", async () => {
  const sender = await makeSender(db);
  const late = () => ({ ...canonicalWrite(sender, { attributes: openInference }), readBy: readByNothing });
  const first = late();
  await writer.write({ ...first, readBy: readByNothing });
  await choose(sender, ["openinference"]);
  await refreshStale(db, {});
  await writer.write(late());
  await writer.write({ ...late(), externalId: first.externalId, rawLength: first.rawLength + 1 });
  await writer.write({ ...late(), readBy: { conventions: ["openinference"], conventionRules: [] } });
  assert.deepEqual(
    (await rowsOf(sender.agentId)).map(({ derived, revision }) => [derived, revision]),
    [
      [0, 2],
      [0, 1],
      [1, 1],
    ],
  );
  await refreshStale(db, {});
  assert.deepEqual(
    (await rowsOf(sender.agentId)).map(({ input, derived, revision }) => [input, derived === revision]),
    [
      ["Where is my parcel?", true],
      ["Where is my parcel?", true],
      [null, true],
    ],
  );
});

test("a change of rules counts as one of conventions, and the same rules again as none", async () => {
  const sender = await makeSender(db);
  const attributes = { "app.question": "Where is my parcel?", "gen_ai.response.text": null };
  await writer.write(canonicalWrite(sender, { attributes }));
  const conventionRules = [{ from: "app.question", to: "gen_ai.input.messages" as const }];
  const agent = await updateAgent(db, sender.agentId, { conventionRules });
  assert.deepEqual([agent!.conventions, agent!.conventionRules], [[], conventionRules]);
  assert.deepEqual(await findRereading(db, sender.agentId), { left: 1, of: 1 });
  await refreshStale(db, {});
  const readBy = { conventions: [], conventionRules };
  await writer.write({ ...canonicalWrite(sender, { attributes }), readBy });
  await writer.write({ ...canonicalWrite(sender, { attributes }), readBy: readByNothing });
  assert.deepEqual(
    (await rowsOf(sender.agentId)).map(({ input, derived }) => [input, derived]),
    [
      ["Where is my parcel?", 1],
      [null, 1],
      [null, 0],
    ],
  );
  await refreshStale(db, {});
  await updateAgent(db, sender.agentId, { conventionRules: [...conventionRules] });
  assert.equal(await findRereading(db, sender.agentId), null);
  const other = [{ ...conventionRules[0]!, spanName: "nothing" }];
  await updateAgent(db, sender.agentId, { conventionRules: other });
  assert.deepEqual(await findRereading(db, sender.agentId), { left: 3, of: 3 });
});

test("changes, merges and new traces at the same time neither deadlock nor leave a trace behind", async () => {
  const sender = await makeSender(db);
  const writes = Array.from({ length: 20 }, () => otlpWrite(sender));
  await Promise.all(writes.map(one => writer.write(one)));
  await Promise.all([
    ...writes.map(({ externalId }) => writer.write(otlpWrite(sender, { externalId, spans: ["b"] }))),
    choose(sender, ["openinference"]),
    ...Array.from({ length: 20 }, () => writer.write(otlpWrite(sender))),
    choose(sender, ["mlflow"]),
  ]);
  await refreshStale(db, {});
  assert.equal(await findRereading(db, sender.agentId), null);
  const rows = await rowsOf(sender.agentId);
  assert.equal(rows.length, 40);
  assert.ok(rows.every(({ derived, revision }) => derived === revision));
});

test("a change marks a portion of many traces, newest first; the rest is one job, which the next change restarts", async () => {
  const { agentId } = await makeSender(db);
  const of = 2 * portionMax + 50;
  await storeOldTraces(agentId, of);
  const marked = async () => {
    const { rows } = await db.pool.query<{ count: number; oldest: number }>(
      "select count(*)::int as count, min(batch_spans) as oldest from traces where agent_id = $1 and derived_revision = 0",
      [agentId],
    );
    return [rows[0]!.count, rows[0]!.oldest];
  };
  const derive = () => db.pool.query("update traces set derived_revision = 1 where agent_id = $1", [agentId]);

  for (const conventions of [["mlflow"], ["langfuse"], ["openinference"]]) {
    await updateAgent(db, agentId, { conventions });
    assert.deepEqual(await marked(), [portionMax, of - portionMax + 1]);
    assert.deepEqual(await findRereading(db, agentId), { left: of, of });
  }
  await derive();
  assert.equal(await continueRereading(db), true);
  assert.deepEqual(await marked(), [portionMax, of - 2 * portionMax + 1]);
  assert.deepEqual(await findRereading(db, agentId), { left: 250, of });
  await derive();

  await updateAgent(db, agentId, { conventions: ["mlflow"] });
  await Promise.all([continueRereading(db), continueRereading(db)]);
  assert.deepEqual(await marked(), [of, 1]);
  await derive();
  assert.deepEqual([await continueRereading(db), await findRereading(db, agentId)], [false, null]);
});

test("columns that were derived before a change and arrive after it are derived again", async () => {
  const sender = await makeSender(db);
  const write = canonicalWrite(sender, { attributes: openInference });
  await writer.write(write);
  await choose(sender, ["openinference"]);
  const { traceId, columns } = write;
  await updateColumns(db, [{ traceId, revision: 1, columns, readBy: readByNothing }]);
  assert.deepEqual(await findRereading(db, sender.agentId), { left: 1, of: 1 });
  await refreshStale(db, {});
  assert.equal((await rowsOf(sender.agentId))[0].input, "Where is my parcel?");
});

test("a key is found with the agents of its project that have conventions", async () => {
  const sender = await makeSender(db);
  const { rows } = await db.pool.query<{ hash: Buffer }>("select hash from keys where id = $1", [
    sender.keyId,
  ]);
  const find = async () => [...(await admitKeys(db, vault, [rows[0]!.hash])).values()][0]!.conventions;
  assert.equal(await find(), null);
  await updateAgent(db, sender.agentId, { conventions: ["*"], otlpServiceName: "shop" });
  const named = { agentId: sender.agentId, serviceName: "shop", readFrom: null };
  assert.deepEqual(await find(), [{ ...named, conventions: ["*"], conventionRules: [], intake: null }]);
  const conventionRules = [{ from: "app.question", to: "gen_ai.input.messages" as const }];
  await updateAgent(db, sender.agentId, { conventions: [], conventionRules });
  assert.deepEqual(await find(), [{ ...named, conventions: [], conventionRules, intake: null }]);
});

test("a key is found with as many agents as have room, and the note that there are more", async () => {
  const { keyId, agentId } = await makeSender(db);
  const { rows } = await db.pool.query("select hash, project_id from keys where id = $1", [keyId]);
  const projectId = rows[0].project_id;
  // One after the other: on a cluster, they take turns.
  for (let count = 0; count < 199; count++) await makeAgentRow(db, { projectId });
  await db.pool.query("update agents set conventions = '{*}', read_by_key = '*' where project_id = $1", [
    projectId,
  ]);
  const find = async () => {
    const [key] = (await admitKeys(db, vault, [rows[0].hash])).values();
    return [key!.conventions?.length, key!.hasMoreConventions];
  };
  assert.deepEqual(await find(), [200, false]);
  const last = await makeAgentRow(db, { projectId });
  await updateAgent(db, last, { conventions: ["*"] });
  assert.deepEqual(await find(), [200, true]);
  await fillList(db, agentId);
  assert.deepEqual(await find(), [undefined, true]);
});
