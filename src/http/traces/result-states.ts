// /api/traces/:id/result-states: where the failed results of a trace stand, and changing that.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { resultStates } from "../../model/run/run.ts";
import type { Database } from "../../store/db.ts";
import { decodeDetail } from "../../store/runs/detail.ts";
import { listRunsOfTrace } from "../../store/runs/read.ts";
import { listResultStates, saveResultState } from "../../store/traces/result-states.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { Id, Note } from "../frame/schemas.ts";
import { ResultStateView } from "./schemas.ts";

export function registerResultStates(app: App, { db }: Deps): void {
  const route = routesOf(app, "traces");

  route("GET /api/traces/:id/result-states", {
    access: "tokens",
    summary: "List where the failed results of a trace stand; those without a state are open",
    answer: z.object({ items: z.array(ResultStateView) }),
    handler: async ({ id }) => ({ items: await listResultStates(db, id) }),
  });

  route("PUT /api/traces/:id/result-states", {
    access: "session",
    summary: "Set a failed result of a trace to open, known or resolved, with a note",
    body: z.object({ testId: Id, state: z.enum(resultStates), note: Note.default("") }),
    answer: ResultStateView,
    handler: async ({ id, body, account }) => {
      const { testId, ...change } = body;
      const run = await latestRun(db, id);
      const hasFailed = run?.results.some(one => one.testId === testId && one.outcome === "failed");
      if (!run || !hasFailed) {
        throw new Refusal("CONFLICT", {
          hint: "The test did not fail in the latest evaluation of this trace.",
        });
      }
      const saved = await saveResultState(db, {
        ...{ agentId: run.agentId, traceId: run.traceId, testId, ...change },
        updatedBy: account.id,
      });
      if (!saved) throw new Refusal("NOT_FOUND", { hint: "The test or the trace was deleted." });
      return saved;
    },
  });
}

/** The completed run whose verdict is the trace's. A turn of a longer manual run has none of its own. */
async function latestRun(db: Database, traceId: string) {
  const runs = await listRunsOfTrace(db, traceId);
  const run = runs.find(({ state }) => state === "completed");
  if (run?.traceId == null || run.traceId !== traceId.toLowerCase()) return undefined;
  return { ...run, traceId: run.traceId, results: decodeDetail(run.detail).results };
}
