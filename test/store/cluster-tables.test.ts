// Every table has its place on a cluster, and what a migration may do to a distributed one.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { growing, onCoordinator, references } from "../../src/store/cluster/tables.ts";
import { schema } from "../../src/store/migrate.ts";
import { openTestDatabase } from "../support/rows.ts";

const { db, close } = await openTestDatabase();
after(close);

/** A database is distributed after these. */
const first = ["001_accounts.sql", "002_traces.sql", "003_work.sql"];

test("every table is by agent, on every node, or on the coordinator alone", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  // Made by svc scale init.
  const placed = [...growing, ...references, ...onCoordinator].filter(name => name !== "shard_triggers");
  assert.equal(placed.length, new Set(placed).size);
  assert.deepEqual(new Set(placed), new Set(rows.map(({ name }) => name)));
});

test("every key of a table that is by agent has the agent", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `select i.indexrelid::regclass::text as name from pg_index i
     where i.indisunique and i.indrelid::regclass::text = any ($1)
       and not exists (
         select from pg_attribute a where a.attrelid = i.indrelid and a.attname = 'agent_id' and a.attnum = any (i.indkey)
       )`,
    [growing],
  );
  assert.deepEqual(rows, []);
});

test("no migration gives a table a foreign key to one that is distributed only after it", () => {
  for (const name of readdirSync(schema).filter(name => !first.includes(name))) {
    const text = readFileSync(new URL(name, schema), "utf8");
    const created = [...text.matchAll(/^create table (?:if not exists )?(\w+)/gim)].map(
      ([, table]) => table!,
    );
    if (!created.some(table => growing.includes(table))) continue;
    for (const [statement, table] of text.matchAll(/\breferences\s+(\w+)/gi)) {
      assert.ok(!growing.includes(table!), `${name}: "${statement}" has to be in the next migration`);
    }
  }
});

test("a table that is by agent has triggers after deletions alone, which a cluster can have on shards, and one on every node has none", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `select tgname as name from pg_trigger where not tgisinternal and tgrelid::regclass::text = any ($1)
       and not (tgrelid::regclass::text = any ($2) and tgtype = 8 and tgoldtable = 'gone')`,
    [[...growing, ...references], growing],
  );
  // A foreign key on a cluster.
  assert.deepEqual(rows, [{ name: "agents_deleted_identities" }]);
});

test("no statement that changes a reference table is sent without the lock that others of the cluster wait for", () => {
  const changes = new RegExp(`\\b(?:insert into|update|delete from) (?:${references.join("|")})\\b`);
  const sent = /\.pool\s*\.query(?:<[^(]*>)?\(\s*(?:\{[^`"]*text:\s*)?(?:`([^`]*)`|"([^"]*)")/g;
  const store = new URL("../../src/store/", import.meta.url);
  for (const name of readdirSync(store, { recursive: true }) as string[]) {
    if (!name.endsWith(".ts")) continue;
    const source = readFileSync(new URL(name, store), "utf8");
    for (const [, long, short] of source.matchAll(sent)) assert.doesNotMatch((long ?? short)!, changes, name);
    if (changes.test(source))
      assert.match(source, /reference(?:Query|Transaction)|client: (?:pg\.PoolClient|Session)/, name);
  }
});
