// Appends batches to locked traces, within their limits.
import type pg from "pg";
import { Refusal } from "../../model/refusal.ts";
import { multiRow } from "../parameters/multi-row.ts";
import type { LockedTrace } from "./locked-traces.ts";
import { storeOtlpIds } from "./otlp-ids.ts";
import { countRedactions } from "./redactions.ts";
import { type ScheduleLimits, scheduleRuns } from "./schedule.ts";
import { storeResources } from "./shared-resources.ts";
import { findSuperseded } from "./span-keys.ts";
import type { Stored, TraceWrite } from "./write.ts";

export type MergeLimits = ScheduleLimits & {
  /** Distinct spans and uncompressed bytes that one merged trace may hold. */
  traceSpansMax: number;
  traceBytesMax: number;
};

/** `wasNoise`: before this batch. */
export type Append = {
  write: TraceWrite;
  trace: LockedTrace;
  seq: number;
  outcome: Stored;
  wasNoise: boolean;
};

export function fits(
  write: TraceWrite,
  trace: Pick<LockedTrace, "batch_spans" | "batch_bytes">,
  limits: MergeLimits,
): boolean {
  return (
    trace.batch_spans + write.spanCount <= limits.traceSpansMax &&
    trace.batch_bytes + write.rawLength <= limits.traceBytesMax
  );
}

/** Adds the batch to the trace's sums, or refuses it because the trace would grow too large. */
export async function admit(
  client: pg.PoolClient,
  write: TraceWrite,
  trace: LockedTrace,
  limits: MergeLimits,
): Promise<Append | Refusal> {
  if (!fits(write, trace, limits)) {
    const { superseded, spans, bytes } = await findSuperseded(client, trace.id, write.spanKeys);
    if (!fits(write, { batch_spans: spans, batch_bytes: bytes }, limits)) {
      return new Refusal("PAYLOAD_TOO_LARGE", {
        message: `The merged trace would exceed ${limits.traceSpansMax} spans or ${limits.traceBytesMax} bytes.`,
        hint: "End the trace and continue with a new traceId.",
      });
    }
    // Only after the check: a refused batch supersedes nothing.
    await client.query("delete from trace_batches where trace_id = $1 and seq = any ($2::int[])", [
      trace.id,
      superseded,
    ]);
    trace.batch_spans = spans;
    trace.batch_bytes = bytes;
  }
  trace.batch_spans += write.spanCount;
  trace.batch_bytes += write.rawLength;
  trace.batch_count++;
  trace.revision++;
  if (write.content) trace.lacks = write.content;
  const wasNoise = trace.noise !== null;
  if (write.columns.noise === null) trace.noise = null;
  const { id: traceId, revision } = trace;
  const outcome: Stored = { traceId, state: "merged", revision, evaluation: "none" };
  return { write, trace, seq: trace.batch_count, outcome, wasNoise };
}

const batches = multiRow<Append>(1, {
  agent_id: ["uuid", ({ trace }) => trace.agent_id],
  id: ["uuid", ({ trace }) => trace.id],
  seq: ["int", ({ seq }) => seq],
  raw_length: ["int", ({ write }) => write.rawLength],
  resource_id: ["uuid", ({ write }) => write.resource?.id ?? null],
  span_keys: ["bytes", ({ write }) => write.spanKeys],
  spans: ["bytes", ({ write }) => write.bytes],
});

const grown = multiRow<LockedTrace>(1, {
  id: ["uuid", trace => trace.id],
  revision: ["int", trace => trace.revision],
  batch_count: ["int", trace => trace.batch_count],
  batch_spans: ["int", trace => trace.batch_spans],
  batch_bytes: ["bigint", trace => trace.batch_bytes],
  content: ["text", trace => trace.lacks ?? null],
  noise: ["text", trace => trace.noise],
});

/** Appends the batches, then moves the runs of their traces or creates them. */
export async function appendAll(
  client: pg.PoolClient,
  appends: Append[],
  limits: MergeLimits,
): Promise<void> {
  if (appends.length === 0) return;
  const traces = [...new Set(appends.map(append => append.trace))];
  const scheduled = await scheduleRuns(
    client,
    appends.map(({ trace, write, wasNoise }) => ({
      ...write,
      traceId: trace.id,
      kind: trace.kind,
      ...(wasNoise && { noise: trace.noise === null ? "stopped" : "goes on" }),
    })),
    limits,
  );
  await client.query({
    name: "append_batches",
    text: `insert into trace_batches (agent_id, trace_id, seq, raw_length, resource_id, span_keys, spans)
      select agent_id, id, seq, raw_length, resource_id, ${batches.bytes("span_keys")}, ${batches.bytes("spans")}
      from ${batches.from}`,
    values: batches.values(appends),
  });
  const written = appends.map(({ write }) => write);
  await storeResources(client, written);
  await countRedactions(client, written);
  await storeOtlpIds(
    client,
    appends.map(({ write, trace }) => ({ write, storedAs: trace.id })),
  );
  await client.query({
    name: "raise_revisions",
    text: `update traces set path = 'otlp', revision = item.revision, updated_at = now(),
        batch_count = item.batch_count, batch_spans = item.batch_spans, batch_bytes = item.batch_bytes,
        content = coalesce(item.content, traces.content), noise = item.noise,
        derived_revision = case when item.content = 'forgotten' then item.revision else traces.derived_revision end
      from ${grown.from}
      where traces.id = item.id`,
    values: grown.values(traces),
  });
  for (const { trace, outcome } of appends) {
    trace.path = "otlp";
    if (scheduled.has(trace.id)) outcome.evaluation = "scheduled";
  }
}
