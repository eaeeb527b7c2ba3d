// On a Citus cluster of three nodes: tables distributed by agent, statements of ingestion that stay on one node, and moves of shards while traces are stored.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import { noPrivacy } from "../../../src/model/privacy.ts";
import type { Verdict } from "../../../src/model/run/run.ts";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { updateAgent } from "../../../src/store/accounts/agents.ts";
import { deleteKey } from "../../../src/store/accounts/keys.ts";
import { savePrivacy } from "../../../src/store/accounts/privacy.ts";
import { distribute, UnfitForCitusError } from "../../../src/store/cluster/distribute.ts";
import { Shards } from "../../../src/store/cluster/groups.ts";
import { type Database, openDatabase, type Places, type Session } from "../../../src/store/db.ts";
import { migrate, schema } from "../../../src/store/migrate.ts";
import { newId } from "../../../src/store/new-id.ts";
import { claimRuns } from "../../../src/store/runs/claims.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { listForAgent } from "../../../src/store/test-cases.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { deleteTraces } from "../../../src/store/traces/read.ts";
import { storeRecords } from "../../../src/store/traces/records.ts";
import type { TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { begun } from "../../store/locks.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  otlpWrite,
  questions,
  type Sender,
} from "../../store/traces/make-write.ts";
import { type CitusDatabase, freshCitusDatabase } from "../../support/citus.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { eventually } from "../../support/eventually.ts";
import { resultOf, semanticCheck } from "../../support/judged-runs.ts";
import { loadTrace } from "../../support/loaded-trace.ts";
import { leftOut } from "../support/needs.ts";

const skip = await leftOut("citus");

