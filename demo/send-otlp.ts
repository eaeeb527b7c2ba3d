// Sends conversations through the OpenTelemetry SDK and its protobuf exporter, as an instrumented application does.
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

// Smaller than the exporter's default, so that many traces arrive in several batches.
const batchSpansMax = 7;
const ids = new RandomIdGenerator();

export type Tracing = {
  /** Records the conversation inside the span of `parent`, or as a new trace. Returns the trace id. */
  record(conversation: PlacedStep, parent?: Context): string;
  /** Resolves once all recorded spans are sent. */
  flush(): Promise<void>;
  /** Flushes and stops recording. */
  close(): Promise<void>;
};

/** Sends one trace per conversation. Returns their trace ids once everything is sent. */
export async function sendOtlp(target: OtlpTarget, conversations: PlacedStep[]): Promise<string[]> {
  const tracing = openTracing(target);
  const traceIds = conversations.map(conversation => tracing.record(conversation));
  await tracing.close();
  return traceIds;
}

export function openTracing(target: OtlpTarget): Tracing {
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.ERROR); // logs why a batch was rejected
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

/** Records the spans of the step and its inner steps. Returns the trace id. */
function record(tracer: Tracer, { step, startMs, endMs, steps }: PlacedStep, parent: Context): string {
  const span = tracer.startSpan(
    step.name,
    { startTime: startMs, attributes: flatAttributes(step.attributes) },
    step.lostParent ? withUnsentSpan(parent) : parent,
  );
  if (step.status) span.setStatus(step.status);
  for (const inner of steps) record(tracer, inner, trace.setSpan(parent, span));
  span.end(endMs);
  return span.spanContext().traceId;
}

/** A parent span of the same trace that is never sent. */
function withUnsentSpan(inside: Context): Context {
  return trace.setSpanContext(inside, { ...trace.getSpanContext(inside)!, spanId: ids.generateSpanId() });
}

/** OpenTelemetry attributes cannot hold objects, so they are sent as JSON text. */
function flatAttributes(attributes: Attributes): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === "number" || typeof value === "boolean" || typeof value === "string"
        ? value
        : JSON.stringify(value),
    ]),
  );
}
