// Puts the agent first in the keys of tables from before: fills it in old rows, builds the new key beside the former one, and
// exchanges them. No step locks a table for longer than a moment.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { newClient, noTimeouts } from "./connect.ts";

/** A row of `pending_keys`. */
type PendingKey = {
  table_name: string;
  /** Of the former key and of the new one. */
  former: string;
  columns: string;
  /** As SQL over a row: its agent. Null: no row lacks it. */
  agent: string | null;
};

/** Rows in a transaction: a request that changes one of them waits for it. */
const rowsMax = 2_000;
// A statement that waits for a table's lock holds up all that come after it, so it waits briefly and tries again.
const lockMs = 500;

// Any fixed number.
const keysLock = 4_826_170_393;

/**
 * Gives small tables their keys; call it at the start, before anything is read. One process does it, the others wait for it.
 * What was done stays done when it is interrupted.
 */
export async function settleSmallKeys(url: string, log: Pick<Logger, "info">): Promise<void> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  await client.connect();
  try {
    await takeTurn(client);
    const { rows } = await client.query<PendingKey>(
      "select table_name, former, columns, agent from pending_keys where small order by table_name",
    );
    for (const pending of rows) {
      log.info({ table: pending.table_name }, "Preparing a table: the agent becomes part of its key");
      await settleKey(client, pending);
    }
  } finally {
    await client.end();
  }
}

/** Asks again and again: a session that waits for a lock has a snapshot, and the building of an index waits for those. */
async function takeTurn(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
      keysLock,
    ]);
    if (rows[0]!.taken) return;
    await sleep(lockMs);
  }
}

/** The statements are repeated safely, each whole by itself. */
async function settleKey(client: pg.Client, pending: PendingKey): Promise<void> {
  if (pending.agent !== null) await fillAgents(client, pending);
  await buildIndex(client, pending);
  await exchange(client, pending);
}

/** In the order of the former key, so that a row that is changed meanwhile is met all the same. New rows have their agent. */
async function fillAgents(
  client: pg.Client,
  { table_name: table, former, agent }: PendingKey,
): Promise<void> {
  const names = former.split(", ");
  const key = (parameter: string) =>
    `(select ${former} from json_populate_record(null::${table}, ${parameter}))`;
  const asJson = `json_build_object(${names.map(name => `'${name}', ${name}`).join(", ")})`;
  for (let after: string | null = null; ; ) {
    const above: string = after === null ? "" : `(${former}) > ${key("$1")} and`;
    const known: string[] = after === null ? [] : [after];
    const { rows }: pg.QueryResult<{ key: string }> = await client.query(
      `select ${asJson}::text as key from ${table} where ${above} true
       order by ${former} offset ${rowsMax - 1} limit 1`,
      known,
    );
    const last: string | null = rows[0]?.key ?? null;
    const page = `${above} ${last === null ? "" : `(${former}) <= ${key(`$${known.length + 1}`)} and`}`;
    const bounds = last === null ? known : [...known, last];
    await client.query(`update ${table} set agent_id = ${agent} where ${page} agent_id is null`, bounds);
    await client.query(`delete from ${table} where ${page} agent_id is null`, bounds);
    if (last === null) return;
    after = last;
  }
}

/** Without a lock that anybody waits for. One whose building was interrupted is invalid, and built again. */
async function buildIndex(client: pg.Client, { table_name: table, columns }: PendingKey): Promise<void> {
  const index = `${table}_by_agent`;
  const { rows } = await client.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass($1)`,
    [index],
  );
  if (rows[0]?.isValid) return;
  if (rows[0]) await client.query(`drop index concurrently ${index}`);
  await client.query(`create unique index concurrently ${index} on ${table} (${columns})`);
}

/** The check is validated without a lock on writing, and then spares the key from reading the table again. */
async function exchange(client: pg.Client, { table_name: table }: PendingKey): Promise<void> {
  const check = `${table}_has_agent`;
  await briefly(client, [
    `alter table ${table} drop constraint if exists ${check},
       add constraint ${check} check (agent_id is not null) not valid`,
  ]);
  await client.query(`alter table ${table} validate constraint ${check}`);
  const { rows } = await client.query<{ name: string }>(
    "select conname as name from pg_constraint where conrelid = $1::regclass and contype = 'f' and not convalidated",
    [table],
  );
  await briefly(client, [
    `alter table ${table} drop constraint ${table}_pkey, alter column agent_id set not null,
       add constraint ${table}_pkey primary key using index ${table}_by_agent, drop constraint ${check}`,
    `delete from pending_keys where table_name = '${table}'`,
  ]);
  for (const { name } of rows) await client.query(`alter table ${table} validate constraint "${name}"`);
}

/** In one transaction; a lock that cannot be had soon is asked for again, until then nobody waits behind it. */
async function briefly(client: pg.Client, statements: string[]): Promise<void> {
  for (;;) {
    try {
      await client.query("begin");
      await client.query(`set local lock_timeout = ${lockMs}`);
      for (const statement of statements) await client.query(statement);
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback");
      if ((error as { code?: string }).code !== "55P03") throw error;
      await sleep(lockMs);
    }
  }
}
