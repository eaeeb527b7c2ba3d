// Retention: how long a project keeps its traces, and the deletion of older ones, a few at a time.
import type pg from "pg";
import { referenceQuery } from "../cluster/references.ts";
import { availablePlaces, placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { minuteOfId } from "../listing.ts";

/** Of the project, in days; null: its traces are kept. Undefined if it does not exist. */
export async function findRetention(db: Database, projectId: string): Promise<number | null | undefined> {
  const { rows } = await db.pool.query<{ days: number | null }>(
    "select retention_days as days from projects where id = $1",
    [projectId],
  );
  return rows[0]?.days;
}

/** Once this returns, nothing is deleted by the former setting. False if the project does not exist. */
export async function saveRetention(db: Database, projectId: string, days: number | null): Promise<boolean> {
  const { rowCount } = await referenceQuery(db, {
    text: "update projects set retention_days = $2 where id = $1",
    values: [projectId, days],
  });
  return rowCount === 1;
}

// A trace's id has the time of its arrival, so that older ones are a range of the index of an agent's traces. It is by the
// clock of a process: a trace that a wrong clock made old was received later by the database's, and is kept.
function isOver(days: string): string {
  const limit = `now() - ${days} * interval '1 day'`;
  return `t.id < id_at(${limit}) and t.received_at < ${limit}`;
}

/**
 * The agents that have traces to delete, without those at a worker of a cluster that is unavailable. `serverDays`: of all
 * projects; null: only by their own settings.
 */
export async function listAgentsToExpire(
  db: Database,
  serverDays: number | null,
): Promise<{ id: string; accountId: string }[]> {
  const agents: { id: string; accountId: string }[] = [];
  for (const place of await availablePlaces(db)) {
    const { rows } = await place.pool.query<{ id: string; accountId: string }>({
      name: "list_agents_to_expire",
      text: `select a.id, p.account_id as "accountId" from (
          select id, account_id, least(retention_days, $1::int) as days from projects
          where retention_days is not null or $1::int is not null
        ) p join agents a on a.project_id = p.id
        where exists (select from traces t where t.agent_id = a.id and ${isOver("p.days")})
        order by a.id`,
      values: [serverDays],
    });
    agents.push(...rows);
  }
  return agents;
}

/**
 * Deletes the oldest traces of the agent whose time is over, with everything that refers to them but their identities;
 * returns how many. Traces that another transaction has locked are left for the next time.
 */
export async function expireTraces(
  db: Database,
  agentId: string,
  { serverDays, tracesMax }: { serverDays: number | null; tracesMax: number },
): Promise<number> {
  return transaction(await placeOf(db, agentId), async client => {
    // Locked, so that a change of the setting waits for what is deleted by this one.
    const { rows } = await client.query<{ days: number | null }>({
      name: "lock_retention",
      text: `select least(p.retention_days, $2::int) as days
        from agents a join projects p on p.id = a.project_id where a.id = $1 for share of p`,
      values: [agentId, serverDays],
    });
    if (rows[0]?.days == null) return 0;
    // A project that chose a shorter time is not kept waiting for the range.
    const below = !db.places && rows[0].days === serverDays ? await findDrop(client) : null;
    const { rows: deleted } = await client.query<{ id: string }>({
      name: "expire_traces",
      text: `with chosen as materialized (
          select id from traces t where agent_id = $1 and ${isOver("$2::int")} order by id limit $3
          for update skip locked
        )
        select id from delete_traces(array(select id from chosen), true, $4) as id`,
      values: [agentId, rows[0].days, tracesMax, below],
    });
    const last = deleted.at(-1)?.id;
    if (last !== undefined) await expireValues(client, agentId, last);
    return deleted.length;
  });
}

/**
 * Deletes the values of the minutes and hours up to this trace in which no trace is left. Nothing adds to them: no trace arrives
 * with an id of an earlier day.
 */
async function expireValues(client: pg.PoolClient, agentId: string, last: string): Promise<void> {
  await client.query({
    name: "expire_values",
    text: `with emptied as materialized (
        select minute, length from (
          select distinct minute, case when kind in ('outcome', 'version') then 60 else 1 end as length
          from trace_values where agent_id = $1 and minute <= (select $2::bigint)
        ) found
        where not exists (
          select from traces t where t.agent_id = $1 and t.id >= id_at(to_timestamp(minute * 60.0))
            and t.id < id_at(to_timestamp((minute + length) * 60.0))
        )
      )
      delete from trace_values v using emptied
      where v.agent_id = $1 and v.minute = emptied.minute
        and case when v.kind in ('outcome', 'version') then 60 else 1 end = emptied.length`,
    values: [agentId, minuteOfId(last)],
  });
}

/** Batches of traces below this id go with their ranges. Locked, so that nobody withdraws that meanwhile. */
async function findDrop(client: pg.PoolClient): Promise<string | null> {
  const { rows } = await client.query<{ below: string }>({
    name: "find_range_drop",
    text: "select below from range_drops where not withdrawn for share",
  });
  return rows[0]?.below ?? null;
}
