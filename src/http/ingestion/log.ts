// /api/projects/:id/ingestion and /api/agents/:id/last-rejection: results of ingestion requests in the last seven days.
import { z } from "zod";
import { dropReasons } from "../../model/ingestion.ts";
import { findLastRejection, listIngestion, summarizeIngestion } from "../../store/ingestion/minutes.ts";
import type { App, Deps } from "../deps.ts";
import { listingOf, PageQuery, pageOf } from "../page.ts";
import { Id, Instant, notReversed, pageSchema, searchText } from "../schemas.ts";
import { Code, IngestionMinute, IngestionSummary, LastRejection } from "./schemas.ts";

const Range = {
  from: Instant.optional().describe("Starts with the minute that contains this time."),
  to: Instant.optional().describe("Only minutes that begin before this time."),
};

const IngestionQuery = PageQuery.extend({
  ...Range,
  code: Code.optional(),
  keyId: Id.optional(),
  serviceName: searchText(500).optional(),
}).superRefine(notReversed("from", "to"));

export function registerIngestionLog(app: App, { db }: Deps): void {
  const tags = ["ingestion"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/projects/:id/ingestion",
    {
      schema: {
        tags,
        summary: "List ingestion requests by minute and result, newest first",
        params,
        querystring: IngestionQuery,
        response: { 200: pageSchema(IngestionMinute) },
      },
    },
    async ({ params, query }) => {
      const { cursor, limit, ...filters } = query;
      const minutes = await listIngestion(db, params.id, filters, listingOf({ cursor, limit }));
      return pageOf(
        minutes.map(({ at, reasons, dropped, rejection, rejectedAt, ...minute }) => ({
          ...minute,
          at: at.toISOString(),
          reasons: Object.entries(reasons).map(([code, traces]) => ({ code: code as Code, traces })),
          dropped: dropReasons.flatMap(reason =>
            dropped[reason] ? [{ reason, records: dropped[reason] }] : [],
          ),
          rejection: rejection && rejectedAt && { ...rejection, at: rejectedAt.toISOString() },
        })),
        query,
      );
    },
  );

  app.get(
    "/api/agents/:id/last-rejection",
    {
      schema: {
        tags,
        summary: "Get the latest rejected request that concerns an agent",
        params,
        response: { 200: z.object({ rejection: LastRejection.nullable() }) },
      },
    },
    async ({ params }) => {
      const last = await findLastRejection(db, params.id);
      return { rejection: last ? { ...last, at: last.at.toISOString() } : null };
    },
  );

  app.get(
    "/api/projects/:id/ingestion/summary",
    {
      schema: {
        tags,
        summary: "Get totals of the ingestion log by code and service name",
        params,
        querystring: z.object(Range).superRefine(notReversed("from", "to")),
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
