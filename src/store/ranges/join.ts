// Makes one table of the ranges of batches again, for a cluster, which divides by agent alone.
import type { Session } from "../scale/nodes.ts";

/** Without the batches that retention left to the drop of their range: nothing would ever drop them. */
export async function joinRanges(session: Session): Promise<void> {
  await session.query(
    `delete from trace_batches b using range_drops
      where b.trace_id < range_drops.below and not exists (select from traces t where t.id = b.trace_id)`,
  );
  await session.query("delete from range_drops");
  await session.query("select join_batches()");
}
