// Stores the results of completed runs, and adds them to what is counted.
import type pg from "pg";
import type { RunCause } from "../../model/run/run.ts";
import { addTestResults } from "../alerts/test-states.ts";
import { partsOfRows } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { countsItself, findTestChanges } from "./asked-for.ts";
import type { EncodedRun, Outcomes } from "./completed-run.ts";
import { endedColumns, queuedOf } from "./of-traces.ts";
import { closeOutages } from "./outages.ts";
import { findReplacements, lockTracesOf } from "./replacements.ts";
import { addResultValues, outcomesOf, versionsOf } from "./result-values.ts";
import { addRollups } from "./rollups.ts";
import { dropSameRevision } from "./same-revision.ts";

/**
 * Stores the results of runs that are still leased by this worker, and returns their ids. Runs that another worker took
 * over, or whose trace was deleted, are neither changed nor counted; one whose revision was evaluated before is deleted.
 */
export async function completeRuns(
  db: Database,
  lease: string,
  completed: EncodedRun[],
): Promise<Set<string>> {
  const byId = new Map(completed.map(run => [run.id, run]));
  const kept = new Set<string>();
  for (const [place, ids] of await partsOfRows(db, "queue", [...byId.keys()])) {
    const part = ids.map(id => byId.get(id)!);
    for (const id of await completeIn(place, lease, part)) kept.add(id);
  }
  return kept;
}

async function completeIn(db: Database, lease: string, completed: EncodedRun[]): Promise<string[]> {
  const byId = new Map(completed.map(run => [run.id, run]));
  return transaction(db, async client => {
    await lockTracesOf(client, [...byId.keys()]);
    const kept = await withoutSameRevision(client, await storeResults(client, lease, completed));
    if (kept.some(run => run.outageBefore || byId.get(run.id)!.outage)) await closeOutages(client, kept);
    if (kept.length > 0) {
      const replacements = await findReplacements(client, kept);
      const placed = kept.map(run => ({ ...run, ...replacements.get(run.id)! }));
      const changes = await findTestChanges(
        client,
        placed.filter(({ hasOthers }) => hasOthers),
      );
      const stored = placed.map(run => ({
        ...{ ...byId.get(run.id)!, ...run },
        ...(changes.get(run.id) ?? countsItself),
      }));
      await addResultValues(
        client,
        stored.map(run => ({ ...run, traceIds: [run.traceId] })),
      );
      await addRollups(client, stored);
      await addTestResults(
        client,
        stored.filter(({ cause }) => cause === "traffic"),
      );
    }
    return kept.map(run => run.id);
  });
}

async function withoutSameRevision(client: pg.PoolClient, stored: Kept[]): Promise<Kept[]> {
  const repeated = stored.filter(({ hasOthers }) => hasOthers);
  if (repeated.length === 0) return stored;
  const dropped = await dropSameRevision(client, repeated);
  return stored.filter(({ id }) => !dropped.has(id));
}

type Kept = {
  id: string;
  traceId: string;
  agentId: string;
  /** Runs that were asked for again do not count toward the state of a test. */
  cause: RunCause;
  /** The hours in which the run was created and its trace was received. */
  hour: Date;
  traceHour: Date;
  /** Whether the trace has other runs. */
  hasOthers: boolean;
  /** Whether an earlier run of the trace had skipped checks because the judge was unavailable. */
  outageBefore: boolean;
};

const results = multiRow<EncodedRun>(2, {
  run_id: ["uuid", run => run.id],
  revision: ["int", run => run.revision],
  routing: ["text", run => run.verdict.routing],
  verdict: ["text", run => run.verdict.verdict],
  score: ["float8", run => run.verdict.score],
  passed: ["int", run => run.verdict.counts.passed],
  failed: ["int", run => run.verdict.counts.failed],
  skipped: ["int", run => run.verdict.counts.skipped],
  missing: ["int", run => run.verdict.counts.missing_instrumentation],
  test_ids: ["text", run => run.verdict.results.map(result => result.testId).join(" ")],
  failed_ids: ["text", run => failedTestIds(run.verdict).join(" ")],
  test_outcomes: ["text", run => outcomesOf(run.verdict)],
  test_versions: ["text", run => versionsOf(run.verdict).join(" ")],
  fully: ["bool", run => run.verdict.fullyEvaluated],
  outage: ["bool", run => run.outage],
  detail: ["bytes", run => run.detail],
});

export function failedTestIds({ results }: Outcomes): string[] {
  return results.filter(({ outcome }) => outcome === "failed").map(({ testId }) => testId);
}

/** The runs whose results were stored. */
async function storeResults(client: pg.PoolClient, lease: string, completed: EncodedRun[]): Promise<Kept[]> {
  const { rows } = await client.query<Kept>({
    name: "complete_runs",
    text: `with ended as (
        delete from queue using ${results.from} where id = item.run_id and lease = $1
        returning ${endedColumns}, trace_id, cause, attempts, item.*
      )
      insert into runs (${endedColumns}, trace_id, cause, attempts, state, finished_at, revision, routing, verdict, score, passed, failed, skipped,
        missing_instrumentation, test_ids, failed_test_ids, test_outcomes, test_versions, detail, fully_evaluated, outage_open)
      select ${endedColumns}, trace_id, cause, attempts, 'completed', now(), revision, routing, verdict, score, passed, failed, skipped, missing,
        string_to_array(nullif(item.test_ids, ''), ' ')::uuid[], string_to_array(item.failed_ids, ' ')::uuid[],
        test_outcomes, string_to_array(item.test_versions, ' ')::int[], ${results.bytes("detail")}, fully, outage
      from ended item
      returning runs.id, runs.trace_id as "traceId", runs.agent_id as "agentId", runs.cause,
        date_trunc('hour', runs.created_at, 'UTC') as hour,
        date_trunc('hour', (select received_at from traces where id = runs.trace_id), 'UTC') as "traceHour",
        (
          (select true from runs other where other.trace_id = runs.trace_id limit 1)
          union all (select true from queue where ${queuedOf("runs.agent_id", "runs.trace_id")} and queue.id <> runs.id)
          limit 1
        ) is not null as "hasOthers",
        (
          select true from runs earlier
          where earlier.agent_id = runs.agent_id and earlier.trace_id = runs.trace_id and earlier.outage_open limit 1
        ) is not null as "outageBefore"`,
    values: [lease, ...results.values(completed)],
  });
  return rows;
}
