// The response schemas of the ingestion log.
import { z } from "zod";
import { ingestionCodes } from "../../model/ingestion.ts";
import { Id, Time } from "../schemas.ts";

export const Code = z.enum(ingestionCodes);
export type Code = z.output<typeof Code>;
const count = z.number().int();

export const IngestionMinute = z
  .object({
    id: Id,
    at: Time.describe("Start of the minute."),
    code: Code,
    keyId: Id,
    keyName: z.string().nullable().describe("Null once the key is revoked."),
    serviceName: z.string().nullable(),
    agentId: Id.nullable().describe("The agent whose traces were stored."),
    requests: count,
    spans: count.describe("Spans stored."),
    reasons: z
      .array(z.object({ code: Code, traces: count }))
      .describe("For PARTIAL: rejected traces by code."),
  })
  .meta({ id: "IngestionMinute" });
export type IngestionMinute = z.output<typeof IngestionMinute>;

const SeenService = z.object({
  serviceName: z.string(),
  agentId: Id.nullable().describe("The agent that has this service name now."),
  unknown: z.boolean().describe("Whether no agent of the project has this service name."),
  lastSeenAt: Time.describe("Start of the minute of the last request."),
  requests: count,
  spans: count,
  codes: z.partialRecord(Code, count).describe("Requests by code."),
});
export type SeenService = z.output<typeof SeenService>;

export const IngestionSummary = z
  .object({
    codes: z.array(z.object({ code: Code, requests: count, spans: count })),
    services: z.array(SeenService),
  })
  .meta({ id: "IngestionSummary" });
export type IngestionSummary = z.output<typeof IngestionSummary>;
