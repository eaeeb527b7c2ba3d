// The job queue of manual runs: claims them under a lease, extends leases, and releases those of crashed workers.

import { parseNumbers } from "../../model/json-exact.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { RunState } from "../../model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../../model/test-case/document.ts";
import { accountOf } from "../accounts/ownership.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../multi-row.ts";
import { availablePartsOfRows, availablePlacesFound, availableRows, partsOf } from "../scale/places.ts";
import { attemptsMax } from "./claims.ts";
import { settleLaunches, takeTurn } from "./launches.ts";
import { leasedBy } from "./of-traces.ts";

export type ManualRun = {
  id: string;
  agentId: string;
  launchId: string;
  /** The test as it was when the run was created, with the run's own input. */
  test: TestCase;
  /** The time left to wait for the judge; null until all turns are done. */
  judgeLeftMs: number | null;
  /** Number of failed attempts to ask the judge. */
  judgeTries: number;
  /** Of a run whose turns are done: what its traces are read by, and its earlier results if it is evaluated again. */
  detail: Buffer | null;
};

/** A run that ended without results, for events and metrics. */
export type EndedManualRun = Pick<ManualRun, "id" | "agentId" | "launchId"> & {
  /** "completed": it was evaluated again, and keeps its earlier results. */
  state: "error" | "cancelled" | "completed";
};

/** The agents with pending manual runs. */
export async function listWaitingAgents(db: Database): Promise<string[]> {
  const rows = await availableRows<{ agent_id: string }>(db, {
    name: "waiting_agents",
    // Citus asks no shards recursively: there, the pending runs are read.
    text: db.places
      ? "select distinct agent_id from runs where kind = 'manual' and state = 'pending'"
      : waitingAgents,
  });
  return rows.map(row => row.agent_id);
}

// One index lookup per agent, however many runs of each are pending.
const waitingAgents = `with recursive waiting as (
    (select agent_id from runs where kind = 'manual' and state = 'pending' order by agent_id limit 1)
    union all
    select (
      select r.agent_id from runs r
      where r.kind = 'manual' and r.state = 'pending' and r.agent_id > waiting.agent_id order by r.agent_id limit 1
    ) from waiting where agent_id is not null
  )
  select agent_id from waiting where agent_id is not null`;

export type ManualClaim = {
  lease: string;
  leaseMs: number;
  runsMax: number;
  /** The limit of concurrent runs by agent, over all workers; runs whose turns are done no longer count. */
  concurrency: Map<string, number>;
  /** The same limit of an account. Default: none. */
  accountMax?: number;
};

// Pending runs are spelled `state in ('pending', 'running') and lease is null` so that the planner uses the partial index
// ordered by id; with another index it reads and sorts all pending runs of the agent.

const concurrencyRows = multiRow<[agentId: string, runsMax: number]>(3, {
  agent_id: ["uuid", ([agentId]) => agentId],
  runs_max: ["int", ([, runsMax]) => runsMax],
});

/**
 * Claims pending runs within the concurrency of their agents, by the database's clock: first those of the account with the
 * fewest active runs, then of its agent with the fewest, and oldest first for each agent.
 */
export async function claimManualRuns(db: Database, claim: ManualClaim): Promise<ManualRun[]> {
  const agents = [...claim.concurrency].map(([agentId, runsMax]) => ({ agentId, runsMax }));
  const claimed: ManualRun[] = [];
  // Agents elsewhere get their turn: each place has a share, and further ones as long as it uses them up.
  let parts = await partsOf(db, agents);
  while (parts.length > 0 && claimed.length < claim.runsMax) {
    const further: typeof parts = [];
    for (const [at, [place, part]] of parts.entries()) {
      const runsMax = Math.ceil((claim.runsMax - claimed.length) / (parts.length - at));
      if (runsMax === 0) break;
      const concurrency = new Map(part.map(({ agentId, runsMax }) => [agentId, runsMax]));
      const runs = await claimIn(place, { ...claim, concurrency, runsMax });
      claimed.push(...runs);
      if (runs.length === runsMax) further.push([place, part]);
    }
    parts = further;
  }
  return claimed;
}

