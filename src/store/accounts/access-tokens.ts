// Personal access tokens: only a hash is stored; the API authenticates by it, the account lists, creates and revokes.
import { maskAccessToken, type TokenScope } from "../../model/access-token.ts";
import type { Account } from "../../model/account.ts";
import type { Database } from "../db.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";

/** A token whose `expiresAt` is null never expires. */
export type AccessToken = {
  id: string;
  name: string;
  scope: TokenScope;
  masked: string;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
  status: "active" | "expired";
};

/** The tokens of an account, expired ones included, newest first. */
export async function listAccessTokens(
  db: Database,
  accountId: string,
  listing: Listing,
): Promise<AccessToken[]> {
  const { rows } = await db.pool.query<AccessToken>(
    `select ${columns}, case when expires_at <= now() then 'expired' else 'active' end as status
      from access_tokens where account_id = $1 and id < $2 order by id desc limit $3`,
    [accountId, listing.before, listing.rowsMax],
  );
  return rows;
}

export type NewAccessToken = {
  accountId: string;
  name: string;
  scope: TokenScope;
  hash: Buffer;
  lastFour: string;
  expiresAt: Date | null;
};

export async function insertAccessToken(db: Database, token: NewAccessToken): Promise<AccessToken> {
  // Without a comparison with the time, which Citus returns of no insert.
  const { rows } = await db.pool.query<AccessToken>(
    `insert into access_tokens (id, account_id, name, scope, hash, last_four, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     returning ${columns}, 'active' as status`,
    [newId(), token.accountId, token.name, token.scope, token.hash, token.lastFour, token.expiresAt],
  );
  return rows[0]!;
}

/** Revokes the token: once this returns, no lookup finds it. */
export async function deleteAccessToken(db: Database, id: string): Promise<void> {
  await db.pool.query("delete from access_tokens where id = $1", [id]);
}

/** Revokes all tokens of the account. */
export async function deleteAccessTokensOf(db: Database, accountId: string): Promise<void> {
  await db.pool.query("delete from access_tokens where account_id = $1", [accountId]);
}

/** How many tokens of the account can be used. */
export async function countActiveAccessTokens(db: Database, accountId: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    `select count(*)::int as count from access_tokens
     where account_id = $1 and (expires_at is null or expires_at > now())`,
    [accountId],
  );
  return rows[0]!.count;
}

/**
 * The account whose token has this hash and is neither revoked nor expired, and what the token is for. Called for every request; `last_used_at` is
 * written at most once a minute, and never waits for another writer.
 */
export async function admitAccessToken(
  db: Database,
  hash: Buffer,
): Promise<{ account: Account; scope: TokenScope } | undefined> {
  const { rows } = await db.pool.query<Account & { scope: TokenScope }>({
    name: "admit-access-token",
    text: `with touched as (
        update access_tokens set last_used_at = now() where id in (
          select id from access_tokens
          where hash = $1 and (expires_at is null or expires_at > now())
            and (last_used_at is null or last_used_at < now() - interval '1 minute')
          for no key update skip locked
        )
      )
      select a.id, a.name, a.email, a.email_verified as "emailVerified", t.scope
      from access_tokens t join accounts a on a.id = t.account_id
      where t.hash = $1 and (t.expires_at is null or t.expires_at > now())`,
    values: [hash],
  });
  if (!rows[0]) return undefined;
  const { scope, ...account } = rows[0];
  return { account, scope };
}

const columns = `id, name, scope, '${maskAccessToken("")}' || last_four as masked, expires_at as "expiresAt",
  last_used_at as "lastUsedAt", created_at as "createdAt"`;
