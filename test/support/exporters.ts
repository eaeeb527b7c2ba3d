// The stock OpenTelemetry exporters, configured as users do: the endpoint, a key, gzip.
import { type Attributes, context, type Span, type SpanStatus, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

type ReadableSpan = ReturnType<InMemorySpanExporter["getFinishedSpans"]>[number];

type Options = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;

export type StockExporter = ProtobufExporter | JsonExporter;

/** Sends to the service's ingestion endpoint with gzip. The caller shuts it down. */
export function openExporter(protocol: "protobuf" | "json", to: { url: string; key: string }): StockExporter {
  const config: Options = {
    url: `${to.url}/public/traces`,
    headers: { "x-api-key": to.key },
    compression: "gzip" as NonNullable<Options["compression"]>,
  };
  return protocol === "protobuf" ? new ProtobufExporter(config) : new JsonExporter(config);
}

/** Sends the spans in one request. Resolves to undefined on success, else to the exporter's error. */
export function exportSpans(exporter: StockExporter, spans: ReadableSpan[]): Promise<Error | undefined> {
  return new Promise(resolve => {
    exporter.export(spans, ({ code, error }) => {
      resolve(code === 0 ? undefined : (error ?? new Error("the exporter gave no reason")));
    });
  });
}

/** A span to record, with its children. */
export type RecordedSpan = {
  name: string;
  attributes?: Attributes;
  status?: SpanStatus;
  children?: RecordedSpan[];
};

/** Records a trace with the SDK, each span a millisecond long or as long as its children; children end first. */
export function recordSpans(serviceName: string | undefined, root: RecordedSpan): ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({
    ...(serviceName !== undefined && { resource: resourceFromAttributes({ "service.name": serviceName }) }),
    spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
  });
  const tracer = provider.getTracer("test", "1.0.0");
  const record = ({ name, attributes = {}, status, children = [] }: RecordedSpan, parent?: Span, at = 0) => {
    const within = parent ? trace.setSpan(context.active(), parent) : context.active();
    const span = tracer.startSpan(name, { attributes, startTime: startMs + at }, within);
    if (status) span.setStatus(status);
    let end = at + (children.length > 0 ? 0 : 1);
    for (const child of children) end = record(child, span, end);
    span.end(startMs + end);
    return end;
  };
  record(root);
  return memory.getFinishedSpans();
}

const startMs = Date.UTC(2026, 0, 1);
