// The OpenAPI description of log ingestion. Validates nothing: wire/ decodes bodies after the key is checked.
import { z } from "zod";

const OtlpLogsExport = z
  .looseObject({ resourceLogs: z.array(z.looseObject({})) })
  .meta({ id: "OtlpLogsExport" })
  .describe("An ExportLogsServiceRequest in JSON; in protobuf with Content-Type application/x-protobuf.");

const OtlpLogsStored = z
  .object({
    partialSuccess: z.object({ rejectedLogRecords: z.number(), errorMessage: z.string() }).optional(),
  })
  .meta({ id: "OtlpLogsStored" });

export const publicLogsSchema = {
  tags: ["ingestion"],
  summary: "Send OpenTelemetry log records about spans",
  consumes: ["application/json", "application/x-protobuf"],
  produces: ["application/json", "application/x-protobuf"],
  security: [{ key: [] }],
  headers: z.object({
    "x-api-key": z.string(),
    "content-encoding": z.enum(["gzip", "identity"]).optional(),
  }),
  body: OtlpLogsExport,
  response: { 200: OtlpLogsStored.describe("The records were stored, or had nothing to store.") },
};
