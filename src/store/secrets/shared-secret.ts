// Secrets shared by all processes on one database, created by whichever needs them first.
import { randomBytes } from "node:crypto";
import type { Database } from "../db.ts";

/** The secret with this name: 256 random bits as text, the same for every caller. */
export async function sharedSecret(db: Database, name: string): Promise<string> {
  await db.pool.query("insert into secrets (name, value) values ($1, $2) on conflict do nothing", [
    name,
    randomBytes(32).toString("base64url"),
  ]);
  const { rows } = await db.pool.query<{ value: string }>("select value from secrets where name = $1", [
    name,
  ]);
  return rows[0]!.value;
}
