// Launches: start manual runs of an agent's test cases, get their progress, compare, cancel and delete them.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { launchChanges, runResults } from "../../model/run/launch.ts";
import { repeatsSchema } from "../../model/test-case/test-case.ts";
import { countBytes, requireBytes } from "../../store/accounts/use.ts";
import type { Database } from "../../store/db.ts";
import type { EventPublisher } from "../../store/events.ts";
import { compareLaunches } from "../../store/runs/launch-comparison.ts";
import { deleteLaunch } from "../../store/runs/launch-deletion.ts";
import {
  countChangedRuns,
  findPreviousLaunch,
  findWaitingRuns,
  listTestsOfLaunch,
} from "../../store/runs/launch-tests.ts";
import { listRunsOfLaunch } from "../../store/runs/launched-runs.ts";
import {
  cancelLaunch,
  findLaunch,
  insertLaunch,
  listLaunches,
  requireRoom,
} from "../../store/runs/launches.ts";
import { listRunnable } from "../../store/test-cases.ts";
import { type App, type Deps, quotasOf } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Flag, Id, pageSchema, queryNumber } from "../schemas.ts";
import { requireVerified } from "../signed-in.ts";
import { chooseTests, estimateOf, testsMax } from "./launch-choice.ts";
import { Launch, LaunchComparison, LaunchDetail, LaunchEstimate, LaunchedRun } from "./launch-schemas.ts";
import { launchedRunView, launchView } from "./launch-view.ts";

export type LaunchesDeps = Deps & {
  events: Pick<EventPublisher, "publish">;
  /** Throws CONFLICT if the agent has no connection, or its secrets cannot be decrypted. */
  requireCallable: (agentId: string) => Promise<unknown>;
  /** Called after a launch was inserted. */
  onLaunch: () => void;
};

/** The runs that a launch is answered with; the others are read in pages. */
const detailRunsMax = 1_000;

const NewLaunch = z
  .strictObject({
    testIds: z
      .array(Id)
      .min(1)
      .max(testsMax)
      .optional()
      .describe("Tests of this agent, disabled ones included. Default: all active tests."),
    repeats: repeatsSchema.optional().describe("In place of the tests' own repeats."),
    source: z.enum(["dashboard", "api", "cli"]).optional().describe("Shown as the origin of the run."),
  })
  .nullish();

const tags = ["launches"];
const params = z.object({ id: z.string() });

export function registerLaunches(app: App, deps: LaunchesDeps): void {
  registerStart(app, deps);
  registerReads(app, deps);
  registerComparison(app, deps);
  registerCancel(app, deps);
}

function registerStart(app: App, deps: LaunchesDeps): void {
  const { db, events, requireCallable } = deps;

  app.post(
    "/api/agents/:id/launches",
    {
      config: { tokens: true },
      schema: {
        tags,
        summary: "Run the given test cases, or all Active ones",
        params,
        body: NewLaunch,
        response: { 201: Launch },
      },
    },
    async (request, reply) => {
      const agentId = request.params.id.toLowerCase();
      const { testIds, repeats, source } = request.body ?? {};
      const account = requireVerified(request, "Tests can be run");
      const tests = chooseTests(await listRunnable(db, agentId), { testIds, repeats });
      await requireCallable(agentId);
      await requireRoom(db, agentId);
      await requireBytes(db, account.id, quotasOf(deps.config).bytesPerDay);
      await countBytes(db, new Map([[account.id, tests.reduce((sum, test) => sum + test.inputBytes, 0)]]));
      const launch = await insertLaunch(db, {
        agentId,
        createdBy: account.id,
        source: source ?? (request.headers.authorization === undefined ? "dashboard" : "api"),
        tests,
        repeats,
      });
      events.publish({ type: "launch", agentId, launchId: launch.id, runId: null });
      deps.onLaunch();
      return reply.code(201).send(launchView(launch));
    },
  );

  app.post(
    "/api/agents/:id/launches/estimate",
    {
      schema: {
        tags,
        summary: "What a launch would send, without starting it",
        params,
        body: NewLaunch,
        response: { 200: LaunchEstimate },
      },
    },
    async ({ params, body }) => {
      const { testIds, repeats } = body ?? {};
      const tests = chooseTests(await listRunnable(db, params.id.toLowerCase()), { testIds, repeats });
      return estimateOf(tests, repeats);
    },
  );
}

