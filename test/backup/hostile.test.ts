// A backup by somebody who means harm: whatever its manifest, its members and its rows say, it is refused by a check and by a
// restore, and nothing of it becomes SQL.
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import pg from "pg";
import { backUp, checkBackup, restore } from "../../src/backup.ts";
import { declaredTables, readTables } from "../../src/store/backup/catalog.ts";
import { type Member, tarEnd, tarMember } from "../../src/wire/tar.ts";
import { membersOf, writeMembers, writeTar } from "../support/backup-members.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
const file = join(scratch, "true.backup");
const key = Buffer.alloc(32, 7);
let source: TestDatabase;
let target: TestDatabase;
let members: Member[];
let manifest: Json;

before(async () => {
  source = await freshDatabase();
  target = await emptyDatabase();
  await ask(
    source,
    "insert into attempts (kind, subject, count, ends_at) values ('sign-in', 'a', 1, now()), ('sign-in', 'b', 2, now())",
  );
  const options = { version: "1.0.0", key: undefined, withKey: false, mayBeOther: false, onProgress() {} };
  await backUp({ ...options, url: source.url, file });
  members = await membersOf(file);
  manifest = JSON.parse(members[0]!.content.toString());
});
after(async () => {
  await source.drop();
  await target.drop();
  rmSync(scratch, { recursive: true, force: true });
});

