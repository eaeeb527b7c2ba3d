// The connection pool to PostgreSQL, transactions, and which errors are transient.
import pg from "pg";
import { Refusal } from "../model/refusal.ts";

export type Database = {
  pool: pg.Pool;
  close(): Promise<void>;
};

// int8 as a number: the counts and byte sums kept here stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// Every query reaches its rows through an index. Without statistics of a table that has just grown, the planner chose
// otherwise: to load 32 of 4,400 traces it read all batches (17 ms instead of 0.3 ms), to claim 32 runs it sorted all
// that were due. Plans that do not depend on statistics are worth more than the best plan on most days.
const indexesOnly =
  "-c enable_seqscan=off -c enable_bitmapscan=off -c jit=off -c max_parallel_workers_per_gather=0";

/**
 * A pool of at most `connectionsMax` connections; it connects on first use. A query waits at most 2 s for a connection
 * and `answerMs` for its answer, so that a stalled database becomes a 503 and not an endless queue.
 */
export function openDatabase(url: string, connectionsMax = 10, answerMs = 15_000): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // In case the server does not end a statement: it hangs, or its machine is gone.
    query_timeout: answerMs + 1_000,
    options: `-c statement_timeout=${answerMs} -c lock_timeout=5000 -c TimeZone=UTC ${indexesOnly}`,
  });
  // The pool replaces broken connections. Without listeners they would end the process: the pool's listener is for idle
  // connections, that of a connection for one that breaks between two statements of a transaction.
  pool.on("error", () => {});
  pool.on("connect", client => void client.on("error", () => {}));
  let closed: Promise<void> | undefined;
  return {
    pool,
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}

const commitFaults = new WeakSet<object>();

/** Whether the answer to a commit was lost: it may or may not have been committed. */
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
// out of resources, shutting down or starting, lock or statement timeouts, a standby.
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

/** Whether a retry may succeed a moment later: the database is unavailable, restarting or overloaded. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") return transientStates.test(code) || transientSystemErrors.has(code);
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return transientMessages.test(error.message);
}

/** The constraint that a statement violated, such as `agents_service_name`; undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return typeof code === "string" && code.startsWith("23") ? constraint : undefined;
}

/** UNAVAILABLE for a transient database error; any other error is returned as it is. */
export function asUnavailable(error: unknown): unknown {
  if (!isTransient(error)) return error;
  return new Refusal("UNAVAILABLE", {
    message: "The database is unavailable; this may not have been saved.",
    hint: "Retry in a second.",
    cause: error,
  });
}
