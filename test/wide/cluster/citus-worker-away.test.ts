// While a worker of a Citus cluster is unavailable: work in the background goes on for agents of the others, the log names the
// worker, and its standby is found.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, suite, test } from "node:test";
import pg from "pg";
import { openLog } from "../../../src/log.ts";
import type { LabelQuestion } from "../../../src/model/judge/label.ts";
import { isOwn } from "../../../src/store/accounts/ownership.ts";
import { createFirstProject } from "../../../src/store/accounts/projects.ts";
import { nextAlertMs } from "../../../src/store/alerts/deliveries.ts";
import { closeDigest } from "../../../src/store/alerts/digests.ts";
import { findFailing } from "../../../src/store/alerts/test-states.ts";
import { distribute } from "../../../src/store/cluster/distribute.ts";
import { checkWorkers } from "../../../src/store/cluster/nodes.ts";
import { openStore } from "../../../src/store/cluster/open.ts";
import { claimDue, nextDueMs } from "../../../src/store/content-deadlines.ts";
import { type Database, isTransient } from "../../../src/store/db.ts";
import { countLabels } from "../../../src/store/judge/agreement.ts";
import { listLabels, readQuestions, saveLabel } from "../../../src/store/judge/labels.ts";
import { newest } from "../../../src/store/listing.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { extendLeases } from "../../../src/store/runs/claims.ts";
import { insertLaunch } from "../../../src/store/runs/launches.ts";
import { claimManualRuns, listWaitingAgents } from "../../../src/store/runs/manual-claims.ts";
import { findTraceSizes } from "../../../src/store/traces/read.ts";
import { expireTraces, listAgentsToExpire, saveRetention } from "../../../src/store/traces/retention.ts";
import { listOverdue } from "../../../src/store/traces/waiting-records.ts";
import { addInTurn } from "../../store/alerts/make-results.ts";
import { makeSender, makeTestCase, runnable, type Sender } from "../../store/traces/make-write.ts";
import { type CitusDatabase, freshCitusDatabase, giveSettings } from "../../support/citus.ts";
import { eventually } from "../../support/eventually.ts";
import { type Line, openLine } from "../../support/line.ts";
import { makeAgentRow } from "../../support/rows.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { leftOut } from "../support/needs.ts";

const skip = await leftOut("citus");
const dayMs = 86_400_000;

