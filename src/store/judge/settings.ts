// The judge settings of an agent, sampling rate and daily budget, and its usage today.
import type { JudgeUse } from "../../model/judge/use.ts";
import { referenceQuery } from "../cluster/references.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

/** `sampling` in 0..1; a budget of null means no limit. */
export type JudgeSettings = { sampling: number; budgetUsd: number | null; budgetTokens: number | null };

/** Usage on a UTC day, YYYY-MM-DD; `cached`: questions answered without a call. */
export type JudgeDay = JudgeUse & { day: string; calls: number; cached: number };

const columns = `judge_sampling as sampling, judge_budget_usd as "budgetUsd", judge_budget_tokens as "budgetTokens"`;

export async function findJudgeSettings(db: Database, agentId: string): Promise<JudgeSettings | undefined> {
  const { rows } = await db.pool.query<JudgeSettings>({
    name: "judge-settings",
    text: `select ${columns} from agents where id = $1`,
    values: [agentId],
  });
  return rows[0];
}

export async function updateJudgeSettings(
  db: Database,
  agentId: string,
  { sampling, budgetUsd, budgetTokens }: JudgeSettings,
): Promise<JudgeSettings | undefined> {
  const { rows } = await referenceQuery<JudgeSettings>(db, {
    text: `update agents set judge_sampling = $2, judge_budget_usd = $3, judge_budget_tokens = $4 where id = $1
      returning ${columns}`,
    values: [agentId, sampling, budgetUsd, budgetTokens],
  });
  return rows[0];
}

/**
 * The usage today, by the database's clock. The cost is rounded to a billionth: a sum of binary fractions could stay just
 * below a budget that is used up.
 */
export async function findJudgeToday(db: Database, agentId: string): Promise<JudgeDay> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<JudgeDay>({
    name: "judge-today",
    text: `select today.day::text, coalesce(calls, 0) as calls, coalesce(cached, 0) as cached,
        coalesce(input_tokens, 0) as "inputTokens", coalesce(output_tokens, 0) as "outputTokens",
        round(coalesce(cost_usd, 0)::numeric, 9)::float8 as "costUsd", coalesce(unpriced_tokens, 0) as "unpricedTokens",
        coalesce(estimated_tokens, 0) as "estimatedTokens"
      from (select (now() at time zone 'utc')::date as day) as today
      left join judge_days d on d.agent_id = $1 and d.day = today.day`,
    values: [agentId],
  });
  return rows[0]!;
}
