// Keeps one passive run for each revision of a trace, beside those asked for. A batch that comes after a run was claimed
// schedules another; if the first one has read the batch, nothing is left for the other.
import type pg from "pg";
import type { RunCause } from "../../model/run/run.ts";
import { opaque } from "./of-traces.ts";

type Completed = { id: string; traceId: string; cause: RunCause };

/**
 * Call it once these runs are completed, in the same transaction, with `lockTracesOf`. Deletes those whose revision
 * was evaluated before, and pending ones for which they left nothing new. Returns the former. Also deletes a run that was
 * taken up again after a later one had evaluated an earlier revision: the later one stays the trace's latest, and batches
 * since then have scheduled another.
 */
export async function dropSameRevision(client: pg.PoolClient, completed: Completed[]): Promise<Set<string>> {
  const runs = completed.filter(({ cause }) => cause === "traffic");
  if (runs.length === 0) return new Set();
  const ids = runs.map(({ id }) => id);
  const { rows } = await client.query<{ id: string }>({
    name: "drop_evaluated",
    text: `delete from runs where id = any ($1::uuid[]) and (
        select true from runs other where other.trace_id = runs.trace_id
          and other.kind = 'passive' and other.cause = 'traffic' and other.state = ${opaque("completed")}
          and (other.revision = runs.revision and (other.id <> all ($1::uuid[]) or other.id < runs.id)
            or other.revision < runs.revision and other.id > runs.id) limit 1
      ) is not null returning id`,
    values: [ids],
  });
  const dropped = new Set(rows.map(({ id }) => id));
  const traceIds = [...new Set(runs.map(({ traceId }) => traceId))];
  // With the lock no batch is being stored, so all that was accepted is in the revision. A trace that is locked is being
  // merged or deleted: the pending run stays, and is dropped at its end if it found nothing new.
  await client.query({
    name: "drop_pending",
    text: `with trace as materialized (
        select id, agent_id, revision from traces where id = any ($2::uuid[]) order by id for key share skip locked
      )
      delete from queue using trace
      where queue.agent_id = trace.agent_id and queue.state = 'pending' and queue.trace_id = trace.id and queue.cause = 'traffic'
        and exists (
          select from runs evaluated where evaluated.id = any ($1::uuid[]) and evaluated.trace_id = trace.id
            and evaluated.revision = trace.revision
        )`,
    values: [ids, traceIds],
  });
  return dropped;
}
