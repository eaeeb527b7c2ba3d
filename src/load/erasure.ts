// Finds the traces of a project that an erasure is about, a part at a time: reads everything that is stored of them.
import { zstdDecompressSync } from "node:zlib";
import { type Criterion, type ErasurePlace, isSearchable } from "../model/erasure.ts";
import { boundedId } from "../reading/derived/identity.ts";
import { excerptInJson, excerptOf, JsonProbe, type TextSearch } from "../redaction/erasure/escaped-text.ts";
import { type BatchSearch, findInBatch } from "../redaction/erasure/find-in-batch.ts";
import { idAttributes } from "../redaction/erasure/id-attributes.ts";
import type { Database } from "../store/db.ts";
import {
  listAgentsToScan,
  listByExternalId,
  listLaunchesToScan,
  listOfProject,
  listTracesToScan,
  listTurnsToScan,
  type ScannedAgent,
  type ScannedTrace,
  type ScannedTurn,
} from "../store/erasures/scan.ts";
import { clockSlackMs, idAt, oldest, timeOfId } from "../store/listing.ts";
import { loadBatches, type StoredBatches } from "../store/traces/batches.ts";
import { traceHeapBytes } from "../threads/heap.ts";
import { isProtobuf, readBatch, readResource, type Scanned, scanText } from "../wire/batch.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

/** `values` of ids include their pseudonyms. `id`: of the erasure, whose time is when it began. */
export type ErasureSearch = {
  id: string;
  projectId: string;
  criterion: Criterion;
  /** Only traces that changed since then; null: all. */
  since: Date | null;
  cursor: string | null;
};

export type ErasureMatch = { traceId: string; place: ErasurePlace | null };

/**
 * `unmatched`: traces that changed since the dry run and do not match. `cursor`: where the next part begins; null: there is
 * none. `read`: how many traces were read.
 */
export type ErasurePart = {
  matches: ErasureMatch[];
  unmatched: string[];
  read: number;
  cursor: string | null;
};

const nothing: ErasurePart = { matches: [], unmatched: [], read: 0, cursor: null };

const tracesMax = 100;
/** Read at a time, so that a part takes a small share of a second. */
const partBytes = 4 * 1024 * 1024;
/** Unchanged traces are only counted. */
const rowsMax = 2_000;

export async function findMatches(
  db: Database,
  heap: HeapSemaphore,
  search: ErasureSearch,
  signal?: AbortSignal,
): Promise<ErasurePart> {
  const { projectId, criterion, since } = search;
  const { kind, values } = criterion;
  if (kind === "externalId") return whole(await listByExternalId(db, projectId, values), "externalId");
  if (kind === "traceIds") return whole(await listOfProject(db, projectId, values), "id");
  const agents = await listAgentsToScan(db, projectId);
  const [from = "", after = oldest] = search.cursor?.split(" ") ?? [];
  const agent = agents.find(({ id }) => id >= from);
  if (!agent) return nothing;
  const through = idAt(timeOfId(search.id) + clockSlackMs);
  const range = { agentId: agent.id, after: agent.id === from ? after : oldest, through, since };
  const limit = since ? rowsMax : tracesMax;
  const rows = await listTracesToScan(db, range, limit);
  const { taken, open } = portion(rows);
  const matches = await matchesIn(db, heap, open, searchOf(criterion, agent), signal);
  const isLast = taken.length === rows.length && rows.length < limit;
  const next = isLast ? agents[agents.indexOf(agent) + 1]?.id : undefined;
  const matched = new Set(matches.map(({ traceId }) => traceId));
  const unmatched = since ? open.map(({ id }) => id).filter(id => !matched.has(id)) : [];
  const cursor = isLast ? (next ? `${next} ${oldest}` : null) : `${agent.id} ${taken.at(-1)!.id}`;
  return { matches, unmatched, read: taken.length, cursor };
}

function whole(traceIds: string[], path: string): ErasurePart {
  const place = { spanId: null, in: "trace", path, excerpt: "" } as const;
  return { ...nothing, matches: traceIds.map(traceId => ({ traceId, place })), read: traceIds.length };
}

/** As many of the rows as may be read at once, at least one, and those that changed. */
export function portion<T extends ScannedTrace>(rows: T[]): { taken: T[]; open: T[] } {
  const taken: T[] = [];
  const open: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (row.changed) {
      bytes += row.bytes;
      if (open.length > 0 && (bytes > partBytes || open.length === tracesMax)) break;
      open.push(row);
    }
    taken.push(row);
  }
  return { taken, open };
}

type Search = {
  batches: BatchSearch;
  probe: JsonProbe;
  inColumns: (row: ScannedTrace) => ErasurePlace | null;
};

