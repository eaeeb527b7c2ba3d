// Reads parts of a stored trace as JSON: its outline, one span, its conversation, or all of it.

import type { HeapSemaphore } from "./load/heap-semaphore.ts";
import type { SpanSearch, SpansFound } from "./load/search.ts";
import { derivationOf, holdTraces, type LoadedTrace, withTrace } from "./load.ts";
import { type ReadBy, readByOf } from "./model/agent/read-by.ts";
import type { LabelQuestion } from "./model/judge/label.ts";
import { storable } from "./model/trace/storable.ts";
import type { TracePath } from "./model/trace/trace.ts";
import { transcribe } from "./reading/conversation/transcript.ts";
import { showConversation } from "./reading/conversation/view.ts";
import { type Preview, previewOf } from "./reading/derived/report.ts";
import type { PricesOfDay } from "./reading/derived/usage.ts";
import { finishReasonsIn } from "./reading/span/finish-reasons.ts";
import { errorOf } from "./reading/span/span-error.ts";
import type { Database } from "./store/db.ts";
import type { TraceSize } from "./store/traces/read.ts";
import { type Derivation, updateColumns } from "./store/traces/stale.ts";
import { type QuestionAsked, questionIn } from "./trace-reader/label-question.ts";
import {
  cutSpan,
  jsonOf,
  type OutlinePart,
  outlineOf,
  rawOf,
  shortPreview,
  type WholePart,
  wholeOf,
} from "./trace-reader/parts.ts";
import { type TurnPart, turnOf } from "./trace-reader/turn.ts";

/** A trace at a revision, read by what its agent chose, as a key. `bytes`: JSON in its batches. */
export type TraceVersion = TraceSize;

type ReadByChange = { [Part in keyof ReadBy]?: ReadBy[Part] | undefined };

/** Reads traces, and searches their spans. */
export type TraceReader = TraceParts & {
  search(request: SpanSearch, signal?: AbortSignal): Promise<SpansFound>;
  /** Brings what lists show of the agent's latest traces up to date. */
  refresh(agentId: string): Promise<void>;
};

export type TraceParts = {
  outline(request: { traceId: string; prices: PricesOfDay }): Promise<OutlinePart | undefined>;
  /** JSON; undefined if the trace has no such span. `whole`: nothing is truncated; `read`: as conventions read it. */
  span(request: {
    traceId: string;
    spanId: string;
    whole: boolean;
    read: boolean;
  }): Promise<Uint8Array | undefined>;
  /** What these rules and conventions would give, each by default those of the agent; with texts as in lists. */
  preview(request: { traceId: string } & ReadByChange): Promise<(Preview & ReadBy) | undefined>;
  /** The conversation as JSON. */
  conversation(request: { traceId: string }): Promise<Uint8Array | undefined>;
  /** The trace as a turn of its conversation. */
  turn(request: { traceId: string }): Promise<TurnPart | undefined>;
  whole(request: { traceId: string; prices: PricesOfDay }): Promise<WholePart | undefined>;
  /** What the judge was asked in a run of the trace. */
  question(
    request: { traceId: string } & QuestionAsked,
  ): Promise<{ question: LabelQuestion | null } | undefined>;
  /** What the columns of its row should be. */
  columns(request: { traceId: string }): Promise<Derivation | undefined>;
  /** The trace as JSON, exactly as it is stored. */
  raw(request: { traceId: string; externalId: string; path: TracePath }): Promise<Uint8Array | undefined>;
};

/** TraceParts for trace versions that the caller has looked up. */
export type VersionReader = {
  [Name in keyof TraceParts]: (
    request: Parameters<TraceParts[Name]>[0] & { version: TraceVersion },
  ) => ReturnType<TraceParts[Name]>;
};

export type LoadVersion = (version: TraceVersion) => Promise<LoadedTrace | undefined>;

