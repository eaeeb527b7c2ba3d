// The agent becomes the first part of the keys of tables from before, while the version before still writes to them.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import pg from "pg";
import { settleLargeKeys, settleSmallKeys } from "../../src/store/keys.ts";
import { migrate } from "../../src/store/migrate.ts";
import { eventually } from "../support/eventually.ts";
import { emptyDatabase } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";
import { migrationsBefore, restore } from "./upgrades.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

const silent = { info() {} };

/** The migrations before the agents came first. */
const earlier = () => migrationsBefore("042", scratch);

const id = (at: number) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`;

async function keysOf(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ table: string; columns: string }>(
    `select c.conrelid::regclass::text as table, string_agg(a.attname, ', ' order by k.place) as columns
     from pg_constraint c cross join lateral unnest(c.conkey) with ordinality as k (attnum, place)
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum
     where c.contype = 'p' and c.connamespace = 'public'::regnamespace and c.conname <> 'migrations_lock_pkey'
     group by c.conrelid`,
  );
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]));
}

test("every row gets its agent and every table its key, whatever is written meanwhile", async () => {
  const [old, fresh] = [await emptyDatabase(), await emptyDatabase()];
  const [client, other] = [new pg.Client(old.url), new pg.Client(fresh.url)];
  await Promise.all([client.connect(), other.connect()]);
  await migrate(fresh.url);
  await migrate(old.url, earlier());
  await client.query(`
    insert into accounts (id, name, email) values ('a', 'Someone', 'a@example.com');
    insert into projects (id, account_id, name) values ('${id(1)}', 'a', 'Shop');
    insert into agents (id, project_id, name, type)
      select concat('00000000-0000-7000-8000-', lpad(n::text, 12, '0'))::uuid, '${id(1)}', 'Agent', 'http_api'
      from generate_series(1, 2) n;
    insert into test_cases (id, agent_id, name, status, passive_behavior, turn_count, document)
      select concat('00000000-0000-7000-8000-', lpad(n::text, 12, '0'))::uuid,
        concat('00000000-0000-7000-8000-', lpad((1 + n % 2)::text, 12, '0'))::uuid, 't', 'active', 'always_run', 1, '{}'
      from generate_series(1, 100) n;
    insert into test_hours select c.id, now() - h * interval '1 hour', 1, 2, 3, 4, now(), 'passed'
      from test_cases c, generate_series(1, 90) h;
    insert into check_hours select c.id, k, '2026-01-01Z', 1, 2, 3, 4 from test_cases c, unnest(array['a', 'b\\c', 'é']) k;
    insert into test_states (test_id) select id from test_cases;
    insert into judge_answers (key, project_id, answer) select sha256(n::text::bytea), '${id(1)}', n::text
      from generate_series(1, 500) n;
    insert into launches (id, agent_id, source, state, test_count) values ('${id(7)}', '${id(2)}', 'api', 'completed', 1);
    insert into runs (id, agent_id, kind, state, due_at, launch_id, test_id)
      values ('${id(8)}', '${id(2)}', 'manual', 'completed', now(), '${id(7)}', '${id(1)}');
    insert into launch_inputs (launch_id, test_id, row, input, digest) values ('${id(7)}', '${id(1)}', 1, '""', '');
    insert into run_turns (run_id, turn, document) values ('${id(8)}', 1, '{}'), ('${id(8)}', 2, '{}');
    insert into erasures (id, project_id, criterion, dry_run, step, traces)
      values ('${id(9)}', '${id(1)}', 'text', true, 'search', 1);
    insert into erasure_matches (erasure_id, trace_id) values ('${id(9)}', '${id(10)}');
  `);
  await migrate(old.url);

  // A process of the version before goes on counting.
  const writer = new pg.Client(old.url);
  await writer.connect();
  let [isSettled, counted] = [false, 0];
  const writing = (async () => {
    while (!isSettled) {
      await writer.query("update test_hours set passed = passed + 1 where test_id = $1", [
        id(1 + (counted % 100)),
      ]);
      counted++;
    }
  })();
  await Promise.all([settleSmallKeys(old.url, silent), settleSmallKeys(old.url, silent)]);
  isSettled = true;
  await writing;
  assert.ok(counted > 0);

  const { rows } = await client.query<{ wrong: number; hours: number; passed: number }>(
    `select count(*) filter (where h.agent_id <> c.agent_id)::int as wrong, count(*)::int as hours,
       sum(h.passed)::int as passed
     from test_hours h join test_cases c on c.id = h.test_id`,
  );
  assert.deepEqual(rows, [{ wrong: 0, hours: 9_000, passed: 9_000 + 90 * counted }]);
  const left = await client.query<{ of: string; count: number }>(
    `select 'answers' as of, count(*)::int from judge_answers where agent_id = '${id(1)}'
     union all select 'turns', count(*)::int from run_turns where agent_id = '${id(2)}'
     union all select 'inputs', count(*)::int from launch_inputs where agent_id = '${id(2)}'
     union all select 'checks', count(*)::int from check_hours
     union all select 'states', count(*)::int from test_states
     -- Of a trace that is gone.
     union all select 'matches', count(*)::int from erasure_matches
     union all select 'pending', count(*)::int from pending_keys where small`,
  );
  assert.deepEqual(
    left.rows.map(({ of, count }) => [of, count]),
    [
      ["answers", 500],
      ["turns", 2],
      ["inputs", 1],
      ["checks", 300],
      ["states", 100],
      ["matches", 0],
      ["pending", 0],
    ],
  );
  assert.equal(await settleLargeKeys(old.url, silent, new AbortController().signal), true);
  assert.deepEqual(await keysOf(client), await keysOf(other));
  const unchecked = "select conname from pg_constraint where not convalidated and contype = 'f'";
  assert.deepEqual((await client.query(unchecked)).rows, []);

  await client.query("delete from launches");
  assert.equal((await client.query("select from run_turns")).rowCount, 0);
  await Promise.all([client.end(), other.end(), writer.end()]);
  await Promise.all([old.drop(), fresh.drop()]);
});

test("a backup from between a migration and the new keys is restored as it was, and gets them then", async () => {
  const [old, into] = [await emptyDatabase(), await emptyDatabase()];
  const client = new pg.Client(old.url);
  await client.connect();
  await migrate(old.url, earlier());
  await client.query(`
    insert into accounts (id, name, email) values ('a', 'Someone', 'a@example.com');
    insert into projects (id, account_id, name) values ('${id(1)}', 'a', 'Shop');
    insert into agents (id, project_id, name, type) values ('${id(2)}', '${id(1)}', 'Agent', 'http_api');
    insert into test_cases (id, agent_id, name, status, passive_behavior, turn_count, document)
      values ('${id(3)}', '${id(2)}', 't', 'active', 'always_run', 1, '{}');
    insert into check_hours values ('${id(3)}', 'a', '2026-01-01Z', 1, 2, 3, 4);
    insert into trace_batches (trace_id, seq, span_keys, raw_length, spans) values ('${id(4)}', 1, '', 1, '');
  `);
  await migrate(old.url);
  await restore(old.url, into.url);
  const restored = new pg.Client(into.url);
  await restored.connect();
  assert.deepEqual(await keysOf(restored), await keysOf(client));
  await settleSmallKeys(into.url, silent);
  const { rows } = await restored.query(
    "select agent_id from check_hours union all select agent_id from trace_batches",
  );
  assert.deepEqual(rows, [{ agent_id: id(2) }, { agent_id: null }]);
  await Promise.all([client.end(), restored.end()]);
  await Promise.all([old.drop(), into.drop()]);
});

test("a process starts at once while another one, or what is left of it, builds a key of a large table", async () => {
  const old = await emptyDatabase();
  const [reader, client] = [new pg.Client(old.url), new pg.Client(old.url)];
  await Promise.all([reader.connect(), client.connect()]);
  await migrate(old.url, earlier());
  await client.query(`
    insert into accounts (id, name, email) values ('a', 'Someone', 'a@example.com');
    insert into projects (id, account_id, name) values ('${id(1)}', 'a', 'Shop');
    insert into agents (id, project_id, name, type) values ('${id(2)}', '${id(1)}', 'Agent', 'http_api');
    insert into test_cases (id, agent_id, name, status, passive_behavior, turn_count, document)
      values ('${id(3)}', '${id(2)}', 't', 'active', 'always_run', 1, '{}');
    insert into launches (id, agent_id, source, state, test_count) values ('${id(7)}', '${id(2)}', 'api', 'completed', 1);
    insert into runs (id, agent_id, kind, state, due_at, launch_id, test_id)
      values ('${id(8)}', '${id(2)}', 'manual', 'completed', now(), '${id(7)}', '${id(3)}');
  `);
  await migrate(old.url);
  await settleSmallKeys(old.url, silent);
  // An index is not finished as long as a transaction has an older snapshot.
  await reader.query("begin isolation level repeatable read; select 1");
  const stop = new AbortController();
  const building = settleLargeKeys(old.url, silent, stop.signal);
  const isBuilding = async () => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and query like 'create unique index concurrently%'
         and state = 'active'`,
    );
    return rowCount === 1;
  };
  await eventually(async () => assert.ok(await isBuilding()));
  stop.abort();
  assert.equal(await building, false);
  assert.ok(await isBuilding(), "the server goes on");
  await settleSmallKeys(old.url, silent);
  assert.ok(await isBuilding());
  await reader.query("rollback");
  await Promise.all([reader.end(), client.end()]);
  await old.drop();
});
