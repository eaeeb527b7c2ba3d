// Drops ranges of batches whose traces retention has deleted, with the shared resources that nothing else has.
import type pg from "pg";
import type { Logger } from "pino";
import { clockSlackMs, idAt, oldest, timeOfId } from "../listing.ts";
import { briefly } from "./briefly.ts";
import { dayMs, listRanges, nowOf, rangeLengthMs } from "./catalog.ts";

/** Resources that are looked at in a transaction: who stores one of them waits for it. */
const resourcesMax = 500;
const batchesMax = 1_000;

/**
 * Notes which ranges are to be dropped: those whose time is over, and the one whose traces retention deletes now, since it would
 * have deleted its batches one by one by the time the range is over. Not one that ends later than a range is long, which kept
 * them too long. Where the time has become longer since, what deletions left of gone traces is deleted.
 */
export async function planDrop(client: pg.Client, serverDays: number | null): Promise<void> {
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

/** Traces that are older are over, whichever clock made their ids. */
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
export async function dropEmptied(
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
    await briefly(client, [`drop table "${name}"`]);
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
