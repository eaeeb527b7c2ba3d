// Loads the batches of stored traces.
import type { ReadBy } from "../../model/agent/read-by.ts";
import type { RunTurn, SentMessage } from "../../model/run/launch.ts";
import type { TracePath } from "../../model/trace/trace.ts";
import { accountOf } from "../accounts/ownership.ts";
import { partsOfRows } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { batchesOf } from "./span-keys.ts";

/** One trace as it is stored, in one snapshot: what mergeBatches needs, and what its agent's traces are read by. */
export type StoredBatches = ReadBy & {
  traceId: string;
  agentId: string;
  accountId: string;
  path: TracePath;
  revision: number;
  derivedRevision: number;
  /** The message that made it, of a trace of a manual run; null: it is another trace, or not known yet. */
  sent: SentMessage | null;
  /** In order of arrival. */
  batches: StoredBatch[];
};

/** Compressed. Batches that share a resource have the same buffer. */
export type StoredBatch = {
  spans: Buffer;
  /** Null if the batch contains its resource. */
  resource: Buffer | null;
};

/** What one query loads: the traces in `left` exist, but did not fit. */
export type LoadedBatches = { loaded: Map<string, StoredBatches>; left: string[] };

/**
 * The batches of many traces, smallest first, in one query: as many traces as have `bytesMax` before compression
 * together, and at least one. A trace that does not exist is left out.
 */
export async function loadBatches(
  db: Database,
  traceIds: string[],
  bytesMax = Infinity,
): Promise<LoadedBatches> {
  const all: LoadedBatches = { loaded: new Map(), left: [] };
  let bytesLeft = bytesMax;
  for (const [place, ids] of await partsOfRows(db, "traces", [...new Set(traceIds)])) {
    if (bytesLeft <= 0) all.left.push(...ids);
    else {
      const { loaded, left, bytes } = await loadIn(place, ids, bytesLeft);
      for (const [id, trace] of loaded) all.loaded.set(id, trace);
      all.left.push(...left);
      bytesLeft -= bytes;
    }
  }
  return all;
}

async function loadIn(
  db: Database,
  traceIds: string[],
  bytesMax: number,
): Promise<LoadedBatches & { bytes: number }> {
  type Row = Omit<StoredBatches, "batches" | "sent"> & {
    sent: string | null;
    fits: boolean;
    total: number;
    spans: Buffer | null;
    resourceId: string | null;
  };
  const { rows } = await db.pool.query<Row>({
    name: "load_batches",
    text: `select t.id as "traceId", t.agent_id as "agentId", ${accountOf("t.agent_id")} as "accountId", t.path, t.revision,
        t.derived_revision as "derivedRevision", t.fits, t.total::float8 as total, b.spans,
        t.sent, a.conventions, a.convention_rules as "conventionRules", a.read_from as "readFrom", b.resource_id as "resourceId"
      from (
        select *, total <= $2::float8 or total = batch_bytes as fits,
          case when kind = 'test_run' then (
            select coalesce(u.sent, u.document) from run_turns u where u.agent_id = sized.agent_id and u.trace_id = sized.id
            order by u.run_id desc limit 1
          ) end as sent
        from (
          select id, agent_id, kind, path, revision, derived_revision, batch_bytes,
            sum(batch_bytes) over (order by batch_bytes, id rows unbounded preceding) as total
          -- How many is hidden, as in multi-row.ts.
          from unnest((select $1::uuid[])) as asked (id) join traces using (id)
        ) sized
      ) t
      join agents a on a.id = t.agent_id
      left join ${batchesOf("t.id", "t.fits")} on true
      order by t.batch_bytes, t.id, b.seq`,
    values: [traceIds, bytesMax],
  });
  const resources = await loadResources(
    db,
    rows.flatMap(({ resourceId }) => resourceId ?? []),
  );
  const loaded = new Map<string, StoredBatches>();
  const left: string[] = [];
  const changed = new Set<string>();
  let bytes = 0;
  for (const { fits, total, spans, resourceId, sent, ...trace } of rows) {
    if (!fits) left.push(trace.traceId);
    if (!fits || spans === null) continue;
    bytes = total;
    const resource = resourceId === null ? null : resources.get(resourceId);
    if (resource === undefined) changed.add(trace.traceId);
    const known = loaded.get(trace.traceId);
    const batch = { spans, resource: resource ?? null };
    if (known) known.batches.push(batch);
    else
      loaded.set(trace.traceId, {
        ...trace,
        sent: sent === null ? null : sentIn(JSON.parse(sent)),
        batches: [batch],
      });
  }
  if (changed.size === 0) return { loaded, left, bytes };
  // Deleted or replaced between the two queries.
  for (const traceId of changed) loaded.delete(traceId);
  const again = await loadIn(db, [...changed], bytesMax);
  return { loaded: new Map([...loaded, ...again.loaded]), left: [...left, ...again.left], bytes };
}

/** Of what was redacted, or of the turn itself. */
function sentIn(given: SentMessage | RunTurn): SentMessage {
  return "input" in given ? { text: given.input } : given;
}

/** Shared resources by id. */
async function loadResources(db: Database, ids: string[]): Promise<Map<string, Buffer>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.pool.query<{ id: string; resource: Buffer }>({
    name: "load_resources",
    text: "select id, resource from shared_resources where id = any ($1::uuid[])",
    values: [[...new Set(ids)]],
  });
  return new Map(rows.map(({ id, resource }) => [id, resource]));
}
