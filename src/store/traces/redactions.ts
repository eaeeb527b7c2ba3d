// What redaction found in stored batches, counted by hour.
import type pg from "pg";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import type { Span } from "../runs/insights.ts";
import type { TraceWrite } from "./write.ts";

type Count = { agentId: string; rule: string; values: number };

const counts = multiRow<Count>(1, {
  agent_id: ["uuid", count => count.agentId],
  rule: ["text", count => count.rule],
  values: ["bigint", count => count.values],
});

/** Adds what was found in these batches to the current hour; asks nothing if nothing was. */
export async function countRedactions(client: pg.PoolClient, writes: TraceWrite[]): Promise<void> {
  const sums = new Map<string, Count>();
  for (const { agentId, redactions } of writes) {
    for (const [rule, values] of Object.entries(redactions ?? {})) {
      const name = `${agentId} ${rule}`;
      const sum = sums.get(name);
      if (sum) sum.values += values;
      else sums.set(name, { agentId, rule, values });
    }
  }
  if (sums.size === 0) return;
  // Sorted, so that two transactions that add to the same rows never deadlock.
  const rows = [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  await client.query({
    name: "count_redactions",
    text: `insert into redaction_hours (agent_id, hour, rule, count)
      select item.agent_id, date_trunc('hour', now(), 'UTC'), item.rule, item.values from ${counts.from}
      join agents a on a.id = item.agent_id
      order by item.agent_id, item.rule
      on conflict (agent_id, hour, rule) do update set count = redaction_hours.count + excluded.count`,
    values: counts.values(rows),
  });
}

export type RedactionPoint = { rule: string; at: Date; count: number };

/** What arrived in this time, sorted by rule, then by time; at most `rowsMax`. */
export async function listRedactionPoints(
  db: Database,
  agentId: string,
  { from, to, interval }: Span,
  rowsMax: number,
): Promise<RedactionPoint[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<RedactionPoint>(
    `select rule, date_trunc($4, hour, 'UTC') as at, sum(count)::bigint as count
    from redaction_hours where agent_id = $1 and hour >= $2 and hour < $3
    group by 1, 2 order by 1, 2 limit $5`,
    [agentId, from, to, interval, rowsMax],
  );
  return rows;
}
