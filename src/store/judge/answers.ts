// The cache of judge answers, kept for 30 days and deleted with their trace; what criteria rest on is kept for good.

import { placeOf, placesFound } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

/** After this many days a question is asked again, even if nothing about it has changed. */
const answersKeptDays = 30;

/** The cached answers of an agent by key (64 hex digits); keys without an answer are missing. */
export async function findJudgeAnswers(
  db: Database,
  agentId: string,
  keys: string[],
): Promise<Map<string, string>> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ key: Buffer; answer: string }>({
    name: "judge-answers",
    text: `select key, answer from judge_answers
      where agent_id = $3 and key = any ($1::bytea[]) and made_at > now() - $2::int * interval '1 day'`,
    values: [keys.map(key => Buffer.from(key, "hex")), answersKeptDays, agentId],
  });
  return new Map(rows.map(({ key, answer }) => [key.toString("hex"), answer]));
}

const deletedAtOnce = 10_000;

/** Deletes expired answers in bounded statements; concurrent callers take different rows. */
export async function deleteOldJudgeAnswers(db: Database): Promise<void> {
  const places = await placesFound(db, {
    text: `select distinct agent_id as "agentId" from judge_answers where made_at < now() - $1::int * interval '1 day'`,
    values: [answersKeptDays],
  });
  for (const place of places) await deleteOldIn(place);
}

async function deleteOldIn(db: Database): Promise<void> {
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const { rowCount } = await db.pool.query(
      `with expired as materialized (
        select agent_id, key from judge_answers where made_at < now() - $1::int * interval '1 day'
        order by made_at limit $2 for update skip locked
      )
      delete from judge_answers a using expired where a.agent_id = expired.agent_id and a.key = expired.key`,
      [answersKeptDays, deletedAtOnce],
    );
    deleted = rowCount ?? 0;
  }
}