export function openTraceReader(load: LoadVersion): VersionReader {
  return {
    async outline({ version, prices }) {
      const loaded = await load(version);
      return loaded && outlineOf(loaded, prices);
    },
    async span({ version, spanId, whole, read }) {
      const loaded = await load(version);
      const spans = (read ? loaded?.read : loaded?.trace)?.spans;
      const found = spans?.find(({ span_id }) => span_id === spanId);
      if (!loaded || !found) return undefined;
      const { translated: _, reading: __, ...span } = found;
      const { traceId, revision } = loaded;
      const asRead = loaded.read.spans.find(({ span_id }) => span_id === spanId) ?? found;
      const said = { error: errorOf(found), finishReasons: finishReasonsIn(asRead).map(storable) };
      return jsonOf({
        traceId,
        revision,
        ...said,
        ...(whole ? { span, cuts: [], omissions: [] } : cutSpan(span)),
      });
    },
    async conversation({ version }) {
      const loaded = await load(version);
      if (!loaded) return undefined;
      const { traceId, revision, read } = loaded;
      return jsonOf({ traceId, revision, ...showConversation(transcribe(read.spans), read.spans) });
    },
    async preview({ version, ...change }) {
      const loaded = await load(version);
      if (!loaded) return undefined;
      const { conventions = loaded.conventions, conventionRules = loaded.conventionRules } = change;
      const by = { ...readByOf(loaded), conventions, conventionRules };
      return { ...by, ...shortPreview(previewOf(loaded.trace, by)) };
    },
    async turn({ version }) {
      const loaded = await load(version);
      return loaded && turnOf(loaded);
    },
    async columns({ version }) {
      const loaded = await load(version);
      return loaded && derivationOf(loaded);
    },
    async whole({ version, prices }) {
      const loaded = await load(version);
      return loaded && wholeOf(loaded, prices);
    },
    async question({ version, ...asked }) {
      const loaded = await load(version);
      return loaded && { question: questionIn(loaded, asked) };
    },
    async raw({ version, externalId, path }) {
      const loaded = await load(version);
      return loaded && rawOf(loaded, { externalId, path });
    },
  };
}

/** Brings the columns of these traces up to date. */
export async function refreshColumns(
  db: Database,
  reader: Pick<TraceParts, "columns">,
  traceIds: string[],
): Promise<void> {
  for (const traceId of traceIds) {
    const derived = await reader.columns({ traceId });
    if (derived) await updateColumns(db, [derived]);
  }
}

/** Without a cache: for small traces. */
export function loadVersion(db: Database, heap: HeapSemaphore): LoadVersion {
  return ({ traceId }) => withTrace(db, traceId, heap, loaded => loaded);
}

/** Loads a trace. Its share of the thread's heap is reserved until `release` is called. */
export type AcquireVersion = (
  version: TraceVersion,
) => Promise<{ loaded: LoadedTrace; release: () => void } | undefined>;

export function acquireVersion(db: Database, heap: HeapSemaphore): AcquireVersion {
  return async ({ traceId }) => {
    const acquired = await holdTraces(db, [traceId], heap);
    const loaded = acquired?.traces[0];
    if (loaded) return { loaded, release: acquired.release };
    acquired?.release();
    return undefined;
  };
}

export type TraceCache = {
  load: LoadVersion;
  /** Drops the least recently used trace and its share of the heap; false if the cache is empty. */
  drop(): boolean;
};

/**
 * An LRU cache of loaded traces, limited in bytes of JSON but always with the latest trace, so that clicking through
 * the spans of a trace loads it once. Concurrent requests share one load.
 */
export function cacheTraces(acquire: AcquireVersion, cachedBytesMax: number): TraceCache {
  type Entry = { version: TraceVersion; acquisition: ReturnType<AcquireVersion>; loaded: boolean };
  const cached = new Map<string, Entry>();
  const drop = (entry: Entry) => {
    if (cached.get(entry.version.traceId) === entry) cached.delete(entry.version.traceId);
    // A failed load is retried by the next request.
    entry.acquisition.then(
      acquired => acquired?.release(),
      () => {},
    );
  };
  const open = (version: TraceVersion): Entry => {
    const entry: Entry = { version, acquisition: acquire(version), loaded: false };
    entry.acquisition.then(
      () => {
        entry.loaded = true;
      },
      () => drop(entry),
    );
    return entry;
  };
  return {
    async load(version) {
      const known = cached.get(version.traceId);
      const fits =
        known !== undefined &&
        known.version.revision >= version.revision &&
        known.version.readBy === version.readBy;
      if (known && !fits) drop(known);
      cached.delete(version.traceId);
      const entry = fits ? known : open(version);
      cached.set(version.traceId, entry);
      let bytes = [...cached.values()].reduce((sum, { version }) => sum + version.bytes, 0);
      for (const other of cached.values()) {
        if (bytes <= cachedBytesMax || cached.size === 1) break;
        drop(other);
        bytes -= other.version.bytes;
      }
      return (await entry.acquisition)?.loaded;
    },
    drop() {
      // A trace that is still loading may itself wait for room.
      const oldest = cached.values().find(({ loaded }) => loaded);
      if (oldest) drop(oldest);
      return oldest !== undefined;
    },
  };
}
