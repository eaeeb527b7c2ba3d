// What an account has used on this UTC day, by the database's clock.
import { Refusal } from "../../model/refusal.ts";
import { referenceQuery } from "../cluster/references.ts";
import type { Database } from "../db.ts";

/** Tokens of the service's judge. */
export async function findJudgeTokensToday(db: Database, accountId: string): Promise<number> {
  return (await findToday(db, accountId, "judge_tokens_today")).used;
}

/** Nothing for an account that was deleted meanwhile. */
export async function countJudgeTokens(db: Database, accountId: string, tokens: number): Promise<void> {
  if (tokens > 0) await countToday(db, "judge_tokens_today", new Map([[accountId, tokens]]));
}

/** `endsInMs`: until the counts start again. */
export type Today = { used: number; endsInMs: number };

/** Bytes by account, all in one statement. Returns the sums of the day. */
export function countBytes(db: Database, bytes: Map<string, number>): Promise<Map<string, Today>> {
  return countToday(db, "bytes_today", bytes);
}

/** Throws RATE_LIMITED once the account has stored this much. */
export async function requireBytes(db: Database, accountId: string, max: number): Promise<void> {
  const { used, endsInMs } = await findToday(db, accountId, "bytes_today");
  if (used < max) return;
  throw new Refusal("RATE_LIMITED", {
    message: "Your account has stored as much today as it may.",
    hint: "Storing is possible again at 00:00 UTC.",
    retryAfterSeconds: Math.ceil(endsInMs / 1_000),
  });
}

type Counter = "judge_tokens_today" | "bytes_today";

const today = "(now() at time zone 'utc')::date";
const endsInMs = `(extract(epoch from ${today} + 1 - (now() at time zone 'utc')) * 1000)::float8`;

async function findToday(db: Database, accountId: string, counter: Counter): Promise<Today> {
  const { rows } = await db.pool.query<Today>({
    name: `use-${counter}`,
    text: `select coalesce(max(${counter}), 0)::float8 as used, ${endsInMs} as "endsInMs"
      from account_use where account_id = $1 and day = ${today}`,
    values: [accountId],
  });
  return rows[0]!;
}

async function countToday(
  db: Database,
  counter: Counter,
  more: Map<string, number>,
): Promise<Map<string, Today>> {
  const { rows } = await referenceQuery<Today & { accountId: string }>(db, {
    name: `count-${counter}`,
    text: `with account as materialized (
        select id from accounts where id = any ($1::text[]) order by id for key share
      )
      insert into account_use as known (account_id, day, ${counter})
        select id, ${today}, more from account join unnest($1::text[], $2::bigint[]) as item (account, more) on account = id
        order by id
      on conflict (account_id) do update set day = excluded.day, ${counter} = excluded.${counter}
          + case when known.day = excluded.day then known.${counter} else 0 end${others(counter)}
      returning account_id as "accountId", ${counter}::float8 as used, ${endsInMs} as "endsInMs"`,
    values: [[...more.keys()], [...more.values()]],
  });
  return new Map(rows.map(({ accountId, ...sum }) => [accountId, sum]));
}

/** A new day ends the other counts, too. */
function others(counter: Counter): string {
  return (["judge_tokens_today", "bytes_today"] as const)
    .filter(other => other !== counter)
    .map(other => `, ${other} = case when known.day = excluded.day then known.${other} else 0 end`)
    .join("");
}
