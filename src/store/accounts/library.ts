// The database as the accounts library (better-auth) takes it; everything else in this room is SQL of our own.
import { Kysely, PostgresDialect } from "kysely";
import type { Database } from "../db.ts";

/**
 * No transaction around a sign-up: it would hold a connection while the password is hashed, and a crowd of sign-ups
 * would keep traces from being stored. An account left without a password gets one by a reset.
 */
export function accountsDatabase({ pool }: Database) {
  // The pool is closed by its owner: the library never destroys its query builder.
  return {
    db: new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) }),
    type: "postgres",
    transaction: false,
  } as const;
}
