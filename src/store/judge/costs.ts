// Judge usage of an agent, by day and by test.
import type { JudgeUse } from "../../model/judge/use.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import type { JudgeDay } from "./settings.ts";

/** UTC days, YYYY-MM-DD, both inclusive. */
export type DaySpan = { from: string; to: string };

/** Oldest first, without days that have no usage. */
export async function listJudgeDays(
  db: Database,
  agentId: string,
  { from, to }: DaySpan,
): Promise<JudgeDay[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<JudgeDay>({
    name: "judge-days",
    text: `select day::text, calls, cached, input_tokens as "inputTokens", output_tokens as "outputTokens",
        cost_usd as "costUsd", unpriced_tokens as "unpricedTokens", estimated_tokens as "estimatedTokens"
      from judge_days where agent_id = $1 and day between $2 and $3 order by day`,
    values: [agentId, from, to],
  });
  return rows;
}

/** Includes the test's share of calls about several tests, so tokens may be fractions. */
export type JudgeTestSum = JudgeUse & { testId: string; name: string };

/** The usage of each of the agent's tests, most expensive first. */
export async function listJudgeTests(
  db: Database,
  agentId: string,
  { from, to }: DaySpan,
): Promise<JudgeTestSum[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<JudgeTestSum>({
    name: "judge-tests",
    text: `select t.id as "testId", t.name, sum(d.input_tokens) as "inputTokens",
        sum(d.output_tokens) as "outputTokens", sum(d.cost_usd) as "costUsd",
        sum(d.unpriced_tokens) as "unpricedTokens", sum(d.estimated_tokens) as "estimatedTokens"
      from test_cases t join judge_test_days d on d.agent_id = t.agent_id and d.test_id = t.id and d.day between $2 and $3
      where t.agent_id = $1 group by t.id, t.name
      order by sum(d.cost_usd) desc, sum(d.input_tokens + d.output_tokens) desc, t.id`,
    values: [agentId, from, to],
  });
  return rows;
}
