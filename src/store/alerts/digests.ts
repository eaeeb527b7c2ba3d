// Gathers what changed about an agent's tests into one message, and creates its deliveries in the same transaction.

import type pg from "pg";
import {
  type AlertedAgent,
  alertedTestsMax,
  type ChangedTest,
  type Digest,
} from "../../model/alert/alert.ts";
import { referenceTransaction } from "../cluster/references.ts";
import { availableRows } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { hourMs } from "../listing.ts";
import { newId } from "../new-id.ts";

/**
 * Closes the digest of one agent that is due: `bodyOf` writes its message. `email`: whether emails can be sent. False:
 * none is due, or at a worker of a cluster that is unavailable. What nobody wants to be told is dropped, so that it is not
 * told later as if it were new.
 */
export async function closeDigest(
  db: Database,
  { email, bodyOf }: { email: boolean; bodyOf: (digest: Digest) => string },
): Promise<boolean> {
  if (!db.places) return closeNext(db, undefined, { email, bodyOf });
  // Of a cluster's shards, rows can be locked of one agent only.
  const rows = await availableRows<{ agentId: string }>(db, {
    name: "agents_with_due_digest",
    text: `select agent_id as "agentId" from alert_schedules where due_at <= now() order by due_at limit 10`,
  });
  for (const { agentId } of rows) if (await closeNext(db, agentId, { email, bodyOf })) return true;
  return false;
}

async function closeNext(
  db: Database,
  agentId: string | undefined,
  { email, bodyOf }: { email: boolean; bodyOf: (digest: Digest) => string },
): Promise<boolean> {
  return referenceTransaction(db, async client => {
    const recipient = await lockDue(client, agentId);
    if (!recipient) return false;
    const digest = await gather(client, recipient);
    const channels = [
      email && recipient.wantsEmail ? "email" : undefined,
      recipient.hasWebhook ? "webhook" : undefined,
    ].filter(channel => channel !== undefined);
    const isTold = digest.tests.length > 0 && channels.length > 0;
    if (isTold) {
      const body = bodyOf(digest);
      for (const channel of channels) {
        await client.query(
          "insert into alert_deliveries (id, agent_id, channel, kind, body) values ($1, $2, $3, 'alert', $4)",
          [newId(), recipient.agent.id, channel, body],
        );
      }
    }
    await client.query(
      `update alert_schedules set due_at = null${isTold ? ", sent_at = now()" : ""} where agent_id = $1`,
      [recipient.agent.id],
    );
    return true;
  });
}

type Recipient = { agent: AlertedAgent; wantsEmail: boolean; hasWebhook: boolean };

/** The agent is locked before its schedule, as a deletion locks it. Without `agentId`, the one that is due first. */
async function lockDue(client: pg.PoolClient, agentId: string | undefined): Promise<Recipient | undefined> {
  const columns = `a.id, a.name, p.id as "projectId", p.name as "projectName",
    o.email_verified and not exists (select from alert_opt_outs where account_id = o.id) as "wantsEmail",
    exists (select from alert_webhooks where agent_id = a.id) as "hasWebhook"`;
  const owner = "join projects p on p.id = a.project_id join accounts o on o.id = p.account_id";
  const { rows } = await client.query<AlertedAgent & Omit<Recipient, "agent">>(
    agentId === undefined
      ? `select ${columns} from alert_schedules s join agents a on a.id = s.agent_id ${owner}
         where s.due_at <= now() order by s.due_at limit 1 for key share of a skip locked`
      : `select ${columns} from agents a ${owner} where a.id = $1 for key share of a skip locked`,
    agentId === undefined ? [] : [agentId],
  );
  if (!rows[0]) return undefined;
  const { wantsEmail, hasWebhook, ...agent } = rows[0];
  const { rowCount } = await client.query(
    "select from alert_schedules where agent_id = $1 and due_at <= now() for update skip locked",
    [agent.id],
  );
  return rowCount === 1 ? { agent, wantsEmail, hasWebhook } : undefined;
}

/** The counts are those of the hour in progress and the 24 before it. */
async function gather(client: pg.PoolClient, { agent }: Recipient): Promise<Digest> {
  const { rows } = await client.query<ChangedTest & { of: number }>(
    `with told as (delete from test_state_changes where agent_id = $1 returning test_id),
      changed as (select test_id, count(*)::int as changes from told group by test_id)
    select t.id, t.name, s.state, s.since, r.id as "firstTraceId", c.changes, day.passed, day.failed,
      count(*) over ()::int as of
    from changed c join test_cases t on t.id = c.test_id join test_states s on s.agent_id = $1 and s.test_id = t.id
      left join traces r on r.agent_id = $1 and r.id = s.first_trace_id
      cross join lateral (
        select coalesce(sum(passed), 0)::int as passed, coalesce(sum(failed), 0)::int as failed
        from test_hours where agent_id = $1 and test_id = t.id and hour >= $2
      ) day
    order by s.state = 'fine', t.name, t.id limit $3`,
    [agent.id, new Date((Math.floor(Date.now() / hourMs) - 24) * hourMs), alertedTestsMax],
  );
  const failing = await client.query<{ count: number }>(
    `select count(*)::int as count from test_cases t join test_states s on s.agent_id = $1 and s.test_id = t.id
      where t.agent_id = $1 and s.state = 'failing'`,
    [agent.id],
  );
  return {
    agent,
    failingTests: failing.rows[0]!.count,
    changedTests: rows[0]?.of ?? 0,
    tests: rows.map(({ of: _, ...test }) => test),
  };
}

export async function findAlertedAgent(db: Database, agentId: string): Promise<AlertedAgent | undefined> {
  const { rows } = await db.pool.query<AlertedAgent>(
    `select a.id, a.name, p.id as "projectId", p.name as "projectName"
      from agents a join projects p on p.id = a.project_id where a.id = $1`,
    [agentId],
  );
  return rows[0];
}
