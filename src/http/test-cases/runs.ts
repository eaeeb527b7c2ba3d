// /api/runs: one run with its results, and the runs of a test.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { findManualRun, listManualRunsOfTest } from "../../store/runs/launched-runs.ts";
import { findRun, listRunsOfTest } from "../../store/runs/read.ts";
import { listTurns } from "../../store/runs/turns.ts";
import { findTestCase } from "../../store/test-cases.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Flag, Id, Instant, notReversed, pageSchema } from "../frame/schemas.ts";
import { Outcome } from "../traces/result-schemas.ts";
import { runDetailView } from "../traces/view.ts";
import { AnyRunDetail } from "./launch-schemas.ts";
import { manualRunView } from "./launch-view.ts";

export function registerRuns(app: App, { db }: Deps): void {
  const route = routesOf(app, "runs");

  route("GET /api/runs/:id", {
    access: "tokens",
    summary: "Get a run with its results",
    answer: AnyRunDetail,
    handler: async ({ id }) => {
      const run = found(await findRun(db, id));
      if (run.kind === "passive") return runDetailView(run);
      const turns = await listTurns(db, [run.id]);
      return manualRunView(found(await findManualRun(db, run.id)), turns.get(run.id) ?? []);
    },
  });

  route("GET /api/tests/:id/runs", {
    access: "tokens",
    summary: "List the completed runs with a result of a test, or all of its manual runs, newest first",
    description: "A passive run in whose place another was asked for, once that has completed, is left out.",
    query: PageQuery.extend({
      kind: z
        .enum(["passive", "manual"])
        .default("passive")
        .describe("manual: manual runs in any state, with their turns."),
      outcome: Outcome.optional().describe("Only runs in which the test had this outcome."),
      fullyEvaluated: Flag.optional().describe(
        "Only runs in which the result of the test is fully evaluated, or only the others.",
      ),
      from: Instant.optional().describe("Only runs created at or after this time."),
      to: Instant.optional().describe("Only runs created before this time."),
      like: Id.optional().describe(
        "manual: only runs with the same input as this manual run, from other launches.",
      ),
    }).superRefine(notReversed("from", "to")),
    answer: pageSchema(AnyRunDetail),
    handler: async ({ id, query }) => {
      const { kind, outcome, fullyEvaluated, from, to, like, ...page } = query;
      const { id: testId, agentId } = found(await findTestCase(db, id));
      if (kind === "manual") {
        const filter = (["outcome", "fullyEvaluated", "from", "to"] as const).find(
          name => query[name] !== undefined,
        );
        if (filter) {
          const issues = [{ path: filter, message: "Not supported for manual runs." }];
          throw new Refusal("VALIDATION_ERROR", { issues });
        }
        const runs = await listManualRunsOfTest(db, testId, { ...listingOf(page), like });
        const turns = await listTurns(
          db,
          runs.map(run => run.id),
        );
        return pageOf(
          runs.map(run => manualRunView(run, turns.get(run.id) ?? [])),
          page,
        );
      }
      if (like !== undefined) {
        const issues = [{ path: "like", message: "Only supported for manual runs." }];
        throw new Refusal("VALIDATION_ERROR", { issues });
      }
      const { rows, reach } = await listRunsOfTest(
        db,
        { agentId, testId, outcome, fullyEvaluated, from, to },
        listingOf(page),
      );
      // Only the results of the requested test.
      const views = rows.map(run => {
        const view = runDetailView(run);
        const ofTest = (one: { testId: string }) => one.testId === testId;
        return { ...view, results: view.results.filter(ofTest), tests: view.tests.filter(ofTest) };
      });
      return pageOf(views, page, reach);
    },
  });
}
