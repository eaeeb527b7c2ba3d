// The links of verification mails: each works once, for 24 h, for the address it was sent to.
import type { LinkState } from "../../model/account.ts";
import { type Database, transaction } from "../db.ts";
import { nextMailAt } from "./accounts.ts";

export type InsertedLink =
  | { state: "inserted"; email: string }
  | { state: "verified" }
  | { state: "too_soon"; retryAfterSeconds: number };

/**
 * Records a link for the account's present address, unless it is verified or a mail was sent too recently. The
 * account's row is locked, so that of two requests at once only one sends; the clock is the database's.
 */
export async function insertEmailLink(
  db: Database,
  accountId: string,
  tokenHash: Buffer,
): Promise<InsertedLink> {
  return transaction(db, async client => {
    const { rows: accounts } = await client.query<{ email: string; email_verified: boolean }>(
      "select email, email_verified from accounts where id = $1 for update",
      [accountId],
    );
    const account = accounts[0];
    if (!account) throw new Error("A verification link was asked for by an account that does not exist.");
    if (account.email_verified) return { state: "verified" };
    const { rows } = await client.query<{ wait: number | null }>(
      `select ceil(extract(epoch from allowed_at - clock_timestamp()))::int as wait from (${nextMailAt}) l`,
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

/** The mail could not be handed over: it no longer counts toward the limits. The link would still work. */
export async function markUnsent(db: Database, tokenHash: Buffer): Promise<void> {
  await db.query
    .updateTable("email_links")
    .set({ sent_at: null })
    .where("token_hash", "=", tokenHash)
    .execute();
}

/** What confirming the link would find. An address that has changed since makes its links unknown. */
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

/** Uses the link up and verifies its account, both or neither; of two confirmations at once one succeeds. */
export async function confirmEmailLink(
  db: Database,
  tokenHash: Buffer,
): Promise<"confirmed" | Exclude<LinkState, "open">> {
  const { rowCount } = await db.pool.query(
    `with confirmed as (
       update email_links l set used_at = clock_timestamp()
       from accounts a
       where l.token_hash = $1 and l.used_at is null and l.expires_at > clock_timestamp()
         and a.id = l.account_id and a.email = l.email
       returning l.account_id
     )
     update accounts set email_verified = true, updated_at = now()
     where id in (select account_id from confirmed)`,
    [tokenHash],
  );
  if (rowCount === 1) return "confirmed";
  const state = await findLinkState(db, tokenHash);
  // Open and yet not confirmed: its account was deleted in between.
  return state === "open" ? "unknown" : state;
}
