// Load generator: sends new traces to one URL with the stock OpenTelemetry exporters, in a process of its own. Prints the
// results as one line of JSON.
//
//   node bench/driver.ts '{"url":…,"key":…,"format":"json","serviceName":…,"connections":32,"seconds":8}'
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { type Shape, spansPerTrace } from "./shapes.ts";
import { encode, type Format, newTraceId, spanMaker } from "./traces.ts";

export type DriverInput = {
  url: string;
  key: string;
  format: Format;
  /** By default the documented one. */
  shape?: Shape;
  serviceName: string;
  connections: number;
  seconds: number;
  /** Ends after this many traces instead. */
  traces?: number;
  /** Sends as many, or as many as it can, instead of one after the other; of prepared bodies only. */
  perSecond?: number;
  /** Not measured: connections are opened and code is compiled. */
  warmUpSeconds: number;
};

export type DriverOutput = {
  traces: number;
  bytes: number;
  /** Exports that failed. */
  failed: number;
  seconds: number;
  /** CPU time of this process since its start. */
  cpuSeconds: number;
  p50Ms: number;
  p99Ms: number;
};

const input = JSON.parse(process.argv[2]!) as DriverInput;
const Exporter = input.format === "json" ? JsonExporter : ProtobufExporter;
const exporter = new Exporter({
  url: input.url,
  headers: { "x-api-key": input.key },
  // Twice the connections: an export counts toward this limit until shortly after its response.
  concurrencyLimit: 2 * input.connections,
  httpAgentOptions: { keepAlive: true, maxSockets: input.connections },
});
const make = spanMaker(input.serviceName, input.shape);
const bytesPerTrace = encode(input.format, make(newTraceId(), 0, spansPerTrace)).length;

const begin = performance.now() + input.warmUpSeconds * 1000;
const end = input.traces === undefined ? begin + input.seconds * 1000 : Infinity;
let left = input.traces ?? Infinity;
const latencies: number[] = [];
let failed = 0;

async function connection(): Promise<void> {
  for (;;) {
    const spans = make(newTraceId(), 0, spansPerTrace);
    const started = performance.now();
    if (started >= end || left-- <= 0) return;
    const { code } = await new Promise<ExportResult>(resolve => exporter.export(spans, resolve));
    const ended = performance.now();
    if (started < begin || ended > end) continue;
    if (code !== ExportResultCode.SUCCESS) failed++;
    latencies.push(ended - started);
  }
}

await Promise.all(Array.from({ length: input.connections }, connection));
const cpu = process.cpuUsage();
latencies.sort((a, b) => a - b);
const at = (quantile: number) => latencies[Math.floor(latencies.length * quantile)] ?? Number.NaN;
const output: DriverOutput = {
  traces: latencies.length,
  bytes: latencies.length * bytesPerTrace,
  failed,
  seconds: input.seconds,
  cpuSeconds: cpu.user / 1e6 + cpu.system / 1e6,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
};
process.stdout.write(`${JSON.stringify(output)}\n`);
await exporter.shutdown();
