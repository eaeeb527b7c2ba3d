// Fills an empty database from a backup, in one transaction: all of it, or nothing.
import type pg from "pg";
import { advisoryLocks } from "../../model/advisory-locks.ts";
import { requireOneServer } from "../cluster/nodes.ts";
import { newClient, noTimeouts } from "../connection/connect.ts";
import { UnfitDatabaseError } from "../connection/unfit-database.ts";
import { createSchema, requireFit, type SchemaFile } from "../migrate.ts";
import { type Bounds, createRange, listRanges } from "../ranges/catalog.ts";
import { columnList, quoted, readTables, type Table } from "./catalog.ts";
import { copyIn } from "./copy.ts";

export type Refill = {
  /** Each table once. Returns the number of rows. */
  fill(table: Table, rows: AsyncIterable<Buffer>): Promise<number>;
  /** Afterwards the database is as it was when the backup was made. */
  commit(): Promise<void>;
  /** Afterwards, unless it was committed, the database is as empty as before. */
  close(): Promise<void>;
};

export type Shape = { migrations: SchemaFile[]; tables: Table[]; ranges: Bounds[] };

/**
 * Creates the tables as these files made them. Throws UnfitDatabaseError if the database has tables, this version does not
 * have the files, or they make other tables than these.
 */
export async function openRefill(url: string, { migrations, tables, ranges }: Shape): Promise<Refill> {
  const client = newClient(url, { options: `${noTimeouts} -c timezone=UTC` });
  await client.connect();
  try {
    await requireFit(client);
    await requireOneServer(client);
    await client.query("begin");
    // A service that starts meanwhile waits, and then finds everything.
    await client.query("select pg_advisory_xact_lock($1)", [advisoryLocks.schema]);
    await requireEmpty(client);
    await createSchema(client, migrations);
    const prepared = await prepare(client, tables, ranges);
    return {
      async fill(table, rows) {
        const statement = `copy ${quoted(table.name)} (${columnList(table)}) from stdin`;
        return copyIn(client, statement, rows);
      },
      async commit() {
        await finish(client, tables, prepared);
        await client.query("commit");
        await client.query("analyze");
      },
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function requireEmpty(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by name limit 4`,
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name);
  throw new UnfitDatabaseError(
    `The database is not empty: it has the tables ${names.slice(0, 3).join(", ")}${names.length > 3 ? " and more" : ""}. Restore into an empty database or data folder.`,
  );
}

type Prepared = { table: string; name: string; definition: string }[];

/**
 * Empties the tables of what the schema wrote, creates the partitions, and takes out foreign keys and triggers: the rows
 * come table by table, and what the triggers count and delete is in the backup as it was.
 */
async function prepare(client: pg.ClientBase, tables: Table[], ranges: Bounds[]): Promise<Prepared> {
  const { tables: created } = await readTables(client);
  requireSame(tables, created);
  const names = created.map(({ name }) => quoted(name));
  await client.query(`truncate ${names.join(", ")}`);
  await divideAs(client, ranges);
  const { rows: keys } = await client.query<Prepared[number]>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace`,
  );
  for (const { table, name } of keys)
    await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  for (const name of names) await client.query(`alter table ${name} disable trigger user`);
  return keys;
}

/**
 * Throws UnfitDatabaseError unless they have the same columns and sequences: every name that becomes part of a statement is
 * one that the schema made.
 */
function requireSame(tables: Table[], created: Table[]): void {
  const namesIn = (list: Table[]) =>
    new Set(
      list.flatMap(({ name, columns, sequences }) => [
        name,
        ...columns.map(column => `${name}.${column}`),
        ...sequences.map(({ column }) => `the sequence of ${name}.${column}`),
      ]),
    );
  const [wrong] = namesIn(tables).symmetricDifference(namesIn(created));
  if (wrong === undefined) return;
  throw new UnfitDatabaseError(
    `The tables of the backup are not those of its schema: they differ in ${wrong}. Restore a file as svc backup wrote it.`,
  );
}

/** Divides the empty table of batches as that of the backup was. */
async function divideAs(client: pg.ClientBase, ranges: Bounds[]): Promise<void> {
  for (const { name } of await listRanges(client)) await client.query(`drop table ${quoted(name)}`);
  for (const range of ranges) await client.query(createRange(range));
}

async function finish(client: pg.ClientBase, tables: Table[], keys: Prepared): Promise<void> {
  for (const { name, sequences } of tables) {
    await client.query(`alter table ${quoted(name)} enable trigger user`);
    for (const { column, value, isCalled } of sequences) {
      await client.query("select setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)", [
        quoted(name),
        column,
        value,
        isCalled,
      ]);
    }
  }
  for (const { table, name, definition } of keys) {
    await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`);
  }
}