suite("on a Citus cluster", { skip }, () => {
  let cluster: CitusDatabase;
  /** The coordinator, whose statements Citus plans. */
  let db: Database;
  /** As two processes have them. */
  let shards: Shards;
  let otherShards: Shards;
  let senders: Sender[];

  before(async () => {
    cluster = await freshCitusDatabase();
    connect();
  });
  after(async () => {
    await Promise.all([shards.close(), otherShards.close(), db.close()]);
    await cluster.drop();
  });

  function connect(): void {
    db = openDatabase(cluster.url, 10, { answerMs: 120_000 });
    [shards, otherShards] = [new Shards({ db, url: cluster.url }), new Shards({ db, url: cluster.url })];
  }

  /** While nobody else is connected. */
  async function distributeAlone(): ReturnType<typeof distribute> {
    await db.close();
    try {
      return await distribute(cluster.url, { shards: 8 });
    } finally {
      connect();
    }
  }

  const writerTo = (places: Places) => new TraceWriter({ ...db, places }, limits);

  async function tracesOf({ agentId }: Sender): Promise<{ id: string; externalId: string }[]> {
    const { rows } = await db.pool.query(
      `select id, external_id as "externalId" from traces where agent_id = $1 order by id`,
      [agentId],
    );
    return rows;
  }

  test("a database with traces is distributed by agent, with its rows, and once", async () => {
    senders = [await makeSender(db), await makeSender(db)];
    const early = await Promise.all(
      senders.map(sender => new TraceWriter(db, limits).write(canonicalWrite(sender))),
    );
    await assert.rejects(
      distribute(cluster.url),
      (error: Error) =>
        error instanceof UnfitForCitusError &&
        error.message.startsWith("Others are connected to the database (onlooker from 127.0.0.1)."),
    );
    const { distributed } = await distributeAlone();
    assert.ok(distributed.includes("traces") && distributed.includes("trace_batches"));
    assert.deepEqual(await distributeAlone(), { reference: [], distributed: [] });
    const { rows: ranges } = await db.pool.query(
      "select relname from pg_class where relname like 'trace_batches_%' and relispartition",
    );
    assert.deepEqual(ranges, []);
    const { rows } = await db.pool.query(
      `select citus_table_type as type, count(*)::int as tables, count(distinct colocation_id)::int as groups,
        min(distribution_column) as column from citus_tables where citus_table_type in ('distributed', 'reference')
      group by 1 order by 1`,
    );
    assert.deepEqual(rows, [
      { type: "distributed", tables: distributed.length, groups: 1, column: "agent_id" },
      { type: "reference", tables: 6, groups: 1, column: "<none>" },
    ]);
    for (const [at, sender] of senders.entries()) {
      assert.deepEqual(
        (await tracesOf(sender)).map(({ id }) => id),
        [early[at]!.traceId],
      );
    }
    const { rows: batches } = await db.pool.query("select from trace_batches");
    assert.equal(batches.length, 2);
  });

  test("new traces, merges, replacements and refusals are as on one server, whatever agents a flush has", async () => {
    // One after the other: two transactions that lock rows of reference tables and insert others deadlock.
    senders = [];
    while (senders.length < 24) senders.push(await makeSender(db));
    const [gone, revoked] = [await makeSender(db), await makeSender(db)];
    await deleteAgentRow(gone);
    await deleteKey(db, revoked.keyId);
    const writer = writerTo(shards);
    const outcomeOf = (write: TraceWrite) =>
      writer.write(write).then(
        ({ state, revision, evaluation }) => `${state} ${revision} ${evaluation}`,
        error => error.code,
      );
    const first = senders.map(sender => otlpWrite(sender, { externalId: "merged", spans: ["a"] }));
    const whole = senders.map(sender => canonicalWrite(sender, { externalId: "replaced", text: "before" }));
    assert.deepEqual(
      new Set(await Promise.all([...first, ...whole].map(outcomeOf))),
      new Set(["created 1 scheduled"]),
    );
    const merges = senders.map(sender => otlpWrite(sender, { externalId: "merged", spans: ["b"] }));
    const again = senders.map(sender => canonicalWrite(sender, { externalId: "replaced", text: "after" }));
    const refused = [otlpWrite(gone), canonicalWrite(revoked)];
    const outcomes = await Promise.all([...merges, ...again, ...refused].map(outcomeOf));
    assert.deepEqual(new Set(outcomes.slice(0, 24)), new Set(["merged 2 scheduled"]));
    assert.deepEqual(new Set(outcomes.slice(24, 48)), new Set(["replaced 2 none"]));
    assert.deepEqual(outcomes.slice(48), ["OTLP_PLATFORM_NOT_FOUND", "UNAUTHORIZED"]);
    const places = await shards.of(senders.map(({ agentId }) => agentId));
    assert.equal(new Set(places.values()).size > 4, true, "agents are in several groups");
    for (const [at, { agentId }] of senders.entries()) {
      const loaded = await loadTrace(places.get(agentId)!, first[at]!.traceId);
      assert.equal(loaded.trace.spans.length, 2);
      const { derived } = await loadTrace(places.get(agentId)!, whole[at]!.traceId);
      assert.equal(derived.responseText?.text, "after");
    }
  });

  test("statements of ingestion read and write their own shards only, and nothing of theirs is planned by Citus", async () => {
    const [sender] = senders as [Sender];
    const place = (await shards.of([sender.agentId])).get(sender.agentId)!;
    const recorded = recordStatements(place);
    const places: Places = {
      of: async ids => new Map(Array.from(ids, id => [id, recorded.db])),
      all: async () => [recorded.db],
      available: async () => [recorded.db],
      findUnavailable: async () => ({ workers: [], of: 1 }),
    };
    const writer = writerTo(places);
    const traceId = "5".repeat(32);
    const withTools = canonicalWrite(sender, { externalId: "with tools" });
    withTools.columns.tools.push("search");
    await writer.write(withTools);
    await writer.write({ ...canonicalWrite(sender, { externalId: "with tools", text: "without" }) });
    const limited = new TraceWriter({ ...db, places }, { ...limits, traceSpansMax: 2 });
    const batch = (spans: string[]) => ({
      ...otlpWrite(sender, { externalId: "x-request-id", spans }),
      otlpTraceId: traceId,
      resource: { id: "0190b3b4-0000-7000-8000-000000000001", bytes: Buffer.from("resource") },
      redactions: { email: 1 },
      readBy: { conventions: ["*"], conventionRules: [] },
    });
    for (const spans of [["a"], ["b"], ["b"], ["a", "b"]]) await limited.write(batch(spans));
    await storeRecords(recorded.db, questions(sender, traceId, "a", "Why?"), limits);
    const names = recorded.statements.flatMap(({ name }) => name ?? []);
    for (const name of [
      "insert_traces",
      "lock_traces",
      "append_batches",
      "replace_trace",
      "store_otlp_ids",
      "move_runs",
    ]) {
      assert.ok(names.includes(name), `${name} was sent`);
    }
    for (const { text, values } of recorded.statements) {
      const { rows } = await place.pool.query<{ "QUERY PLAN": string }>(`explain (verbose) ${text}`, values);
      const plan = rows.map(row => row["QUERY PLAN"]).join("\n");
      assert.doesNotMatch(plan, /Citus|Distributed/i, plan);
      // Names of shards and of copies of reference tables, which have numbers.
      for (const [, table] of plan.matchAll(/\bon public\.(\w+)/g)) assert.match(table!, /_\d+$/, plan);
    }
  });

  test("a key is revoked once the transactions that store its traces have ended, whatever node they are on", async () => {
    const sender = await makeSender(db);
    const place = (await shards.of([sender.agentId])).get(sender.agentId)!;
    const storing = await begun(place);
    await storing.query("select from keys where id = $1 for key share", [sender.keyId]);
    let isRevoked = false;
    const revoked = deleteKey(db, sender.keyId).then(() => {
      isRevoked = true;
    });
    await eventually(async () => {
      const { rows } = await db.pool.query("select from citus_lock_waits");
      assert.equal(rows.length, 1);
    });
    assert.equal(isRevoked, false);
    await storing.commit();
    await revoked;
    await assert.rejects(writerTo(shards).write(otlpWrite(sender)), { code: "UNAUTHORIZED" });
  });

  test("what may be stored of an agent changes once the transactions that store it have ended, whatever node they are on", async () => {
    const sender = await makeSender(db);
    const { agentId, projectId } = sender;
    const vault = openVault(randomBytes(32));
    const place = (await shards.of([agentId])).get(agentId)!;
    for (const change of [
      () => updateAgent(db, agentId, { content: "none" }),
      () => savePrivacy(db, vault, projectId, { ...noPrivacy, builtIn: ["email"] }),
    ]) {
      const storing = await begun(place);
      await storing.query("select from agents where id = $1 for key share", [agentId]);
      let isChanged = false;
      const changed = change().then(() => {
        isChanged = true;
      });
      await eventually(async () => {
        const { rows } = await place.pool.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%agents_%'",
        );
        assert.equal(rows.length, 1);
      });
      assert.equal(isChanged, false);
      await storing.commit();
      await changed;
    }
  });

  test("an agent whose group is gone from the cluster is an error, after it was looked for twice", async () => {
    const asked: string[] = [];
    const lost: Database = {
      ...db,
      pool: {
        query: async (query: pg.QueryConfig | string) => {
          const name = typeof query === "string" ? "groups" : query.name!;
          asked.push(name);
          const { rows } = await db.pool.query(query);
          return { rows: name === "groups" ? rows : rows.map(row => ({ ...row, shard: 1 })) };
        },
      } as unknown as Session,
    };
    const places = new Shards({ db: lost, url: cluster.url });
    await assert.rejects(
      places.of([senders[0]!.agentId]),
      /^Error: An agent belongs to a group of shards that pg_dist_shard does not have\.$/,
    );
    assert.deepEqual(asked, ["groups_of_agents", "groups", "groups_of_agents", "groups"]);
    await places.close();
  });

  test("due runs in all groups are claimed once by several workers, completed, counted and listed", async () => {
    const [failing] = senders as [Sender];
    for (let traces = 0; traces < 3; traces++) await writerTo(shards).write(canonicalWrite(failing));
    await db.pool.query("update queue set due_at = now()");
    const due = await countOf("select count(*) from queue");
    const claimed: string[] = [];
    const work = async (places: Shards) => {
      const lease = newId();
      const whole = { ...db, places };
      for (;;) {
        const { runs } = await claimRuns(whole, { lease, leaseMs: 60_000, runsMax: 10 });
        if (runs.length === 0) return;
        claimed.push(...runs.map(({ id }) => id));
        const completed = runs.map(async ({ id, agentId }) => {
          const tests = await listForAgent(whole, agentId);
          return { ...unmeasured, id, revision: 1, verdict: failedBy(tests[0]!) };
        });
        await completeRuns(whole, lease, await Promise.all(completed));
      }
    };
    await Promise.all([work(shards), work(otherShards)]);
    assert.ok(due > senders.length);
    assert.equal(new Set(claimed).size, claimed.length);
    assert.equal(claimed.length, due);
    assert.equal(await countOf("select sum(failed) from agent_hours"), due);
    assert.equal(await countOf("select sum(failed) from test_hours"), due);
    assert.equal(await countOf("select sum(failed) from check_hours"), due);
    assert.equal(await countOf("select sum(failed) from test_versions"), due);
    const changes = "select count(*) from test_state_changes where agent_id = $1 and state = 'failing'";
    assert.equal(await countOf(changes, failing.agentId), 1);
    const places = await shards.of(senders.map(({ agentId }) => agentId));
    for (const { agentId } of senders) {
      const filters = { verdict: "failed" } as const;
      const page = { before: "ffffffff-ffff-ffff-ffff-ffffffffffff", rowsMax: 100 };
      const { rows } = await listTraces(places.get(agentId)!, agentId, filters, page);
      const listed = await countOf(
        "select count(*) from runs where agent_id = $1 and verdict = 'failed'",
        agentId,
      );
      assert.equal(rows.length, listed);
      assert.ok(listed > 0);
    }
  });

  async function countOf(query: string, ...values: unknown[]): Promise<number> {
    const { rows } = await db.pool.query<Record<string, string>>(query, values);
    return Number(Object.values(rows[0]!)[0]);
  }

  test("a deletion takes along what belongs to the traces, by hand and with their agent", async () => {
    const [sender, leaving] = [await makeSender(db), await makeSender(db)];
    const writer = writerTo(shards);
    const writeTwice = async (of: Sender) => {
      const write = otlpWrite(of, { externalId: "deleted", spans: ["a"] });
      write.columns.models.push("a model");
      const { traceId } = await writer.write(write);
      await writer.write(otlpWrite(of, { externalId: "deleted", spans: ["b"] }));
      return traceId;
    };
    const left = async ({ agentId }: Sender) => {
      const tables = ["traces", "trace_batches", "queue", "trace_values"];
      const counts = tables.map(table =>
        countOf(`select count(*) from ${table} where agent_id = $1`, agentId),
      );
      return Promise.all(counts);
    };
    const traceId = await writeTwice(sender);
    await writeTwice(leaving);
    assert.deepEqual(await left(sender), [1, 2, 1, 1]);
    assert.deepEqual(await left(leaving), [1, 2, 1, 1]);
    const place = (await shards.of([sender.agentId])).get(sender.agentId)!;
    assert.deepEqual(await deleteTraces(place, sender.agentId, [traceId]), [traceId]);
    await deleteAgentRow(leaving);
    assert.deepEqual(await left(sender), [0, 0, 0, 0]);
    assert.deepEqual(await left(leaving), [0, 0, 0, 0]);
  });

  test("groups are moved between nodes while traces are stored, and what was acknowledged is stored once", async t => {
    const writers = [writerTo(shards), writerTo(otherShards)] as const;
    const acknowledged = new Map<string, string>();
    let isMoving = true;
    let slowest = 0;
    const send = async (client: number) => {
      for (let turn = 0; isMoving; turn++) {
        const sender = senders[(client + turn * 5) % senders.length]!;
        const externalId = `client ${client} turn ${turn}`;
        const since = performance.now();
        const { traceId } = await writers[turn % 2]!.write(otlpWrite(sender, { externalId, spans: ["a"] }));
        await writers[(turn + 1) % 2]!.write(otlpWrite(sender, { externalId, spans: ["b"] }));
        acknowledged.set(`${sender.agentId} ${externalId}`, traceId);
        slowest = Math.max(slowest, performance.now() - since);
      }
    };
    const sending = Promise.all(Array.from({ length: 16 }, (_, client) => send(client)));
    const movesMs: string[] = [];
    try {
      const group = await groupOf(senders[0]!);
      for (const _ of ["away", "and back"]) {
        const since = performance.now();
        await move(group);
        movesMs.push((performance.now() - since).toFixed(0));
        const sent = acknowledged.size;
        await eventually(() => assert.ok(acknowledged.size > sent + 50));
      }
    } finally {
      isMoving = false;
      await sending;
    }
    const { rows } = await db.pool.query<{ key: string; id: string; batches: number; runs: number }>(
      `select t.agent_id || ' ' || t.external_id as key, t.id,
        (select count(*) from trace_batches b where b.agent_id = t.agent_id and b.trace_id = t.id) as batches,
        (select count(*) from queue q where q.agent_id = t.agent_id and q.trace_id = t.id) as runs
      from traces t where t.external_id like 'client %'`,
    );
    const stored = new Map(rows.map(({ key, ...row }) => [key, row]));
    assert.equal(rows.length, stored.size);
    for (const [key, id] of acknowledged) {
      assert.deepEqual(stored.get(key), { id, batches: 2, runs: 1 }, key);
    }
    // On the node where it is now, too.
    const [{ agentId }] = senders as [Sender];
    const ids = rows.filter(({ key }) => key.startsWith(agentId)).map(({ id }) => id);
    const place = (await shards.of([agentId])).get(agentId)!;
    assert.equal((await deleteTraces(place, agentId, ids)).length, ids.length);
    const ofDeleted = "select count(*) from trace_batches where agent_id = $1 and trace_id = any ($2)";
    assert.equal(await countOf(ofDeleted, agentId, ids), 0);
    t.diagnostic(
      `${acknowledged.size} traces in two batches, the slowest in ${slowest.toFixed(0)} ms, moves in ${movesMs.join(" and ")} ms`,
    );
  });

  test("a migration distributes its new tables, and what it calls after deletions is called on the shards of groups that exist already; so are changed functions", async t => {
    const folder = mkdtempSync(join(tmpdir(), "onlooker-migrations-"));
    for (const name of readdirSync(schema)) copyFileSync(new URL(name, schema), join(folder, name));
    // In place of a table that is new.
    await db.pool.query("drop table backtest_results");
    appendFileSync(
      join(folder, "functions.sql"),
      `create or replace function forget_more() returns trigger language plpgsql as $$
       begin
         raise exception 'More was forgotten.';
       end $$;`,
    );
    writeFileSync(
      join(folder, "999_more.sql"),
      `alter table traces add column more integer default 7;
       create table backtest_results (
         agent_id uuid not null references agents on delete cascade, trace_id uuid not null, primary key (agent_id, trace_id)
       );
       select call_after_deletion('traces_deleted_more', 'traces', 'forget_more');`,
    );
    t.after(() => rmSync(folder, { recursive: true }));
    const migrateTo = () => migrate(cluster.url, { folder: pathToFileURL(`${folder}/`) });
    assert.deepEqual(await migrateTo(), ["functions.sql", "999_more.sql"]);
    const { rowCount } = await db.pool.query(
      "select from citus_tables where table_name = 'backtest_results'::regclass and distribution_column = 'agent_id'",
    );
    assert.equal(rowCount, 1);
    const sender = await makeSender(db);
    const { traceId } = await writerTo(shards).write(canonicalWrite(sender));
    /** As a service sees it that starts now. */
    const deletion = async () => {
      const started = new Shards({ db, url: cluster.url });
      try {
        const place = (await started.of([sender.agentId])).get(sender.agentId)!;
        const { rows } = await place.pool.query("select more from traces where id = $1", [traceId]);
        assert.deepEqual(rows, [{ more: 7 }]);
        await deleteTraces(place, sender.agentId, [traceId]);
      } finally {
        await started.close();
      }
    };
    await assert.rejects(deletion(), /More was forgotten\./);
    const path = join(folder, "functions.sql");
    writeFileSync(path, readFileSync(path, "utf8").replace("More was forgotten.", "More is gone."));
    assert.deepEqual(await migrateTo(), ["functions.sql"]);
    await assert.rejects(deletion(), /More is gone\./);
  });

  async function groupOf({ agentId }: Sender): Promise<number> {
    const { rows } = await db.pool.query(
      "select get_shard_id_for_distribution_column('traces', $1::uuid) as id",
      [agentId],
    );
    return rows[0].id;
  }

  /** To the other worker, as a rebalance does. What an earlier move left there is dropped first. */
  async function move(group: number): Promise<void> {
    await eventually(async () => {
      await db.pool.query("call citus_cleanup_orphaned_resources()");
      assert.deepEqual((await db.pool.query("select object_name from pg_dist_cleanup")).rows, []);
    });
    const { rows } = await db.pool.query<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from citus_shards where shardid = $1",
      [group],
    );
    const from = rows[0]!;
    const to = cluster.workers.find(({ port, host }) => port !== from.port || host !== from.host)!;
    await db.pool.query("select citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')", [
      ...[group, from.host, from.port, to.host, to.port],
    ]);
  }

  async function deleteAgentRow({ agentId }: Sender): Promise<void> {
    await db.pool.query("delete from agents where id = $1", [agentId]);
  }
});

