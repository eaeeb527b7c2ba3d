// Which tables a backup holds, and how their rows are read and written: columns and sequences.
import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";
import { schema } from "../migrate.ts";

export type Table = {
  name: string;
  columns: string[];
  /** Where the numbers of its identity columns continue. */
  sequences: { column: string; value: string; isCalled: boolean }[];
};

/** The columns of the tables that the schema of this version creates, as its files declare them, by table. */
export function declaredTables(): Map<string, Set<string>> {
  const tables = new Map([["migrations", new Set(["name", "hash", "applied_at"])]]);
  for (const file of readdirSync(schema)) {
    const text = readFileSync(new URL(file, schema), "utf8");
    for (const [, table, body] of text.matchAll(/^create table (\w+) \((.*?)^\)/gms)) {
      const words = [...body!.matchAll(/^ {2}(\w+) (?!.* generated always as \()/gm)].map(
        ([, word]) => word!,
      );
      tables.set(table!, new Set(words.filter(word => !constraintWords.has(word))));
    }
    for (const [, table, column] of text.matchAll(/^alter table (\w+)\s+add column (\w+) /gm))
      tables.get(table!)?.add(column!);
  }
  return tables;
}

const constraintWords = new Set(["primary", "constraint", "unique", "check", "foreign", "exclude"]);

/** Tables of Onlooker in this schema, by name, without partitions. `others` are those of somebody else. */
export async function readTables(client: pg.ClientBase): Promise<{ tables: Table[]; others: string[] }> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.oid order by name`,
  );
  const known = declaredTables();
  const tables: Table[] = [];
  for (const { name, columns } of rows) {
    if (!known.has(name)) continue;
    tables.push({ name, columns, sequences: await readSequences(client, name) });
  }
  const others = rows.map(({ name }) => name).filter(name => !known.has(name));
  return { tables, others };
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
