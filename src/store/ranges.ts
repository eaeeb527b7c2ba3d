// Ranges of batches, by the id of their trace and so by time: divides a table from before, makes ranges ahead of time, drops old ones.
import type pg from "pg";
import type { Logger } from "pino";
import { briefly } from "./briefly.ts";
import { newClient, noTimeouts } from "./connect.ts";
import { idAt, oldest, timeOfId } from "./listing.ts";
import { dayMs, isDivided, listRanges, nowOf, rangeLengthMs, storageOfRange } from "./ranges/catalog.ts";
import { dropEmptied, planDrop } from "./ranges/drops.ts";

/** Ranges reach at least so far ahead. */
const aheadMs = 3 * dayMs;
/** As do the bounds of checks, which refuse what is beyond: to validate one may take days. */
const checkAheadMs = 14 * dayMs;
/** What is not in a range. */
const rest = "trace_batches_rest";
/** The name of the check that all rows of a table are below the bound of its future range. */
const check = "trace_batches_bounds";
// Any fixed number.
const rangesLock = 4_826_170_395;

export type KeepingOptions = {
  /** The operator's retention time, of all projects; null: only the projects' own. */
  serverDays: number | null;
  log: Pick<Logger, "info">;
  signal: AbortSignal;
};

/**
 * Divides the table if it is not, makes the ranges of the next days, and drops those that retention has emptied of traces. Nothing
 * on a cluster, or if another process does it. False if the table cannot be divided yet.
 */
export async function keepRanges(url: string, { serverDays, log, signal }: KeepingOptions): Promise<boolean> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  const leave = () => void client.end();
  await client.connect();
  try {
    signal.addEventListener("abort", leave);
    if (signal.aborted || !(await isMyTurn(client)) || (await isOnCluster(client))) return true;
    if (!(await isDivided(client)) && !(await divide(client, log))) return false;
    await makeAhead(client, rangeLengthMs(serverDays));
    await planDrop(client, serverDays);
    await dropEmptied(client, serverDays, log);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  } finally {
    signal.removeEventListener("abort", leave);
    await client.end();
  }
}

/**
 * Drops a check whose bound has come near: a process that set it was stopped before it attached the table, and all of them stayed
 * down for days. To be called before anything is stored, which the check would refuse.
 */
export async function dropPassedCheck(url: string): Promise<void> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  await client.connect();
  try {
    const now = await nowOf(client);
    for (const { table, bound } of await listChecks(client)) {
      if (timeOfId(bound) < now + dayMs)
        await briefly(client, [`alter table ${table} drop constraint ${check}`]);
    }
  } finally {
    await client.end();
  }
}

/** Asked for, not waited for: a session that waits has a snapshot, and holds up whoever builds an index. */
async function isMyTurn(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
    rangesLock,
  ]);
  return rows[0]!.taken;
}

async function isOnCluster(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('pg_dist_partition') is not null as found",
  );
  return rows[0]!.found;
}

/** Today's table becomes the first range. False while its key is not the one that a divided table needs. */
async function divide(client: pg.Client, log: Pick<Logger, "info">): Promise<boolean> {
  const { rowCount } = await client.query("select from pending_keys where table_name = 'trace_batches'");
  if (rowCount) return false;
  log.info("Dividing the batches of traces into ranges of time");
  const bound = await requireBelow(client, "trace_batches", oldest);
  await briefly(client, [
    `select divide_batches('${bound}')`,
    `alter table trace_batches_first drop constraint ${check}`,
  ]);
  return true;
}

/**
 * A check that all rows are from `from` on and below a bound in the next days, which it returns: then attaching the table
 * as a range reads nothing. It is set before it is validated, which takes as long as reading the table, and locks nobody out. As
 * long as it is set, rows beyond the bound are refused: one that has come near is replaced, and one that would come near
 * meanwhile is taken back.
 */
