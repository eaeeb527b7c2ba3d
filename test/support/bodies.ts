// Makes ingestion bodies: the smallest valid ones, plus what a test needs in them.
import { randomBytes } from "node:crypto";
import { encodeOtlp } from "../wire/encode-otlp.ts";
import { otlpSpan, resourceSpans } from "../wire/make-body.ts";
import { json, proto } from "./send.ts";
import { serviceName } from "./service.ts";

type Fields = Record<string, unknown>;

export const newTraceId = () => randomBytes(16).toString("hex");
export const newSpanId = () => randomBytes(8).toString("hex");

/** One canonical span, valid unless `more` says otherwise. */
export function canonicalSpan(more: Fields = {}): Fields {
  return { span_id: "root", name: "answer", ...more };
}

/** A canonical body of one span for the agent; without an agent if it is undefined. */
export function canonicalBody(agentId: string | undefined, more: Fields = {}): Fields {
  return { platformId: agentId, spans: [canonicalSpan()], ...more };
}

/** A span of an OTLP export with its own ids. */
export function exportedSpan(more: Fields = {}): Fields {
  return otlpSpan({ traceId: newTraceId(), spanId: newSpanId(), ...more });
}

/** An OTLP export of these spans by a service; a name of null leaves the attribute out. */
export function exportOf(spans: unknown, service: string | null = serviceName) {
  return { resourceSpans: [resourceSpans(service, spans)] };
}

/** The two ways of sending an OTLP export: the request's Content-Type and body. */
export const encodings: Record<"json" | "protobuf", (request: unknown) => { type: string; body: Buffer }> = {
  json: request => ({ type: json, body: Buffer.from(JSON.stringify(request)) }),
  protobuf: request => ({ type: proto, body: encodeOtlp(request) }),
};

/** A valid body of exactly this many bytes, most of them in one attribute. */
export function bodyOfSize(bytes: number, make: (filling: string) => Buffer): Buffer {
  // Protobuf lengths may take a byte more or less than in the first estimate.
  let filling = bytes - make("").length;
  for (let tries = 0; tries < 4; tries++) {
    const body = make("x".repeat(filling));
    if (body.length === bytes) return body;
    filling += bytes - body.length;
  }
  throw new Error(`no body of ${bytes} bytes`);
}
