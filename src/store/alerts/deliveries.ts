// Deliveries of alerts by email and webhook: claimed by one process at a time, retried for a day, listed for 30 days.

import type pg from "pg";
import { type DeliveryKind, type DeliveryState, retryDelaysS } from "../../model/alert/alert.ts";
import { availableRows } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";

export type Delivery = {
  id: string;
  kind: DeliveryKind;
  state: DeliveryState;
  attempts: number;
  createdAt: Date;
  triedAt: Date | null;
  /** Null once it is over. */
  nextTryAt: Date | null;
  /** Status of the last answer; null without one. */
  status: number | null;
  error: string | null;
};

const columns = `id, kind, state, attempts, created_at as "createdAt", tried_at as "triedAt",
  next_try_at as "nextTryAt", status, error`;

/** A delivery to attempt now. The account is that of the project's owner. */
export type DueDelivery = Pick<Delivery, "id" | "kind" | "attempts"> & {
  agentId: string;
  channel: "email" | "webhook";
  body: string;
  accountId: string;
  email: string;
  /** Whether the account still has a verified email and wants alerts. */
  wantsEmail: boolean;
};

/**
 * Claims due deliveries. Each is tried again after its pause, unless its end is recorded before: also if this process
 * dies, so a recipient may get a message twice, always with the same id. None of `fullAgents`.
 */
export async function claimDeliveries(
  db: Database,
  rowsMax: number,
  fullAgents: string[] = [],
): Promise<DueDelivery[]> {
  if (db.places) return transaction(db, client => claimOneByOne(client, rowsMax, fullAgents));
  const { rows } = await db.pool.query<DueDelivery>({
    name: "claim_deliveries",
    text: `with due as (${dueDeliveries}), claimed as (
        update alert_deliveries d set attempts = attempts + 1, tried_at = now(),
          next_try_at = now() + ($3::int[])[least(attempts + 1, cardinality($3::int[]))] * interval '1 second'
        from due where d.id = due.id returning d.*
      )
      select ${claimedColumns} from claimed c ${withOwner}`,
    values: [rowsMax, fullAgents, retryDelaysS],
  });
  return rows;
}

const dueDeliveries = `select id, attempts as before from alert_deliveries where state = 'pending' and next_try_at <= now()
  and agent_id <> all ($2::uuid[]) order by next_try_at limit $1 for update skip locked`;

const claimedColumns = `c.id, c.kind, c.attempts, c.agent_id as "agentId", c.channel, c.body, o.id as "accountId", o.email,
  o.email_verified and not exists (select from alert_opt_outs where account_id = o.id) as "wantsEmail"`;

const withOwner = `join agents a on a.id = c.agent_id join projects p on p.id = a.project_id
  join accounts o on o.id = p.account_id`;

/** Citus adds nothing of a row to the present time. */
async function claimOneByOne(
  client: pg.PoolClient,
  rowsMax: number,
  fullAgents: string[],
): Promise<DueDelivery[]> {
  const { rows: due } = await client.query<{ id: string; before: number }>(dueDeliveries, [
    rowsMax,
    fullAgents,
  ]);
  for (const { id, before } of due) {
    await client.query(
      `update alert_deliveries set attempts = $2, tried_at = now(), next_try_at = now() + $3::int * interval '1 second'
       where id = $1`,
      [id, before + 1, retryDelaysS[Math.min(before + 1, retryDelaysS.length) - 1]],
    );
  }
  if (due.length === 0) return [];
  const { rows } = await client.query<DueDelivery>(
    `select ${claimedColumns} from alert_deliveries c ${withOwner} where c.id = any ($1::uuid[])`,
    [due.map(({ id }) => id)],
  );
  return rows;
}

/** The ms until a delivery or a digest is due; undefined if none is scheduled. */
export async function nextAlertMs(db: Database): Promise<number | undefined> {
  type Next = { ms: number | null };
  const next = (name: string, text: string) => ({
    name,
    text: `select extract(epoch from (${text}) - now())::float8 * 1000 as ms`,
  });
  const delivery = "select min(next_try_at) from alert_deliveries where state = 'pending'";
  const digest = "select min(due_at) from alert_schedules where due_at is not null";
  const rows: Next[] = [];
  if (db.places) {
    rows.push(...(await db.pool.query<Next>(next("next_delivery", delivery))).rows);
    rows.push(...(await availableRows<Next>(db, next("next_digest", digest))));
  } else {
    const both = `select least((${delivery}), (${digest}))`;
    rows.push(...(await db.pool.query<Next>(next("next_alert", both))).rows);
  }
  const times = rows.flatMap(({ ms }) => ms ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

export type Attempt = { state: DeliveryState; status: number | null; error: string | null };

/** Records how an attempt ended; a later attempt is not overwritten. */
export async function recordAttempt(
  db: Database,
  { id, attempts }: Pick<DueDelivery, "id" | "attempts">,
  { state, status, error }: Attempt,
): Promise<void> {
  await db.pool.query(
    `update alert_deliveries set state = $3, status = $4, error = $5,
      next_try_at = case when $3 = 'pending' then next_try_at end
    where id = $1 and attempts = $2 and state = 'pending'`,
    [id, attempts, state, status, error],
  );
}

/** Undefined if the agent has no webhook. */
export async function insertTestDelivery(
  db: Database,
  agentId: string,
  body: string,
): Promise<Delivery | undefined> {
  const { rows } = await db.pool.query<Delivery>(
    // Renamed, because Citus cannot return columns of a local table by its own name.
    `insert into alert_deliveries as made (id, agent_id, channel, kind, body)
      select $1, agent_id, 'webhook', 'test', $3 from alert_webhooks where agent_id = $2 returning ${columns}`,
    [newId(), agentId, body],
  );
  return rows[0];
}

/** The webhook deliveries of an agent, newest first. */
export async function listDeliveries(
  db: Database,
  agentId: string,
  { before, rowsMax }: Listing,
): Promise<Delivery[]> {
  const { rows } = await db.pool.query<Delivery>(
    `select ${columns} from alert_deliveries where agent_id = $1 and channel = 'webhook' and id < $2
      order by id desc limit $3`,
    [agentId, before, rowsMax],
  );
  return rows;
}

/** For how long deliveries are listed once they are over. */
export const deliveryDays = 30;

export async function deleteOldDeliveries(db: Database): Promise<void> {
  await db.pool.query(
    `delete from alert_deliveries where state <> 'pending' and created_at < now() - $1::int * interval '1 day'`,
    [deliveryDays],
  );
}
