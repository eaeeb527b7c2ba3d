// Generates the traces of the benchmarks: conversations of 12 spans and 27 KB, each with new ids, encoded by the
// OpenTelemetry SDK's serializers.
import { randomBytes } from "node:crypto";
import { type HrTime, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { contentsOf, type Shape } from "./shapes.ts";

export type Format = "json" | "protobuf";

export const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" };

/** Creates the spans `from` to `to` (exclusive) of a trace; span 0 is its root. */
export type SpanMaker = (traceId: string, from: number, to: number) => ReadableSpan[];

export function spanMaker(serviceName: string, shape: Shape = "documented"): SpanMaker {
  const { scope, spans: contents } = contentsOf(shape);
  const resource = resourceFromAttributes({ "service.name": serviceName, "host.name": "bench-1" });
  const instrumentationScope = { name: scope, version: "1.0.0" };
  return (traceId, from, to) => {
    const root = { traceId, spanId: spanIdOf(traceId, 0), traceFlags: 1 };
    const startedMs = Date.now();
    return Array.from({ length: to - from }, (_, at) => {
      const number = from + at;
      const { name, attributes } = contents[number % contents.length]!;
      return {
        name: number === 0 ? "handle request" : name,
        kind: SpanKind.INTERNAL,
        spanContext: () => ({ traceId, spanId: spanIdOf(traceId, number), traceFlags: 1 }),
        ...(number > 0 && { parentSpanContext: root }),
        startTime: timeOf(startedMs + number),
        endTime: timeOf(startedMs + number + 900),
        duration: [0, 900_000_000],
        ended: true,
        status: { code: SpanStatusCode.OK },
        attributes,
        links: [],
        events: [],
        resource,
        instrumentationScope,
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
      } satisfies ReadableSpan;
    });
  };
}

export function encode(format: Format, spans: ReadableSpan[]): Buffer {
  const serializer = format === "json" ? JsonTraceSerializer : ProtobufTraceSerializer;
  return Buffer.from(serializer.serializeRequest(spans)!);
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

function spanIdOf(traceId: string, number: number): string {
  return traceId.slice(0, 8) + (number + 1).toString(16).padStart(8, "0");
}

function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
