// Fills the outcomes and versions of tests in runs from before these were kept.
import { type Database, transaction } from "../db.ts";
import { partsOfRows } from "../scale/places.ts";
import { decodeDetail } from "./detail.ts";
import { opaque } from "./of-traces.ts";
import { addResultValues, outcomesOf, versionsOf } from "./result-values.ts";

type Row = { id: string; agentId: string; traceIds: string[]; testIds: string[]; detail: Buffer | null };

/** Of the runs that these traces show. */
export async function backfillResults(db: Database, traceIds: string[]): Promise<void> {
  for (const [place, ids] of await partsOfRows(db, "traces", traceIds)) await backfillIn(place, ids);
}

async function backfillIn(db: Database, traceIds: string[]): Promise<void> {
  const { rows } = await db.pool.query<Row>(
    `select r.id, r.agent_id as "agentId", r.test_ids as "testIds", r.detail,
        r.trace_id || array(
          select u.trace_id from run_turns u
          where u.agent_id = r.agent_id and u.run_id = r.id and u.trace_id is not null
        )
          as "traceIds"
      from runs r
      where r.trace_id = any ($1::uuid[]) and r.state = ${opaque("completed")} and r.test_ids is not null
        and r.test_outcomes is null`,
    [traceIds],
  );
  for (const { id, agentId, traceIds: shownBy, testIds, detail } of rows) {
    const results = new Map(decodeDetail(detail).results.map(result => [result.testId, result]));
    const verdict = { results: testIds.flatMap(testId => results.get(testId) ?? []) };
    // Parallel to the ids, or not kept at all.
    if (verdict.results.length !== testIds.length) continue;
    await transaction(db, async client => {
      const { rowCount } = await client.query(
        `update runs set test_outcomes = $2, test_versions = $3
          where id = $1 and state = 'completed' and test_outcomes is null and test_ids = $4`,
        [id, outcomesOf(verdict), versionsOf(verdict), testIds],
      );
      if (rowCount === 1) await addResultValues(client, [{ agentId, traceIds: shownBy, verdict }]);
    });
  }
}
