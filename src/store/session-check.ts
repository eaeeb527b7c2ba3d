// Checks at start that connections are what Onlooker relies on: that sessions last, or that a pooler of transactions leads
// to the database of SVC_DATABASE_DIRECT_URL, and that its sessions have Onlooker's settings.
import { randomInt } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import { noTimeouts, openPool } from "./connection/connect.ts";
import { readDatabaseUrl } from "./connection/database-url.ts";
import { readTimeout } from "./connection/light-client.ts";
import { findUnmet } from "./connection/session-settings.ts";
import { UnfitDatabaseError } from "./connection/unfit-database.ts";
import { type Addresses, type OpenDatabase, openDatabase } from "./db.ts";

type Log = Pick<Logger, "info" | "warn">;
type Opened = Pick<OpenDatabase, "pool" | "close">;

/** Throws UnfitDatabaseError with what to change. */
export async function checkSessions(addresses: Addresses, log: Log): Promise<void> {
  if (addresses.pooled) await checkPooler(addresses, log);
  else await checkDirect(addresses.url, log);
}

async function checkDirect(url: string, log: Log): Promise<void> {
  const advice =
    "Set SVC_DATABASE_POOLER=transaction, and SVC_DATABASE_DIRECT_URL to the PostgreSQL behind the pooler; or set DATABASE_URL to that PostgreSQL.";
  const pooler = `The pooler at ${readDatabaseUrl(url)?.hosts}`;
  await using(openDatabase(url, 2), async db => {
    const client = await connectTo(
      db,
      ({ message }) => `${pooler} rejects Onlooker's settings (${message}). ${advice}`,
    );
    try {
      const unmet = await findUnmet(client);
      if (unmet)
        throw new UnfitDatabaseError(`${pooler} drops Onlooker's settings: ${unmet.words}. ${advice}`);
      if (!(await sessionLasts(db, client))) {
        throw new UnfitDatabaseError(`${pooler} pools transactions, not sessions. ${advice}`);
      }
      await warnOfLoss(client, log);
    } finally {
      client.release();
    }
  });
}

async function checkPooler(addresses: Addresses, log: Log): Promise<void> {
  // Without options: its settings are those that the user has.
  const pool = openPool(addresses.directUrl, { max: 2, connectionTimeoutMillis: 5_000, options: noTimeouts });
  await using({ pool, close: () => pool.end() }, async direct => {
    const toPooler = "SVC_DATABASE_DIRECT_URL leads to a pooler. Set it to the PostgreSQL behind the pooler.";
    const client = await connectTo(direct, () => toPooler);
    try {
      const { rows } = await client.query<{ statement_timeout: string }>("show statement_timeout");
      const isPooler = rows[0]!.statement_timeout !== "0" || !(await sessionLasts(direct, client));
      if (isPooler) throw new UnfitDatabaseError(toPooler);
      await using(openDatabase(addresses.url, 2, { pooled: true }), pooled =>
        compare(pooled, client, addresses, log),
      );
      await warnOfLoss(client, log);
    } finally {
      client.release(true);
    }
  });
}

/** Rejects with these words where a pooler takes no command-line options. */
async function connectTo(db: Opened, words: (error: Error) => string): Promise<pg.PoolClient> {
  return db.pool.connect().catch((error: Error) => {
    // PgBouncer's words, and those of the proxy of Amazon RDS.
    if (!/startup parameter|command-line options/.test(error.message)) throw error;
    throw new UnfitDatabaseError(words(error));
  });
}

type Place = { pid: number; user: string; database: string; schema: string | null };

