// /api/projects/:id/ingestion and /api/agents/:id/last-rejection: results of ingestion requests in the last seven days.
import { z } from "zod";
import { dropReasons } from "../../model/ingestion.ts";
import { findLastRejection, listIngestion, summarizeIngestion } from "../../store/ingestion/minutes.ts";
import type { App, Deps } from "../frame/deps.ts";
import { listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Id, Instant, notReversed, pageSchema, searchText } from "../frame/schemas.ts";
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
  const route = routesOf(app, "ingestion");

  route("GET /api/projects/:id/ingestion", {
    access: "tokens",
    summary: "List ingestion requests by minute and result, newest first",
    query: IngestionQuery,
    answer: pageSchema(IngestionMinute),
    handler: async ({ id, query }) => {
      const { cursor, limit, ...filters } = query;
      const minutes = await listIngestion(db, id, filters, listingOf({ cursor, limit }));
      return pageOf(
        minutes.map(({ reasons, dropped, rejection, rejectedAt, ...minute }) => ({
          ...minute,
          reasons: Object.entries(reasons).map(([code, traces]) => ({ code: code as Code, traces })),
          dropped: dropReasons.flatMap(reason =>
            dropped[reason] ? [{ reason, records: dropped[reason] }] : [],
          ),
          rejection: rejection && rejectedAt && { ...rejection, at: rejectedAt },
        })),
        query,
      );
    },
  });

  route("GET /api/agents/:id/last-rejection", {
    access: "tokens",
    summary: "Get the latest rejected request that concerns an agent",
    answer: z.object({ rejection: LastRejection.nullable() }),
    handler: async ({ id }) => ({ rejection: (await findLastRejection(db, id)) ?? null }),
  });

  route("GET /api/projects/:id/ingestion/summary", {
    access: "tokens",
    summary: "Get totals of the ingestion log by code and service name",
    query: z.object(Range).superRefine(notReversed("from", "to")),
    answer: IngestionSummary,
    handler: ({ id, query }) => summarizeIngestion(db, id, query),
  });
}