async function claimIn(db: Database, claim: ManualClaim): Promise<ManualRun[]> {
  return transaction(db, async client => {
    await takeTurn(client);
    const { rows } = await client.query<RunRow>({
      name: "claim_manual",
      text: `with bound as materialized (
          select item.agent_id, item.runs_max, ${accountOf("item.agent_id")} as account_id, (
            select count(*) from runs r where r.agent_id = item.agent_id and r.kind = 'manual' and r.state = 'running'
              and r.judge_deadline_at is null
          ) as active
          from ${concurrencyRows.from}
        ), waiting as (
          select next.id, bound.account_id,
            bound.active + row_number() over (partition by bound.agent_id order by next.id) as place
          from bound cross join lateral (
            select r.id from runs r
            where r.agent_id = bound.agent_id and r.kind = 'manual' and r.state in ('pending', 'running')
              and r.lease is null and r.judge_deadline_at is null
            order by r.id limit greatest(bound.runs_max - bound.active, 0)
          ) next
        ), placed as (
          select waiting.id, place, row_number() over (partition by account_id order by place, waiting.id) + (
            select sum(active) from bound where bound.account_id = waiting.account_id
          ) as account_place
          from waiting
        ), chosen as (
          select id from placed where account_place <= $6 order by account_place, place, id limit $5
        ), locked as (
          select r.id from runs r join chosen on chosen.id = r.id where r.state = 'pending' for update of r
        )
        update runs set state = 'running', lease = $1, lease_until = now() + $2::float8 * interval '1 ms',
          attempts = attempts + 1, started_at = now()
        where id = any (array(select id from locked))
        returning ${returned}`,
      values: [
        ...[claim.lease, claim.leaseMs, ...concurrencyRows.values([...claim.concurrency]), claim.runsMax],
        claim.accountMax ?? 1_000_000,
      ],
    });
    if (rows.length > 0) await settleLaunches(client, launchesOf(rows));
    return rows.map(toManualRun).sort((one, other) => (one.id < other.id ? -1 : 1));
  });
}

/** Claims runs whose turns are done and that are due to ask the judge again. */
export async function claimWaitingManualRuns(
  db: Database,
  claim: Omit<ManualClaim, "concurrency" | "accountMax">,
): Promise<ManualRun[]> {
  const claimed: ManualRun[] = [];
  const places = await availablePlacesFound(db, {
    name: "agents_with_waiting_manual",
    text: `select agent_id as "agentId" from runs
      where kind = 'manual' and state = 'running' and lease is null and next_try_at <= now()
      group by agent_id order by min(next_try_at)`,
  });
  for (const place of places) {
    const runsMax = claim.runsMax - claimed.length;
    if (runsMax > 0) claimed.push(...(await claimWaitingIn(place, { ...claim, runsMax })));
  }
  return claimed;
}

async function claimWaitingIn(
  db: Database,
  { lease, leaseMs, runsMax }: Omit<ManualClaim, "concurrency" | "accountMax">,
): Promise<ManualRun[]> {
  const { rows } = await db.pool.query<RunRow>({
    name: "claim_waiting_manual",
    text: `with due as (
        select id from runs where kind = 'manual' and state = 'running' and lease is null and next_try_at <= now()
        order by next_try_at limit $3 for update skip locked
      )
      update runs set lease = $1, lease_until = now() + $2::float8 * interval '1 ms', attempts = attempts + 1,
        next_try_at = null, waiting_reason = null
      where id = any (array(select id from due))
      returning ${returned}`,
    values: [lease, leaseMs, runsMax],
  });
  return rows.map(toManualRun);
}

/**
 * Releases runs whose lease expired, except `inHand`: the caller's own, whose leases may have expired while the database
 * was unavailable. If all turns are done, the run continues with its evaluation. If something was sent, it ends with an
 * error, because sending it again could repeat the agent's actions. Otherwise it is pending again. Cancelled runs end, and
 * so do runs that crashed too many workers.
 */
export async function releaseAbandoned(db: Database, inHand: string[]): Promise<EndedManualRun[]> {
  const ended: EndedManualRun[] = [];
  const places = await availablePlacesFound(db, {
    name: "agents_with_abandoned_manual",
    text: `select distinct agent_id as "agentId" from runs
      where kind = 'manual' and state = 'running' and lease_until < now() and id <> all ($1::uuid[])`,
    values: [inHand],
  });
  for (const place of places) ended.push(...(await releaseIn(place, inHand)));
  return ended;
}

