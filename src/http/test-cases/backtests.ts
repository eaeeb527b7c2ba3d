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
import { listBacktestResults } from "../../store/runs/backtest-results.ts";
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
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { Id, pageSchema } from "../frame/schemas.ts";
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
  const route = routesOf(app, "backtests");
  const { db, editor } = deps;
  const parser = testParserOf(app, deps);
  const estimates = limitTrials(deps, {
    kind: "estimates",
    busy: "Limit: 2 estimates at a time. Wait for one to finish.",
    concurrentMax: 2,
    perMinuteMax: estimatesPerMinute,
    what: "estimates",
  });

  route("POST /api/agents/:id/backtests/estimate", {
    access: "session",
    waits: true,
    bytesMax: testBytesMax,
    summary: "Estimate a backtest: its traces, and the judge's calls, tokens and cost",
    body: z.strictObject(tried).meta(testOrId),
    answer: BacktestEstimate,
    handler: async ({ id: agentId, body, account, reply }) => {
      const { document } = await chosen(db, parser, account, agentId, body);
      const wanted = { agentId, document, count: body.traces };
      return estimates(account.id, () => editor.estimateBacktest(wanted, untilClosed(reply)));
    },
  });

  route("POST /api/agents/:id/backtests", {
    access: "session",
    bytesMax: testBytesMax,
    summary: "Start a backtest: try a test case on past traces, without evaluating them",
    body: z
      .strictObject({
        ...tried,
        judge: z
          .boolean()
          .default(false)
          .describe("True confirms the cost. False: the judge is not called; cached answers are used."),
      })
      .meta(testOrId),
    status: 201,
    answer: BacktestDetail,
    handler: async ({ id: agentId, body, account }) => {
      const { traces, judge: judged, testId = null } = body;
      const tried = await chosen(db, parser, account, agentId, body);
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
      return withName(found(await findBacktest(db, id)));
    },
  });
}

function registerReads(app: App, { db }: Deps): void {
  const route = routesOf(app, "backtests");
  route("GET /api/agents/:id/backtests", {
    access: "tokens",
    summary: "List backtests, newest first; the latest 20 are kept",
    query: PageQuery,
    answer: pageSchema(Backtest),
    handler: async ({ id, query }) =>
      pageOf((await listBacktests(db, id, listingOf(query))).map(withName), query),
  });

  route("GET /api/backtests/:id", {
    access: "tokens",
    summary: "Get a backtest: state, progress, counts",
    answer: BacktestDetail,
    handler: async ({ id }) => withName(found(await findBacktest(db, id))),
  });

  route("GET /api/backtests/:id/results", {
    access: "tokens",
    summary: "List the tried traces of a backtest, newest first",
    query: PageQuery.extend({
      change: BacktestChange.optional(),
      before: Outcome.or(z.literal("none")).optional().describe("none: no earlier result."),
      after: Outcome.or(z.literal("none")).optional().describe("none: no outcome now."),
    }),
    answer: pageSchema(BacktestResult),
    handler: async ({ id, query }) => {
      const { items, nextCursor } = pageOf(await listBacktestResults(db, id, query, listingOf(query)), query);
      return { items: items.map(({ id, ...result }) => ({ traceId: id, ...result })), nextCursor };
    },
  });
}

function registerEnds(app: App, { db }: Deps, loop: BacktestLoop): void {
  const route = routesOf(app, "backtests");
  route("POST /api/backtests/:id/cancel", {
    access: "session",
    summary: "Cancel a backtest; its results so far are kept",
    answer: BacktestDetail,
    handler: async ({ id }) => {
      await endBacktest(db, id, "cancelled");
      loop.abort(id);
      return withName(found(await findBacktest(db, id)));
    },
  });

  route("DELETE /api/backtests/:id", {
    access: "session",
    summary: "Delete a backtest",
    handler: async ({ id }) => {
      await deleteBacktest(db, id);
      loop.abort(id);
    },
  });
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

function withName(backtest: StoredBacktest) {
  return { ...backtest, testName: backtest.test.name };
}
