// Whether an account gets alerts by email, and the token by which a link in an email turns them off.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Database } from "../db.ts";
import { sharedSecret } from "../secrets/shared-secret.ts";

export async function wantsAlerts(db: Database, accountId: string): Promise<boolean> {
  const { rowCount } = await db.pool.query("select from alert_opt_outs where account_id = $1", [accountId]);
  return rowCount === 0;
}

/** Nothing happens if the account does not exist. */
export async function setAlerts(db: Database, accountId: string, on: boolean): Promise<void> {
  const statement = on
    ? "delete from alert_opt_outs where account_id = $1"
    : "insert into alert_opt_outs (account_id) select id from accounts where id = $1 on conflict do nothing";
  await db.pool.query(statement, [accountId]);
}

/** Turns off the alerts of this account and can do nothing else. The same for every email, and valid forever. */
export async function alertToken(db: Database, accountId: string): Promise<string> {
  return `${Buffer.from(accountId).toString("base64url")}.${(await macOf(db, accountId)).toString("base64url")}`;
}

/** The account that the token was made for; undefined if it was not made here. */
export async function accountOfToken(db: Database, token: string): Promise<string | undefined> {
  const [id = "", mac = ""] = token.split(".");
  const accountId = Buffer.from(id, "base64url").toString();
  const expected = await macOf(db, accountId);
  const given = Buffer.from(mac, "base64url");
  return given.length === expected.length && timingSafeEqual(given, expected) ? accountId : undefined;
}

async function macOf(db: Database, accountId: string): Promise<Buffer> {
  return createHmac("sha256", await sharedSecret(db, "alert-opt-out"))
    .update(accountId)
    .digest();
}
