// Tells whether the secrets in the database were last encrypted with another master key.
import type { Database } from "../db.ts";
import type { Vault } from "./vault.ts";

const name = "master-key-check";
const sealedText = "onlooker";

/**
 * Whether another process on this database, or this one before, started with another key. Leaves a mark for the next
 * start, so two nodes with different keys are both told at each start, and a node whose key was replaced once.
 */
export async function isOtherMasterKey(db: Database, vault: Vault): Promise<boolean> {
  const { rows } = await db.pool.query<{ value: string }>("select value from secrets where name = $1", [
    name,
  ]);
  const [known] = rows;
  if (known && vault.open(Buffer.from(known.value, "base64"), name) === sealedText) return false;
  await db.pool.query(
    "insert into secrets (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value",
    [name, vault.seal(sealedText, name).toString("base64")],
  );
  return known !== undefined;
}