async function releaseIn(db: Database, inHand: string[]): Promise<EndedManualRun[]> {
  return transaction(db, async client => {
    const { rows } = await client.query<EndedRow>({
      name: "release_abandoned",
      text: `with abandoned as (
          select r.id,
            case when r.verdict is not null then case when r.attempts >= $1 then 'completed' else 'running' end
              when l.cancel_requested_at is not null then 'cancelled'
              when r.judge_deadline_at is null and r.sent_at is not null or r.attempts >= $1 then 'error'
              when r.judge_deadline_at is not null then 'running' else 'pending' end as state
          from runs r join launches l on l.agent_id = r.agent_id and l.id = r.launch_id
          where r.kind = 'manual' and r.state = 'running'
            and r.lease_until < now() and r.id <> all ($3::uuid[])
          order by r.id limit 50 for update of r skip locked
        )
        update runs set state = abandoned.state,
          error = case when abandoned.state <> 'error' then null
            when judge_deadline_at is not null then $4
            when sent_at is not null then $2
            else $5 end,
          finished_at = coalesce(finished_at, case when abandoned.state in ('cancelled', 'error') then now() end),
          lease = null, lease_until = null, waiting_reason = null,
          next_try_at = case when abandoned.state = 'running' then now() end
        from abandoned where runs.id = abandoned.id and runs.id = any (array(select id from abandoned))
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

/** Extends the leases; returns the runs to stop: those that were cancelled or are leased by another worker. */
export async function extendManualLeases(
  db: Database,
  { lease, leaseMs, runIds }: { lease: string; leaseMs: number; runIds: string[] },
): Promise<Set<string>> {
  // Those at a worker of a cluster that is unavailable are neither cancelled nor taken over meanwhile.
  const { parts, unknown } = await availablePartsOfRows(db, "runs", runIds);
  const kept = new Set(unknown);
  for (const [place, ids] of parts) {
    const { rows } = await place.pool.query<{ id: string }>({
      name: "tend_manual",
      text: `update runs set lease_until = now() + $2::float8 * interval '1 ms'
        from launches l
        where runs.id = any ($3::uuid[]) and ${leasedBy("$1")}
          and l.agent_id = runs.agent_id and l.id = runs.launch_id
          and (l.cancel_requested_at is null or runs.verdict is not null)
        returning runs.id`,
      values: [lease, leaseMs, ids],
    });
    for (const { id } of rows) kept.add(id);
  }
  return new Set(runIds.filter(id => !kept.has(id)));
}

const returned = `runs.id, runs.agent_id as "agentId", runs.launch_id as "launchId", runs.test_id as "testId",
  (
    select document from launch_tests t
    where t.agent_id = runs.agent_id and t.launch_id = runs.launch_id and t.test_id = runs.test_id
  ) as test,
  (
    select input from launch_inputs i
    where i.agent_id = runs.agent_id and i.launch_id = runs.launch_id and i.test_id = runs.test_id and i.row = runs.test_row
  ) as input,
  extract(epoch from runs.judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs", runs.judge_tries as "judgeTries", runs.detail`;

/** `input`: JSON text, in place of the only turn's input. */
type RunRow = Omit<ManualRun, "test"> & { testId: string; test: string; input: string | null };
type EndedRow = Pick<ManualRun, "id" | "agentId" | "launchId"> & { state: RunState };

function isEnded(row: EndedRow): row is EndedManualRun {
  return row.state === "error" || row.state === "cancelled" || row.state === "completed";
}

function toManualRun({ testId, test, input, ...run }: RunRow): ManualRun {
  const document = parseNumbers(test) as TestCaseDocument & { version: number };
  const turns = input === null ? document.turns : [{ input: JSON.parse(input) as string }];
  return { ...run, test: { ...document, turns, id: testId, agentId: run.agentId } };
}

function launchesOf(rows: { launchId: string }[]): string[] {
  return [...new Set(rows.map(row => row.launchId))];
}
