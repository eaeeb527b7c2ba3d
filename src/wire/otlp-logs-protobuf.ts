// Reads an OTLP log export in protobuf, record by record.

import { Refusal } from "../model/refusal.ts";
import type { LogRecord } from "../model/trace/trace.ts";
import type { RecordCollecting } from "./collected-records.ts";
import type { DecodeLimits } from "./limits.ts";
import { setExtras } from "./otlp-groups.ts";
import { nameIn } from "./otlp-logs-json.ts";
import { readResource, type SentResource } from "./otlp-protobuf.ts";
import { readAnyValue, readKeyValue } from "./otlp-protobuf-value.ts";
import { eightBytes, ProtobufWalk, sized, varint } from "./protobuf-walk.ts";

/** The fields we read, by their numbers in opentelemetry-proto 1.x, as tags. */
const tags = {
  request: { resourceLogs: 1 * 8 + sized },
  resourceLogs: { resource: 1 * 8 + sized, scopeLogs: 2 * 8 + sized },
  scopeLogs: { records: 2 * 8 + sized },
  record: {
    time: 1 * 8 + eightBytes,
    body: 5 * 8 + sized,
    attributes: 6 * 8 + sized,
    droppedAttributes: 7 * 8 + varint,
    traceId: 9 * 8 + sized,
    spanId: 10 * 8 + sized,
    observedTime: 11 * 8 + eightBytes,
    eventName: 12 * 8 + sized,
  },
} as const;

/** Throws OTLP_PROTOBUF_INVALID, or a refusal of wire/limits. */
export function readLogsProtobuf(bytes: Buffer, limits: DecodeLimits, collecting: RecordCollecting): void {
  const walk = new ProtobufWalk(bytes, limits);
  try {
    for (let r = 0; walk.more; ) {
      if (walk.tag() === tags.request.resourceLogs)
        readResourceLogs(walk, collecting, `resourceLogs[${r++}]`);
      else walk.skip();
    }
  } catch (error) {
    // A TypeError is a bug in this code; every other error means that the bytes are invalid.
    if (error instanceof Refusal || error instanceof TypeError) throw error;
    throw new Refusal("OTLP_PROTOBUF_INVALID", {
      hint: "Send an ExportLogsServiceRequest, in protobuf or as application/json.",
      cause: error,
    });
  }
}

function readResourceLogs(walk: ProtobufWalk, collecting: RecordCollecting, path: string): void {
  const outer = walk.enter();
  const start = walk.position;
  const sent: SentResource = { resource: {}, serviceName: null, droppedAttributes: 0 };
  while (walk.more) {
    if (walk.tag() === tags.resourceLogs.resource) readResource(walk, sent);
    else walk.skip();
  }
  // Fields may come in any order, and records need their resource: one pass for the resource, one for the records.
  walk.rewind(start);
  for (let s = 0; walk.more; ) {
    if (walk.tag() === tags.resourceLogs.scopeLogs)
      readScopeLogs(walk, collecting, sent.serviceName, `${path}.scopeLogs[${s++}]`);
    else walk.skip();
  }
  walk.leave(outer);
}

function readScopeLogs(
  walk: ProtobufWalk,
  collecting: RecordCollecting,
  serviceName: string | null,
  path: string,
): void {
  const outer = walk.enter();
  for (let i = 0; walk.more; ) {
    if (walk.tag() === tags.scopeLogs.records)
      readRecord(walk, collecting, serviceName, `${path}.logRecords[${i++}]`);
    else walk.skip();
  }
  walk.leave(outer);
}

function readRecord(
  walk: ProtobufWalk,
  collecting: RecordCollecting,
  serviceName: string | null,
  path: string,
): void {
  const ids = { traceId: "", spanId: "" };
  const record: LogRecord = { event_name: "", time_unix_nano: null, body: null, attributes: {} };
  let [time, observedTime] = ["0", "0"];
  let droppedAttributes = 0;
  const outer = walk.enter();
  while (walk.more) {
    switch (walk.tag()) {
      case tags.record.time:
        time = walk.fixed64();
        break;
      case tags.record.observedTime:
        observedTime = walk.fixed64();
        break;
      case tags.record.body:
        record.body = readAnyValue(walk);
        break;
      case tags.record.attributes:
        readKeyValue(walk, record.attributes);
        break;
      case tags.record.droppedAttributes:
        droppedAttributes = walk.uint32();
        break;
      case tags.record.traceId:
        ids.traceId = walk.id();
        break;
      case tags.record.spanId:
        ids.spanId = walk.id();
        break;
      case tags.record.eventName:
        record.event_name = walk.text();
        break;
      default:
        walk.skip();
    }
  }
  walk.leave(outer);
  const known = [time, observedTime].find(one => one !== "0");
  record.time_unix_nano = known ?? null;
  record.event_name ||= nameIn(record.attributes);
  setExtras(record, { dropped_attributes_count: droppedAttributes });
  collecting.add(serviceName, ids, path, () => record);
}
