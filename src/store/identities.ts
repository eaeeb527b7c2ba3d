// Identities of traces from before `trace_identities`: fills them while the service runs, then looks them up there alone.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { briefly } from "./briefly.ts";

/** Traces in a transaction: a merge of one of them waits for it. */
const tracesMax = 1_000;

/**
 * Fills the identities of all old traces, newest first, with rests in which the database does other work. What was done
 * stays done when it is interrupted. Only one process at a time may call it.
 */
export async function settleIdentities(client: pg.Client, log: Pick<Logger, "info">): Promise<void> {
  if ((await findBelow(client)) === undefined) return;
  log.info("Preparing the identities of traces");
  for (;;) {
    const begun = performance.now();
    const below = await findBelow(client);
    if (below === undefined) return;
    if (!(await fillIdentities(client, below))) break;
    await sleep(performance.now() - begun);
  }
  await briefly(client, [
    ...lookUpIdentities,
    "alter table traces drop constraint if exists traces_identity",
  ]);
}

/** Of a backup that was made meanwhile: at once, since nobody waits. */
export async function fillRestored(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query("select from backfills where name = 'trace_identities'");
  if (rowCount === 0) return;
  await client.query(
    `insert into trace_identities (agent_id, trace_id, external_id)
     select agent_id, id, external_id from traces on conflict do nothing`,
  );
  for (const statement of lookUpIdentities) await client.query(statement);
}

async function findBelow(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ below: string }>(
    "select below from backfills where name = 'trace_identities'",
  );
  return rows[0]?.below;
}

/** False if none was left. A trace is locked, so that whoever deletes it deletes its identity as well. */
async function fillIdentities(client: pg.ClientBase, below: string): Promise<boolean> {
  await client.query("begin");
  try {
    const { rows } = await client.query<{ id: string | null }>(
      `with newest as materialized (select id from traces where id < $1 order by id desc limit $2),
       locked as materialized (
         select t.id, t.agent_id, t.external_id from traces t where t.id = any (array(select id from newest))
         order by t.id for key share
       ), filled as (
         insert into trace_identities (agent_id, trace_id, external_id)
         select agent_id, id, external_id from locked order by agent_id, external_id on conflict do nothing
       )
       select id from newest order by id limit 1`,
      [below, tracesMax],
    );
    const lowest = rows[0]?.id;
    if (lowest)
      await client.query("update backfills set below = $1 where name = 'trace_identities'", [lowest]);
    await client.query("commit");
    return lowest != null;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** As the migration has them for a database without traces. */
const lookUpIdentities = [
  `create or replace function trace_named(of_agent uuid, named text) returns table (trace_id uuid)
    language sql stable parallel safe as $$
      select i.trace_id from trace_identities i where i.agent_id = of_agent and i.external_id = named
    $$`,
  `create or replace function is_named_before(of_agent uuid, named text) returns boolean
    language sql stable parallel safe as $$
      select false
    $$`,
  "delete from backfills where name = 'trace_identities'",
];
