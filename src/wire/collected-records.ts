// Collects the log records of a request by service and span, and refuses bad ones one by one.

import { Refusal } from "../model/refusal.ts";
import { contentOf } from "../model/trace/join-records.ts";
import type { LogRecord } from "../model/trace/trace.ts";
import { isModelEvent, saysSomething } from "../reading/conventions/log-records.ts";
import { readId } from "./fields.ts";
import { type DecodeLimits, tooManyRecords, tooManyServices } from "./limits.ts";
import type { Target } from "./otlp-fields.ts";
import type { Origin, SentIds, Taker } from "./otlp-groups.ts";

/** The log records of one service. */
export type ServiceRecords = {
  /** Null if the resource has none. */
  serviceName: string | null;
  /** As sent, those counted below included. */
  recordCount: number;
  /** Records that no convention reads: of other events, without a span, or without content. */
  emptyCount: number;
  /** Records of a service without conventions: they are not read. */
  unreadCount: number;
  refused: { recordCount: number; refusal: Refusal }[];
  /** Each record once. */
  spans: SpanRecords[];
};

export type SpanRecords = { traceId: string; spanId: string; records: LogRecord[] };

type Collected = Omit<ServiceRecords, "spans"> & { spans: Map<string, SpanCollected> };
type SpanCollected = SpanRecords & { contents: Set<string> };

export class RecordCollecting implements Taker {
  readonly #limits: DecodeLimits;
  readonly #isRead: (serviceName: string) => boolean;
  readonly #services = new Map<string | null, Collected>();
  #recordCount = 0;

  constructor(limits: DecodeLimits, isRead: (serviceName: string) => boolean) {
    this.#limits = limits;
    this.#isRead = isRead;
  }

  /** `read` parses the record; a Refusal that it throws refuses this record alone. Not called if nobody reads it. */
  add({ serviceName }: Origin, ids: SentIds, path: string, read: () => Target): void {
    if (++this.#recordCount > this.#limits.spansMax) throw tooManyRecords(this.#limits);
    const service = this.#service(serviceName);
    service.recordCount++;
    if (serviceName === null || !this.#isRead(serviceName)) {
      service.unreadCount++;
      return;
    }
    try {
      const traceId = idOf(ids.traceId, 32, `${path}.traceId`);
      const spanId = idOf(ids.spanId, 16, `${path}.spanId`);
      const record = traceId === null || spanId === null ? null : recordOf(read());
      if (record === null || !isModelEvent(record) || !saysSomething(record)) service.emptyCount++;
      else put(service, traceId!, spanId!, record);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "PAYLOAD_TOO_LARGE") throw error;
      refuse(service, error);
    }
  }

  finish(): ServiceRecords[] {
    return Array.from(this.#services.values(), ({ spans, ...service }) => ({
      ...service,
      spans: Array.from(spans.values(), ({ contents: _, ...span }) => span),
    }));
  }

  #service(serviceName: string | null): Collected {
    let service = this.#services.get(serviceName);
    if (!service) {
      if (this.#services.size === this.#limits.tracesMax) throw tooManyServices(this.#limits);
      service = {
        serviceName,
        recordCount: 0,
        emptyCount: 0,
        unreadCount: 0,
        refused: [],
        spans: new Map(),
      };
      this.#services.set(serviceName, service);
    }
    return service;
  }
}

function recordOf({ observed_time_unix_nano: observed, ...sent }: Target): LogRecord {
  const record = sent as LogRecord;
  record.time_unix_nano ??= (observed as string | undefined) ?? null;
  // Where SDKs put the name of the event before records had a field for it.
  const name = record.attributes["event.name"];
  if (record.event_name === "" && typeof name === "string") record.event_name = name;
  return record;
}

/** Null if the record has none: SDKs leave it out, or send zeros, where a record is about no span. */
function idOf(sent: unknown, digits: 16 | 32, path: string): string | null {
  if ((sent ?? "") === "" || (typeof sent === "string" && sent.length === digits && /^0+$/.test(sent)))
    return null;
  const id = readId(sent, digits);
  if (id !== null) return id;
  throw new Refusal("OTLP_ID_INVALID", {
    message: "A log record has an invalid traceId or spanId.",
    hint: "Ids must be hexadecimal, not base64. This endpoint takes log records only; traces go to /public/traces.",
    issues: [{ path, message: `must be absent, empty, or ${digits} hexadecimal characters` }],
  });
}

function put({ spans }: Collected, traceId: string, spanId: string, record: LogRecord): void {
  const key = traceId + spanId;
  let span = spans.get(key);
  if (!span) {
    span = { traceId, spanId, records: [], contents: new Set() };
    spans.set(key, span);
  }
  const content = contentOf(record);
  if (span.contents.has(content)) return;
  span.contents.add(content);
  span.records.push(record);
}

/** Refusals with the same code are counted together, with the fields of the first. */
function refuse({ refused }: Collected, refusal: Refusal): void {
  const known = refused.find(one => one.refusal.code === refusal.code);
  if (known) known.recordCount++;
  else refused.push({ recordCount: 1, refusal });
}
