// The ingestion log: what became of a project's requests in the last seven days, by the minute and summed.
import { z } from "zod";
import { ingestionCodes } from "../../model/ingestion.ts";
import { listIngestion, summarizeIngestion } from "../../store/ingestion/minutes.ts";
import type { App, Deps } from "../deps.ts";
import { listingOf, PageQuery, pageOf, pageSchema } from "../page.ts";
import { Id } from "../validate.ts";

const Code = z.enum(ingestionCodes);
const count = z.number().int();
const instant = z.iso.datetime({ offset: true }).transform(text => new Date(text));

const Range = {
  from: instant.optional().describe("From the minute that holds this instant."),
  to: instant.optional().describe("Minutes that begin before this instant."),
};

const IngestionQuery = PageQuery.extend({
  ...Range,
  code: Code.optional(),
  keyId: Id.optional(),
  serviceName: z
    .string()
    .max(500)
    .refine(text => !text.includes("\0"))
    .optional(),
});

const IngestionMinute = z
  .object({
    id: Id,
    at: z.iso.datetime().describe("When the minute began."),
    code: Code,
    keyId: Id,
    keyName: z.string().nullable().describe("Null once the key is revoked."),
    serviceName: z.string().nullable(),
    agentId: Id.nullable().describe("Whose traces were stored."),
    requests: count,
    spans: count.describe("Spans stored."),
    reasons: z
      .array(z.object({ code: Code, traces: count }))
      .describe("PARTIAL: the traces refused, by code."),
  })
  .meta({ id: "IngestionMinute" });

const IngestionSummary = z
  .object({
    codes: z.array(z.object({ code: Code, requests: count, spans: count })),
    services: z.array(
      z.object({
        serviceName: z.string(),
        agentId: Id.nullable().describe("The agent that bears this name now."),
        unknown: z.boolean().describe("Whether no agent of the project bears this name."),
        lastSeenAt: z.iso.datetime().describe("The beginning of the minute of its last request."),
        requests: count,
        spans: count,
        codes: z.partialRecord(Code, count).describe("Requests by code."),
      }),
    ),
  })
  .meta({ id: "IngestionSummary" });

export function registerIngestionLog(app: App, { db }: Deps): void {
  const tags = ["ingestion"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/projects/:id/ingestion",
    {
      schema: {
        tags,
        summary: "List how ingestion requests ended, by the minute, newest first",
        params,
        querystring: IngestionQuery,
        response: { 200: pageSchema(IngestionMinute) },
      },
    },
    async ({ params, query }) => {
      const { cursor, limit, ...filters } = query;
      const minutes = await listIngestion(db, params.id, filters, listingOf({ cursor, limit }));
      return pageOf(
        minutes.map(({ at, reasons, ...minute }) => ({
          ...minute,
          at: at.toISOString(),
          reasons: Object.entries(reasons).map(([code, traces]) => ({ code: code as Code, traces })),
        })),
        query,
      );
    },
  );

  app.get(
    "/api/projects/:id/ingestion/summary",
    {
      schema: {
        tags,
        summary: "Sums of the ingestion log by code and by service name",
        params,
        querystring: z.object(Range),
        response: { 200: IngestionSummary },
      },
    },
    async ({ params, query }) => {
      const { codes, services } = await summarizeIngestion(db, params.id, query);
      return {
        codes,
        services: services.map(service => ({ ...service, lastSeenAt: service.lastSeenAt.toISOString() })),
      };
    },
  );
}

type Code = z.output<typeof Code>;
