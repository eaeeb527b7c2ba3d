// /api/traces: the filtered list of an agent's traces, and deleting traces.

import { z } from "zod";
import type { AssertionType } from "../../model/test-case/assertion.ts";
import type { Database } from "../../store/db.ts";
import type { EventPublisher } from "../../store/events.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { listTraceValues } from "../../store/trace-lists/values.ts";
import { deleteTrace, deleteTraces, findTrace } from "../../store/traces/read.ts";
import type { TraceReader } from "../../trace-reader.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "../frame/places.ts";
import { routesOf } from "../frame/route.ts";
import { Id } from "../frame/schemas.ts";
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
  const route = routesOf(app, "traces");

  const searches = sharedPlacesOfAccounts({ machine, name: "searches", count: searchesMax });

  route("GET /api/agents/:id/traces", {
    access: "tokens",
    summary: "List an agent's traces, newest first",
    query: TraceQuery,
    answer: TracePage,
    handler: async ({ id, query, account, reply }) => {
      requireConsistent(query);
      await reader.refresh(id);
      const { checkType, order, limit } = query;
      const testIds = checkType && (await testsWith(db, id, checkType));
      const list = { db, agentId: id, filters: { ...filtersOf(query), testIds }, limit };
      const filter = spanFilterOf(query);
      const readPage = async () => {
        if (order !== "newest" && order !== "oldest") return orderedPage(list, order, query.cursor);
        if (!filter) return pageByTime(list, order, query.cursor);
        const holders = holdersOfAccount(account);
        releaseOnClose(reply, await takePlace(searches, { holders, what: "searches of spans", waitMs }));
        return pageOfSpans({ ...list, reader, filter }, order, query.cursor);
      };
      const page = await readPage();
      return { ...page, items: await viewsOf(db, page.items) };
    },
  });

  route("GET /api/agents/:id/trace-values", {
    access: "tokens",
    summary:
      "List the tools, models and providers of an agent's traces, and the rules that redacted in them, by name",
    answer: TraceValues,
    handler: async ({ id }) => {
      const [tools, models, providers, redacted] = await Promise.all([
        listTraceValues(db, id, "tool"),
        listTraceValues(db, id, "model"),
        listTraceValues(db, id, "provider"),
        listTraceValues(db, id, "redacted"),
      ]);
      return { tools, models, providers, redacted };
    },
  });

  route("POST /api/agents/:id/traces/delete", {
    access: "session",
    summary: "Delete traces and their runs",
    body: z.object({ traceIds: z.array(Id).min(1).max(bulkMax) }),
    answer: DeletedTraces,
    handler: async ({ id: agentId, body: { traceIds } }) => {
      const deleted = await deleteTraces(db, agentId, traceIds);
      for (const traceId of deleted) events.publish({ type: "trace", agentId, traceId, change: "deleted" });
      return { deleted: deleted.length };
    },
  });

  route("DELETE /api/traces/:id", {
    access: "session",
    summary: "Delete a trace and its runs",
    handler: async ({ id }) => {
      const row = found(await findTrace(db, id));
      await deleteTrace(db, row.id);
      events.publish({ type: "trace", agentId: row.agentId, traceId: row.id, change: "deleted" });
    },
  });
}

async function testsWith(db: Database, agentId: string, type: AssertionType): Promise<string[]> {
  const tests = await listForAgent(db, agentId);
  return tests.filter(({ assertions }) => assertions.some(one => one.type === type)).map(({ id }) => id);
}
