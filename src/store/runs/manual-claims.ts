// Which worker has which manual runs: claimed under a lease that it prolongs, released where it is heard of no more.
import { reasonText } from "../../model/run/reason.ts";
import type { RunState } from "../../model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../../model/test-case/test-case.ts";
import { type Database, transaction } from "../db.ts";
import { attemptsMax } from "./claims.ts";
import { settleLaunches, takeTurn } from "./launches.ts";

export type ManualRun = {
  id: string;
  agentId: string;
  launchId: string;
  /** As it was when the run was made. */
  test: TestCase;
  /** For how long the judge is still waited for; null: its turns are not over. */
  judgeLeftMs: number | null;
  /** How often the judge was asked in vain. */
  judgeTries: number;
};

/** What became of a run, for those who are told. */
export type EndedManualRun = Pick<ManualRun, "id" | "agentId" | "launchId"> & {
  state: "error" | "cancelled";
};

/** The agents of which some run waits for its turn. */
export async function listWaitingAgents(db: Database): Promise<string[]> {
  const { rows } = await db.pool.query<{ agent_id: string }>({
    name: "waiting_agents",
    // From one agent to the next, however many runs of each wait.
    text: `with recursive waiting as (
        (select agent_id from runs where kind = 'manual' and state = 'pending' order by agent_id limit 1)
        union all
        select (
          select r.agent_id from runs r
          where r.kind = 'manual' and r.state = 'pending' and r.agent_id > waiting.agent_id order by r.agent_id limit 1
        ) from waiting where agent_id is not null
      )
      select agent_id from waiting where agent_id is not null`,
  });
  return rows.map(row => row.agent_id);
}

export type ManualClaim = {
  lease: string;
  leaseMs: number;
  runsMax: number;
  /** How many runs each agent may have at once, whoever runs them; those whose turns are over call it no more. */
  concurrency: Map<string, number>;
};

// Those that wait are said to be open without a lease, so that only the index in their order fits: by another, all that
// wait for the agent were read and sorted to find the first.

/**
 * Pending runs within the bounds of their agents: first those of the agent that has the fewest under way, of each the
 * oldest first. By the database's clock.
 */
export async function claimManualRuns(db: Database, claim: ManualClaim): Promise<ManualRun[]> {
  return transaction(db, async client => {
    await takeTurn(client);
    const { rows } = await client.query<RunRow>({
      name: "claim_manual",
      text: `with bound as materialized (
          select b.agent_id, b.places, (
            select count(*) from runs r where r.agent_id = b.agent_id and r.kind = 'manual' and r.state = 'running'
              and r.judge_deadline_at is null
          ) as taken
          from unnest($3::uuid[], $4::int[]) as b (agent_id, places)
        ), waiting as (
          select next.id, bound.taken + row_number() over (partition by bound.agent_id order by next.id) as place
          from bound cross join lateral (
            select r.id from runs r
            where r.agent_id = bound.agent_id and r.kind = 'manual' and r.state in ('pending', 'running')
              and r.lease is null and r.judge_deadline_at is null
            order by r.id limit greatest(bound.places - bound.taken, 0)
          ) next
        ), chosen as (
          select id from waiting order by place, id limit $5
        ), locked as (
          select r.id from runs r join chosen on chosen.id = r.id where r.state = 'pending' for update of r
        )
        update runs set state = 'running', lease = $1, lease_until = now() + $2::float8 * interval '1 ms',
          attempts = attempts + 1, started_at = now()
        from locked where runs.id = locked.id
        returning ${returned}`,
      values: [
        claim.lease,
        claim.leaseMs,
        [...claim.concurrency.keys()],
        [...claim.concurrency.values()],
        claim.runsMax,
      ],
    });
    if (rows.length > 0) await settleLaunches(client, launchesOf(rows));
    return rows.map(toManualRun).sort((one, other) => (one.id < other.id ? -1 : 1));
  });
}

