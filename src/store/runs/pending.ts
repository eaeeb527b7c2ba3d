// Refuses what would give an account more runs to be evaluated than it may have.
import { Refusal } from "../../model/refusal.ts";
import { listAgentsOf } from "../accounts/ownership.ts";
import { partsOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { inLane } from "./claim-statements.ts";

/** For how long a count is used. What arrives meanwhile may exceed the limit. */
const keptMs = 5_000;

/** Throws RATE_LIMITED while the account has `max` runs that were not claimed yet. */
export type RequireRoom = (accountId: string) => Promise<void>;

export function requireRoomFor(
  db: Database,
  { max, now = () => performance.now() }: { max: number; now?: () => number },
): RequireRoom {
  const known = new Map<string, { isFull: Promise<boolean>; until: number }>();
  return async accountId => {
    for (const [id, { until }] of known) {
      if (until > now()) break;
      known.delete(id);
    }
    const { isFull } = known.get(accountId) ?? {
      // Without the count, the request goes on: storing it needs the same database.
      isFull: hasPending(db, accountId, max).catch(() => false),
    };
    if (!known.has(accountId)) known.set(accountId, { isFull, until: now() + keptMs });
    if (!(await isFull)) return;
    throw new Refusal("RATE_LIMITED", {
      message: `This account has ${max.toLocaleString("en-US")} traces waiting to be evaluated, and can have no more.`,
      hint: `Retry in ${keptMs / 1_000} s: nothing was stored.`,
      retryAfterSeconds: keptMs / 1_000,
    });
  };
}

async function hasPending(db: Database, accountId: string, max: number): Promise<boolean> {
  const agents = (await listAgentsOf(db, [accountId])).map(agentId => ({ agentId }));
  let count = 0;
  for (const [place, ofPlace] of await partsOf(db, agents)) {
    const { rows } = await place.pool.query<{ count: number }>({
      name: "count_pending",
      text: `select count(*)::int as count from (
          select from queue where ${inLane("due")} and agent_id = any ($1::uuid[])
          limit (select $2::int)
        ) pending`,
      values: [ofPlace.map(({ agentId }) => agentId), max - count],
    });
    count += rows[0]!.count;
    if (count >= max) return true;
  }
  return false;
}
