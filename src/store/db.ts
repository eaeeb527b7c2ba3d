// The connection to PostgreSQL: one pool, a typed query builder over it, and which faults are transient.
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { Refusal } from "../model/refusal.ts";
import type { Tables } from "./accounts/tables.ts";

export type Database = {
  pool: pg.Pool;
  query: Kysely<Tables>;
  close(): Promise<void>;
};

// int8 as a number: the counts and byte sums kept here stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// Every query here reaches its rows through an index. The planner, without statistics of a table that has just
// grown, chose otherwise: to load 32 of 4,400 traces it read all batches (17 ms in place of 0.3 ms), to claim 32 runs
// it sorted all that were due. Plans that do not depend on statistics are worth more than the best plan on most days.
const indexesOnly =
  "-c enable_seqscan=off -c enable_bitmapscan=off -c jit=off -c max_parallel_workers_per_gather=0";

/**
 * Opens a pool of at most `connectionsMax` connections. Nothing is dialled yet. A query waits at most 2 s for a
 * connection and `answerMs` for its answer, so that a stalled database becomes a 503 and not a queue without end.
 */
export function openDatabase(url: string, connectionsMax = 10, answerMs = 15_000): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // Should the server not end a statement by itself: it hangs, or its machine is gone.
    query_timeout: answerMs + 1_000,
    options: `-c statement_timeout=${answerMs} -c lock_timeout=5000 -c TimeZone=UTC ${indexesOnly}`,
  });
  // A connection that breaks is replaced by the pool. Without listeners it would end the process: the pool's own
  // is for idle ones, that of the connection for one that is lent and breaks between two statements.
  pool.on("error", () => {});
  pool.on("connect", client => void client.on("error", () => {}));
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  // The query builder ends the pool only where it was used itself.
  let closed: Promise<void> | undefined;
  return {
    pool,
    query,
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}

const commitFaults = new WeakSet<object>();

/** Whether it kept a commit from being answered: whether that was made is not known. */
export function isCommitFault(error: unknown): boolean {
  return isTransient(error) && commitFaults.has(error as Error);
}

/** Runs `work` in a transaction on one connection; rolls back and rethrows what it throws. */
export async function transaction<T>(db: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit").catch((error: Error) => {
      commitFaults.add(error);
      throw error;
    });
    return result;
  } catch (error) {
    await client.query("rollback").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

// https://www.postgresql.org/docs/18/errcodes-appendix.html: connection faults, serialization and deadlock,
// resources used up, shutting down or starting, lock or statement time-outs, a standby.
const transientStates = /^(08...|40001|40P01|53...|55P03|57014|57P0.|58...|25006|XX001|XX002)$/;
const transientMessages =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after calling end)/;
const transientSystemErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);

/** Whether the same statement may well succeed a moment later: the database is away, restarting or overloaded. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") return transientStates.test(code) || transientSystemErrors.has(code);
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return transientMessages.test(error.message);
}

/** The constraint a statement violated, such as `agents_service_name`; undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return typeof code === "string" && code.startsWith("23") ? constraint : undefined;
}

/** The refusal a client is shown for a database that is away; any other error is returned as it is. */
export function asUnavailable(error: unknown): unknown {
  if (!isTransient(error)) return error;
  return new Refusal("UNAVAILABLE", {
    message: "The database cannot be reached right now; nothing is known to be stored.",
    hint: "Send the same request again in a second.",
    cause: error,
  });
}
