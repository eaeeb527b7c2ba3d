// Prepares the body of a log export for storage: decodes it and compresses the records of each span, without I/O.
import { hash } from "node:crypto";
import { type Brought, broughtBy } from "../model/conventions/log-records.ts";
import type { Refusal } from "../model/refusal.ts";
import { contentOf } from "../model/trace/join-records.ts";
import type { LogRecord } from "../model/trace/trace.ts";
import { encodeBatch } from "../wire/batch.ts";
import type { DecodeLimits } from "../wire/limits.ts";
import type { MediaType } from "../wire/media-type.ts";
import { decodeLogs, type SpanRecords } from "../wire/otlp-logs.ts";
import { allocateDense } from "../wire/slab.ts";
import type { Readers } from "./prepare.ts";

/** The records of one span, as they are stored. */
export type PreparedRecords = {
  traceId: string;
  spanId: string;
  /** Eight bytes of hash for each record: tells which are stored already. */
  recordKeys: Buffer;
  /** Compressed. */
  bytes: Buffer;
  /** Bytes before compression. */
  rawLength: number;
  brought: Brought;
};

export type PreparedService = {
  /** Null if the resource has none. */
  serviceName: string | null;
  /** As sent. */
  recordCount: number;
  /** Records of events that no convention reads, without a span or without content; and of an agent without conventions. */
  emptyCount: number;
  unreadCount: number;
  refused: { recordCount: number; refusal: Refusal }[];
  spans: PreparedRecords[];
};

/** Throws the Refusal of a body that is refused as a whole. */
export function prepareLogs(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  readers: Readers | null,
): PreparedService[] {
  const reading = readers?.agents.filter(({ conventions }) => conventions.length > 0);
  const names = new Set(reading?.map(({ serviceName }) => serviceName));
  const services = decodeLogs(bytes, mediaType, limits, serviceName => names.has(serviceName));
  return services.map(({ spans, ...service }) => ({ ...service, spans: spans.map(prepared) }));
}

function prepared({ traceId, spanId, records }: SpanRecords): PreparedRecords {
  const batch = { spans: [], resource: null, metadata: null, logRecords: { spanId, records } };
  const { bytes, rawLength } = encodeBatch(batch);
  return { traceId, spanId, recordKeys: keysOf(records), bytes, rawLength, brought: broughtBy(records) };
}

function keysOf(records: LogRecord[]): Buffer {
  const keys = allocateDense(records.length * 8);
  records.forEach((record, index) => {
    hash("sha256", contentOf(record), "buffer").copy(keys, index * 8, 0, 8);
  });
  return keys;
}
