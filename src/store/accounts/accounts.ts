// Accounts as the service asks for them; signing up, in and out is the accounts library's.
import type { Account } from "../../model/account.ts";
import type { Database } from "../db.ts";

const columns = ["id", "name", "email", "email_verified as emailVerified"] as const;

/** `email` in any case. */
export async function findAccountByEmail(db: Database, email: string): Promise<Account | undefined> {
  return db.query
    .selectFrom("accounts")
    .select(columns)
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
}

/** Counts the address as confirmed, for an operator who vouches for it. */
export async function verifyAccount(db: Database, accountId: string): Promise<void> {
  await db.pool.query("update accounts set email_verified = true, updated_at = now() where id = $1", [
    accountId,
  ]);
}

/** Signs the account out everywhere. */
export async function endSessions(db: Database, accountId: string): Promise<void> {
  await db.pool.query("delete from sessions where account_id = $1", [accountId]);
}

/** Where an account stands with its verification; `resendAllowedAt` is null when a mail may be sent now. */
export type VerificationState = { email: string; verified: boolean; resendAllowedAt: string | null };

/** Throws when there is no such account. */
export async function getVerification(db: Database, accountId: string): Promise<VerificationState> {
  const { rows } = await db.pool.query<{ email: string; verified: boolean; allowedAt: Date | null }>(
    `select a.email, a.email_verified as verified, (
       select case when l.allowed_at > clock_timestamp() then l.allowed_at end from (${nextMailAt}) l
     ) as "allowedAt"
     from accounts a where a.id = $1`,
    [accountId],
  );
  const { email, verified, allowedAt } = rows[0]!;
  return { email, verified, resendAllowedAt: verified ? null : (allowedAt?.toISOString() ?? null) };
}

/**
 * When the account ($1) may be sent the next verification mail: 60 s after the latest, and an hour after the
 * fifth latest (G1); null or in the past means now.
 */
export const nextMailAt = `select greatest(
    max(sent_at) + interval '60 seconds',
    (array_agg(sent_at order by sent_at desc))[5] + interval '1 hour'
  ) as allowed_at
  from email_links where account_id = $1 and sent_at > clock_timestamp() - interval '1 hour'`;
