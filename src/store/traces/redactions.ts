// What redaction found in stored batches, counted by hour.
import type pg from "pg";
import { multiRow } from "../multi-row.ts";
import type { TraceWrite } from "./write.ts";

/** In place of the bytes of no redactions. */
export const noRedactions = Buffer.alloc(0);

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
    for (const [rule, values] of Object.entries(redactions?.counts ?? {})) {
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
      select item.agent_id, date_trunc('hour', now()), item.rule, item.values from ${counts.from}
      join agents a on a.id = item.agent_id
      order by item.agent_id, item.rule
      on conflict (agent_id, hour, rule) do update set count = redaction_hours.count + excluded.count`,
    values: counts.values(rows),
  });
}
