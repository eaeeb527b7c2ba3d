// The stock OpenTelemetry exporters of log records, configured as users do: the endpoint, a key, gzip.
import { context, type Span, trace } from "@opentelemetry/api";
import { OTLPLogExporter as JsonExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";

type Options = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;
type Emitted = { eventName: string; body: Record<string, string | Record<string, string>> };

/** Emits the events about the span with the SDK, and resolves when all are sent. Rejects if the service refused them. */
export async function sendEvents(
  protocol: "protobuf" | "json",
  to: { url: string; key: string; serviceName: string },
  span: Span,
  events: Emitted[],
): Promise<void> {
  const config: Options = {
    url: `${to.url}/public/logs`,
    headers: { "x-api-key": to.key },
    compression: "gzip" as NonNullable<Options["compression"]>,
  };
  const exporter = protocol === "protobuf" ? new ProtobufExporter(config) : new JsonExporter(config);
  const refusals: unknown[] = [];
  const watched = {
    export: (records: Parameters<typeof exporter.export>[0], done: Parameters<typeof exporter.export>[1]) =>
      exporter.export(records, result => {
        if (result.code !== 0) refusals.push(result.error ?? "the exporter gave no reason");
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ "service.name": to.serviceName }),
    processors: [new SimpleLogRecordProcessor({ exporter: watched })],
  });
  const logger = provider.getLogger("test", "1.0.0");
  for (const event of events) logger.emit({ ...event, context: trace.setSpan(context.active(), span) });
  await provider.forceFlush();
  await provider.shutdown();
  if (refusals.length > 0) throw new AggregateError(refusals, "The service refused log records.");
}
