// Tells whether the secrets in the database were last encrypted with another master key.
import type pg from "pg";
import type { Database } from "../db.ts";
import type { Vault } from "./vault.ts";

const name = "master-key-check";
const sealedText = "onlooker";

/**
 * Whether another process on this database, or this one before, started with another key. Leaves a mark for the next
 * start, so two nodes with different keys are both told at each start, and a node whose key was replaced once.
 */
export async function isOtherMasterKey(db: Database, vault: Vault): Promise<boolean> {
  const mark = await readMark(db.pool);
  if (mark !== undefined && isOf(vault, mark)) return false;
  await db.pool.query(
    "insert into secrets (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value",
    [name, vault.seal(sealedText, name).toString("base64")],
  );
  return mark !== undefined;
}

/** Whether the latest start was with another key. Leaves the mark as it is. */
export async function wasOtherMasterKey(client: Client, vault: Vault): Promise<boolean> {
  const mark = await readMark(client);
  return mark !== undefined && !isOf(vault, mark);
}

type Client = Pick<pg.ClientBase, "query">;

async function readMark(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>("select value from secrets where name = $1", [name]);
  return rows[0]?.value;
}

function isOf(vault: Vault, mark: string): boolean {
  return vault.open(Buffer.from(mark, "base64"), name) === sealedText;
}
