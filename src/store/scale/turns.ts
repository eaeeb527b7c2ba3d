// The coordinator's pool: transactions that write to reference tables, or lock rows there, take turns.
import type pg from "pg";
import { advisoryLocks } from "../../model/advisory-locks.ts";
import { type Database, transaction } from "../db.ts";
import { references } from "./tables.ts";

/**
 * Citus locks whole reference tables, those that they refer to as well, on one of the workers: shared by whoever locks rows or
 * inserts, but not by both, and exclusively for an update. Two transactions that did one after the other, such as creating two
 * keys, deadlocked: with 16 at a time, more than half. So each takes one lock first, for which nothing is held yet.
 */
export function takingTurns(pool: pg.Pool): pg.Pool {
  const connect = async () => new Turns(await pool.connect());
  const turning = { pool: { connect } } as unknown as Database;
  const query = async (config: Statement, values?: unknown[]) => {
    if (!needsTurn(config)) return pool.query(config as pg.QueryConfig, values);
    return transaction(turning, client => client.query(config as pg.QueryConfig, values));
  };
  return new Proxy(pool, {
    get(of, name) {
      if (name === "connect") return connect;
      if (name === "query") return query;
      const value = Reflect.get(of, name, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}

type Statement = pg.QueryConfig | string;

// Reading any table of the cluster first gives the transaction a number there: to Citus, all that wait without one are the
// same transaction, which made it find deadlocks that were none.
const turn = `select from shard_triggers limit 0; select pg_advisory_xact_lock(${advisoryLocks.referenceTables})`;

const named = `"?(?:${references.join("|")})"?\\b`;
const writing = new RegExp(`\\b(?:insert\\s+into|update|delete\\s+from)\\s+${named}`, "i");
const reading = new RegExp(`\\b(?:from|join)\\s+${named}`, "i");
const locking = /\bfor\s+(?:no\s+key\s+)?update\b|\bfor\s+(?:key\s+)?share\b/i;

/** Whether it writes to a reference table or may lock its rows. */
export function needsTurn(statement: Statement): boolean {
  const text = typeof statement === "string" ? statement : statement.text;
  return writing.test(text) || (locking.test(text) && reading.test(text));
}

/** A connection that takes the turn with the first statement of a transaction that needs it. */
class Turns {
  readonly #client: pg.PoolClient;
  #hasTurn = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async query(statement: Statement, values?: unknown[]): Promise<unknown> {
    if (statement === "begin") this.#hasTurn = false;
    else if (!this.#hasTurn && needsTurn(statement)) {
      await this.#client.query(turn);
      this.#hasTurn = true;
    }
    return this.#client.query(statement as pg.QueryConfig, values);
  }

  release(error?: Error): void {
    this.#client.release(error);
  }
}