const unmeasured = {
  outage: false,
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};

/** A check of the test fails. */
function failedBy(test: TestCase): Verdict {
  const failed = semanticCheck("polite", { criteria: [], score: 0 }, { outcome: "failed", score: 0 });
  const result = resultOf(test, [failed]);
  const { outcome: verdict, score, counts } = result;
  const all = { verdict, score, counts, fullyEvaluated: true };
  return { routing: "not_needed", ...all, results: [result], tests: [] };
}

type Statement = { name?: string | undefined; text: string; values: unknown[] };

/** The same database, and what is sent to it, each statement once. */
function recordStatements(db: Database): { db: Database; statements: Statement[] } {
  const known = new Map<string, Statement>();
  const record = (config: pg.QueryConfig | string, values: unknown[] = []) => {
    const statement = typeof config === "string" ? { text: config, values } : { values: [], ...config };
    known.set(statement.text, statement as Statement);
  };
  const recording = (session: Session): Session => {
    const query = (config: pg.QueryConfig, values?: unknown[]) => {
      record(config, values);
      return session.query(config, values);
    };
    return { query: query as Session["query"] };
  };
  return {
    db: {
      pool: recording(db.pool),
      transaction: work => db.transaction(session => work(recording(session))),
      close: async () => {},
    },
    get statements() {
      return [...known.values()];
    },
  };
}
