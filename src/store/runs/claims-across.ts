// Claims due runs on a cluster: asks all shards once whose are due, then claims where those agents are.

import { allPlaces } from "../cluster/routing.ts";
import { type Database, isTransient } from "../db.ts";
import type { Claim, DueRuns } from "./claim.ts";
import { lanes } from "./claim-statements.ts";
import type { ClaimTurns } from "./claim-turns.ts";
import { firstEntry } from "./queue-starts.ts";

type Work = {
  claim: (place: Database, due: DueRuns) => Promise<Claim>;
  /** If given, each place is asked for it, and not all shards at once. */
  nextDueMs?: (place: Database) => Promise<number | undefined>;
};

/** How many agents are asked for at a time: the next claim goes on behind them. */
const agentsMax = 256;
/** What one place is asked for at least, since each statement has a price of its own. */
const shareMin = 8;

/**
 * Places take turns, and each has a share of the runs. While a worker is unavailable, nobody can ask all shards at once, and
 * what is due in each group is claimed.
 */
export async function claimAcross(
  db: Database,
  due: DueRuns & { turns: ClaimTurns },
  work: Work,
): Promise<Claim> {
  const { runsMax, turns } = due;
  let resumedMax = Math.min(due.resumedMax ?? runsMax, Math.ceil(runsMax / 2));
  const found = work.nextDueMs
    ? (await placesByNext(db, work.nextDueMs)).filter(({ ms }) => ms <= 0).map(({ place }) => place)
    : await placesDue(db, due);
  const claim: Claim = { runs: [], ended: [] };
  let fault: unknown;
  for (let places = turns.inOrder(found); places.length > 0; ) {
    // Those that use up their share may have more.
    const further: Database[] = [];
    for (const [at, place] of places.entries()) {
      const left = runsMax - claim.runs.length;
      if (left <= 0) break;
      const share = Math.min(left, Math.max(shareMin, Math.ceil(left / (places.length - at))));
      const waitedShare = Math.ceil(resumedMax / (places.length - at));
      const claimed = await work
        .claim(place, { ...due, runsMax: share, wholeMax: runsMax, resumedMax: waitedShare })
        .catch(error => {
          if (!isTransient(error)) throw error;
          fault = error;
        });
      if (!claimed) continue;
      claim.runs.push(...claimed.runs);
      const waited = claimed.runs.filter(run => run.waited).length;
      resumedMax -= waited;
      claim.ended.push(...claimed.ended);
      if (claimed.runs.length >= share || (waited > 0 && waited >= waitedShare)) further.push(place);
    }
    places = further;
  }
  if (fault && claim.runs.length === 0 && claim.ended.length === 0) throw fault;
  return claim;
}

async function placesDue(
  db: Database,
  { inHand = [], fullAgents = [], starts, turns }: DueRuns & { turns: ClaimTurns },
): Promise<Database[]> {
  try {
    const from = (await starts?.of(db)) ?? firstEntry;
    const { rows } = await db.pool.query<{ agentId: string }>({
      name: "agents_with_due_runs",
      // A crashed worker's run is claimed whatever else its agent has under way.
      text: `select agent_id as "agentId" from (
          select agent_id from queue where lane = '${lanes.due}'
            and next_at <= now() and next_at >= $3::timestamptz and agent_id <> all ($2::uuid[])
          union all select agent_id from queue where lane = '${lanes.waiting}'
            and next_at <= now() and next_at >= $4::timestamptz
            and id <> all ($1::uuid[]) and agent_id <> all ($2::uuid[])
          union all select agent_id from queue where lane = '${lanes.leased}'
            and next_at < now() and next_at >= $5::timestamptz and id <> all ($1::uuid[])
        ) due group by agent_id order by agent_id <= $6::uuid, agent_id limit ${agentsMax}`,
      values: [inHand, fullAgents, from.due, from.waiting, from.lease, turns.after(db)],
    });
    turns.lookedTo(db, rows.length < agentsMax ? undefined : rows.at(-1)!.agentId);
    const found = await db.places!.of(rows.map(({ agentId }) => agentId));
    return [...new Set(found.values())];
  } catch (error) {
    if (!isTransient(error)) throw error;
    return allPlaces(db);
  }
}

/**
 * The places that have something scheduled, soonest first: Citus looks for the first run of each agent in no shards recursively.
 * Those at workers that are unavailable are left out, unless all are.
 */
export async function placesByNext(
  db: Database,
  nextDueMs: (place: Database) => Promise<number | undefined>,
): Promise<{ place: Database; ms: number }[]> {
  const found: { place: Database; ms: number }[] = [];
  const faults: unknown[] = [];
  const places = await allPlaces(db);
  const ask = async (place: Database) => {
    const ms = await nextDueMs(place);
    if (ms !== undefined) found.push({ place, ms });
  };
  await Promise.all(
    places.map(place =>
      ask(place).catch(error => {
        if (!isTransient(error)) throw error;
        faults.push(error);
      }),
    ),
  );
  if (faults.length === places.length) throw faults[0];
  return found.sort((one, other) => one.ms - other.ms);
}
