// Ranges of batches, by the id of their trace and so by time: makes them ahead of time, drops old ones.
import type pg from "pg";
import type { Logger } from "pino";
import { newClient, noTimeouts } from "./connection/connect.ts";
import { idAt, timeOfId } from "./listing.ts";
import { briefly } from "./ranges/briefly.ts";
import {
  createRange,
  dayMs,
  isDivided,
  listRanges,
  nameFrom,
  nowOf,
  rangeLengthMs,
  storageOfRange,
} from "./ranges/catalog.ts";
import { dropEmptied, planDrop } from "./ranges/drops.ts";

/** Ranges reach at least so far ahead. */
const aheadMs = 3 * dayMs;
/** As do the bounds of checks, which refuse what is beyond: to validate one may take days. */
const checkAheadMs = 14 * dayMs;
/** What is not in a range. */
const rest = "trace_batches_rest";
/** The name of its check that all rows are below the bound of its future range. */
const check = "trace_batches_bounds";
export type KeepingOptions = {
  /** The operator's retention time, of all projects; null: only the projects' own. */
  serverDays: number | null;
  log: Pick<Logger, "info">;
  signal: AbortSignal;
};

/**
 * Makes the ranges of the next days, and drops those that retention has emptied of traces. Nothing on a cluster, whose batches
 * are in one table.
 */
export async function keepRanges(url: string, { serverDays, log, signal }: KeepingOptions): Promise<void> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  const leave = () => void client.end();
  await client.connect();
  try {
    signal.addEventListener("abort", leave);
    if (signal.aborted || !(await isDivided(client))) return;
    await makeAhead(client, rangeLengthMs(serverDays));
    await planDrop(client, serverDays);
    await dropEmptied(client, serverDays, log);
  } catch (error) {
    if (!signal.aborted) throw error;
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
    const bound = await findCheckedBound(client);
    if (bound !== undefined && timeOfId(bound) < (await nowOf(client)) + dayMs)
      await briefly(client, [`alter table ${rest} drop constraint ${check}`]);
  } finally {
    await client.end();
  }
}

/**
 * A check that all rows are from `from` on and below a bound in the next days, which it returns: then attaching the table
 * as a range reads nothing. It is set before it is validated, which takes as long as reading the table, and locks nobody out. As
 * long as it is set, rows beyond the bound are refused: one that has come near is replaced, and one that would come near
 * meanwhile is taken back.
 */
async function requireBelow(client: pg.Client, from: string): Promise<string> {
  const now = await nowOf(client);
  const set = await findCheckedBound(client);
  const isNear = set !== undefined && timeOfId(set) < now + checkAheadMs / 2;
  const bound = set === undefined || isNear ? boundAfter(now + checkAheadMs) : set;
  if (bound !== set) {
    await briefly(client, [
      `alter table ${rest} drop constraint if exists ${check},
         add constraint ${check} check (trace_id >= '${from}' and trace_id < '${bound}') not valid`,
    ]);
  }
  try {
    await client.query(`set statement_timeout = ${checkAheadMs / 2 - dayMs}`);
    await client.query(`alter table ${rest} validate constraint ${check}`);
    await client.query("set statement_timeout = 0");
  } catch (error) {
    const isInvalidOrLate = ["23514", "57014"].includes((error as { code?: string }).code!);
    if (isInvalidOrLate) {
      await client.query("set statement_timeout = 0");
      await briefly(client, [`alter table ${rest} drop constraint ${check}`]);
    }
    throw error;
  }
  return bound;
}

/** Undefined: there is no check. */
async function findCheckedBound(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conname = '${check}'`,
  );
  return rows[0] && /trace_id < '([^']+)'/.exec(rows[0].text)![1]!;
}

/** The beginning of the first day (UTC) that is not before this time. */
function boundAfter(timeMs: number): string {
  return idAt(Math.ceil(timeMs / dayMs) * dayMs);
}

async function makeAhead(client: pg.Client, lengthMs: number): Promise<void> {
  const now = await nowOf(client);
  const last = (await listRanges(client)).at(-1);
  // After the drop of all ranges, such as when nothing was stored for long.
  let from = last?.to ?? boundAfter(now - dayMs);
  if (await hasRestRows(client)) {
    from = await makeRangeOfRest(client, from);
  } else if (timeOfId(from) < now - lengthMs) {
    // No process ran for long, and nothing is there of that time.
    from = boundAfter(now - lengthMs);
  }
  while (timeOfId(from) < now + aheadMs) {
    const to = idAt(timeOfId(from) + lengthMs);
    await briefly(client, [createRange({ from, to })]);
    from = to;
  }
}

/** Rows came while no range was made for them: the table that has them becomes one. Returns where the next begins. */
async function makeRangeOfRest(client: pg.Client, from: string): Promise<string> {
  const to = await requireBelow(client, from);
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

async function hasRestRows(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>(`select exists (select from ${rest}) as has`);
  return rows[0]!.has;
}
