// Reads parts of a stored trace as JSON: its outline, one span, its conversation, or all of it.
import type { HeapSemaphore } from "./load/heap-semaphore.ts";
import type { SpanSearch, SpansFound } from "./load/search.ts";
import { holdTraces, type LoadedTrace, withTrace } from "./load.ts";
import { type ConventionReport, type Preview, previewOf, reportOf } from "./model/conventions/report.ts";
import { attributeOf, structureOf } from "./model/conversation/conversation.ts";
import { transcribe } from "./model/conversation/transcript.ts";
import { showConversation } from "./model/conversation/view.ts";
import { ValueAllowance } from "./model/json-text.ts";
import { columnsOf, storable } from "./model/trace/columns.ts";
import { outlineSpan } from "./model/trace/outline.ts";
import type { Attributes, Derived, Span, ToolCall, TracePath } from "./model/trace/trace.ts";
import { type Cut, type Path, truncateValue } from "./model/truncate.ts";
import type { Database } from "./store/db.ts";
import type { TraceSize } from "./store/traces/read.ts";

/** A trace at a revision, read by the conventions of its agent, as one text. `bytes`: JSON in its batches. */
export type TraceVersion = TraceSize;

/** Reads traces, and searches their spans. */
export type TraceReader = TraceParts & {
  search(request: SpanSearch, signal?: AbortSignal): Promise<SpansFound>;
};

export type TraceParts = {
  outline(request: { traceId: string }): Promise<OutlinePart | undefined>;
  /** JSON; undefined if the trace has no such span. `whole`: nothing is truncated; `read`: as conventions read it. */
  span(request: {
    traceId: string;
    spanId: string;
    whole: boolean;
    read: boolean;
  }): Promise<Uint8Array | undefined>;
  /** What these conventions would give, with texts as in lists. */
  preview(request: { traceId: string; conventions: string[] }): Promise<Preview | undefined>;
  /** The conversation as JSON. */
  conversation(request: { traceId: string }): Promise<Uint8Array | undefined>;
  whole(request: { traceId: string }): Promise<WholePart | undefined>;
  /** The trace as JSON, exactly as it is stored. */
  raw(request: { traceId: string; externalId: string; path: TracePath }): Promise<Uint8Array | undefined>;
};

/** TraceParts for trace versions that the caller has looked up. */
export type VersionReader = {
  [Name in keyof TraceParts]: (
    request: Parameters<TraceParts[Name]>[0] & { version: TraceVersion },
  ) => ReturnType<TraceParts[Name]>;
};

/** The part of a trace that does not depend on its runs. `spans` is a JSON list. */
export type OutlinePart = {
  head: Pick<
    Derived,
    | "name"
    | "durationMs"
    | "tokens"
    | "failed"
    | "spanCount"
    | "startTimeUnixNano"
    | "endTimeUnixNano"
    | "rootSpanId"
    | "notices"
    | "otherConvention"
  > &
    ConventionReport & {
      revision: number;
      httpStatus: number | null;
      /** Truncated, as in lists. */
      userInput: string | null;
      responseText: string | null;
      metadata: Attributes | null;
      resource: Attributes | null;
    } & Pick<Cut<unknown>, "cuts" | "omissions">;
  spans: Uint8Array;
};

/** What a whole trace is, without its runs: a JSON object of spans and derived values. */
export type WholePart = { revision: number; notices: Derived["notices"]; json: Uint8Array };

export type LoadVersion = (version: TraceVersion) => Promise<LoadedTrace | undefined>;