export function searchOf({ kind, values }: Criterion, agent: ScannedAgent): Search {
  const probe = new JsonProbe(values);
  if (kind === "text") {
    const text: TextSearch = { values, wholeWords: false };
    const inColumns = ({ texts }: ScannedTrace) => {
      const excerpt = texts.map(one => excerptOf(one, text)).find(one => one !== null);
      return excerpt === undefined ? null : placeInTrace("", excerpt);
    };
    return { batches: { text }, probe, inColumns };
  }
  const stored = new Set(values.map(boundedId));
  const part = kind === "userId" ? "userId" : "conversationId";
  const attributes = idAttributes(part, agent.conventionRules);
  return {
    batches: { id: { values, attributes } },
    probe,
    inColumns: row => (row[part] !== null && stored.has(row[part]) ? placeInTrace(part, row[part]) : null),
  };
}

function placeInTrace(path: string, excerpt: string): ErasurePlace {
  return { spanId: null, in: "trace", path, excerpt };
}

export async function matchesIn(
  db: Database,
  heap: HeapSemaphore,
  rows: ScannedTrace[],
  search: Search,
  signal: AbortSignal | undefined,
): Promise<ErasureMatch[]> {
  const { loaded } = await loadBatches(
    db,
    rows.map(({ id }) => id),
  );
  const matches: ErasureMatch[] = [];
  for (const row of rows) {
    if (signal?.aborted) throw signal.reason;
    const stored = loaded.get(row.id);
    const place = (stored && (await inBatches(stored, heap, search))) ?? search.inColumns(row);
    if (place) matches.push({ traceId: row.id, place });
  }
  return matches;
}

async function inBatches(
  { batches }: StoredBatches,
  heap: HeapSemaphore,
  search: Search,
): Promise<ErasurePlace | null> {
  for (const { spans, resource } of batches) {
    const found =
      (await inJson(spans, heap, search, json => findInBatch(readBatch(json), search.batches))) ??
      (resource &&
        (await inJson(resource, heap, search, json => {
          const batch = { spans: [], resource: readResource(json), metadata: null };
          return findInBatch(batch, search.batches);
        })));
    if (found) return found;
  }
  return null;
}

async function inJson(
  bytes: Buffer,
  heap: HeapSemaphore,
  { probe }: Search,
  find: (stored: Scanned) => ErasurePlace | null,
): Promise<ErasurePlace | null> {
  const text = zstdDecompressSync(bytes);
  if (isProtobuf(text) ? !probe.mayBeIn(text) : !probe.mayHave(text)) return null;
  const scanned = scanText(text);
  const heapBytes = traceHeapBytes({ bytes: text.length, elements: scanned.elements });
  // A batch of so many values cannot be parsed. It is better to find too much than too little: it counts as found.
  if (!heap.fits(heapBytes)) return placeInTrace("", "");
  const taken = await heap.alone(() => heap.take(heapBytes));
  try {
    return find(scanned);
  } finally {
    taken?.release();
  }
}

export function excerptInTurn(
  { document, reply }: Pick<ScannedTurn, "document" | "reply">,
  text: TextSearch,
): string | null {
  const parts = [JSON.parse(document), reply && JSON.parse(zstdDecompressSync(reply).toString())];
  return parts.map(part => excerptInJson(part, text)).find(one => one !== null) ?? null;
}

const launchesMax = 20;
const turnsMax = 50;

/** Finds a text in what manual runs sent and received, a part at a time: it belongs to the trace of its turn, if there is one. */
export async function findInTurns(
  db: Database,
  { projectId, criterion, cursor: at }: ErasureSearch,
): Promise<ErasurePart> {
  if (criterion.kind !== "text" || !isSearchable(criterion)) return nothing;
  const search: TextSearch = { values: criterion.values, wholeWords: false };
  const agents = await listAgentsToScan(db, projectId);
  const [from = "", after = oldest] = at?.split(" ") ?? [];
  const agent = agents.find(({ id }) => id >= from);
  if (!agent) return nothing;
  const launches = await listLaunchesToScan(db, agent.id, agent.id === from ? after : oldest, launchesMax);
  const matches: ErasureMatch[] = [];
  for (const launchId of launches) {
    for (let last = { runId: oldest, turn: -1 }; ; ) {
      const turns = await listTurnsToScan(db, launchId, last, turnsMax);
      for (const { traceId, document, reply } of turns) {
        const excerpt = traceId === null ? null : excerptInTurn({ document, reply }, search);
        if (excerpt !== null)
          matches.push({ traceId: traceId!, place: { spanId: null, in: "turn", path: "", excerpt } });
      }
      if (turns.length < turnsMax) break;
      last = turns.at(-1)!;
    }
  }
  if (launches.length === launchesMax)
    return { ...nothing, matches, cursor: `${agent.id} ${launches.at(-1)}` };
  const next = agents[agents.indexOf(agent) + 1]?.id;
  return { ...nothing, matches, cursor: next ? `${next} ${oldest}` : null };
}
