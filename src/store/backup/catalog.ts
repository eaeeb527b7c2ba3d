// Which tables a backup holds, and how their rows are read and written: columns, partitions, sequences.
import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";
import { schema } from "../migrate.ts";

export type Table = {
  name: string;
  columns: string[];
  /** Those below it, parents first, as `create table` declares them: `for values from … to …`. */
  partitions: { name: string; parent: string; bound: string }[];
  /** Where the numbers of its identity columns continue. */
  sequences: { column: string; value: string; isCalled: boolean }[];
};

/** The tables that the schema of this version creates, and the list of its files. */
function knownTables(): Set<string> {
  const names = new Set(["migrations"]);
  for (const file of readdirSync(schema)) {
    const text = readFileSync(new URL(file, schema), "utf8");
    for (const [, name] of text.matchAll(/^create table (\w+)/gim)) names.add(name!);
  }
  return names;
}

/** Tables of Onlooker in this schema, by name, without partitions. `others` are those of somebody else. */
export async function readTables(client: pg.ClientBase): Promise<{ tables: Table[]; others: string[] }> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.oid order by name`,
  );
  const known = knownTables();
  const tables: Table[] = [];
  for (const { name, columns } of rows) {
    if (!known.has(name)) continue;
    tables.push({
      name,
      columns,
      partitions: await readPartitions(client, name),
      sequences: await readSequences(client, name),
    });
  }
  const others = rows.map(({ name }) => name).filter(name => !known.has(name));
  return { tables, others };
}

async function readPartitions(client: pg.ClientBase, table: string): Promise<Table["partitions"]> {
  const { rows } = await client.query<Table["partitions"][number]>(
    `select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_partition_tree($1::regclass) t join pg_class c on c.oid = t.relid join pg_class p on p.oid = t.parentrelid
     where t.level > 0 order by t.level, name`,
    [quoted(table)],
  );
  return rows;
}

async function readSequences(client: pg.ClientBase, table: string): Promise<Table["sequences"]> {
  const { rows } = await client.query<{ column: string; sequence: string }>(
    `select attname as column, pg_get_serial_sequence($1, attname) as sequence from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and pg_get_serial_sequence($1, attname) is not null`,
    [quoted(table)],
  );
  const sequences: Table["sequences"] = [];
  for (const { column, sequence } of rows) {
    const state = await client.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from ${sequence}`,
    );
    sequences.push({ column, value: state.rows[0]!.value, isCalled: state.rows[0]!.called });
  }
  return sequences;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function columnList({ columns }: Table): string {
  return columns.map(quoted).join(", ");
}
