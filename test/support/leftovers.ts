// Searches a whole database, compressed values included, and a folder of files for a text that must be gone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import pg from "pg";

/** The columns, as `table.column`, that contain the text in any case. Covers every table of the schema, new ones too. */
export async function columnsWith(databaseUrl: string, text: string): Promise<string[]> {
  const searched = text.toLowerCase();
  const found = new Set<string>();
  for (const { column, text } of await everyValue(databaseUrl)) {
    if (text.toLowerCase().includes(searched)) found.add(column);
  }
  return [...found].sort();
}

/** Every value of every row as text, compressed ones included; `column` is `table.column`. */
export async function everyValue(databaseUrl: string): Promise<{ column: string; text: string }[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema', 'columnar_internal') and table_type = 'BASE TABLE'
         and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)`,
    );
    const values: { column: string; text: string }[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<Record<string, unknown>>(`select * from "${name}"`);
      for (const row of rows) {
        for (const [column, value] of Object.entries(row)) {
          values.push({ column: `${name}.${column}`, text: textOf(value) });
        }
      }
    }
    return values;
  } finally {
    await client.end();
  }
}

const zstdMagic = Buffer.from("28b52ffd", "hex");

function textOf(value: unknown): string {
  if (!Buffer.isBuffer(value)) return typeof value === "string" ? value : JSON.stringify(value);
  const isCompressed = value.subarray(0, 4).equals(zstdMagic);
  return (isCompressed ? zstdDecompressSync(value) : value).toString("latin1");
}

const base64 = /[A-Za-z0-9+/_-]{16,}/g;

/** The text, and after it what its escapes of JSON, its escapes of URLs and its base64 stand for. */
export function withDecoded(text: string): string {
  const decoded = [text];
  const unescaped = text.replaceAll(/\\+u([\da-f]{4})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  if (unescaped !== text) decoded.push(unescaped);
  if (text.includes("%")) {
    decoded.push(
      text.replaceAll(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
    );
  }
  for (const [one] of text.matchAll(base64)) decoded.push(Buffer.from(one, "base64").toString("latin1"));
  return decoded.join("\n");
}

/** The files of the folder, at any depth, that contain the text or have it in their names. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => path.includes(text) || readFileSync(path, "latin1").includes(text));
}
