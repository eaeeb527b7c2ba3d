// The OTLP trace ids of traces: log records name their trace by this id, whatever identity the trace has.
import type pg from "pg";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import type { TraceWrite } from "./write.ts";

/** What log records call a trace. */
export type NamedTrace = { agentId: string; otlpTraceId: string };

export const named = (first: number) =>
  multiRow<NamedTrace>(first, {
    agent_id: ["uuid", trace => trace.agentId],
    otlp_trace_id: ["text", trace => trace.otlpTraceId],
  });

const otlpIds = multiRow<TraceWrite & { storedAs: string }>(1, {
  agent_id: ["uuid", write => write.agentId],
  otlp_trace_id: ["text", write => write.otlpTraceId],
  trace_id: ["uuid", write => write.storedAs],
});

/** Keeps the OTLP trace ids of traces that an x-request-id names. `storedAs`: the trace's id. */
export async function storeOtlpIds(
  client: pg.PoolClient,
  writes: { write: TraceWrite; storedAs: string }[],
): Promise<void> {
  const rows = writes.flatMap(({ write, storedAs }) => (write.otlpTraceId ? [{ ...write, storedAs }] : []));
  if (rows.length === 0) return;
  await client.query({
    name: "store_otlp_ids",
    text: `insert into trace_otlp_ids (agent_id, otlp_trace_id, trace_id)
      select distinct * from ${otlpIds.from} order by 1, 2, 3 on conflict do nothing`,
    values: otlpIds.values(rows),
  });
}

const otlpTraceIdPattern = /^[0-9a-f]{32}$/;

/** What log records call the trace of a write; null if they cannot name it. */
export function nameOf({ agentId, externalId, otlpTraceId = externalId }: TraceWrite): NamedTrace | null {
  return otlpTraceIdPattern.test(otlpTraceId) ? { agentId, otlpTraceId } : null;
}

/**
 * Gives a trace its OTLP trace id as a second identity, so that what is sent under it belongs to the same trace. Returns the
 * id of the trace that bears it: another one that was stored before.
 */
export async function nameByOtlpId(
  db: Database,
  { agentId, otlpTraceId, traceId }: NamedTrace & { traceId: string },
): Promise<string> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ trace_id: string }>({
    name: "name_by_otlp_id",
    text: `with named as (
        insert into trace_identities (agent_id, trace_id, external_id) values ($1, $2, $3)
        on conflict do nothing returning trace_id
      ), known as (
        insert into trace_otlp_ids (agent_id, otlp_trace_id, trace_id) select $1, $3, trace_id from named
      )
      select trace_id from named
      union all select trace_id from trace_identities where agent_id = $1 and external_id = $3`,
    values: [agentId, traceId, otlpTraceId],
  });
  return rows[0]?.trace_id ?? traceId;
}
