// Reads traces that an erasure found again before it deletes them: one that was replaced meanwhile may not match any more.
import type { Criterion } from "../model/erasure.ts";
import type { Database } from "../store/db.ts";
import type { CheckedMatch, Match } from "../store/erasures/progress.ts";
import {
  listAgentsToScan,
  listTracesToCheck,
  listTurnsOfTraces,
  type ScannedTrace,
} from "../store/erasures/scan.ts";
import { excerptInTurn, matchesIn, portion, searchOf } from "./erasure.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

/** `since`: those that changed since then are read; of the others the dry run is still right. */
export type Recheck = { projectId: string; criterion: Criterion; since: Date | null; matches: Match[] };

/** Those of the matches that were checked: large ones are left for the next time. */
export async function recheckMatches(
  db: Database,
  heap: HeapSemaphore,
  { projectId, criterion, since, matches }: Recheck,
  signal?: AbortSignal,
): Promise<CheckedMatch[]> {
  const ids = matches.map(({ traceId }) => traceId);
  // The revision is read before the content: if that is newer, the trace is not deleted, but read again.
  const rows = await listTracesToCheck(db, ids, since);
  const stored = new Set(rows.map(({ id }) => id));
  const gone = matches
    .filter(({ traceId }) => !stored.has(traceId))
    .map(match => ({ ...match, revision: null }));
  const { taken, open } = portion(rows);
  const other = await findOther(db, heap, { projectId, criterion, open }, signal);
  const checked = taken.map(({ id, agentId, revision }) => ({
    ...{ traceId: id, agentId },
    revision: other.has(id) ? null : revision,
  }));
  return [...gone, ...checked];
}

type Open = { projectId: string; criterion: Criterion; open: (ScannedTrace & { agentId: string })[] };

/** Those that do not match any more. Traces that are named by their own ids are what they were. */
async function findOther(
  db: Database,
  heap: HeapSemaphore,
  { projectId, criterion, open }: Open,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const { kind, values } = criterion;
  if (kind === "traceIds" || kind === "externalId" || open.length === 0) return new Set();
  const other = new Set(open.map(({ id }) => id));
  for (const agent of await listAgentsToScan(db, projectId)) {
    const rows = open.filter(({ agentId }) => agentId === agent.id);
    if (rows.length === 0) continue;
    for (const { traceId } of await matchesIn(db, heap, rows, searchOf(criterion, agent), signal)) {
      other.delete(traceId);
    }
  }
  if (kind === "text" && other.size > 0) {
    const text = { values, wholeWords: false };
    for (const { traceId, ...turn } of await listTurnsOfTraces(db, [...other])) {
      if (traceId !== null && excerptInTurn(turn, text) !== null) other.delete(traceId);
    }
  }
  return other;
}
