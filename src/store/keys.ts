// Puts the agent into the keys of tables from before: fills it in old rows, builds the new key beside the former one, and
// exchanges them. No step locks a table for longer than a moment.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { briefly } from "./briefly.ts";
import { buildIndex } from "./build-index.ts";
import { newClient, noTimeouts } from "./connect.ts";
import type { Database } from "./db.ts";
import { settleIdentities } from "./identities.ts";
import { settleAgentIndexes } from "./runs/agent-indexes.ts";

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
const turnMs = 250;

// Any fixed number.
const keysLock = 4_826_170_393;

/**
 * Gives small tables their keys; call it at the start, before anything is read. One process does it, the others wait for it.
 * What was done stays done when it is interrupted, as by `signal`: then it throws.
 */
export async function settleSmallKeys(
  url: string,
  log: Pick<Logger, "info">,
  signal?: AbortSignal,
): Promise<void> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  const leave = () => void client.end();
  await client.connect();
  try {
    signal?.addEventListener("abort", leave);
    signal?.throwIfAborted();
    // Without the lock, which whoever builds the keys of large tables has for as long as that takes, maybe hours.
    if ((await listPending(client, true)).length === 0) return;
    await takeTurn(client);
    for (const pending of await listPending(client, true)) await settleKey(client, pending, log);
  } finally {
    signal?.removeEventListener("abort", leave);
    await client.end();
  }
}

/**
 * The same for large tables, the identities of traces and indexes of due runs, while the service runs; the lock is the lease of
 * the process. False if something is left: another process works, or the agents of batches are still being filled. Ends early
 * when aborted.
 */
export async function settleLargeKeys(
  url: string,
  log: Pick<Logger, "info">,
  signal: AbortSignal,
): Promise<boolean> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  const leave = () => void client.end();
  await client.connect();
  try {
    signal.addEventListener("abort", leave);
    if (signal.aborted || !(await isMyTurn(client))) return false;
    await settleIdentities(client, log);
    let isDone = true;
    for (const pending of await listPending(client, false)) {
      if (pending.table_name === "trace_batches" && (await isFilling(client))) isDone = false;
      else if (!(await settleKey(client, pending, log))) isDone = false;
    }
    await settleAgentIndexes(client, log);
    return isDone;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
    await client.end();
  }
}

/** Whether anything waits for `settleLargeKeys`. */
export async function hasPendingKeys(db: Database): Promise<boolean> {
  const { rows } = await db.pool.query<{ pending: boolean }>(
    `select exists (select from pending_keys)
       or exists (select from backfills where name in ('trace_identities', 'runs_by_agent')) as pending`,
  );
  return rows[0]!.pending;
}

async function listPending(client: pg.Client, small: boolean): Promise<PendingKey[]> {
  const { rows } = await client.query<PendingKey>(
    "select table_name, former, columns, agent from pending_keys where small = $1 order by table_name",
    [small],
  );
  return rows;
}

/** Whether batches from before still get their agents (traces/batch-agents.ts). */
async function isFilling(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query("select from backfills where name = 'batch_agents'");
  return rowCount! > 0;
}

/** Asks again and again: a session that waits for a lock has a snapshot, and the building of an index waits for those. */
async function takeTurn(client: pg.Client): Promise<void> {
  while (!(await isMyTurn(client))) await sleep(turnMs);
}

async function isMyTurn(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
    keysLock,
  ]);
  return rows[0]!.taken;
}

/** Each statement is whole by itself and may be repeated. False if a row lacks its agent, and is to be filled first. */
async function settleKey(
  client: pg.Client,
  pending: PendingKey,
  log: Pick<Logger, "info">,
): Promise<boolean> {
  const { table_name: table } = pending;
  log.info({ table }, "Preparing a table: the agent becomes part of its key");
  if (pending.agent !== null) await fillAgents(client, pending);
  if (!(await requireAgents(client, table))) return false;
  await buildIndex(client, `${table}_by_agent`, `${table} (${pending.columns})`, { unique: true });
  if (table === "runs") await replaceIndex(client, onePending);
  await exchange(client, table);
  return true;
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

/**
 * A check that is not validated yet holds for new rows, is validated without a lock on writing, and then spares the key from
 * reading the table again. False if rows from before lack their agent: these are batches, and are filled once more.
 */
async function requireAgents(client: pg.Client, table: string): Promise<boolean> {
  const check = `${table}_has_agent`;
  await briefly(client, [
    `alter table ${table} drop constraint if exists ${check},
       add constraint ${check} check (agent_id is not null) not valid`,
  ]);
  try {
    await client.query(`alter table ${table} validate constraint ${check}`);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "23514") throw error;
    await briefly(client, [
      `alter table ${table} drop constraint ${check}`,
      `insert into backfills (name, below) values ('batch_agents', id_at(now() + interval '10 minutes'))
         on conflict do nothing`,
    ]);
    return false;
  }
}

const onePending = {
  name: "runs_one_pending",
  of: "runs (trace_id, agent_id) where state = 'pending' and kind = 'passive'",
};

async function replaceIndex(client: pg.Client, { name, of }: typeof onePending): Promise<void> {
  await buildIndex(client, `${name}_by_agent`, of, { unique: true });
  await briefly(client, [`drop index if exists ${name}`, `alter index ${name}_by_agent rename to ${name}`]);
}

async function exchange(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select conname as name from pg_constraint where conrelid = $1::regclass and contype = 'f' and not convalidated",
    [table],
  );
  for (const { name } of rows) await client.query(`alter table ${table} validate constraint "${name}"`);
  await briefly(client, [
    `alter table ${table} drop constraint ${table}_pkey, alter column agent_id set not null,
       add constraint ${table}_pkey primary key using index ${table}_by_agent, drop constraint ${table}_has_agent`,
    `delete from pending_keys where table_name = '${table}'`,
  ]);
}
