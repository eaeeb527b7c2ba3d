// Ranges of batches, by the id of their trace and so by time: divides a table from before, makes ranges ahead of time, drops old ones.
import type pg from "pg";
import type { Logger } from "pino";
import { briefly } from "./briefly.ts";
import { newClient, noTimeouts } from "./connect.ts";
import { clockSlackMs, idAt, newest, oldest, timeOfId } from "./listing.ts";
import type { Session } from "./scale/nodes.ts";

/** A range of `trace_batches`: ids from `from` on, below `to`. */
export type Range = { name: string; from: string; to: string };

/** As SQL: ranges do not inherit it. */
export const storageOfRange = "with (toast_tuple_target = 8160)";

const dayMs = 86_400_000;
/** Ranges reach at least so far ahead. A check that refuses what is beyond is only set for a range that does, too. */
const aheadMs = 3 * dayMs;
/** Without a retention time: a quarter of a year. */
const lengthDaysDefault = 91;
/** What is not in a range. */
const rest = "trace_batches_rest";
// Any fixed number.
const rangesLock = 4_826_170_395;

/** Resources that are looked at in a transaction: who stores one of them waits for it. */
const resourcesMax = 500;
const batchesMax = 1_000;

/** Of a range: an eighth of the retention time, so that at most an eighth more is kept and few ranges are looked into. */
export function rangeLengthMs(serverDays: number | null): number {
  return (serverDays === null ? lengthDaysDefault : Math.max(1, Math.floor(serverDays / 8))) * dayMs;
}

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

/** Whether batches are divided. */
export async function isDivided(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ divided: boolean }>(
    "select relkind = 'p' as divided from pg_class where oid = 'trace_batches'::regclass",
  );
  return rows[0]!.divided;
}

