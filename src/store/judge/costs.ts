// What judging an agent took, by the day and by its tests.
import type { JudgeUse } from "../../model/judge/prices.ts";
import type { Database } from "../db.ts";
import type { JudgeDay } from "./settings.ts";

/** Days of UTC, YYYY-MM-DD, both included. */
export type DaySpan = { from: string; to: string };

/** The oldest first; days on which nothing was asked are left out. */
export async function listJudgeDays(
  db: Database,
  agentId: string,
  { from, to }: DaySpan,
): Promise<JudgeDay[]> {
  const { rows } = await db.pool.query<JudgeDay>({
    name: "judge-days",
    text: `select day::text, calls, cached, input_tokens as "inputTokens", output_tokens as "outputTokens",
        cost_usd as "costUsd", unpriced_tokens as "unpricedTokens", estimated_tokens as "estimatedTokens"
      from judge_days where agent_id = $1 and day between $2 and $3 order by day`,
    values: [agentId, from, to],
  });
  return rows;
}

/** A test's share in calls about several; tokens are not whole. */
export type JudgeTestSum = JudgeUse & { testId: string; name: string };

/** Of each of the agent's tests that was asked about, the dearest first. */
export async function listJudgeTests(
  db: Database,
  agentId: string,
  { from, to }: DaySpan,
): Promise<JudgeTestSum[]> {
  const { rows } = await db.pool.query<JudgeTestSum>({
    name: "judge-tests",
    text: `select t.id as "testId", t.name, sum(d.input_tokens) as "inputTokens",
        sum(d.output_tokens) as "outputTokens", sum(d.cost_usd) as "costUsd",
        sum(d.unpriced_tokens) as "unpricedTokens", sum(d.estimated_tokens) as "estimatedTokens"
      from test_cases t join judge_test_days d on d.test_id = t.id and d.day between $2 and $3
      where t.agent_id = $1 group by t.id, t.name
      order by sum(d.cost_usd) desc, sum(d.input_tokens + d.output_tokens) desc, t.id`,
    values: [agentId, from, to],
  });
  return rows;
}
