// /api/backtests: try a test case on past traces in the background, and read, cancel and delete such backtests.

import { z } from "zod";
import type { Editor } from "../../editor.ts";
import type { Account } from "../../model/account.ts";
import { ifThen } from "../../model/if-then.ts";
import { Refusal } from "../../model/refusal.ts";
import { backtestTracesMax } from "../../model/run/backtest.ts";
import type { TestCaseDocument } from "../../model/test-case/document.ts";
import { sourcesOf } from "../../model/test-case/inputs.ts";
import { evaluatedDocumentOf } from "../../model/test-case/test-case.ts";
import type { Database } from "../../store/db.ts";
import {
  listBacktestResults,
  type BacktestResult as StoredResult,
} from "../../store/runs/backtest-results.ts";
import {
  deleteBacktest,
  endBacktest,
  findBacktest,
  insertBacktest,
  listBacktests,
  type Backtest as StoredBacktest,
} from "../../store/runs/backtests.ts";
import { findTestCase } from "../../store/test-cases.ts";
import { listLatestLive } from "../../store/traces/read.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { limitTrials } from "../rate-limit.ts";
import { Id, pageSchema } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
import { Outcome } from "../traces/result-schemas.ts";
import { BacktestLoop } from "./backtest-loop.ts";
import {
  Backtest,
  BacktestChange,
  BacktestDetail,
  BacktestEstimate,
  BacktestResult,
} from "./backtest-schemas.ts";
import { type TestParser, testParserOf } from "./parse.ts";
import { testBytesMax } from "./schemas.ts";
import { triedTestBody } from "./test-cases.ts";

const params = z.object({ id: z.string() });
const tags = ["backtests"];
const estimatesPerMinute = 30;

const tried = {
  test: triedTestBody.optional().describe("The test case to try, saved or not. Default: the saved test."),
  testId: Id.optional().describe("A saved test of this agent, to compare its results with."),
  traces: z
    .int()
    .min(1)
    .max(backtestTracesMax)
    .default(100)
    .describe("How many of the latest live traces to try it on."),
};
const testOrId = ifThen({ not: { required: ["test"] } }, { required: ["testId"] });
type Tried = { test?: unknown; testId?: string | undefined };

export function registerBacktests(app: App, deps: Deps & { editor: Editor }): void {
  const loop = new BacktestLoop(deps);
  app.addHook("onClose", () => loop.stop());
  registerStart(app, deps, loop);
  registerReads(app, deps);
  registerEnds(app, deps, loop);
}

function registerStart(app: App, deps: Deps & { editor: Editor }, loop: BacktestLoop): void {
  const { db, editor } = deps;
  const parser = testParserOf(app, deps);
  const estimates = limitTrials(deps, {
    kind: "estimates",
    busy: "Limit: 2 estimates at a time. Wait for one to finish.",
    concurrentMax: 2,
    perMinuteMax: estimatesPerMinute,
    what: "estimates",
  });

  app.post(
    "/api/agents/:id/backtests/estimate",
    {
      config: { waits: true },
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Estimate a backtest: its traces, and the judge's calls, tokens and cost",
        params,
        body: z.strictObject(tried).meta(testOrId),
        response: { 200: BacktestEstimate },
      },
    },
    async (request, reply) => {
      const agentId = request.params.id.toLowerCase();
      const { document } = await chosen(db, parser, requireAccount(request), agentId, request.body);
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const wanted = { agentId, document, count: request.body.traces };
      return estimates(requireAccount(request).id, () => editor.estimateBacktest(wanted, gone.signal));
    },
  );

  app.post(
    "/api/agents/:id/backtests",
    {
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Start a backtest: try a test case on past traces, without evaluating them",
        params,
        body: z
          .strictObject({
            ...tried,
            judge: z
              .boolean()
              .default(false)
              .describe("True confirms the cost. False: the judge is not called; cached answers are used."),
          })
          .meta(testOrId),
        response: { 201: BacktestDetail },
      },
    },
    async (request, reply) => {
      const agentId = request.params.id.toLowerCase();
      const { traces, judge: judged, testId = null } = request.body;
      const tried = await chosen(db, parser, requireAccount(request), agentId, request.body);
      const latest = await listLatestLive(db, agentId, traces);
      if (latest.length === 0) {
        throw new Refusal("CONFLICT", {
          message: "This agent has no live traces yet.",
          hint: "Send one, then start the backtest.",
        });
      }
      const traceIds = latest.map(({ id }) => id);
      const id = await insertBacktest(db, { agentId, testId, ...tried, judged, traceIds });
      loop.start({ id, agentId, testId, test: tried.document, judged });
      return reply.code(201).send(detailView(found(await findBacktest(db, id))));
    },
  );
}

