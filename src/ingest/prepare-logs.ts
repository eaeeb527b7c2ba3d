// Prepares the body of a log export for storage: decodes it and compresses the records of each span, without I/O.

import { hash } from "node:crypto";
import { readByNothing } from "../model/agent/read-by.ts";
import type { Intake } from "../model/content.ts";
import type { StoringRules } from "../model/privacy.ts";
import type { Refusal } from "../model/refusal.ts";
import { identified } from "../model/trace/join-records.ts";
import type { Batch, LogRecord } from "../model/trace/trace.ts";
import { type Brought, broughtBy } from "../reading/conventions/log-records.ts";
import { encodeBatch, readBatch, scan } from "../wire/batch.ts";
import type { SpanRecords } from "../wire/collected-records.ts";
import type { DecodeLimits } from "../wire/limits.ts";
import type { MediaType } from "../wire/media-type.ts";
import { decodeLogs } from "../wire/otlp-logs.ts";
import { allocateDense } from "../wire/slab.ts";
import { type IntakeBy, takerOf } from "./intake.ts";
import type { Readers } from "./readers.ts";
import { BodyRedaction } from "./redaction.ts";

/** The records of one span, as they are stored. */
export type PreparedRecords = {
  traceId: string;
  spanId: string;
  /** Eight bytes of hash for each record and its span: tells which are stored already. */
  recordKeys: Buffer;
  /** Compressed. */
  bytes: Buffer;
  /** Bytes before compression. */
  rawLength: number;
  brought: Brought;
  /** The settings by which they were changed before; absent: they are as they arrived. */
  intake?: Intake | undefined;
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
  const agentOf = new Map(reading?.map(agent => [agent.serviceName, agent]));
  const redaction = BodyRedaction.by(readers?.storing);
  return services.map(({ spans, ...service }): PreparedService => {
    const by = agentOf.get(service.serviceName) ?? readByNothing;
    const take = takerOf(by);
    const done = spans.map(({ traceId, ...records }) => {
      const kept = take(batchOf(records), "otlp");
      return prepared(traceId, redaction?.redact(kept, by) ?? kept, by);
    });
    return withoutEmpty({ ...service, spans: done.filter(one => one !== null) }, spans);
  });
}

/** Records that were prepared by other settings than their agent has now; null if nothing of them is left. */
export function prepareRecordsAgain(
  { traceId, bytes }: Pick<PreparedRecords, "traceId" | "bytes">,
  by: IntakeBy,
  storing?: StoringRules | null,
): PreparedRecords | null {
  const kept = takerOf(by)(readBatch(scan(bytes)), "otlp");
  return prepared(traceId, BodyRedaction.by(storing)?.redact(kept, by) ?? kept, by);
}

/** Records of which nothing was left count as those without content. */
function withoutEmpty(service: PreparedService, sent: SpanRecords[]): PreparedService {
  const kept = service.spans.reduce((sum, { recordKeys }) => sum + recordKeys.length / 8, 0);
  const before = sent.reduce((sum, { records }) => sum + records.length, 0);
  return kept === before ? service : { ...service, emptyCount: service.emptyCount + before - kept };
}

function batchOf(logRecords: { spanId: string; records: LogRecord[] }): Batch {
  return { spans: [], resource: null, metadata: null, logRecords };
}

function prepared(traceId: string, batch: Batch, { intake }: IntakeBy): PreparedRecords | null {
  const { spanId, records } = batch.logRecords!;
  if (records.length === 0) return null;
  const { bytes, rawLength } = encodeBatch(batch);
  return {
    traceId,
    spanId,
    recordKeys: keysOf(spanId, records),
    bytes,
    rawLength,
    brought: broughtBy(records),
    ...(intake && { intake }),
  };
}

/** The keys of a trace are compared, and its spans may have the same records, such as the question that each call repeats. */
function keysOf(spanId: string, records: LogRecord[]): Buffer {
  const keys = allocateDense(records.length * 8);
  for (const [index, [identity]] of identified(records).entries()) {
    hash("sha256", `${spanId} ${identity}`, "buffer").copy(keys, index * 8, 0, 8);
  }
  return keys;
}
