// Claims manual runs within the limits of their agents, and takes up those of crashed workers.

import type pg from "pg";
import { parseNumbers } from "../../model/json-exact.ts";
import type { TestCase, TestCaseDocument } from "../../model/test-case/document.ts";
import { accountOf } from "../accounts/ownership.ts";
import { availablePlacesFound, availableRows, partsOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { claimAbandoned, claimDue, claimShares, inLane } from "./claim-statements.ts";
import { settleLaunches, takeTurn } from "./launches.ts";
import { firstEntry } from "./queue-starts.ts";

export type ManualRun = {
  id: string;
  agentId: string;
  launchId: string;
  /** The test as it was when the run was created, with the run's own input. */
  test: TestCase;
  /** How often this run was started, including this time. */
  attempts: number;
  /** Whether its first request may have left: it is never begun again. */
  sent: boolean;
  /** Whether its launch was cancelled, and the run has no earlier results. */
  cancelled: boolean;
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
    text: db.places ? `select distinct agent_id from queue where ${inLane("due", "manual")}` : waitingAgents,
  });
  return rows.map(row => row.agent_id);
}

// One index lookup per agent, however many runs of each are pending.
const firstAgent = (where: string) =>
  `select agent_id from queue where ${inLane("due", "manual")} and ${where} order by agent_id limit 1`;
const waitingAgents = `with recursive waiting as (
    (${firstAgent("true")})
    union all
    select (${firstAgent("agent_id > waiting.agent_id")}) from waiting where agent_id is not null
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
    const shares = sharesOf(await readAgents(client, claim.concurrency), claim);
    if (shares.size === 0) return [];
    const none = [[], [], firstEntry.waiting];
    const { rows } = await client.query<RunRow>({
      ...claimShares.manual,
      values: [
        ...[claim.lease, claim.leaseMs, [], ...none],
        ...[[...shares.keys()], [...shares.values()], firstEntry.due],
      ],
    });
    if (rows.length > 0) await settleLaunches(client, launchesOf(rows));
    return rows.map(toManualRun).sort((one, other) => (one.id < other.id ? -1 : 1));
  });
}

/** Of one agent: its active runs, and pending ones, at most as many as it may have beside. */
type Agent = { agentId: string; accountId: string; limit: number; active: number; pending: number; at: Date };

const concurrencyRows = multiRow<[agentId: string, runsMax: number]>(1, {
  agent_id: ["uuid", ([agentId]) => agentId],
  runs_max: ["int", ([, runsMax]) => runsMax],
});

async function readAgents(client: pg.PoolClient, concurrency: Map<string, number>): Promise<Agent[]> {
  const { rows } = await client.query<Agent>({
    name: "manual_agents",
    text: `with active as materialized (
        select agent_id, count(*)::int as count from queue where lane = 'manual leased' and judge_deadline_at is null group by agent_id
      )
      select coalesce(item.agent_id, active.agent_id) as "agentId",
        ${accountOf("coalesce(item.agent_id, active.agent_id)")} as "accountId", coalesce(item.runs_max, 0) as limit,
        coalesce(active.count, 0) as active,
        (
          select count(*)::int from (
            select from queue where ${inLane("due", "manual")} and agent_id = item.agent_id limit item.runs_max
          ) pending
        ) as pending,
        (select min(next_at) from queue where ${inLane("due", "manual")} and agent_id = item.agent_id) as at
      from ${concurrencyRows.from} full join active on active.agent_id = item.agent_id`,
    values: concurrencyRows.values([...concurrency]),
  });
  return rows;
}

/** How many runs of which agents: the next is always of the account with the fewest active ones, then of its agent with the fewest. */
function sharesOf(agents: Agent[], { runsMax, accountMax = Infinity }: ManualClaim): Map<string, number> {
  const shares = new Map<string, number>();
  const accounts = new Map<string, number>();
  const add = (accountId: string, count: number) =>
    accounts.set(accountId, (accounts.get(accountId) ?? 0) + count);
  for (const { accountId, active } of agents) add(accountId, active);
  for (let taken = 0; taken < runsMax; taken++) {
    const next = agents
      .filter(
        agent =>
          agent.pending > 0 && agent.active < agent.limit && accounts.get(agent.accountId)! < accountMax,
      )
      .sort(
        (one, other) =>
          accounts.get(one.accountId)! - accounts.get(other.accountId)! ||
          one.active - other.active ||
          one.at.getTime() - other.at.getTime(),
      )[0];
    if (!next) break;
    next.active++;
    next.pending--;
    add(next.accountId, 1);
    shares.set(next.agentId, (shares.get(next.agentId) ?? 0) + 1);
  }
  return shares;
}

/** Claims runs whose turns are done and that are due to ask the judge again. */
export async function claimWaitingManualRuns(
  db: Database,
  { lease, leaseMs, runsMax }: Omit<ManualClaim, "concurrency" | "accountMax">,
): Promise<ManualRun[]> {
  const claimed: ManualRun[] = [];
  const places = await availablePlacesFound(db, {
    name: "agents_with_waiting_manual",
    text: `select agent_id as "agentId" from queue where lane = 'manual waiting' and next_at <= now()
      group by agent_id order by min(next_at)`,
  });
  for (const place of places) {
    const left = runsMax - claimed.length;
    if (left <= 0) break;
    const { rows } = await place.pool.query<RunRow>({
      ...claimDue.manual,
      values: [lease, leaseMs, 0, left, [], firstEntry.due, firstEntry.waiting],
    });
    claimed.push(...rows.map(toManualRun));
  }
  return claimed;
}

const abandonedMax = 50;

/**
 * Claims runs whose workers died, except `inHand`: the caller's own, whose leases may have expired while the database was
 * unavailable.
 */
export async function claimAbandonedManualRuns(
  db: Database,
  { lease, leaseMs, inHand }: { lease: string; leaseMs: number; inHand: string[] },
): Promise<ManualRun[]> {
  const places = await availablePlacesFound(db, {
    name: "agents_with_abandoned_manual",
    text: `select distinct agent_id as "agentId" from queue
      where lane = 'manual leased' and next_at < now() and id <> all ($1::uuid[])`,
    values: [inHand],
  });
  const claimed: ManualRun[] = [];
  for (const place of places) {
    const { rows } = await place.pool.query<RunRow>({
      ...claimAbandoned.manual,
      values: [lease, leaseMs, inHand, firstEntry.lease, abandonedMax],
    });
    claimed.push(...rows.map(toManualRun));
  }
  return claimed;
}

/** `input`: JSON text, in place of the only turn's input. */
type RunRow = Omit<ManualRun, "test"> & { testId: string; test: string; input: string | null };

function toManualRun({ testId, test, input, ...run }: RunRow): ManualRun {
  const document = parseNumbers(test) as TestCaseDocument & { version: number };
  const turns = input === null ? document.turns : [{ input: JSON.parse(input) as string }];
  return { ...run, test: { ...document, turns, id: testId, agentId: run.agentId } };
}

function launchesOf(rows: { launchId: string }[]): string[] {
  return [...new Set(rows.map(row => row.launchId))];
}
