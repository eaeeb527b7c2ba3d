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
import { type App, type Deps, quotasOf } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Flag, Id, pageSchema, queryNumber } from "../frame/schemas.ts";
import { requireVerified } from "../frame/signed-in.ts";
import { chooseTests, estimateOf, testsMax } from "./launch-choice.ts";
import { Launch, LaunchComparison, LaunchDetail, LaunchEstimate, LaunchedRun } from "./launch-schemas.ts";
import { launchedRunView } from "./launch-view.ts";

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

export function registerLaunches(app: App, deps: LaunchesDeps): void {
  registerStart(app, deps);
  registerReads(app, deps);
  registerComparison(app, deps);
  registerCancel(app, deps);
}

function registerStart(app: App, deps: LaunchesDeps): void {
  const route = routesOf(app, "launches");
  const { db, events, requireCallable } = deps;

  route("POST /api/agents/:id/launches", {
    access: "tokens",
    summary: "Run the given test cases, or all Active ones",
    body: NewLaunch,
    status: 201,
    answer: Launch,
    handler: async ({ id: agentId, body, account, request }) => {
      const { testIds, repeats, source } = body ?? {};
      requireVerified(account, "Tests can be run");
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
      return launch;
    },
  });

  route("POST /api/agents/:id/launches/estimate", {
    access: "session",
    summary: "What a launch would send, without starting it",
    body: NewLaunch,
    answer: LaunchEstimate,
    handler: async ({ id, body }) => {
      const { testIds, repeats } = body ?? {};
      const tests = chooseTests(await listRunnable(db, id), { testIds, repeats });
      return estimateOf(tests, repeats);
    },
  });
}

function registerReads(app: App, { db }: LaunchesDeps): void {
  const route = routesOf(app, "launches");
  route("GET /api/agents/:id/launches", {
    access: "tokens",
    summary: "List launches, newest first",
    query: PageQuery,
    answer: pageSchema(Launch),
    handler: async ({ id, query }) => pageOf(await listLaunches(db, id, listingOf(query)), query),
  });

  route("GET /api/launches/:id", {
    access: "tokens",
    summary: "Get a launch with its first runs, compared with the previous runs",
    query: z.object({
      limit: queryNumber(z.number().int().min(0).max(detailRunsMax))
        .prefault(detailRunsMax)
        .describe("How many runs to answer; 0 for none."),
    }),
    answer: LaunchDetail,
    handler: async ({ id, query: { limit } }) => detailOf(db, id, limit),
  });

  route("GET /api/launches/:id/runs", {
    access: "tokens",
    summary: "List the runs of a launch by test, input and repeat",
    query: PageQuery.extend({
      testId: Id.optional().describe("Only runs of this test."),
      row: queryNumber(z.number().int().min(1).max(1_000)).optional().describe("Only runs of this input."),
      result: z.enum(runResults).optional().describe("Only runs with this result."),
    }),
    answer: pageSchema(LaunchedRun),
    handler: async ({ id, query: { cursor, limit, ...filter } }) => {
      const runs = await listRunsOfLaunch(db, id, { after: cursor, rowsMax: limit + 1, ...filter });
      return pageOf(runs.map(launchedRunView), { limit });
    },
  });
}

function registerComparison(app: App, { db }: LaunchesDeps): void {
  const route = routesOf(app, "launches");
  route("GET /api/launches/:id/compare", {
    access: "tokens",
    summary: "Compare a launch with another one of the same agent, by test and input",
    query: PageQuery.extend({
      with: Id.describe("The other launch, as a rule an earlier one: changes are from that to this."),
      testId: Id.optional().describe("Only items of this test."),
      change: z.enum(launchChanges).optional().describe("Only items with this change."),
      changed: Flag.optional().describe("Only items whose change is not `same`."),
    }),
    answer: LaunchComparison,
    handler: async ({ id, query: { cursor, limit, with: before, ...filter } }) => {
      const launch = found(await findLaunch(db, id));
      const other = await findLaunch(db, before);
      if (other?.agentId !== launch.agentId) throw new Refusal("NOT_FOUND");
      const rowsMax = limit + 1;
      const compared = await compareLaunches(db, { before, launchId: id, after: cursor, rowsMax, ...filter });
      return { launch, with: other, ...compared, ...pageOf(compared.items, { limit }) };
    },
  });
}

function registerCancel(app: App, { db, events }: LaunchesDeps): void {
  const route = routesOf(app, "launches");
  route("POST /api/launches/:id/cancel", {
    access: "tokens",
    summary: "Cancel a launch; no effect once it has finished",
    answer: LaunchDetail,
    handler: async ({ id }) => {
      await cancelLaunch(db, id);
      const launch = await detailOf(db, id);
      events.publish({ type: "launch", agentId: launch.agentId, launchId: launch.id, runId: null });
      return launch;
    },
  });

  route("DELETE /api/launches/:id", {
    access: "session",
    summary: "Delete a finished launch with its runs and their traces",
    handler: async ({ id }) => {
      const { agentId, state } = found(await findLaunch(db, id));
      if (state === "queued" || state === "running") {
        throw new Refusal("CONFLICT", { message: "This run has not finished.", hint: "Cancel it first." });
      }
      await deleteLaunch(db, id);
      // Lists of launches and of traces have changed.
      events.publish({ type: "refresh", agentId });
    },
  });
}

async function detailOf(
  db: Database,
  id: string,
  limit = detailRunsMax,
): Promise<z.input<typeof LaunchDetail>> {
  const launch = found(await findLaunch(db, id));
  const [tests, previousId, waiting, tracesChanged, runs] = await Promise.all([
    listTestsOfLaunch(db, id),
    findPreviousLaunch(db, launch),
    findWaitingRuns(db, launch),
    launch.finishedAt === null ? 0 : countChangedRuns(db, launch),
    limit === 0 ? [] : listRunsOfLaunch(db, id, { rowsMax: limit + 1 }),
  ]);
  const { items, nextCursor } = pageOf(runs.map(launchedRunView), { limit });
  return { ...launch, tests, previousId, waiting, tracesChanged, runs: items, nextCursor };
}
