// Sends conversations as an instrumented application does: through the OpenTelemetry SDK and its protobuf exporter.
import {
  type Context,
  DiagConsoleLogger,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Attributes, PlacedStep } from "./sample.ts";

export type OtlpTarget = { url: string; apiKey: string; serviceName: string };

// Smaller than exporters' default, so that many a conversation arrives in several batches.
const batchSpansMax = 7;
const ids = new RandomIdGenerator();

export type Tracing = {
  /** Within the span that `parent` holds, or as a trace of its own. Returns the trace's id. */
  record(conversation: PlacedStep, parent?: Context): string;
  /** Resolves once what was recorded is sent. */
  flush(): Promise<void>;
  /** The same; nothing is recorded after it. */
  close(): Promise<void>;
};

/** One trace for each conversation. Returns their trace ids, once everything was sent. */
export async function sendOtlp(target: OtlpTarget, conversations: PlacedStep[]): Promise<string[]> {
  const tracing = openTracing(target);
  const traceIds = conversations.map(conversation => tracing.record(conversation));
  await tracing.close();
  return traceIds;
}

export function openTracing(target: OtlpTarget): Tracing {
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.ERROR); // says why a batch was refused
  const exporter = new OTLPTraceExporter({
    url: `${target.url}/public/traces`,
    headers: { "x-api-key": target.apiKey },
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": target.serviceName, "service.version": "2.3.0" }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxExportBatchSize: batchSpansMax })],
  });
  const tracer = provider.getTracer(target.serviceName);
  return {
    record: (conversation, parent = ROOT_CONTEXT) => record(tracer, conversation, parent),
    flush: () => provider.forceFlush(),
    close: () => provider.shutdown(),
  };
}

/** Starts and ends the span of the step, and of those within it. Returns the id of their trace. */
function record(tracer: Tracer, { step, startMs, endMs, steps }: PlacedStep, parent: Context): string {
  const span = tracer.startSpan(
    step.name,
    { startTime: startMs, attributes: textual(step.attributes) },
    step.lostParent ? withUnsentSpan(parent) : parent,
  );
  if (step.status) span.setStatus(step.status);
  for (const inner of steps) record(tracer, inner, trace.setSpan(parent, span));
  span.end(endMs);
  return span.spanContext().traceId;
}

/** Inside a span of the same trace that nobody sends. */
function withUnsentSpan(inside: Context): Context {
  return trace.setSpanContext(inside, { ...trace.getSpanContext(inside)!, spanId: ids.generateSpanId() });
}

/** An attribute of OpenTelemetry holds no objects, so they travel as JSON text. */
function textual(attributes: Attributes): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === "number" || typeof value === "boolean" || typeof value === "string"
        ? value
        : JSON.stringify(value),
    ]),
  );
}
