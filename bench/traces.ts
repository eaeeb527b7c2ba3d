// Generates the traces of the benchmarks: conversations of 12 spans and 27 KB, each with new ids, encoded by the
// OpenTelemetry SDK's serializers.
import { randomBytes } from "node:crypto";
import { type Attributes, type HrTime, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";

export type Format = "json" | "protobuf";

export const spansPerTrace = 12;

export const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" };

/** Creates the spans `from` to `to` (exclusive) of a trace; span 0 is its root. */
export type SpanMaker = (traceId: string, from: number, to: number) => ReadableSpan[];

export function spanMaker(serviceName: string): SpanMaker {
  const resource = resourceFromAttributes({ "service.name": serviceName, "host.name": "bench-1" });
  const instrumentationScope = { name: "bench", version: "1.0.0" };
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

const syllables = "ba ce di fo gu la me ni po ru sa te vi zo an er in on st tr".split(" ");

/** Deterministic text that compresses about as well as conversations do (to a quarter). */
function prose(seed: number, words: number): string {
  let state = seed * 2_654_435_761;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  // Few words are frequent and many are rare.
  const word = () => {
    const rank = next(next(900) + 1);
    return [rank % 20, Math.floor(rank / 20) % 20, rank % 7].map(at => syllables[at]).join("");
  };
  return Array.from({ length: words }, word).join(" ");
}

function message(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}

const kinds: Record<"root" | "tool" | "chat", (seed: number) => Attributes> = {
  root: seed => ({
    "http.response.status_code": 200,
    "gen_ai.response.text": `Your order 1042 ships tomorrow. ${prose(seed, 60)}`,
  }),
  tool: seed => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lookup_order",
    "gen_ai.tool.call.arguments": JSON.stringify({ order: 1042, note: prose(seed, 15) }),
    "gen_ai.tool.call.result": JSON.stringify({ status: "packed", history: prose(seed + 1, 90) }),
  }),
  chat: seed => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.input.messages": message("user", `Where is my order? ${prose(seed, 110)}`),
    "gen_ai.output.messages": message("assistant", `It is packed. ${prose(seed + 2, 90)}`),
    "gen_ai.usage.input_tokens": 200 + seed,
    "gen_ai.usage.output_tokens": 40 + seed,
  }),
};

/** Names and attributes of a trace's spans, by number. */
const contents = Array.from({ length: spansPerTrace }, (_, number) => {
  const kind = number === 0 ? "root" : number % 3 === 0 ? "tool" : "chat";
  const name = kind === "tool" ? "execute_tool lookup_order" : "chat gpt-4o-mini";
  return { name, attributes: { ...kinds[kind](number), "bench.note": prose(number * 7 + 3, 40) } };
});
