// Writes an OTLP JSON request as protobuf through protobufjs' reflection: another road than the one under test.
import protobuf from "protobufjs";

type Field = { type: string; id: number; rule?: "repeated" };

const one = (type: string, id: number): Field => ({ type, id });
const many = (type: string, id: number): Field => ({ type, id, rule: "repeated" });

const kinds = {
  stringValue: one("string", 1),
  boolValue: one("bool", 2),
  intValue: one("int64", 3),
  doubleValue: one("double", 4),
  arrayValue: one("ArrayValue", 5),
  kvlistValue: one("KeyValueList", 6),
  bytesValue: one("bytes", 7),
};

const root = protobuf.Root.fromJSON({
  nested: {
    AnyValue: { fields: kinds, oneofs: { value: { oneof: Object.keys(kinds) } } },
    ArrayValue: { fields: { values: many("AnyValue", 1) } },
    KeyValueList: { fields: { values: many("KeyValue", 1) } },
    KeyValue: { fields: { key: one("string", 1), value: one("AnyValue", 2) } },
    Resource: { fields: { attributes: many("KeyValue", 1), droppedAttributesCount: one("uint32", 2) } },
    Scope: {
      fields: {
        name: one("string", 1),
        version: one("string", 2),
        attributes: many("KeyValue", 3),
        droppedAttributesCount: one("uint32", 4),
      },
    },
    Event: {
      fields: {
        timeUnixNano: one("fixed64", 1),
        name: one("string", 2),
        attributes: many("KeyValue", 3),
        droppedAttributesCount: one("uint32", 4),
      },
    },
    Link: {
      fields: {
        traceId: one("bytes", 1),
        spanId: one("bytes", 2),
        traceState: one("string", 3),
        attributes: many("KeyValue", 4),
        droppedAttributesCount: one("uint32", 5),
        flags: one("fixed32", 6),
      },
    },
    Status: { fields: { message: one("string", 2), code: one("int32", 3) } },
    Span: {
      fields: {
        traceId: one("bytes", 1),
        spanId: one("bytes", 2),
        traceState: one("string", 3),
        parentSpanId: one("bytes", 4),
        name: one("string", 5),
        kind: one("int32", 6),
        startTimeUnixNano: one("fixed64", 7),
        endTimeUnixNano: one("fixed64", 8),
        attributes: many("KeyValue", 9),
        droppedAttributesCount: one("uint32", 10),
        events: many("Event", 11),
        droppedEventsCount: one("uint32", 12),
        links: many("Link", 13),
        droppedLinksCount: one("uint32", 14),
        status: one("Status", 15),
        flags: one("fixed32", 16),
      },
    },
    ScopeSpans: { fields: { scope: one("Scope", 1), spans: many("Span", 2), schemaUrl: one("string", 3) } },
    ResourceSpans: {
      fields: {
        resource: one("Resource", 1),
        scopeSpans: many("ScopeSpans", 2),
        schemaUrl: one("string", 3),
      },
    },
    Request: { fields: { resourceSpans: many("ResourceSpans", 1) } },
    LogRecord: {
      fields: {
        timeUnixNano: one("fixed64", 1),
        severityNumber: one("int32", 2),
        severityText: one("string", 3),
        body: one("AnyValue", 5),
        attributes: many("KeyValue", 6),
        droppedAttributesCount: one("uint32", 7),
        flags: one("fixed32", 8),
        traceId: one("bytes", 9),
        spanId: one("bytes", 10),
        observedTimeUnixNano: one("fixed64", 11),
        eventName: one("string", 12),
      },
    },
    ScopeLogs: { fields: { scope: one("Scope", 1), logRecords: many("LogRecord", 2) } },
    ResourceLogs: { fields: { resource: one("Resource", 1), scopeLogs: many("ScopeLogs", 2) } },
    LogsRequest: { fields: { resourceLogs: many("ResourceLogs", 1) } },
  },
});

/** The protobuf of an OTLP JSON request, of spans or log records, whose fields are all of the right type. */
export function encodeOtlp(request: unknown): Buffer {
  const isLogs = typeof request === "object" && request !== null && "resourceLogs" in request;
  const type = root.lookupType(isLogs ? "LogsRequest" : "Request");
  return Buffer.from(type.encode(type.fromObject(bytesForHex(request) as object)).finish());
}

/** Ids are hexadecimal in OTLP JSON, where protobufjs expects base64 or bytes. */
function bytesForHex(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bytesForHex);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, content]) => [
      key,
      /^(trace|span|parentSpan)Id$/.test(key) ? Buffer.from(String(content), "hex") : bytesForHex(content),
    ]),
  );
}

/** A length-delimited field by hand, for bodies no encoder would write. */
export function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}