function registerReads(app: App, { db }: LaunchesDeps): void {
  app.get(
    "/api/agents/:id/launches",
    {
      schema: {
        tags,
        summary: "List launches, newest first",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(Launch) },
      },
    },
    async ({ params, query }) => {
      const { items, nextCursor } = pageOf(await listLaunches(db, params.id, listingOf(query)), query);
      return { items: items.map(launchView), nextCursor };
    },
  );

  app.get(
    "/api/launches/:id",
    {
      schema: {
        tags,
        summary: "Get a launch with its first runs, compared with the previous runs",
        params,
        querystring: z.object({
          limit: queryNumber(z.number().int().min(0).max(detailRunsMax))
            .prefault(detailRunsMax)
            .describe("How many runs to answer; 0 for none."),
        }),
        response: { 200: LaunchDetail },
      },
    },
    async ({ params: { id }, query: { limit } }) => detailOf(db, id, limit),
  );

  app.get(
    "/api/launches/:id/runs",
    {
      schema: {
        tags,
        summary: "List the runs of a launch by test, input and repeat",
        params,
        querystring: PageQuery.extend({
          testId: Id.optional().describe("Only runs of this test."),
          row: queryNumber(z.number().int().min(1).max(1_000))
            .optional()
            .describe("Only runs of this input."),
          result: z.enum(runResults).optional().describe("Only runs with this result."),
        }),
        response: { 200: pageSchema(LaunchedRun) },
      },
    },
    async ({ params: { id }, query: { cursor, limit, ...filter } }) => {
      const runs = await listRunsOfLaunch(db, id, { after: cursor, rowsMax: limit + 1, ...filter });
      return pageOf(runs.map(launchedRunView), { limit });
    },
  );
}

function registerComparison(app: App, { db }: LaunchesDeps): void {
  app.get(
    "/api/launches/:id/compare",
    {
      schema: {
        tags,
        summary: "Compare a launch with another one of the same agent, by test and input",
        params,
        querystring: PageQuery.extend({
          with: Id.describe("The other launch, as a rule an earlier one: changes are from that to this."),
          testId: Id.optional().describe("Only items of this test."),
          change: z.enum(launchChanges).optional().describe("Only items with this change."),
          changed: Flag.optional().describe("Only items whose change is not `same`."),
        }),
        response: { 200: LaunchComparison },
      },
    },
    async ({ params: { id }, query: { cursor, limit, with: before, ...filter } }) => {
      const launch = found(await findLaunch(db, id));
      const other = await findLaunch(db, before);
      if (other?.agentId !== launch.agentId) throw new Refusal("NOT_FOUND");
      const rowsMax = limit + 1;
      const compared = await compareLaunches(db, { before, launchId: id, after: cursor, rowsMax, ...filter });
      const launches = { launch: launchView(launch), with: launchView(other) };
      return { ...launches, ...compared, ...pageOf(compared.items, { limit }) };
    },
  );
}

function registerCancel(app: App, { db, events }: LaunchesDeps): void {
  app.post(
    "/api/launches/:id/cancel",
    {
      config: { tokens: true },
      schema: {
        tags,
        summary: "Cancel a launch; no effect once it has finished",
        params,
        response: { 200: LaunchDetail },
      },
    },
    async ({ params: { id } }) => {
      await cancelLaunch(db, id);
      const launch = await detailOf(db, id);
      events.publish({ type: "launch", agentId: launch.agentId, launchId: launch.id, runId: null });
      return launch;
    },
  );

  app.delete(
    "/api/launches/:id",
    {
      schema: {
        tags,
        summary: "Delete a finished launch with its runs and their traces",
        params,
        response: { 204: z.undefined() },
      },
    },
    async ({ params: { id } }, reply) => {
      const { agentId, state } = found(await findLaunch(db, id));
      if (state === "queued" || state === "running") {
        throw new Refusal("CONFLICT", { message: "This run has not finished.", hint: "Cancel it first." });
      }
      await deleteLaunch(db, id);
      // Lists of launches and of traces have changed.
      events.publish({ type: "refresh", agentId });
      return reply.code(204).send();
    },
  );
}

async function detailOf(db: Database, id: string, limit = detailRunsMax): Promise<LaunchDetail> {
  const launch = found(await findLaunch(db, id));
  const [tests, previousId, waiting, tracesChanged, runs] = await Promise.all([
    listTestsOfLaunch(db, id),
    findPreviousLaunch(db, launch),
    findWaitingRuns(db, launch),
    launch.finishedAt === null ? 0 : countChangedRuns(db, launch),
    limit === 0 ? [] : listRunsOfLaunch(db, id, { rowsMax: limit + 1 }),
  ]);
  const { items, nextCursor } = pageOf(runs.map(launchedRunView), { limit });
  return { ...launchView(launch), tests, previousId, waiting, tracesChanged, runs: items, nextCursor };
}
