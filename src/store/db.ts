// The database as the store uses it: statements, transactions, and which errors are transient.
import pg from "pg";
import { Refusal } from "../model/refusal.ts";
import { isConnectFault, openPool } from "./connection/connect.ts";
import { readTimeout } from "./connection/light-client.ts";
import { mayPass } from "./connection/may-pass.ts";
import { answerMsDefault, sessionSettings } from "./connection/session-settings.ts";

/** What runs statements: a connection, or a database. */
export type Session = Pick<pg.ClientBase, "query">;

/** One server, the coordinator of a cluster, or a group of its shards. */
export type Database = {
  /** Each statement is a transaction of its own. */
  pool: Session;
  /** Runs `work` in a transaction on one connection; rolls back and rethrows what it throws. */
  transaction<T>(work: (session: Session) => Promise<T>, begin?: string): Promise<T>;
  /** Of the coordinator: where the rows of each agent are. */
  places?: Places;
  close(): Promise<void>;
};

/** A server, by the pool of connections to it. */
export type OpenDatabase = Database & { pool: pg.Pool };

/** Where the database is. */
export type Addresses = {
  /** Where requests are served. */
  url: string;
  /** Where sessions last: for migrations, locks and notifications. Another one only behind a pooler. */
  directUrl: string;
  /** Whether `url` leads to a pooler of transactions. */
  pooled: boolean;
  /** Whether the database is distributed over a cluster, whose coordinator this is. Default: no. */
  distributed?: boolean;
  /** The folder of the embedded database, for the user; absent: it is that of DATABASE_URL. */
  home?: string | undefined;
};

// int8 as a number: the counts and byte sums kept here stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type DatabaseOptions = {
  /** How long a statement may take. Behind a pooler, the server ends it by its own setting. */
  answerMs?: number;
  /** Whether the URL leads to a pooler of transactions: then sessions have their settings from their user. */
  pooled?: boolean;
  /** More command-line options of its sessions. */
  sessionOptions?: string;
};

/**
 * A pool of at most `connectionsMax` connections; it connects on first use. A query waits at most 2 s for a connection
 * and `answerMs` for its answer, so that a stalled database becomes a 503 and not an endless queue.
 */
export function openDatabase(
  url: string,
  connectionsMax = 10,
  { answerMs = answerMsDefault, pooled = false, sessionOptions = "" }: DatabaseOptions = {},
): OpenDatabase {
  const settings = Object.entries({ ...sessionSettings, statement_timeout: answerMs });
  const options = [...settings.map(([name, value]) => `-c ${name}=${value}`), sessionOptions].join(" ");
  const pool = openPool(url, {
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    // In case the server does not end a statement: it hangs, or its machine is gone.
    answerMs: answerMs + 1_000,
    unnamed: pooled,
    options: pooled ? "" : options,
  });
  let closed: Promise<void> | undefined;
  return {
    pool,
    transaction: (work, begin = "begin") => transactionIn(pool, work, begin),
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

export function transaction<T>(db: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return db.transaction(client => work(client as pg.PoolClient));
}

async function transactionIn<T>(
  pool: pg.Pool,
  work: (session: Session) => Promise<T>,
  begin: string,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query("commit").catch((error: Error) => {
      commitFaults.add(error);
      throw error;
    });
    return result;
  } catch (error) {
    if (isUseless(error)) broken = error;
    else {
      await client.query("rollback").catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Whether no statement can follow on this connection: its server is read-only, or still busy with the one before. */
function isUseless(error: unknown): error is Error {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === "25006" || message === readTimeout;
}

/**
 * Whether a retry may succeed: the database is unavailable, restarting or overloaded, or does not let this service in, such as
 * after a change of its password. A service that is starting asks `mayPass` instead: it says what to correct.
 */
export function isTransient(error: unknown): boolean {
  return isConnectFault(error) || mayPass(error);
}

/** The constraint that a statement violated, such as `agents_service_name`; undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  const {
    code,
    constraint,
    message = "",
  } = error as { code?: string; constraint?: string; message?: string };
  if (typeof code !== "string" || !code.startsWith("23")) return undefined;
  // On a cluster, those of a shard have its number after their name; what the coordinator passes on has it in its text alone.
  const name = constraint ?? /"(\w+)"$/.exec(message)?.[1];
  return name?.replace(/_\d+$/, "");
}

/** UNAVAILABLE for a transient database error of something that writes; any other error is returned as it is. */
export function asUnavailable(error: unknown): unknown {
  return unavailable(error, "The database is unavailable; this may not have been saved.");
}

/** The same of something that only reads. */
export function asUnreadable(error: unknown): unknown {
  return unavailable(error, "The database is unavailable.");
}

function unavailable(error: unknown, message: string): unknown {
  if (!isTransient(error)) return error;
  return new Refusal("UNAVAILABLE", { message, hint: "Retry in a second.", cause: error });
}

export type Places = {
  /** The database of each of these agents. Statements about agents with the same one can be one statement. */
  of(agentIds: Iterable<string>): Promise<Map<string, Database>>;
  /** All of them. */
  all(): Promise<Database[]>;
  /** Those at workers that answer now. Throws a transient error if none does. */
  available(): Promise<Database[]>;
  findUnavailable(): Promise<Unavailable>;
};

/** Workers that do not answer, as host and port, of so many that have agents. */
export type Unavailable = { workers: string[]; of: number };