async function requireBelow(client: pg.Client, table: string, from: string): Promise<string> {
  const now = await nowOf(client);
  const set = (await listChecks(client)).find(found => found.table === table)?.bound;
  const isNear = set !== undefined && timeOfId(set) < now + checkAheadMs / 2;
  const bound = set === undefined || isNear ? await boundOf(client, table, now) : set;
  if (bound !== set) {
    await briefly(client, [
      `alter table ${table} drop constraint if exists ${check},
         add constraint ${check} check (trace_id >= '${from}' and trace_id < '${bound}') not valid`,
    ]);
  }
  try {
    await client.query(`set statement_timeout = ${checkAheadMs / 2 - dayMs}`);
    await client.query(`alter table ${table} validate constraint ${check}`);
    await client.query("set statement_timeout = 0");
  } catch (error) {
    const isInvalidOrLate = ["23514", "57014"].includes((error as { code?: string }).code!);
    if (isInvalidOrLate) {
      await client.query("set statement_timeout = 0");
      await briefly(client, [`alter table ${table} drop constraint ${check}`]);
    }
    throw error;
  }
  return bound;
}

async function listChecks(client: pg.Client): Promise<{ table: string; bound: string }[]> {
  const { rows } = await client.query<{ table: string; text: string }>(
    `select conrelid::regclass::text as table, pg_get_constraintdef(oid) as text from pg_constraint where conname = '${check}'`,
  );
  return rows.map(({ table, text }) => ({ table, bound: /trace_id < '([^']+)'/.exec(text)![1]! }));
}

/** Above all rows, also those of a clock that was ahead before such were refused (clock.ts). */
async function boundOf(client: pg.Client, table: string, now: number): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `select trace_id as id from ${table} order by trace_id desc limit 1`,
  );
  return boundAfter(Math.max(now, timeOfId(rows[0]?.id ?? oldest)) + checkAheadMs);
}

/** The beginning of the first day (UTC) that is not before this time. */
function boundAfter(timeMs: number): string {
  return idAt(Math.ceil(timeMs / dayMs) * dayMs);
}

async function makeAhead(client: pg.Client, lengthMs: number): Promise<void> {
  const now = await nowOf(client);
  let [last] = (await listRanges(client)).slice(-1);
  // After the drop of all ranges, such as when nothing was stored for long.
  let from = last?.to ?? boundAfter(now - dayMs);
  if (await hasRows(client, rest)) {
    from = await makeRangeOfRest(client, from);
  } else if (timeOfId(from) < now - lengthMs) {
    // No process ran for long, and nothing is there of that time.
    from = boundAfter(now - lengthMs);
  }
  while (timeOfId(from) < now + aheadMs) {
    last = { name: nameFrom(from), from, to: idAt(timeOfId(from) + lengthMs) };
    await briefly(client, [
      `create table ${last.name} partition of trace_batches for values from ('${last.from}') to ('${last.to}')
         ${storageOfRange}`,
    ]);
    from = last.to;
  }
}

/** Rows came while no range was made for them: the table that has them becomes one. Returns where the next begins. */
async function makeRangeOfRest(client: pg.Client, from: string): Promise<string> {
  const to = await requireBelow(client, rest, from);
  const name = nameFrom(from);
  await briefly(client, [
    `alter table trace_batches detach partition ${rest}`,
    `alter table ${rest} rename to ${name}`,
    `alter index ${rest}_pkey rename to ${name}_pkey`,
    `alter index ${rest}_resource_id_idx rename to ${name}_resource_id_idx`,
    `alter table trace_batches attach partition ${name} for values from ('${from}') to ('${to}')`,
    `alter table ${name} drop constraint ${check}`,
    `create table ${rest} partition of trace_batches default ${storageOfRange}`,
  ]);
  return to;
}

function nameFrom(from: string): string {
  return `trace_batches_${new Date(timeOfId(from)).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

async function hasRows(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>(`select exists (select from ${table}) as has`);
  return rows[0]!.has;
}
