// The OTLP trace ids of traces: log records name their trace by this id, whatever identity the trace has.
import type pg from "pg";
import { multiRow } from "../multi-row.ts";
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
