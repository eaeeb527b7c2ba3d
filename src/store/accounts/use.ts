// What an account has used on this UTC day, by the database's clock.
import type { Database } from "../db.ts";

/** Tokens of the service's judge. */
export async function findJudgeTokensToday(db: Database, accountId: string): Promise<number> {
  const { rows } = await db.pool.query<{ tokens: number }>({
    name: "judge-tokens-of-account",
    text: `select judge_tokens_today as tokens from account_use
      where account_id = $1 and day = (now() at time zone 'utc')::date`,
    values: [accountId],
  });
  return rows[0]?.tokens ?? 0;
}

/** Nothing for an account that was deleted meanwhile. */
export async function countJudgeTokens(db: Database, accountId: string, tokens: number): Promise<void> {
  if (tokens === 0) return;
  await db.pool.query({
    name: "count-judge-tokens",
    text: `insert into account_use as known (account_id, day, judge_tokens_today)
        select id, (now() at time zone 'utc')::date, $2::bigint from accounts where id = $1 for key share
      on conflict (account_id) do update set day = excluded.day, judge_tokens_today = excluded.judge_tokens_today
        + case when known.day = excluded.day then known.judge_tokens_today else 0 end`,
    values: [accountId, tokens],
  });
}