/** The oldest first, without what is in none. */
export async function listRanges(client: pg.ClientBase | pg.Pool): Promise<Range[]> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'trace_batches'::regclass`,
  );
  const ranges = rows.flatMap(({ name, bound }) => {
    const parts = /^FOR VALUES FROM \((.*)\) TO \((.*)\)$/.exec(bound);
    if (!parts) return [];
    const id = (text: string, open: string) => (/^'(.*)'$/.exec(text) ?? [text, open])[1]!;
    return [{ name, from: id(parts[1]!, oldest), to: id(parts[2]!, newest) }];
  });
  return ranges.sort((one, other) => (one.from < other.from ? -1 : 1));
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

async function nowOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(
    "select extract(epoch from now())::float8 * 1000 as ms",
  );
  return rows[0]!.ms;
}

/** Today's table becomes the first range. False while its key is not the one that a divided table needs. */
async function divide(client: pg.Client, log: Pick<Logger, "info">): Promise<boolean> {
  const { rowCount } = await client.query("select from pending_keys where table_name = 'trace_batches'");
  if (rowCount) return false;
  log.info("Dividing the batches of traces into ranges of time");
  const bound = await requireBelow(client, "trace_batches", oldest);
  await briefly(client, [
    `select divide_batches('${bound}')`,
    "alter table trace_batches_first drop constraint trace_batches_bounds",
  ]);
  return true;
}

/**
 * A check that all rows are from `from` on and below a bound in the next days, which it returns: then attaching the table
 * as a range reads nothing. It is set before it is validated, which takes as long as reading the table, and locks nobody out. As
 * long as it is set, rows beyond the bound are refused, so one that has come near is replaced.
 */
async function requireBelow(client: pg.Client, table: string, from: string): Promise<string> {
  const now = await nowOf(client);
  const { rows } = await client.query<{ text: string; isValid: boolean }>(
    `select pg_get_constraintdef(oid) as text, convalidated as "isValid" from pg_constraint
     where conrelid = $1::regclass and conname = 'trace_batches_bounds'`,
    [table],
  );
  const set = rows[0] && /trace_id < '([^']+)'/.exec(rows[0].text)?.[1];
  const isNear = set !== undefined && timeOfId(set) < now + aheadMs / 3;
  const bound = set === undefined || isNear ? boundAfter(now + aheadMs) : set;
  if (bound !== set) {
    await briefly(client, [
      `alter table ${table} drop constraint if exists trace_batches_bounds,
         add constraint trace_batches_bounds check (trace_id >= '${from}' and trace_id < '${bound}') not valid`,
    ]);
  }
  try {
    await client.query(`alter table ${table} validate constraint trace_batches_bounds`);
  } catch (error) {
    if ((error as { code?: string }).code === "23514")
      await briefly(client, [`alter table ${table} drop constraint trace_batches_bounds`]);
    throw error;
  }
  return bound;
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
    `alter table ${name} drop constraint trace_batches_bounds`,
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

/**
 * Notes which ranges are to be dropped: those whose time is over, and the one whose traces retention deletes now, since it would
 * have deleted its batches one by one by the time the range is over. Not one that ends later than a range is long, which kept
 * them too long. Where the time has become longer since, what deletions left of gone traces is deleted.
 */
async function planDrop(client: pg.Client, serverDays: number | null): Promise<void> {
  const limit = serverDays === null ? oldest : idAt(await limitMs(client, serverDays));
  const last = serverDays === null ? oldest : idAt(timeOfId(limit) + rangeLengthMs(serverDays));
  const below = (await listRanges(client)).filter(({ from, to }) => from < limit && to <= last).at(-1)?.to;
  const { rows } = await client.query<{ below: string; withdrawn: boolean }>(
    "select below, withdrawn from range_drops",
  );
  const planned = rows[0];
  if (planned && (planned.withdrawn || planned.below > last)) {
    // Once this is committed, deletions take the batches along.
    await client.query("update range_drops set withdrawn = true");
    await deleteOrphans(client, planned.below);
    await client.query("delete from range_drops");
  } else if (below !== undefined && below !== planned?.below) {
    await client.query(
      "insert into range_drops (below) values ($1) on conflict (singleton) do update set below = excluded.below",
      [below],
    );
  }
}

/** Traces from before are over, whichever clock made their ids. */
async function limitMs(client: pg.Client, serverDays: number): Promise<number> {
  return (await nowOf(client)) - serverDays * dayMs - clockSlackMs;
}

/** Batches below this id whose traces are gone, by the thousand. */
async function deleteOrphans(client: pg.Client, below: string): Promise<void> {
  for (let after = oldest; ; ) {
    const { rows } = await client.query<{ last: string | null }>(
      `with page as materialized (
         select distinct trace_id from trace_batches where trace_id > $1 and trace_id < $2 order by trace_id limit $3
       ), deleted as (
         delete from trace_batches using page where trace_batches.trace_id = page.trace_id
           and not exists (select from traces where traces.id = page.trace_id)
       )
       select (select trace_id from page order by trace_id desc limit 1) as last`,
      [after, below, batchesMax],
    );
    const last = rows[0]!.last;
    if (last === null) return;
    after = last;
  }
}

/** Drops the ranges whose time is over and in which no trace is left, the oldest first. */
async function dropEmptied(
  client: pg.Client,
  serverDays: number | null,
  log: Pick<Logger, "info">,
): Promise<void> {
  const { rows } = await client.query<{ below: string }>("select below from range_drops");
  if (!rows[0] || serverDays === null) return;
  const limit = idAt(await limitMs(client, serverDays));
  const ranges = (await listRanges(client)).filter(({ to }) => to <= rows[0]!.below);
  for (const { name, to } of ranges) {
    if (to > limit || (await hasTraces(client, to))) return;
    await freeResources(client, name, to);
    await briefly(client, [`drop table ${name}`]);
    log.info({ range: name }, "Dropped a range of batches whose retention time is over");
  }
  await client.query("delete from range_drops where below = $1", [rows[0].below]);
}

async function hasTraces(client: pg.Client, below: string): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>(
    "select exists (select from traces where id < $1) as has",
    [below],
  );
  return rows[0]!.has;
}

/** Deletes the shared resources that only batches of this range have, in the way of `delete_unused_resources`. */
async function freeResources(client: pg.Client, range: string, to: string): Promise<void> {
  for (let after = oldest; ; ) {
    const { rows } = await client.query<{ id: string }>(
      `select distinct resource_id as id from ${range} where resource_id is not null and resource_id > $1
       order by resource_id limit ${resourcesMax}`,
      [after],
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await client.query("begin");
    try {
      await client.query("select from shared_resources where id = any ($1::uuid[]) order by id for update", [
        ids,
      ]);
      await client.query(
        `delete from shared_resources s where id = any ($1::uuid[])
           and not exists (select from trace_batches b where b.resource_id = s.id and b.trace_id >= $2)`,
        [ids, to],
      );
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
    after = ids.at(-1)!;
  }
}
