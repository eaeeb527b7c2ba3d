// The response schemas of the ingestion log.
import { z } from "zod";
import { dropReasons, ingestionCodes } from "../../model/ingestion.ts";
import { Id, Time } from "../frame/schemas.ts";

export const Code = z.enum(ingestionCodes);
export type Code = z.output<typeof Code>;
const count = z.number().int();

const Rejection = z.object({
  code: Code,
  requestId: z.string().describe("As in the error response and the service log."),
  paths: z
    .array(z.string())
    .describe("Where the request is invalid, such as spans[0].name; at most three, without content."),
});

export const LastRejection = Rejection.extend({
  at: Time,
  serviceName: z.string().nullable(),
  keyId: Id,
  keyName: z.string().nullable().describe("Null once the key is revoked."),
}).meta({ id: "LastRejection" });
export type LastRejection = z.output<typeof LastRejection>;

export const IngestionMinute = z
  .object({
    id: Id,
    at: Time.describe("Start of the minute."),
    code: Code,
    keyId: Id,
    keyName: z.string().nullable().describe("Null once the key is revoked."),
    serviceName: z.string().nullable(),
    agentId: Id.nullable().describe("The agent whose traces were stored, or that rejected requests name."),
    requests: count,
    spans: count.describe("Spans stored."),
    reasons: z
      .array(z.object({ code: Code, traces: count }))
      .describe("For PARTIAL: rejected traces, or log records, by code."),
    records: count.describe("Log records kept for their span."),
    dropped: z
      .array(z.object({ reason: z.enum(dropReasons), records: count }))
      .describe(
        "Log records dropped: their agent has no conventions, no convention reads them, or no span came in 10 minutes.",
      ),
    rejection: Rejection.extend({ at: Time }).nullable().describe("The latest rejected one of the requests."),
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
