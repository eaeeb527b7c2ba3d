// Encodes a request in the shape of OTLP JSON as protobuf: what an exporter does, for templates of the benchmarks.
import protobuf from "protobufjs/minimal.js";
import type { exportRequest } from "./bodies.ts";

type Request = ReturnType<typeof exportRequest>;
type KeyValue = { key: string; value: { stringValue?: string; intValue?: string } };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  status: { code: number };
};

const varint = (field: number) => field * 8;
const eightBytes = (field: number) => field * 8 + 1;
const sized = (field: number) => field * 8 + 2;

export function encodeRequest(request: Request): Buffer {
  const writer = protobuf.Writer.create();
  for (const { resource, scopeSpans } of request.resourceSpans) {
    nested(writer, 1, () => {
      nested(writer, 1, () => encodeAttributes(writer, 1, resource.attributes));
      for (const { scope, spans } of scopeSpans) {
        nested(writer, 2, () => {
          nested(writer, 1, () =>
            writer.uint32(sized(1)).string(scope.name).uint32(sized(2)).string(scope.version),
          );
          for (const span of spans) nested(writer, 2, () => encodeSpan(writer, span as unknown as Span));
        });
      }
    });
  }
  return Buffer.from(writer.finish());
}

function encodeSpan(writer: protobuf.Writer, span: Span): void {
  writer.uint32(sized(1)).bytes(Buffer.from(span.traceId, "hex"));
  writer.uint32(sized(2)).bytes(Buffer.from(span.spanId, "hex"));
  if (span.parentSpanId) writer.uint32(sized(4)).bytes(Buffer.from(span.parentSpanId, "hex"));
  writer.uint32(sized(5)).string(span.name);
  writer.uint32(varint(6)).int32(span.kind);
  encodeFixed64(writer, 7, span.startTimeUnixNano);
  encodeFixed64(writer, 8, span.endTimeUnixNano);
  encodeAttributes(writer, 9, span.attributes);
  nested(writer, 15, () => writer.uint32(varint(3)).int32(span.status.code));
}

function encodeFixed64(writer: protobuf.Writer, field: number, decimal: string): void {
  const value = BigInt(decimal);
  writer
    .uint32(eightBytes(field))
    .fixed32(Number(value & 0xffff_ffffn))
    .fixed32(Number(value >> 32n));
  // A fixed64 is two fixed32, the lower half first.
}

function encodeAttributes(writer: protobuf.Writer, field: number, attributes: KeyValue[]): void {
  for (const { key, value } of attributes) {
    nested(writer, field, () => {
      writer.uint32(sized(1)).string(key);
      nested(writer, 2, () => {
        if (value.intValue !== undefined) writer.uint32(varint(3)).int64(Number(value.intValue));
        else writer.uint32(sized(1)).string(value.stringValue ?? "");
      });
    });
  }
}

function nested(writer: protobuf.Writer, field: number, encode: () => void): void {
  writer.uint32(sized(field)).fork();
  encode();
  writer.ldelim();
}
