// Reads a database for a backup while the service goes on: everything as it was at one moment.

import { requireOneServer } from "../cluster/nodes.ts";
import { newClient, noTimeouts } from "../connection/connect.ts";
import { UnfitDatabaseError } from "../connection/unfit-database.ts";
import { listMade, type SchemaFile } from "../migrate.ts";
import { type Bounds, listRanges } from "../ranges/catalog.ts";
import { wasOtherMasterKey } from "../secrets/key-check.ts";
import { openVault } from "../secrets/vault.ts";
import { columnList, quoted, readTables, type Table } from "./catalog.ts";
import { copyOut } from "./copy.ts";

export type Snapshot = {
  /** The moment, by the database's clock. */
  takenAt: Date;
  /** The version of the server, such as `18.4`. */
  server: string;
  /** The files that the database was made with. */
  migrations: SchemaFile[];
  tables: Table[];
  /** Of batches. */
  ranges: Bounds[];
  /** Tables in this schema that are not Onlooker's, which a backup leaves out. */
  others: string[];
  /** An estimate. */
  rowCount: number;
  /** Whether the service last started with another key than this one. */
  isOtherKey(key: Buffer): Promise<boolean>;
  /** Passes the rows of a table on, in COPY's text format, and returns their number. */
  read(table: Table, take: (rows: Buffer) => Promise<void>): Promise<number>;
  close(): Promise<void>;
};

/**
 * Sees everything that was committed before, and nothing later. Throws UnfitDatabaseError if the database is not one of
 * Onlooker's, or a newer version's.
 */
export async function openSnapshot(url: string): Promise<Snapshot> {
  // Whatever the settings of the role: texts are written the same way for every server that reads them.
  const client = newClient(url, { options: `${noTimeouts} -c timezone=UTC -c bytea_output=hex` });
  await client.connect();
  try {
    await requireOneServer(client);
    await client.query("begin isolation level repeatable read, read only");
    const { tables, others } = await readTables(client);
    if (!tables.some(({ name }) => name === "migrations")) {
      throw new UnfitDatabaseError(
        "The database contains nothing of Onlooker: start the service on it first.",
      );
    }
    const migrations = await listMade(client);
    // As pg_dump does: a migration waits until the tables are read.
    await client.query(
      `lock table ${tables.map(({ name }) => quoted(name)).join(", ")} in access share mode`,
    );
    const { rows } = await client.query<{ at: Date; server: string; count: number }>(
      `select now() as at, split_part(current_setting('server_version'), ' ', 1) as server,
         (select coalesce(sum(greatest(reltuples, 0)), 0)::float8 from pg_class
          where relnamespace = current_schema()::regnamespace and relkind = 'r') as count`,
    );
    const { at: takenAt, server, count: rowCount } = rows[0]!;
    return {
      ...{ takenAt, server, migrations, tables, others, rowCount },
      ranges: (await listRanges(client)).map(({ from, to }) => ({ from, to })),
      isOtherKey: async key =>
        tables.some(({ name }) => name === "secrets") && wasOtherMasterKey(client, openVault(key)),
      read: (table, take) => copyOut(client, copyStatement(table), take),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** A query, because COPY reads no partitioned table by its name. */
function copyStatement(table: Table): string {
  return `copy (select ${columnList(table)} from ${quoted(table.name)}) to stdout`;
}
