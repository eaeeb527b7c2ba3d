// Changes of reference tables: accounts, projects, agents, keys and tests, which every node of a cluster has.
import type pg from "pg";
import { advisoryLocks } from "../../model/advisory-locks.ts";
import { type Database, type Session, transaction } from "../db.ts";

/**
 * A transaction that writes to reference tables, or locks their rows, not only by a foreign key. On one server it is any other.
 *
 * Citus locks whole reference tables, and those that they refer to, on one of the workers: shared by transactions that lock rows or
 * insert, but not by both, and exclusively for an update. Two transactions that did one after the other, such as creating two
 * keys, deadlocked: with 16 at a time, more than half. So each takes one lock first, for which nothing is held yet.
 */
export function referenceTransaction<T>(
  db: Database,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return transaction(db, async client => {
    if (db.places) await lockReferences(client);
    return work(client);
  });
}

/** The same for one statement. */
export async function referenceQuery<Row extends pg.QueryResultRow>(
  db: Database,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  if (!db.places) return db.pool.query<Row>(statement);
  return referenceTransaction(db, client => client.query<Row>(statement));
}

/** On a cluster, in a transaction that has not written to a reference table yet. */
export async function lockReferences(session: Session): Promise<void> {
  // Reading any table of the cluster first gives the transaction a number there: to Citus, all that wait without one are the
  // same transaction, which made it find deadlocks that were none.
  await session.query(
    `select from agents limit 0; select pg_advisory_xact_lock(${advisoryLocks.referenceTables})`,
  );
}