export function openTraceReader(load: LoadVersion): VersionReader {
  return {
    async outline({ version }) {
      const loaded = await load(version);
      return loaded && outlineOf(loaded);
    },
    async span({ version, spanId, whole, read }) {
      const loaded = await load(version);
      const spans = (read ? loaded?.read : loaded?.trace)?.spans;
      const found = spans?.find(({ span_id }) => span_id === spanId);
      if (!loaded || !found) return undefined;
      const { translated: _, reading: __, ...span } = found;
      const { traceId, revision } = loaded;
      return jsonOf({ traceId, revision, ...(whole ? { span, cuts: [], omissions: [] } : cutSpan(span)) });
    },
    async conversation({ version }) {
      const loaded = await load(version);
      if (!loaded) return undefined;
      const { traceId, revision, read } = loaded;
      return jsonOf({ traceId, revision, ...showConversation(transcribe(read.spans), read.spans) });
    },
    async preview({ version, conventions }) {
      const loaded = await load(version);
      return loaded && shortPreview(previewOf(loaded.trace, conventions));
    },
    async whole({ version }) {
      const loaded = await load(version);
      return loaded && wholeOf(loaded);
    },
    async raw({ version, externalId, path }) {
      const loaded = await load(version);
      return loaded && rawOf(loaded, { externalId, path });
    },
  };
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
        known.version.conventions === version.conventions;
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

function shortPreview({ userInput, responseText, tools, ...rest }: Preview): Preview {
  return {
    ...rest,
    userInput: userInput && storable(userInput),
    responseText: responseText && storable(responseText),
    tools: tools.slice(0, previewedTools).map(storable),
  };
}

const previewedTools = 50;

function outlineOf(loaded: LoadedTrace): OutlinePart {
  const { trace, derived, revision } = loaded;
  const { name, durationMs, failed, spanCount, httpStatus, userInput, responseText } = columnsOf(derived);
  const { tokens, startTimeUnixNano, endTimeUnixNano, rootSpanId, notices, otherConvention } = derived;
  const { metadata, resource } = trace;
  const context = truncateValue({ metadata, resource }, contextBytesMax);
  return {
    head: {
      revision,
      name,
      durationMs,
      httpStatus,
      tokens,
      failed,
      spanCount,
      userInput,
      responseText,
      startTimeUnixNano,
      endTimeUnixNano,
      rootSpanId,
      notices,
      otherConvention,
      ...reportOf(loaded),
      ...context.value,
      cuts: context.cuts,
      omissions: context.omissions,
    },
    spans: jsonOf(loaded.read.spans.map(outlineSpan)),
  };
}

const contextBytesMax = 32 * 1024;
// With the list of truncated places, a span stays below 256 KB.
const attributesBytesMax = 176 * 1024;
const restBytesMax = 48 * 1024;

/** Attributes have a budget of their own, because they are what users look at. */
function cutSpan({ attributes, ...rest }: Span): { span: Span } & Pick<Cut<unknown>, "cuts" | "omissions"> {
  const outer = truncateValue(rest, restBytesMax);
  const inner = truncateValue(attributes, attributesBytesMax);
  const within = <T extends { path: Path }>(found: T): T => ({
    ...found,
    path: ["attributes", ...found.path],
  });
  return {
    span: { ...outer.value, attributes: inner.value },
    cuts: [...outer.cuts, ...inner.cuts.map(within)],
    omissions: [...outer.omissions, ...inner.omissions.map(within)],
  };
}

function wholeOf(loaded: LoadedTrace): WholePart {
  const { trace, derived, revision } = loaded;
  const {
    notices,
    httpStatus,
    userInput,
    responseText,
    toolCalls,
    judgedText: _,
    models: __,
    ...values
  } = derived;
  const json = jsonOf({
    ...values,
    ...reportOf(loaded),
    toolCalls: shownCalls(toolCalls, loaded.read.spans),
    httpStatus: httpStatus?.value ?? null,
    userInput: userInput?.text ?? null,
    responseText: responseText?.text ?? null,
    spans: trace.spans,
    metadata: trace.metadata,
    resource: trace.resource,
  });
  return { revision, notices, json };
}

/** With results, and how each was read. */
function shownCalls(calls: ToolCall[], spans: Span[]): object[] {
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const allowance = new ValueAllowance();
  return calls.map(call => {
    const span = byId.get(call.spanId);
    const sent = span && attributeOf(span, "gen_ai.tool.call.result");
    const result = "result" in call ? call.result : (structureOf(sent, allowance) ?? sent ?? null);
    return { ...call, result, convention: span?.reading?.convention ?? null };
  });
}

/** Serializes span by span: the text of all spans may exceed the maximum length of a string. */
function rawOf(
  { traceId, revision, trace }: LoadedTrace,
  { externalId, path }: { externalId: string; path: TracePath },
): Uint8Array {
  const { metadata, resource, spans } = trace;
  const head = JSON.stringify({ traceId, externalId, path, revision, metadata, resource });
  const parts = [Buffer.from(`${head.slice(0, -1)},"spans":[`)];
  spans.forEach((span, at) => {
    parts.push(Buffer.from(`${at === 0 ? "\n" : ",\n"}${JSON.stringify(span)}`));
  });
  return ownBytes(Buffer.concat([...parts, Buffer.from("\n]}\n")]));
}

function jsonOf(value: unknown): Uint8Array {
  return ownBytes(Buffer.from(JSON.stringify(value)));
}

/** Bytes that can be moved to another thread: not a view of Node's pool for small buffers. */
function ownBytes(bytes: Buffer): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