suite("while a worker of a Citus cluster is unavailable", { skip }, () => {
  let cluster: CitusDatabase;
  /**
   * `line` and `standby` lead to one worker: as the cluster knows it, and as its standby would be. To Citus, it is the first
   * one, where rows of reference tables are locked.
   */
  let [line, other, standby]: Line[] = [];
  let db: Database;
  const logged: { msg: string; worker?: string }[] = [];
  /** At that worker, and at the other one. */
  let [away, here]: Sender[] = [];
  let coordinator: pg.Client;

  const portOf = ({ url }: { url: string }) => Number(new URL(url).port);

  before(async () => {
    cluster = await freshCitusDatabase({ migrated: false });
    coordinator = new pg.Client({ connectionString: cluster.url });
    await coordinator.connect();
    const lines = await Promise.all(
      cluster.workers.map(async ({ url }) => ({ url, line: await openLine(url) })),
    );
    const [first, second] = lines.sort((one, another) => portOf(one.line) - portOf(another.line));
    [line, other, standby] = [first!.line, second!.line, await openLine(first!.url)];
    // Fails in a moment in which Citus keeps its own tables of nodes in step.
    for (const { host, port } of cluster.workers)
      await eventually(() => coordinator.query("select citus_remove_node($1, $2)", [host, port]));
    for (const port of [portOf(line), portOf(other)])
      await coordinator.query("select citus_add_node('127.0.0.1', $1)", [port]);
    await migrate(cluster.url);
    await coordinator.end();
    await distribute(cluster.url, { shards: 4 });
    coordinator = new pg.Client({ connectionString: cluster.url });
    await coordinator.connect();
    const addresses = { url: cluster.url, directUrl: cluster.url, pooled: false, distributed: true };
    const log = openLog("info", { write: line => void logged.push(JSON.parse(line)) });
    await giveSettings(cluster);
    await checkWorkers(addresses, { warn() {} });
    db = openStore(addresses, 5, { log });
    const senders = new Map<number, Sender>();
    while (senders.size < 2) {
      const sender = await makeSender(db, { judged: false });
      senders.set(await workerOf(sender), sender);
    }
    [away, here] = [senders.get(portOf(line)), senders.get(portOf(other))] as Sender[];
  });
  after(async () => {
    await db?.close();
    await coordinator?.end();
    await cluster?.drop();
    for (const one of [line, other, standby]) await one?.cut();
  });

  async function workerOf({ agentId }: Pick<Sender, "agentId">): Promise<number> {
    const { rows } = await coordinator.query(
      `select nodeport as port from citus_shards
       where shardid = get_shard_id_for_distribution_column('traces', $1::uuid)`,
      [agentId],
    );
    return rows[0].port;
  }

  /** Gives the agent a trace to delete, one to forget, changes to tell, a manual run and log records that wait. */
  async function makeDue({ agentId, projectId, keyId }: Sender): Promise<string> {
    await saveRetention(db, projectId, 7);
    await storeTrace(db, agentId, { receivedAt: new Date(Date.now() - 8 * dayMs) });
    const traceId = await storeTrace(db, agentId);
    await db.pool.query(
      "insert into content_deadlines (agent_id, subject_id, after_s, check_at) values ($1, $2, 0, now())",
      [agentId, traceId],
    );
    await db.pool.query(
      "update accounts set email_verified = true where id = (select account_id from projects where id = $1)",
      [projectId],
    );
    const test = await makeTestCase(db, agentId);
    await addInTurn(db, { agentId, testId: test.id }, "FFF");
    await db.pool.query("update alert_schedules set due_at = now() where agent_id = $1", [agentId]);
    await insertLaunch(db, { agentId, createdBy: "nobody", source: "api", tests: runnable([test]) });
    await db.pool.query(
      `insert into waiting_records (agent_id, otlp_trace_id, id, key_id, raw_length, has_input, has_reply, tools, span_key,
         record_keys, records, received_at)
       values ($1, $2, $3, $4, 1, false, false, '{}', '\\x0011223344556677', '\\x0011223344556677', '\\x00', now() - interval '1 day')`,
      [agentId, "5".repeat(32), randomUUID(), keyId],
    );
    return traceId;
  }

  const close = () => closeDigest(db, { email: true, bodyOf: () => "{}" });

  async function told(): Promise<string[]> {
    const { rows } = await db.pool.query(`select agent_id as "agentId" from alert_deliveries`);
    return rows.map(({ agentId }) => agentId).sort();
  }

  /** Does what is due of this agent, and sees nothing of the other. */
  async function assertDue({ agentId }: Sender, traceId: string): Promise<void> {
    const toExpire = await listAgentsToExpire(db, null);
    assert.deepEqual(
      toExpire.map(({ id }) => id),
      [agentId],
    );
    assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 10 }), 1);
    assert.ok((await nextDueMs(db))! <= 0);
    const due = await claimDue(db, { rowsMax: 10, leaseMs: 60_000 });
    assert.deepEqual(due, { traceIds: [traceId], runIds: [], agentIds: [agentId] });
    assert.equal(await claimDue(db, { rowsMax: 10, leaseMs: 60_000 }), undefined);
    assert.ok((await nextAlertMs(db))! <= 0);
    const before = await told();
    assert.deepEqual([await close(), await close()], [true, false]);
    assert.deepEqual(await told(), [...before, agentId].sort());
    assert.deepEqual(await listWaitingAgents(db), [agentId]);
    const concurrency = new Map([[agentId, 1]]);
    const runs = await claimManualRuns(db, {
      lease: randomUUID(),
      leaseMs: 60_000,
      runsMax: 10,
      concurrency,
    });
    assert.deepEqual(
      runs.map(run => run.agentId),
      [agentId],
    );
    assert.deepEqual(
      (await listOverdue(db, 60_000)).map(found => found.agentId),
      [agentId],
    );
    await db.pool.query("delete from waiting_records where agent_id = $1", [agentId]);
  }

  test("what is due of the other agents is done, then its own, and the log says from when to when", async () => {
    const [ofAway, ofHere] = [await makeDue(away!), await makeDue(here!)];
    await line!.cut();
    await assertDue(here!, ofHere);
    const worker = `127.0.0.1:${portOf(line!)}`;
    const lines = () => logged.flatMap(({ msg, ...line }) => (line.worker === worker ? [msg] : []));
    assert.deepEqual(lines(), ["Worker of the cluster unavailable"]);
    await line!.mend();
    await eventually(() =>
      assert.deepEqual(lines(), [
        "Worker of the cluster unavailable",
        "Worker of the cluster available again",
      ]),
    );
    await assertDue(away!, ofAway);
  });

  test("runs in hand keep their leases: those of the others are extended, and none is to be stopped", async () => {
    const lease = randomUUID();
    const claimed: string[] = [];
    for (const { agentId } of [away!, here!]) {
      const test = await makeTestCase(db, agentId);
      await insertLaunch(db, { agentId, createdBy: "nobody", source: "api", tests: runnable([test]) });
      const concurrency = new Map([[agentId, 9]]);
      const runs = await claimManualRuns(db, { lease, leaseMs: 60_000, runsMax: 10, concurrency });
      claimed.push(...runs.map(({ id }) => id));
    }
    assert.equal(claimed.length, 2);
    const leftS = async () => {
      const { rows } = await db.pool.query(
        "select extract(epoch from lease_until - now())::int as left from queue where agent_id = $1 and id = $2",
        [here!.agentId, claimed[1]],
      );
      return rows[0].left;
    };
    await line!.cut();
    assert.deepEqual(await extendLeases(db, { lease, leaseMs: 600_000, runIds: claimed }), new Set());
    assert.ok((await leftS()) > 500);
    await line!.mend();
  });

  test("what the dashboard reads of the others is answered", async () => {
    const agents = await Promise.all(
      [here!, away!].map(async sender => {
        const traceId = await storeTrace(db, sender.agentId);
        const test = await makeTestCase(db, sender.agentId);
        await addInTurn(db, { agentId: sender.agentId, testId: test.id }, "FFF");
        const { rows } = await db.pool.query("select account_id as id from projects where id = $1", [
          sender.projectId,
        ]);
        const accountId: string = rows[0].id;
        const launch = { agentId: sender.agentId, createdBy: "nobody", source: "api" } as const;
        const { id: launchId } = await insertLaunch(db, { ...launch, tests: runnable([test]) });
        await createFirstProject(db, accountId);
        return { accountId, traceId, testId: test.id, launchId };
      }),
    );
    const [ofHere, ofAway] = [agents[0]!, agents[1]!];
    await line!.cut();
    await createFirstProject(db, ofHere.accountId);
    assert.equal(await isOwn(db, ofHere.accountId, "traces", ofHere.traceId), true);
    assert.equal(await isOwn(db, ofHere.accountId, "launches", ofHere.launchId), true);
    assert.equal(await isOwn(db, ofAway.accountId, "traces", ofHere.traceId), false);
    await assert.rejects(isOwn(db, ofAway.accountId, "traces", ofAway.traceId), isTransient);
    assert.deepEqual([...(await findFailing(db, [ofHere.testId])).keys()], [ofHere.testId]);
    assert.deepEqual([...(await findTraceSizes(db, [ofHere.traceId])).keys()], [ofHere.traceId]);
    await line!.mend();
  });

  test("labels are read whole or not at all: by agents, tests and projects that it does not have", async () => {
    const { projectId } = here!;
    let beside = "";
    do beside = await makeAgentRow(db, { projectId });
    while ((await workerOf({ agentId: beside })) !== portOf(line!));
    const question: LabelQuestion = { kind: "scenario", scenario: "Orders", userInput: "Where is it?" };
    const label = async (agentId: string) => {
      const { id: testId } = await makeTestCase(db, agentId);
      const traceId = await storeTrace(db, agentId, { run: { state: "completed", verdict: "passed" } });
      const { rows } = await db.pool.query("select id from runs where agent_id = $1 and trace_id = $2", [
        ...[agentId, traceId],
      ]);
      const saved = await saveLabel(db, {
        ...{ agentId, testId, traceId, runId: rows[0].id, checkId: null, judged: "match", answer: "match" },
        ...{ agrees: true, note: "", question, createdBy: "me" },
        ...{ testVersion: 1, provider: null, model: "m", promptVersion: "1" },
      });
      return { id: saved!.id, testId };
    };
    const ofHere = [await label(here!.agentId), await label(here!.agentId)];
    const ofAway = await label(beside);
    const latest = ofHere.map(({ id }) => id).reverse();
    const page = { before: newest, rowsMax: 10 };
    const ids = async (filters: object) =>
      (await listLabels(db, { projectId, ...filters }, page)).map(({ id }) => id);
    assert.deepEqual(await ids({}), [ofAway.id, ...latest]);
    await line!.cut();
    const { agentId } = here!;
    assert.deepEqual(await ids({ agentId }), latest);
    assert.deepEqual(await ids({ testId: ofHere[0]!.testId }), [ofHere[0]!.id]);
    assert.deepEqual(
      (await listLabels(db, { projectId, agentId }, { ...page, rowsMax: 1 })).map(({ id }) => id),
      latest.slice(0, 1),
    );
    assert.deepEqual(
      (await countLabels(db, { projectId, agentId })).map(({ testId, count }) => [testId, count]),
      ofHere.map(({ testId }) => [testId, 1]).reverse(),
    );
    const read = [];
    for await (const one of readQuestions(db, { projectId, agentId }, page)) read.push(one.question);
    assert.deepEqual(read, [question, question]);
    const unavailable = { code: "UNAVAILABLE", message: "The agent “Agent” is unavailable." };
    for (const filters of [{}, { agentId: beside }, { testId: ofAway.testId }]) {
      await assert.rejects(ids(filters), unavailable);
      await assert.rejects(countLabels(db, { projectId, ...filters }), unavailable);
    }
    await line!.mend();
  });

  test("a connection that is refused makes the next transaction look where the agent is now", async () => {
    const place = (await db.places!.of([away!.agentId])).get(away!.agentId)!;
    const count = "select count(*)::int as count from traces where agent_id = $1";
    const { rows: before } = await place.pool.query(count, [away!.agentId]);
    await line!.cut();
    // A connection that was open may break first.
    await eventually(() => assert.rejects(place.pool.query("select"), { code: "ECONNREFUSED" }));
    await assert.rejects(place.pool.query("select"), isTransient);
    await coordinator.query(
      "select citus_update_node(nodeid, '127.0.0.1', $2) from pg_dist_node where nodeport = $1",
      [portOf(line!), portOf(standby!)],
    );
    assert.deepEqual((await place.pool.query(count, [away!.agentId])).rows, before);
  });
});