function registerReads(app: App, { db }: Deps): void {
  app.get(
    "/api/agents/:id/backtests",
    {
      schema: {
        tags,
        summary: "List backtests, newest first; the latest 20 are kept",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(Backtest) },
      },
    },
    async ({ params: { id }, query }) => {
      const { items, nextCursor } = pageOf(await listBacktests(db, id, listingOf(query)), query);
      return { items: items.map(view), nextCursor };
    },
  );

  app.get(
    "/api/backtests/:id",
    {
      schema: {
        tags,
        summary: "Get a backtest: state, progress, counts",
        params,
        response: { 200: BacktestDetail },
      },
    },
    async ({ params: { id } }) => detailView(found(await findBacktest(db, id))),
  );

  app.get(
    "/api/backtests/:id/results",
    {
      schema: {
        tags,
        summary: "List the tried traces of a backtest, newest first",
        params,
        querystring: PageQuery.extend({
          change: BacktestChange.optional(),
          before: Outcome.or(z.literal("none")).optional().describe("none: no earlier result."),
          after: Outcome.or(z.literal("none")).optional().describe("none: no outcome now."),
        }),
        response: { 200: pageSchema(BacktestResult) },
      },
    },
    async ({ params: { id }, query }) => {
      const { items, nextCursor } = pageOf(await listBacktestResults(db, id, query, listingOf(query)), query);
      return { items: items.map(resultView), nextCursor };
    },
  );
}

function registerEnds(app: App, { db }: Deps, loop: BacktestLoop): void {
  app.post(
    "/api/backtests/:id/cancel",
    {
      schema: {
        tags,
        summary: "Cancel a backtest; its results so far are kept",
        params,
        response: { 200: BacktestDetail },
      },
    },
    async ({ params: { id } }) => {
      await endBacktest(db, id, "cancelled");
      loop.abort(id.toLowerCase());
      return detailView(found(await findBacktest(db, id)));
    },
  );

  app.delete(
    "/api/backtests/:id",
    { schema: { tags, summary: "Delete a backtest", params, response: { 204: z.undefined() } } },
    async ({ params: { id } }, reply) => {
      await deleteBacktest(db, id);
      loop.abort(id.toLowerCase());
      return reply.code(204).send();
    },
  );
}

/** The document to try, and the saved version that it equals. Throws VALIDATION_ERROR. */
async function chosen(
  db: Database,
  parser: TestParser,
  account: Account,
  agentId: string,
  { test, testId }: Tried,
): Promise<{ document: TestCaseDocument; version: number | null; draftedFrom: string[] }> {
  const refuse = (path: string, message: string) =>
    new Refusal("VALIDATION_ERROR", { message, issues: [{ path, message }] });
  const draft = test === undefined ? undefined : await parser.draft(account, test);
  const saved = testId === undefined ? undefined : await findTestCase(db, testId);
  if (testId !== undefined && saved?.agentId !== agentId) {
    throw refuse("testId", "This agent has no test case with this id.");
  }
  // A backtest sends nothing, so a change of inputs or repeats does not matter here.
  const tried = draft ?? saved;
  const document = tried && evaluatedDocumentOf(tried);
  if (!document) throw refuse("test", "Pass a test case, or the id of a saved one.");
  if (document.assertions.length === 0) {
    if (draft) throw refuse("test.assertions", "Add at least one assertion.");
    throw new Refusal("CONFLICT", {
      message: "This test has no assertions.",
      hint: "Add at least one and save it, then try it.",
    });
  }
  const isSaved = saved && JSON.stringify(document) === JSON.stringify(evaluatedDocumentOf(saved));
  return { document, version: isSaved ? saved.version : null, draftedFrom: sourcesOf(tried) };
}

function view(backtest: StoredBacktest): Backtest {
  const { test, createdAt, finishedAt, ...fields } = backtest;
  return {
    ...fields,
    testName: test.name,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

function detailView(backtest: StoredBacktest): BacktestDetail {
  return { ...view(backtest), test: backtest.test };
}

function resultView({ id, receivedAt, ...result }: StoredResult): BacktestResult {
  return { traceId: id, receivedAt: receivedAt.toISOString(), ...result };
}
