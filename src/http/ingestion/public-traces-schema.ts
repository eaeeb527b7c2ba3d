// The OpenAPI description of ingestion. Validates nothing: wire/ decodes bodies after the key is checked.
import { z } from "zod";

const nanoseconds = z.unknown().meta({
  type: ["string", "integer"],
  pattern: "^[0-9]{1,20}$",
  minimum: 0,
  description: "Nanoseconds since 1970, a uint64: as text, since many JSON libraries round such numbers.",
});

const Span = z
  .looseObject({
    span_id: z.string().min(1),
    parent_span_id: z.string().nullish(),
    name: z.string().min(1),
    attributes: z.record(z.string(), z.unknown()).nullish(),
    start_time_unix_nano: nanoseconds.nullish(),
    end_time_unix_nano: nanoseconds.nullish(),
    status: z.looseObject({ code: z.int().nullish(), message: z.string().nullish() }).nullish(),
    events: z.array(z.unknown()).nullish(),
  })
  .meta({ id: "Span" });

const CanonicalTrace = z
  .looseObject({
    spans: z.array(Span).min(1),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    platformId: z.guid().optional().describe("The agent's id; optional with a key limited to one agent."),
  })
  .meta({ id: "CanonicalTrace" });

const OtlpExport = z
  .looseObject({ resourceSpans: z.array(z.looseObject({})).min(1) })
  .meta({ id: "OtlpExport" })
  .describe("An ExportTraceServiceRequest in JSON; in protobuf with Content-Type application/x-protobuf.");

export const CanonicalStored = z
  .object({
    traceId: z.guid(),
    externalId: z.string(),
    agentId: z.guid(),
    status: z.enum(["created", "replaced"]),
    evaluation: z.enum(["scheduled", "none"]),
    hint: z.string().optional().describe("If evaluation is none: why, and what to do."),
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
