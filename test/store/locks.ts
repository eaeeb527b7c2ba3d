// Transactions that a test holds open, and waiting for statements that wait for their locks.
import assert from "node:assert/strict";
import type { Database, Session } from "../../src/store/db.ts";
import { eventually } from "../support/eventually.ts";

/** Resolves once this many statements wait for a lock that contain this text in their first 1,023 bytes, all that are kept. */
export async function waiting(db: Database, statement: string, count = 1): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`%${statement}%`],
    );
    assert.equal(rowCount, count);
  });
}

/** An open transaction on its own connection. */
export async function begun(database: Database) {
  const opened = Promise.withResolvers<Session>();
  const left = Promise.withResolvers<void>();
  const ended = database.transaction(session => {
    opened.resolve(session);
    return left.promise;
  });
  ended.catch(opened.reject);
  const session = await opened.promise;
  return {
    query: session.query.bind(session),
    commit() {
      left.resolve();
      return ended;
    },
    rollback() {
      left.reject(rolledBack);
      return ended.catch(error => {
        if (error !== rolledBack) throw error;
      });
    },
  };
}

const rolledBack = new Error("Rolled back.");
