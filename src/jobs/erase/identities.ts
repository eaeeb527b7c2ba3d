// Erases the identities of traces that retention deleted: they may quote what is to be erased, as trace ids of a customer do. So
// may batches of these traces that wait for their range to be dropped, which go without being read.

import type { Criterion } from "../../model/erasure.ts";
import { excerptOf } from "../../redaction/erasure/escaped-text.ts";
import type { Database } from "../../store/db.ts";
import {
  deleteIdentities,
  deleteLeftBatches,
  type GoneIdentity,
  hasLeftBatches,
  listGoneIdentities,
} from "../../store/erasures/gone-identities.ts";
import { listAgentsToScan } from "../../store/erasures/scan.ts";

const rowsMax = 2_000;

/** Those of the next agent; returns where to continue, null when all are done. The cursor has no identity, since it is stored. */
export async function eraseIdentities(
  db: Database,
  { projectId, criterion, cursor }: { projectId: string; criterion: Criterion; cursor: string | null },
  signal: AbortSignal,
): Promise<string | null> {
  const isAbout = matcherOf(criterion);
  const hasBatches = await hasLeftBatches(db);
  if (!isAbout && !hasBatches) return null;
  const agents = await listAgentsToScan(db, projectId);
  const agent = agents.find(({ id }) => cursor === null || id > cursor);
  if (!agent) return null;
  for (let after: string | null = ""; after !== null; ) {
    signal.throwIfAborted();
    const { gone, last } = await listGoneIdentities(db, agent.id, after, rowsMax);
    // Unread: they go a little earlier than with their range.
    if (hasBatches && gone.length > 0)
      await deleteLeftBatches(
        db,
        gone.map(({ traceId }) => traceId),
      );
    const found = isAbout ? gone.filter(isAbout).map(({ externalId }) => externalId) : [];
    if (found.length > 0) await deleteIdentities(db, agent.id, found);
    after = last;
  }
  return agent.id;
}

/** Undefined where identities say nothing: users and conversations have ids of their own. */
function matcherOf({ kind, values }: Criterion): ((identity: GoneIdentity) => boolean) | undefined {
  if (kind === "externalId") return ({ externalId }) => values.includes(externalId);
  if (kind === "traceIds") return ({ traceId }) => values.includes(traceId);
  if (kind === "text")
    return ({ externalId }) => excerptOf(externalId, { values, wholeWords: false }) !== null;
  return undefined;
}
