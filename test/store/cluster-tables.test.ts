// Every table has its place on a cluster, and what a migration may do to a distributed one.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { schema } from "../../src/store/migrate.ts";
import { forCluster } from "../../src/store/scale/migrating.ts";
import { growing, onCoordinator, references } from "../../src/store/scale/tables.ts";
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

test("a trigger of a distributed table is noted for its shards, and others are created", () => {
  const others = "create trigger named after insert on sessions for each row execute function f();";
  assert.equal(forCluster(others), others);
  const noted = forCluster(`create table traces_of (a int);
create trigger gone after delete on traces referencing old table as gone
  for each statement execute function forget_more();
drop trigger if exists earlier on runs;
`);
  assert.doesNotMatch(noted, /^(create|drop) trigger/im);
  assert.match(noted, /^create table traces_of \(a int\);$/m);
  assert.match(
    noted,
    /values \('gone', 'traces', \$trigger\$CREATE TRIGGER gone after delete ON public\.traces referencing old table as gone\s+for each statement EXECUTE FUNCTION public\.forget_more\(\)\$trigger\$\)/,
  );
  assert.match(noted, /^delete from shard_triggers where name = 'earlier';$/m);
});
