// Records one trace with OpenTelemetry's SDK for Node.js and exports it as its environment variables say; prints the ids.
import {
  context,
  DiagConsoleLogger,
  DiagLogLevel,
  diag,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { globalErrorHandler, TraceState } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

const { FILLING_BYTES, ONE_REQUEST_FROM } = process.env;

const attributes = {
  text: "Größe 😀",
  true: true,
  int: 2 ** 53,
  double: 0.1,
  texts: ["a", ""],
  bools: [true, false],
  ints: [1, -2],
  doubles: [0.5, 1.5],
};

function record(provider: TracerProvider): void {
  const tracer = provider.getTracer("shop", "1.2.3", {
    schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
  });
  const root = tracer.startSpan("run", { kind: SpanKind.SERVER, attributes });
  if (FILLING_BYTES) root.setAttribute("filling", "x".repeat(Number(FILLING_BYTES)));
  root.addEvent("retry", { count: 2 }, [1_795_206_705, 954_000_001]);
  const other = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    traceFlags: TraceFlags.SAMPLED,
    traceState: new TraceState("a=b"),
    isRemote: true,
  };
  const links = [{ context: other, attributes: { why: "cause" } }];
  const child = tracer.startSpan(
    "call",
    { kind: SpanKind.CLIENT, links },
    trace.setSpan(context.active(), root),
  );
  child.setStatus({ code: SpanStatusCode.ERROR, message: "boom" });
  child.end();
  root.end();
  const spans = [
    { name: "run", spanId: root.spanContext().spanId },
    { name: "call", spanId: child.spanContext().spanId },
  ];
  process.stdout.write(`${JSON.stringify({ traceId: root.spanContext().traceId, spans })}\n`);
}

// What OTEL_LOG_LEVEL=warn does in NodeSDK. By default the SDK prints nothing.
diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);
const exporter = new OTLPTraceExporter();
if (ONE_REQUEST_FROM) {
  // Spans of several services in one request, as a Collector sends them.
  const memory = new InMemorySpanExporter();
  for (const name of ONE_REQUEST_FROM.split(",")) {
    const resource = resourceFromAttributes({ "service.name": name });
    record(new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] }));
  }
  await new Promise<void>(resolve => {
    exporter.export(memory.getFinishedSpans(), ({ error }) => {
      if (error) globalErrorHandler(error);
      resolve();
    });
  });
  await exporter.shutdown();
} else {
  const provider = new TracerProvider({
    resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  record(provider);
  // Between shutdowns, the processor itself passes its errors there.
  await provider.shutdown().catch(globalErrorHandler);
}
