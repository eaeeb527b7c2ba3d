// Claims due runs on a cluster: asks all shards once whose are due, then claims where those agents are.
import { type Database, isTransient } from "../db.ts";
import type { Claim, DueRuns } from "../runs/claims.ts";
import { allPlaces, placesFound } from "./places.ts";

/**
 * The agent whose run has waited longest comes first, with the others in its place. While a worker is unavailable, nobody can ask
 * all shards at once, and what is due in each group is claimed.
 */
export async function claimAcross(
  db: Database,
  due: DueRuns,
  claimIn: (place: Database, due: DueRuns) => Promise<Claim>,
): Promise<Claim> {
  const { runsMax, inHand = [], fullAgents = [] } = due;
  const places = await placesFound(db, {
    name: "agents_with_due_runs",
    // A crashed worker's run is claimed whatever else its agent has under way.
    text: `select agent_id as "agentId", min(due_at) as due_at from (
        select agent_id, due_at from runs where kind <> 'manual' and state = 'pending' and due_at <= now()
          and agent_id <> all ($3::uuid[])
        union all select agent_id, next_try_at from runs where kind <> 'manual' and next_try_at <= now()
          and id <> all ($2::uuid[]) and agent_id <> all ($3::uuid[])
        union all select agent_id, lease_until from runs where kind <> 'manual' and lease_until < now()
          and id <> all ($2::uuid[])
      ) due group by agent_id order by due_at limit $1`,
    values: [runsMax, inHand, fullAgents],
  }).catch(error => {
    if (!isTransient(error)) throw error;
    return allPlaces(db);
  });
  const claim: Claim = { runs: [], ended: [] };
  let fault: unknown;
  for (const place of places) {
    const found = await claimIn(place, { ...due, runsMax: runsMax - claim.runs.length }).catch(error => {
      if (!isTransient(error)) throw error;
      fault = error;
    });
    if (!found) continue;
    const { runs, ended } = found;
    claim.runs.push(...runs);
    claim.ended.push(...ended);
    if (claim.runs.length >= runsMax) break;
  }
  if (fault && claim.runs.length === 0 && claim.ended.length === 0) throw fault;
  return claim;
}
