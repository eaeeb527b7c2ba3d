// The OpenAPI description of ingestion. Validates nothing: wire/ decodes bodies after the key is checked.
import { z } from "zod";

const nanoseconds = z
  .string()
  .regex(/^\d{1,20}$/)
  .describe("Decimal uint64 nanoseconds since 1970.");

const Span = z
  .looseObject({
    span_id: z.string().min(1),
    parent_span_id: z.string().nullable().optional(),
    name: z.string().min(1),
    attributes: z.record(z.string(), z.unknown()).optional(),
    start_time_unix_nano: nanoseconds.optional(),
    end_time_unix_nano: nanoseconds.optional(),
    status: z.looseObject({ code: z.number().int().optional(), message: z.string().optional() }).optional(),
    events: z.array(z.unknown()).optional(),
  })
  .meta({ id: "Span" });

const CanonicalTrace = z
  .looseObject({
    spans: z.array(Span).min(1),
    metadata: z.record(z.string(), z.unknown()).optional(),
    platformId: z.guid().optional().describe("The agent's id; optional with a key limited to one agent."),
  })
  .meta({ id: "CanonicalTrace" });

const OtlpExport = z
  .looseObject({ resourceSpans: z.array(z.unknown()).min(1) })
  .meta({ id: "OtlpExport" })
  .describe("An ExportTraceServiceRequest in JSON; in protobuf with Content-Type application/x-protobuf.");

const CanonicalStored = z
  .object({
    traceId: z.guid(),
    externalId: z.string(),
    agentId: z.guid(),
    status: z.enum(["created", "replaced"]),
    evaluation: z.enum(["scheduled", "none"]),
    hint: z.string().optional().describe("If evaluation is none: how to get a trace evaluated."),
  })
  .meta({ id: "CanonicalStored" });

const OtlpStored = z
  .object({
    partialSuccess: z.object({ rejectedSpans: z.number(), errorMessage: z.string() }).optional(),
  })
  .meta({ id: "OtlpStored" });

export const publicTracesSchema = {
  tags: ["ingestion"],
  summary: "Send a trace, or batches of traces",
  consumes: ["application/json", "application/x-protobuf"],
  produces: ["application/json", "application/x-protobuf"],
  security: [{ key: [] }],
  headers: z.object({
    "x-api-key": z.string(),
    "x-request-id": z.string().max(255).optional().describe("The trace's identity."),
    "content-encoding": z.enum(["gzip", "identity"]).optional(),
  }),
  body: z.union([CanonicalTrace, OtlpExport]),
  response: {
    200: z
      .union([CanonicalStored, OtlpStored])
      .describe("The trace was replaced, or the OTLP export stored."),
    201: CanonicalStored.describe("A new trace."),
  },
};
