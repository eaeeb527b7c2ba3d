// Links of verification emails: each works once, for 24 h, for the email it was sent to.
import type { LinkState } from "../../model/account.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { nextEmailAt } from "./accounts.ts";

export type InsertedLink =
  | { state: "inserted"; email: string }
  | { state: "verified" }
  | { state: "too_soon"; retryAfterSeconds: number };

/**
 * Records a link for the account's current email, unless it is verified or an email was sent too recently, by the
 * database's clock. The account's row is locked, so that of two concurrent requests only one sends.
 */
export async function insertEmailLink(
  db: Database,
  accountId: string,
  tokenHash: Buffer,
): Promise<InsertedLink> {
  return referenceTransaction(db, async client => {
    const { rows: accounts } = await client.query<{ email: string; email_verified: boolean }>(
      "select email, email_verified from accounts where id = $1 for update",
      [accountId],
    );
    const account = accounts[0];
    if (!account) throw new Error("A verification link was requested for an account that does not exist.");
    if (account.email_verified) return { state: "verified" };
    const { rows } = await client.query<{ wait: number | null }>(
      `select ceil(extract(epoch from allowed_at - clock_timestamp()))::int as wait from (${nextEmailAt}) l`,
      [accountId],
    );
    const wait = rows[0]?.wait ?? 0;
    if (wait > 0) return { state: "too_soon", retryAfterSeconds: wait };
    await client.query(
      `insert into email_links (token_hash, account_id, email, sent_at, expires_at)
       values ($1, $2, $3, clock_timestamp(), clock_timestamp() + interval '24 hours')`,
      [tokenHash, accountId, account.email],
    );
    return { state: "inserted", email: account.email };
  });
}

/** The email could not be sent: it no longer counts toward the limits. The link would still work. */
export async function markUnsent(db: Database, tokenHash: Buffer): Promise<void> {
  await db.pool.query("update email_links set sent_at = null where token_hash = $1", [tokenHash]);
}

export async function deleteEmailLink(db: Database, tokenHash: Buffer): Promise<void> {
  await db.pool.query("delete from email_links where token_hash = $1", [tokenHash]);
}

/** What confirming the link would find. Links of an account's earlier email are unknown. */
export async function findLinkState(db: Database, tokenHash: Buffer): Promise<LinkState> {
  const { rows } = await db.pool.query<{ used: boolean; expired: boolean }>(
    `select l.used_at is not null as used, l.expires_at <= clock_timestamp() as expired
     from email_links l join accounts a on a.id = l.account_id and a.email = l.email
     where l.token_hash = $1`,
    [tokenHash],
  );
  const link = rows[0];
  if (!link) return "unknown";
  return link.used ? "used" : link.expired ? "expired" : "open";
}

/** Uses the link and verifies its account, both or neither; of two concurrent confirmations one succeeds. */
export async function confirmEmailLink(
  db: Database,
  tokenHash: Buffer,
): Promise<"confirmed" | Exclude<LinkState, "open">> {
  const isConfirmed = await referenceTransaction(db, async client => {
    // A statement for each table: on a cluster, only one of them is on every node.
    const { rows } = await client.query<{ id: string }>(
      `update email_links l set used_at = now()
       from accounts a
       where l.token_hash = $1 and l.used_at is null and l.expires_at > now()
         and a.id = l.account_id and a.email = l.email
       returning l.account_id as id`,
      [tokenHash],
    );
    if (rows.length === 0) return false;
    await client.query("update accounts set email_verified = true, updated_at = now() where id = $1", [
      rows[0]!.id,
    ]);
    return true;
  });
  if (isConfirmed) return "confirmed";
  const state = await findLinkState(db, tokenHash);
  // Open and yet not confirmed: the account was deleted in between.
  return state === "open" ? "unknown" : state;
}
