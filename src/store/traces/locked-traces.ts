// Locks the traces that batches name, and finds missing ones.
import type pg from "pg";
import type { ContentGone, Noise, TraceKind, TracePath } from "../../model/trace/trace.ts";
import { forgetAfter } from "../content-deadlines.ts";
import { multiRow } from "../parameters/multi-row.ts";
import type { Stored, TraceWrite } from "./write.ts";

export type LockedTrace = {
  id: string;
  agent_id: string;
  external_id: string;
  kind: TraceKind;
  path: TracePath;
  revision: number;
  batch_count: number;
  batch_spans: number;
  batch_bytes: number;
  is_forgotten: boolean;
  /** Of the batches so far; null: a batch has something else. */
  noise: Noise | null;
  /** Set where a batch appended now is without content. */
  lacks?: ContentGone;
  intake_key: string;
  privacy_revision: number;
  /** Seconds; null: its content is kept. */
  forget_after_s: number | null;
};

export const identity = (agentId: string, externalId: string) => `${agentId} ${externalId}`;

const identities = multiRow<TraceWrite>(1, {
  agent_id: ["uuid", write => write.agentId],
  external_id: ["text", write => write.externalId],
});

/** By identity. In the order of their ids, so that two callers never deadlock. */
export async function lockTraces(
  client: pg.PoolClient,
  writes: TraceWrite[],
): Promise<Map<string, LockedTrace>> {
  const { rows } = await client.query<LockedTrace>({
    name: "lock_traces",
    text: `select t.id, t.agent_id, named.external_id, kind, path, revision, batch_count, batch_spans, batch_bytes, noise,
        coalesce(t.content = 'forgotten', false) as is_forgotten, a.intake_key, a.privacy_revision,
        ${forgetAfter} as forget_after_s
      from ${identities.from} join trace_identities named using (agent_id, external_id)
        join traces t on t.id = named.trace_id join agents a on a.id = t.agent_id
      order by t.id for update of t for key share of a`,
    values: identities.values(writes),
  });
  // A trace that Onlooker built of a turn has two identities.
  const byId = new Map(rows.map(row => [row.id, row]));
  return new Map(rows.map(row => [identity(row.agent_id, row.external_id), byId.get(row.id)!]));
}

/** Of identities whose traces are gone, but which stay. Undefined for one that is new, or whose trace was deleted. */
export async function findGone(
  client: pg.PoolClient,
  writes: TraceWrite[],
  traces: Map<string, LockedTrace>,
): Promise<Map<string, Stored>> {
  const missing = writes.filter(({ agentId, externalId }) => !traces.has(identity(agentId, externalId)));
  if (missing.length === 0) return new Map();
  const { rows } = await client.query<{ agentId: string; externalId: string; traceId: string }>({
    name: "find_gone",
    text: `select item.agent_id as "agentId", item.external_id as "externalId", named.trace_id as "traceId"
      from ${identities.from} join trace_identities named using (agent_id, external_id)
      where not exists (select from traces t where t.id = named.trace_id)`,
    values: identities.values(missing),
  });
  const paths = new Map(
    missing.map(({ agentId, externalId, path }) => [identity(agentId, externalId), path]),
  );
  return new Map(
    rows.map(({ agentId, externalId, traceId }) => {
      const name = identity(agentId, externalId);
      const state = paths.get(name) === "canonical" ? "replaced" : "merged";
      return [name, { traceId, state, revision: 1, evaluation: "none", isExpired: true }];
    }),
  );
}