async function compare(pooled: Opened, direct: pg.PoolClient, { url }: Addresses, log: Log): Promise<void> {
  const client = await pooled.pool.connect();
  try {
    const through = await placeOf(client, url);
    const beside = await placeOf(direct, url);
    if (!(await seesLock(client, direct, beside.pid))) {
      throw new UnfitDatabaseError(
        `DATABASE_URL and SVC_DATABASE_DIRECT_URL lead to two databases ("${through.database}" and "${beside.database}"). Set both to the same one.`,
      );
    }
    for (const part of ["user", "schema"] as const) {
      if (through[part] === beside[part]) continue;
      throw new UnfitDatabaseError(
        `DATABASE_URL has the ${part} "${through[part]}" and SVC_DATABASE_DIRECT_URL the ${part} "${beside[part]}". Set the same ${part} in both.`,
      );
    }
    const unmet = await findUnmet(client);
    if (unmet) {
      throw new UnfitDatabaseError(
        `The pooler at ${readDatabaseUrl(url)?.hosts} has sessions without Onlooker's settings: ${unmet.words}. Have the pooler set them, or give them to a user that only Onlooker has: ${unmet.statements} Then run RECONNECT in the pooler, or restart it.`,
      );
    }
    if (await sessionLasts(pooled, client)) {
      log.warn(
        "DATABASE_URL leads to no pooler of transactions: without SVC_DATABASE_POOLER=transaction, storing traces takes less CPU",
      );
    }
  } finally {
    client.release(true);
  }
}

/** Within a transaction, which has one session even behind a pooler of transactions. */
async function placeOf(client: pg.PoolClient, url: string): Promise<Place> {
  try {
    await client.query("begin");
    const { rows } = await client.query<Place>(
      'select pg_backend_pid() as pid, current_user as "user", current_database() as database, current_schema() as schema',
    );
    await client.query("commit");
    return rows[0]!;
  } catch (error) {
    if (!/transaction blocks not allowed/.test((error as Error).message)) throw error;
    throw new UnfitDatabaseError(
      `The pooler at ${readDatabaseUrl(url)?.hosts} pools statements. Have it pool transactions: pool_mode = transaction.`,
    );
  }
}

/** Whether a lock of the direct session is one of the pooled session's own database. */
async function seesLock(pooled: pg.PoolClient, direct: pg.PoolClient, pid: number): Promise<boolean> {
  const key = randomInt(2 ** 31);
  await direct.query("select pg_advisory_lock($1::int, $1::int)", [key]);
  const { rowCount } = await pooled.query(
    `select from pg_locks where locktype = 'advisory' and classid = $1 and objid = $1 and pid = $2
      and database = (select oid from pg_database where datname = current_database())`,
    [key, pid],
  );
  return rowCount === 1;
}

const roundsMax = 5;

/**
 * Whether consecutive statements of this connection run in the same session. Another connection occupies a session between
 * two of them, which a pooler of transactions has to run elsewhere; or it has no other, and lets the second one wait.
 */
async function sessionLasts(db: Opened, client: pg.PoolClient): Promise<boolean> {
  const first = await pidOf(client);
  const other = await db.pool.connect();
  try {
    for (let round = 0; round < roundsMax; round++) {
      await other.query("begin");
      if ((await pidOf(client)) !== first) return false;
      await other.query("rollback");
    }
    return true;
  } catch (error) {
    if ((error as Error).message === readTimeout) return false;
    throw error;
  } finally {
    other.release(true);
  }
}

async function pidOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>({
    text: "select pg_backend_pid() as pid",
    answerMs: 5_000,
  } as pg.QueryConfig);
  return rows[0]!.pid;
}

async function warnOfLoss(client: pg.PoolClient, log: Log): Promise<void> {
  const { rows } = await client.query<{ synchronous_commit: string }>("show synchronous_commit");
  if (rows[0]!.synchronous_commit !== "off") return;
  log.warn(
    "synchronous_commit is off: traces that were accepted can be lost when PostgreSQL crashes; set it to on",
  );
}

async function using(db: Opened, work: (db: Opened) => Promise<void>): Promise<void> {
  try {
    await work(db);
  } finally {
    await db.close();
  }
}