/** Those whose turns are over, nobody holds, and whose time to ask the judge again has come. */
export async function claimWaitingManualRuns(
  db: Database,
  { lease, leaseMs, runsMax }: Omit<ManualClaim, "concurrency">,
): Promise<ManualRun[]> {
  const { rows } = await db.pool.query<RunRow>({
    name: "claim_waiting_manual",
    text: `with due as (
        select id from runs where kind = 'manual' and state = 'running' and lease is null and next_try_at <= now()
        order by next_try_at limit $3 for update skip locked
      )
      update runs set lease = $1, lease_until = now() + $2::float8 * interval '1 ms', attempts = attempts + 1,
        next_try_at = null, waiting_reason = null
      from due where runs.id = due.id
      returning ${returned}`,
    values: [lease, leaseMs, runsMax],
  });
  return rows.map(toManualRun);
}

/**
 * Runs whose worker is heard of no more. Those `inHand` are left to the worker that asks, though their lease ran out
 * while the database was away. One whose turns are over goes on to be judged. One that had sent something ends: sending
 * it again could do again what the agent did. One that had not waits anew. Those that have cost too many workers their
 * lives end, and so do those that were cancelled.
 */
export async function releaseAbandoned(db: Database, inHand: string[]): Promise<EndedManualRun[]> {
  return transaction(db, async client => {
    const { rows } = await client.query<EndedRow>({
      name: "release_abandoned",
      text: `with abandoned as (
          select r.id,
            case when l.cancel_requested_at is not null then 'cancelled'
              when r.judge_deadline_at is null and r.sent_at is not null or r.attempts >= $1 then 'error'
              when r.judge_deadline_at is not null then 'running' else 'pending' end as state
          from runs r join launches l on l.id = r.launch_id
          where r.kind = 'manual' and r.state = 'running'
            and r.lease_until < now() and r.id <> all ($3::uuid[])
          order by r.id limit 50 for update of r skip locked
        )
        update runs set state = abandoned.state,
          error = case when abandoned.state <> 'error' then null
            when judge_deadline_at is not null then $4
            when sent_at is not null then $2
            else $5 end,
          finished_at = case when abandoned.state in ('cancelled', 'error') then now() end,
          lease = null, lease_until = null, waiting_reason = null,
          next_try_at = case when abandoned.state = 'running' then now() end
        from abandoned where runs.id = abandoned.id
        returning runs.id, runs.agent_id as "agentId", runs.launch_id as "launchId", runs.state`,
      values: [
        attemptsMax,
        reasonText({ code: "worker_stopped" }),
        inHand,
        reasonText({ code: "worker_died", data: { attempts: attemptsMax } }),
        reasonText({ code: "worker_died_before_sending", data: { attempts: attemptsMax } }),
      ],
    });
    if (rows.length > 0) await settleLaunches(client, launchesOf(rows));
    return rows.filter(isEnded);
  });
}

/** Prolongs the leases of these runs; resolves to those that are to be given up: cancelled, or no longer this lease's. */
export async function tendManualRuns(
  db: Database,
  { lease, leaseMs, runIds }: { lease: string; leaseMs: number; runIds: string[] },
): Promise<Set<string>> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: "tend_manual",
    text: `update runs set lease_until = now() + $2::float8 * interval '1 ms'
      from launches l
      where runs.id = any ($3::uuid[]) and runs.lease = $1 and runs.state = 'running' and l.id = runs.launch_id
        and l.cancel_requested_at is null
      returning runs.id`,
    values: [lease, leaseMs, runIds],
  });
  const kept = new Set(rows.map(row => row.id));
  return new Set(runIds.filter(id => !kept.has(id)));
}

const returned = `runs.id, runs.agent_id as "agentId", runs.launch_id as "launchId", runs.test_id as "testId", runs.test,
  extract(epoch from runs.judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs", runs.judge_tries as "judgeTries"`;

type RunRow = Omit<ManualRun, "test"> & { testId: string; test: string };
type EndedRow = Pick<ManualRun, "id" | "agentId" | "launchId"> & { state: RunState };

function isEnded(row: EndedRow): row is EndedManualRun {
  return row.state === "error" || row.state === "cancelled";
}

function toManualRun({ testId, test, ...run }: RunRow): ManualRun {
  const document = JSON.parse(test) as TestCaseDocument & { version: number };
  return { ...run, test: { ...document, id: testId, agentId: run.agentId } };
}

function launchesOf(rows: { launchId: string }[]): string[] {
  return [...new Set(rows.map(row => row.launchId))];
}
