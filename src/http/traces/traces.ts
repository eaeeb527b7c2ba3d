// /api/traces: the filtered list of an agent's traces, and deleting traces.

import { z } from "zod";
import type { AssertionType } from "../../model/test-case/assertion.ts";
import type { Database } from "../../store/db.ts";
import type { EventPublisher } from "../../store/events.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { listTraceValues } from "../../store/traces/list-values.ts";
import { deleteTrace, deleteTraces, findTrace } from "../../store/traces/read.ts";
import type { TraceReader } from "../../trace-reader.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "../places.ts";
import { Id } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
import { bulkMax } from "./export.ts";
import { orderedPage, pageByTime, pageOfSpans, viewsOf } from "./list.ts";
import { filtersOf, requireConsistent, spanFilterOf, TraceQuery } from "./query.ts";
import { DeletedTraces, TracePage, TraceValues } from "./schemas.ts";

// Each takes a thread for up to a second; they take turns.
const searchesMax = 4;
const waitMs = 4_000;

export function registerTraces(
  app: App,
  { db, machine, events, reader }: Deps & { events: EventPublisher; reader: TraceReader },
): void {
  const tags = ["traces"];
  const params = z.object({ id: z.string() });

  const searches = sharedPlacesOfAccounts({ machine, name: "searches", count: searchesMax });

  app.get(
    "/api/agents/:id/traces",
    {
      schema: {
        tags,
        summary: "List an agent's traces, newest first",
        params,
        querystring: TraceQuery,
        response: { 200: TracePage },
      },
    },
    async (request, reply) => {
      const { params, query } = request;
      requireConsistent(query);
      await reader.refresh(params.id);
      const { checkType, order, limit } = query;
      const testIds = checkType && (await testsWith(db, params.id, checkType));
      const list = { db, agentId: params.id, filters: { ...filtersOf(query), testIds }, limit };
      const filter = spanFilterOf(query);
      const readPage = async () => {
        if (order !== "newest" && order !== "oldest") return orderedPage(list, order, query.cursor);
        if (!filter) return pageByTime(list, order, query.cursor);
        const holders = holdersOfAccount(requireAccount(request));
        releaseOnClose(reply, await takePlace(searches, { holders, what: "searches of spans", waitMs }));
        return pageOfSpans({ ...list, reader, filter }, order, query.cursor);
      };
      const page = await readPage();
      return { ...page, items: await viewsOf(db, page.items) };
    },
  );

  app.get(
    "/api/agents/:id/trace-values",
    {
      schema: {
        tags,
        summary:
          "List the tools, models and providers of an agent's traces, and the rules that redacted in them, by name",
        params,
        response: { 200: TraceValues },
      },
    },
    async ({ params: { id } }) => {
      const [tools, models, providers, redacted] = await Promise.all([
        listTraceValues(db, id, "tool"),
        listTraceValues(db, id, "model"),
        listTraceValues(db, id, "provider"),
        listTraceValues(db, id, "redacted"),
      ]);
      return { tools, models, providers, redacted };
    },
  );

  app.post(
    "/api/agents/:id/traces/delete",
    {
      schema: {
        tags,
        summary: "Delete traces and their runs",
        params,
        body: z.object({ traceIds: z.array(Id).min(1).max(bulkMax) }),
        response: { 200: DeletedTraces },
      },
    },
    async ({ params: { id: agentId }, body: { traceIds } }) => {
      const deleted = await deleteTraces(db, agentId, traceIds);
      for (const traceId of deleted) events.publish({ type: "trace", agentId, traceId, change: "deleted" });
      return { deleted: deleted.length };
    },
  );

  app.delete(
    "/api/traces/:id",
    {
      schema: {
        tags,
        summary: "Delete a trace and its runs",
        params,
        response: { 204: z.undefined() },
      },
    },
    async ({ params: { id } }, reply) => {
      const row = found(await findTrace(db, id));
      await deleteTrace(db, row.id);
      events.publish({ type: "trace", agentId: row.agentId, traceId: row.id, change: "deleted" });
      return reply.code(204).send();
    },
  );
}

async function testsWith(db: Database, agentId: string, type: AssertionType): Promise<string[]> {
  const tests = await listForAgent(db, agentId);
  return tests.filter(({ assertions }) => assertions.some(one => one.type === type)).map(({ id }) => id);
}
