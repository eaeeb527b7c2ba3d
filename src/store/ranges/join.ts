// Makes one table of the ranges of batches, for a cluster, which divides by agent alone.
import type { Session } from "../db.ts";
import { storageOfRange } from "./catalog.ts";

/**
 * With all rows copied, but for the batches that retention left to the drop of their range: nothing would ever drop them. The
 * table is like the divided one of the schema.
 */
export async function joinRanges(session: Session): Promise<void> {
  await session.query(
    `delete from trace_batches b using range_drops
      where b.trace_id < range_drops.below and not exists (select from traces t where t.id = b.trace_id)`,
  );
  await session.query("delete from range_drops");
  await session.query(
    `create table trace_batches_joined (like trace_batches including defaults including storage) ${storageOfRange}`,
  );
  await session.query("insert into trace_batches_joined select * from trace_batches");
  await session.query("drop table trace_batches");
  await session.query("alter table trace_batches_joined rename to trace_batches");
  await session.query("alter table trace_batches add primary key (trace_id, seq, agent_id)");
  await session.query(
    "create index trace_batches_resource on trace_batches (resource_id) where resource_id is not null",
  );
  await session.query(
    `create trigger trace_batches_deleted after delete on trace_batches referencing old table as gone
      for each statement execute function delete_unused_resources()`,
  );
}
