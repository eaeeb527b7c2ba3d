// Looks accounts up and verifies them; sign-up, sign-in and sign-out belong to the accounts library.
import { createHash } from "node:crypto";
import type { Account } from "../../model/account.ts";
import { referenceQuery } from "../cluster/references.ts";
import type { Database } from "../db.ts";

/** `email` in any case. */
export async function findAccountByEmail(db: Database, email: string): Promise<Account | undefined> {
  const { rows } = await db.pool.query<Account>(
    `select id, name, email, email_verified as "emailVerified" from accounts where email = $1`,
    [email.toLowerCase()],
  );
  return rows[0];
}

/** Null if there is no such account. */
export async function findAccountEmail(db: Database, id: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ email: string }>("select email from accounts where id = $1", [id]);
  return rows[0]?.email ?? null;
}

/** The account that an unused password reset link belongs to. The accounts library stores a hash of the link's token. */
export async function findAccountOfResetLink(
  db: Database,
  token: string,
): Promise<Pick<Account, "id" | "email"> | undefined> {
  const identifier = createHash("sha256").update(`reset-password:${token}`).digest("base64url");
  const { rows } = await db.pool.query<Pick<Account, "id" | "email">>(
    `select a.id, a.email from verifications v join accounts a on a.id = v.value
     where v.identifier = $1 and v.expires_at > now()`,
    [identifier],
  );
  return rows[0];
}

/** Those of an account that was deleted: they have no foreign key, since the accounts library keeps other values there too. */
export async function deleteResetLinks(db: Database, accountId: string): Promise<void> {
  await db.pool.query("delete from verifications where value = $1", [accountId]);
}

/** Marks the email as verified, for an operator who vouches for it. */
export async function verifyAccount(db: Database, accountId: string): Promise<void> {
  await referenceQuery(db, {
    text: "update accounts set email_verified = true, updated_at = now() where id = $1",
    values: [accountId],
  });
}

/** The salted hash of the account's password; undefined without one. `email` in any case. */
export async function findStoredPassword(db: Database, email: string): Promise<string | undefined> {
  const { rows } = await db.pool.query<{ password: string }>(
    `select c.password from accounts a join credentials c on c.account_id = a.id
     where a.email = $1 and c.password is not null`,
    [email.toLowerCase()],
  );
  return rows[0]?.password;
}

export async function hasSession(db: Database, token: string): Promise<boolean> {
  const { rowCount } = await db.pool.query("select from sessions where token = $1", [token]);
  return rowCount === 1;
}

export async function endSession(db: Database, token: string): Promise<void> {
  await db.pool.query("delete from sessions where token = $1", [token]);
}

/** Signs the account out everywhere. */
export async function endSessions(db: Database, accountId: string): Promise<void> {
  await db.pool.query("delete from sessions where account_id = $1", [accountId]);
}

/** `resendAllowedAt` is null when an email may be sent now. */
export type VerificationState = { email: string; verified: boolean; resendAllowedAt: Date | null };

/** Throws if the account does not exist. */
export async function getVerification(db: Database, accountId: string): Promise<VerificationState> {
  const { rows } = await db.pool.query<{ email: string; verified: boolean; allowedAt: Date | null }>(
    `select a.email, a.email_verified as verified, (
       select case when l.allowed_at > clock_timestamp() then l.allowed_at end from (${nextEmailAt}) l
     ) as "allowedAt"
     from accounts a where a.id = $1`,
    [accountId],
  );
  const { email, verified, allowedAt } = rows[0]!;
  return { email, verified, resendAllowedAt: verified ? null : allowedAt };
}

/**
 * When the next verification email may be sent to the account ($1): 60 s after the latest, and an hour after the fifth
 * latest; null or in the past means now.
 */
export const nextEmailAt = `select greatest(
    max(sent_at) + interval '60 seconds',
    (array_agg(sent_at order by sent_at desc))[5] + interval '1 hour'
  ) as allowed_at
  from email_links where account_id = $1 and sent_at > clock_timestamp() - interval '1 hour'`;
