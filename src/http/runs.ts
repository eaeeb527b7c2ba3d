// Runs: one whole, and those that judged a test.
import { z } from "zod";
import { findRun, listRunsOfTest } from "../store/run-reads.ts";
import { findTestCase } from "../store/test-cases.ts";
import type { App, Deps } from "./deps.ts";
import { found, listingOf, PageQuery, pageOf, pageSchema } from "./page.ts";
import { Outcome, RunDetail } from "./trace-schemas.ts";
import { runDetailView } from "./trace-view.ts";

const instant = z.iso.datetime({ offset: true }).transform(text => new Date(text));

export function registerRuns(app: App, { db }: Deps): void {
  const tags = ["runs"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/runs/:id",
    { schema: { tags, summary: "One run with its results", params, response: { 200: RunDetail } } },
    async ({ params: { id } }) => runDetailView(found(await findRun(db, id))),
  );

  app.get(
    "/api/tests/:id/runs",
    {
      schema: {
        tags,
        summary: "List the completed runs that hold a result of a test, newest first",
        params,
        querystring: PageQuery.extend({
          outcome: Outcome.optional().describe("Only runs in which the test had this outcome."),
          from: instant.optional().describe("Only runs made from this instant on."),
          to: instant.optional().describe("Only runs made before this instant."),
        }),
        response: { 200: pageSchema(RunDetail) },
      },
    },
    async ({ params: { id }, query }) => {
      const { outcome, from, to, ...page } = query;
      const { id: testId, agentId } = found(await findTestCase(db, id));
      const { rows, reach } = await listRunsOfTest(
        db,
        { agentId, testId, outcome, from, to },
        listingOf(page),
      );
      // Of each run, the result of the test that was asked for.
      const views = rows.map(run => {
        const view = runDetailView(run);
        const ofTest = (one: { testId: string }) => one.testId === testId;
        return { ...view, results: view.results.filter(ofTest), tests: view.tests.filter(ofTest) };
      });
      return pageOf(views, page, reach);
    },
  );
}