async function ask(database: TestDatabase, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

const restored = (path: string) =>
  restore({ url: target.url, file: path, ownKey: undefined, onProgress() {}, async keepKey() {} });

const checked = (path: string) => checkBackup(path, undefined);

/** In one line, by a check and by a restore, which reads as the check does and makes all tables before it comes to the rows. */
async function refuses(path: string, expected = /^[^\n]+$/, ways = [checked, restored]): Promise<void> {
  for (const read of ways) {
    await assert.rejects(read(path), (error: Error) => {
      assert.match(error.name, /^(?:ArchiveError|UnfitDatabaseError)$/, error.stack);
      assert.match(error.message, expected);
      return true;
    });
  }
}

async function staysEmpty(): Promise<void> {
  const found = await ask(target, "select from pg_class where relnamespace = 'public'::regnamespace");
  assert.equal(found.length, 0);
}

/** With its own sums, and with these members instead. */
function rewritten(change: (all: Member[]) => Member[]): string {
  const path = join(scratch, "hostile.backup");
  writeMembers(path, change(members.map(member => ({ ...member }))));
  return path;
}

/** With another value at this path of the manifest. */
function changed(path: string[], value: unknown): string {
  const copy = structuredClone(manifest);
  const parent = path.slice(0, -1).reduce((at, name) => at[name]!, copy) as Record<string, unknown>;
  parent[path.at(-1)!] = value;
  return rewritten(([first, ...rest]) => [
    { ...first!, content: Buffer.from(JSON.stringify(copy)) },
    ...rest,
  ]);
}

type Json = { [name: string]: Json };

/** One path of each form: `tables.0.columns.0` stands for the columns of all tables. */
function pathsOf(value: Json): { leaves: string[][]; objects: string[][] } {
  const leaves = new Map<string, string[]>();
  const objects = new Map<string, string[]>();
  const visit = (part: Json, path: string[]) => {
    const isLeaf = part === null || typeof part !== "object";
    if (isLeaf || !Array.isArray(part))
      (isLeaf ? leaves : objects).set(path.join().replace(/\d+/g, "*"), path);
    if (!isLeaf) for (const [name, inner] of Object.entries(part)) visit(inner, [...path, name]);
  };
  visit(value, []);
  return { leaves: [...leaves.values()], objects: [...objects.values()] };
}

test("the columns that the schema's files declare are those that it makes", async () => {
  const client = new pg.Client({ connectionString: source.url });
  await client.connect();
  const { tables } = await readTables(client).finally(() => client.end());
  assert.deepEqual(declaredTables(), new Map(tables.map(({ name, columns }) => [name, new Set(columns)])));
});

suite("a manifest", () => {
  const marker = join(scratch, "taken");
  const sql = `default; commit; create table taken (); copy (select 1) to program 'touch ${marker}'; --`;

  test("is refused with anything in place of a value, and none of it is run", async () => {
    const { leaves } = pathsOf(manifest);
    assert.ok(leaves.length >= 12, leaves.join(" "));
    for (const path of leaves) {
      for (const value of [sql, `x" ${sql}`, `x' ${sql}`, "\u001b[2J\n", 1e99, ["x"], {}])
        await refuses(changed(path, value));
    }
    await staysEmpty();
    assert.ok(!existsSync(marker));
  });

  test("is refused with anything beside its values", async () => {
    const { objects } = pathsOf(manifest);
    for (const path of objects) {
      for (const [name, value] of Object.entries({
        bound: sql,
        partitions: [{ name: "x", parent: "traces", bound: sql }],
      }))
        await refuses(changed([...path, name], value));
    }
    await staysEmpty();
    assert.ok(!existsSync(marker));
  });

  test("is refused with a table, a column or a range twice, missing or unknown", async () => {
    const { tables, ranges, migrations } = manifest as unknown as Record<string, Json[]>;
    const triggers = { name: "shard_triggers", columns: ["name", "table_name", "definition"], sequences: [] };
    await refuses(changed(["tables"], [...tables!, triggers]), /names the table "shard_triggers"/);
    await refuses(changed(["tables"], [...tables!, tables![0]]), /twice/);
    await refuses(changed(["tables", "0", "columns", "0"], "definition"), /names the column "definition"/);
    await refuses(changed(["ranges"], [...ranges!, ...ranges!]), /"trace_batches_first" twice/);
    const later = { from: "01a20000-0000-0000-0000-000000000000", to: ranges![0]!["to"] };
    await refuses(changed(["ranges"], [...ranges!, later]), /twice, or out of order/);
    await refuses(changed(["migrations"], migrations!.slice(1)), /a schema without 001_accounts\.sql/);
    // What only the schema itself shows, a restore finds before it reads a row.
    const missing = changed(
      ["tables"],
      tables!.filter(({ name }) => String(name) !== "traces"),
    );
    await assert.rejects(restored(missing));
    await staysEmpty();
  });
});

test("members that a backup does not have are refused by name", async () => {
  const [first, ...rest] = members;
  const counts = rest.at(-1)!;
  const rows = rest.find(({ name }) => name.startsWith("tables/attempts/"))!;
  const with_ = (name: string, content = "1\n") => ({ name, content: Buffer.from(content) });
  const replaced = (content: string) => (all: Member[]) =>
    all.map(one => (one.name === rows.name ? { ...one, content: Buffer.from(content) } : one));
  const text = rows.content.toString();
  const cases: [change: (all: Member[]) => Member[], expected: RegExp][] = [
    [all => [...all, with_("../../etc/passwd")], /it contains \.\.\/\.\.\/etc\/passwd/],
    [() => [first!, with_("/etc/passwd"), ...rest], /it contains \/etc\/passwd/],
    [() => [first!, with_("tables/shard_triggers/000001.copy"), ...rest], /contains tables\/shard_triggers/],
    [all => [...all, counts], /contains rows\.json/],
    [
      all => all.flatMap(one => (one === rows || one.name === rows.name ? [one, one] : [one])),
      /contains tables\/attempts\/000001/,
    ],
    [() => [first!, ...rest.slice(0, -1)], /has no rows\.json/],
    [() => [first!, with_("secret.key", "07"), ...rest], /secret\.key is not the one/],
    [replaced(`${text.split("\n")[0]}\n`), /the table attempts has another number of rows/],
    [replaced(text.split("\n")[0]!), /the rows of the table attempts end before their end/],
    [
      replaced(`\\.\n${text.split("\n")[0]}\ndrop table attempts;\n`),
      /the rows of the table attempts end before/,
    ],
  ];
  for (const [change, expected] of cases) await refuses(rewritten(change), expected, [checked]);
  await refuses(rewritten(cases[0]![0]), cases[0]![1], [restored]);
  await staysEmpty();
});

test("an archive that expands without end, or goes on after it, is refused", async () => {
  const path = join(scratch, "hostile.backup");
  const [first] = members.map(one => tarMember(one, new Date()));
  const member = (size: number) =>
    tarMember({ name: "tables/traces/000001.copy", content: Buffer.alloc(size) }, new Date());
  const huge = member(0);
  huge.write("77777777777\0", 124);
  huge.write("        ", 148);
  huge.write(
    `${huge
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  writeTar(path, [first!, huge]);
  await refuses(path, /has more than \d+ bytes/, [checked]);
  writeTar(path, [first!, member(80 << 20)]);
  await refuses(path, /expands to more than 1000 times its size/, [checked]);
  writeTar(path, [...members.map(one => tarMember(one, new Date())), tarEnd, huge, tarEnd]);
  await refuses(path, /continues after its end/, [checked]);
  await staysEmpty();
});

test("the signature shows whether the file is as the key's owner wrote it", async () => {
  const signed = join(scratch, "signed.backup");
  const options = { version: "1.0.0", key, withKey: false, mayBeOther: false, onProgress() {} };
  await backUp({ ...options, url: source.url, file: signed });
  const stateOf = async (path: string, own?: Buffer) => (await checkBackup(path, own)).signature;
  assert.equal(await stateOf(signed, key), "valid");
  assert.equal(await stateOf(signed), "unchecked");
  assert.equal(await stateOf(signed, Buffer.alloc(32, 8)), "other");
  assert.equal(await stateOf(file, key), "none");
  const own = await membersOf(signed);
  const forged = join(scratch, "forged.backup");
  writeMembers(forged, own, "0".repeat(64));
  await assert.rejects(stateOf(forged, key), /The signature of .* is wrong/);
  await assert.rejects(
    restore({ url: target.url, file: forged, ownKey: key, onProgress() {}, async keepKey() {} }),
    /is wrong/,
  );
  writeMembers(forged, own);
  await assert.rejects(stateOf(forged), /its signature is missing/);
  await staysEmpty();
});
