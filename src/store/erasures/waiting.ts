// The log records of an agent that wait for their span, for erasures.

import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

export type WaitingRow = { otlpTraceId: string; id: string; records: Buffer };

export async function listWaitingOfAgent(db: Database, agentId: string): Promise<WaitingRow[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<WaitingRow>(
    `select otlp_trace_id as "otlpTraceId", id, records from waiting_records where agent_id = $1`,
    [agentId],
  );
  return rows;
}

export async function deleteWaitingRows(db: Database, agentId: string, rows: WaitingRow[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    `delete from waiting_records w using unnest($2::text[], $3::uuid[]) as found (otlp_trace_id, id)
     where w.agent_id = $1 and w.otlp_trace_id = found.otlp_trace_id and w.id = found.id`,
    [agentId, rows.map(({ otlpTraceId }) => otlpTraceId), rows.map(({ id }) => id)],
  );
}
