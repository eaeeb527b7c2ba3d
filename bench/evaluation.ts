// Measures the rate at which pending runs are evaluated.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** Waits until every run of the agent is completed; the rate between the first and the last completion. */
export async function evaluationRate(
  database: pg.Client,
  agentId: string,
): Promise<{ runs: number; seconds: number; perSecond: number }> {
  for (;;) {
    const { rows } = await database.query<{ open: number; runs: number; seconds: number; bad: number }>(
      `select count(*) filter (where state in ('pending', 'running'))::int as open,
        count(*) filter (where state = 'completed')::int as runs,
        count(*) filter (where state = 'error' or verdict <> 'passed')::int as bad,
        extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
      from runs where agent_id = $1`,
      [agentId],
    );
    const { open, runs, seconds, bad } = rows[0]!;
    if (bad > 0) throw new Error(`${bad} runs did not pass`);
    if (open === 0) return { runs, seconds, perSecond: runs / seconds };
    await sleep(250);
  }
}
