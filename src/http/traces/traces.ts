// /api/traces: the filtered list of an agent's traces, and deleting a trace.
import { z } from "zod";
import { HeapSemaphore } from "../../load/heap-semaphore.ts";
import { refreshStale } from "../../load.ts";
import { resultStates } from "../../model/run/run.ts";
import { type AssertionType, assertionTypes } from "../../model/test-case/assertion.ts";
import type { Database } from "../../store/db.ts";
import type { EventPublisher } from "../../store/events.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { listTraces } from "../../store/traces/list.ts";
import { deleteTrace, findTrace } from "../../store/traces/read.ts";
import { traceLimits } from "../../threads/heap.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Flag, Id, Instant, pageSchema, searchText } from "../schemas.ts";
import { ListedTrace } from "./schemas.ts";
import { listedTraceView } from "./view.ts";

const number = z.coerce.number().nonnegative();
const count = number.int();

const TraceQuery = PageQuery.extend({
  kind: z.enum(["live", "test_run"]).optional(),
  path: z.enum(["canonical", "otlp"]).optional(),
  state: z
    .enum(["pending", "running", "waiting", "completed", "error", "none"])
    .optional()
    .describe(
      "State of the run shown in the list; waiting: running, and waiting for the judge; none: not evaluated.",
    ),
  verdict: z
    .enum(["passed", "failed", "skipped", "missing_instrumentation", "none"])
    .optional()
    .describe("none: evaluated, but no test applied."),
  routing: z.enum(["ok", "not_needed", "no_user_input", "unavailable"]).optional(),
  failed: Flag.optional(),
  outage: Flag.optional().describe(
    "Whether checks were skipped because the judge was unavailable, and not judged since.",
  ),
  resultState: z
    .enum(resultStates)
    .optional()
    .describe("Failed traces with a failed result that is open, known or resolved."),
  httpStatus: z.coerce.number().int().min(100).max(999).optional(),
  externalId: searchText(255).optional(),
  testId: Id.optional().describe("Traces on which this test has a result."),
  checkType: z
    .enum(assertionTypes)
    .optional()
    .describe("Traces with a result of a test that currently has an assertion of this type."),
  receivedFrom: Instant.optional(),
  receivedTo: Instant.optional(),
  durationMinMs: number.optional(),
  durationMaxMs: number.optional(),
  tokensMin: count.optional(),
  tokensMax: count.optional(),
  text: searchText(200).optional().describe("Text in the name, user input or response."),
});

// On the main thread a list refreshes stale rows of at most 1 MB, which block other requests for 5 ms each; idle workers
// refresh larger ones.
const refreshedBytesMax = 1024 * 1024;

export function registerTraces(app: App, { db, events }: Deps & { events: EventPublisher }): void {
  const heap = new HeapSemaphore(traceLimits(refreshedBytesMax));
  const tags = ["traces"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/traces",
    {
      schema: {
        tags,
        summary: "List an agent's traces, newest first",
        params,
        querystring: TraceQuery,
        response: { 200: pageSchema(ListedTrace) },
      },
    },
    async ({ params, query }) => {
      await refreshStale(db, { agentId: params.id, bytesMax: refreshedBytesMax, heap });
      const { cursor, limit, checkType, ...plain } = query;
      const testIds = checkType && (await testsWith(db, params.id, checkType));
      const filters = { ...plain, testIds };
      const { rows, reach } = await listTraces(db, params.id, filters, listingOf({ cursor, limit }));
      return pageOf(rows.map(listedTraceView), query, reach);
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
