// Finds traces whose derived columns are behind their spans, and updates these columns.
import type { ReadBy } from "../../model/agent/read-by.ts";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import { readByKey } from "../accounts/read-by-key.ts";
import { partsOfRows, placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { type Column, multiRow } from "../parameters/multi-row.ts";
import { replaceCalls } from "./call-values.ts";
import { derivedAssignments, derivedColumns, hasOtherConventions, keepsNames } from "./derived-columns.ts";

/** `bytes`: JSON in its batches. */
export type StaleTrace = { id: string; revision: number; bytes: number };

/**
 * Traces whose columns are behind their spans, latest change first: of one agent, or those quiet for `quietMs`, and
 * none larger than `bytesMax`.
 */
export async function listStale(
  db: Database,
  {
    agentId,
    quietMs,
    bytesMax,
    limit,
  }: { agentId?: string; quietMs?: number; bytesMax?: number; limit: number },
): Promise<StaleTrace[]> {
  const place = agentId === undefined ? db : await placeOf(db, agentId);
  const { rows } = await place.pool.query<StaleTrace>({
    name: "list_stale",
    text: `select id, revision, batch_bytes::float8 as bytes from traces
      where derived_revision <> revision and ($1::uuid is null or agent_id = $1)
        and updated_at <= now() - $2::float8 * interval '1 ms' and batch_bytes <= $4::float8
      order by updated_at desc limit $3`,
    values: [agentId ?? null, quietMs ?? 0, limit, bytesMax ?? Infinity],
  });
  return rows;
}

type AtRevision = { traceId: string; revision: number };

const revisionColumns = {
  id: ["uuid", ({ traceId }) => traceId],
  revision: ["int", ({ revision }) => revision],
} satisfies Record<string, Column<AtRevision>>;
const revisions = multiRow<AtRevision>(1, revisionColumns);
const derivations = multiRow<Derivation>(1, {
  ...revisionColumns,
  read_by: ["text", ({ readBy }) => readByKey(readBy)],
  ...derivedColumns,
});

/** Marks traces that cannot be opened as derived at this revision, so that nobody tries again. */
export async function skipRevisions(db: Database, skipped: AtRevision[]): Promise<void> {
  const byId = new Map(skipped.map(one => [one.traceId, one]));
  for (const [place, ids] of await partsOfRows(db, "traces", [...byId.keys()])) {
    await place.pool.query({
      name: "skip_revisions",
      text: `update traces set derived_revision = item.revision from ${revisions.from}
        where traces.id = item.id and traces.revision = item.revision`,
      values: revisions.values(ids.map(id => byId.get(id)!)),
    });
  }
}

/** `readBy`: the rules and conventions that they were derived with. */
export type Derivation = AtRevision & { columns: TraceColumns; readBy: ReadBy };

/**
 * Writes the derived columns of those traces that have not changed since they were derived, nor what they are read by, and
 * were not forgotten.
 */
export async function updateColumns(db: Database, derived: Derivation[]): Promise<void> {
  const byId = new Map(derived.map(one => [one.traceId, one]));
  for (const [place, ids] of await partsOfRows(db, "traces", [...byId.keys()])) {
    const part = ids.map(id => byId.get(id)!);
    await updateIn(place, part);
  }
}

async function updateIn(db: Database, derived: Derivation[]): Promise<void> {
  await transaction(db, async client => {
    // In the order of their ids, as merges lock them: lists and the worker may update the same traces.
    await client.query({
      name: "lock_traces_to_update",
      text: "select from traces where id = any ($1::uuid[]) order by id for no key update",
      values: [derived.map(({ traceId }) => traceId)],
    });
    const { rows } = await client.query<{ traceId: string; agentId: string; keeps: boolean }>({
      name: "update_columns",
      text: `update traces set derived_revision = item.revision, ${derivedAssignments} from ${derivations.from}, traces old
        where traces.id = item.id and traces.revision = item.revision and old.id = traces.id
          and traces.content is distinct from 'forgotten' and not ${hasOtherConventions("traces.agent_id", "item.read_by")}
        returning traces.id as "traceId", traces.agent_id as "agentId", ${keepsNames} as keeps`,
      values: derivations.values(derived),
    });
    const columnsOf = new Map(derived.map(({ traceId, columns }) => [traceId, columns]));
    await replaceCalls(
      client,
      rows.map(row => ({ ...row, columns: columnsOf.get(row.traceId)! })),
    );
  });
}
