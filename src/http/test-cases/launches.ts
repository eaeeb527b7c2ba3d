// Launches: start manual runs of an agent's test cases, get their progress, and cancel them.
import { z } from "zod";
import { type Issue, Refusal } from "../../model/refusal.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";
import type { EventPublisher } from "../../store/events.ts";
import {
  cancelLaunch,
  countOpenLaunches,
  findLaunch,
  insertLaunch,
  listLaunches,
  listRunsOfLaunch,
} from "../../store/runs/launches.ts";
import { listForAgent } from "../../store/test-cases.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Id, pageSchema } from "../schemas.ts";
import { requireVerified } from "../session.ts";
import { Launch, LaunchDetail } from "./launch-schemas.ts";
import { launchDetailView, launchView } from "./launch-view.ts";

export type LaunchesDeps = Deps & {
  events: Pick<EventPublisher, "publish">;
  /** Throws CONFLICT if the agent has no connection, or its secrets cannot be decrypted. */
  requireCallable: (agentId: string) => Promise<unknown>;
  /** Called after a launch was inserted. */
  onLaunch: () => void;
};

const testsMax = 1_000;
// Enough for a team and its CI; stops a script that launches in a loop without waiting.
const openMax = 20;

const NewLaunch = z
  .strictObject({
    testIds: z
      .array(Id)
      .min(1)
      .max(testsMax)
      .optional()
      .describe("Tests of this agent, disabled ones included. Default: all active tests."),
    source: z.enum(["dashboard", "api", "cli"]).optional().describe("Shown as the origin of the run."),
  })
  .nullish();

export function registerLaunches(app: App, deps: LaunchesDeps): void {
  const { db, events } = deps;
  const tags = ["launches"];
  const params = z.object({ id: z.string() });
  const detailOf = async (id: string) => {
    const launch = found(await findLaunch(db, id));
    return launchDetailView(launch, await listRunsOfLaunch(db, id));
  };

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
      const { testIds, source } = request.body ?? {};
      const account = requireVerified(request, "Tests can be run");
      const tests = chosen(await listForAgent(db, agentId), testIds);
      await requireReady(deps, agentId);
      const launch = await insertLaunch(db, {
        agentId,
        createdBy: account.id,
        source: source ?? (request.headers.authorization === undefined ? "dashboard" : "api"),
        tests,
      });
      events.publish({ type: "launch", agentId, launchId: launch.id, runId: null });
      deps.onLaunch();
      return reply.code(201).send(launchView(launch));
    },
  );

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
        summary: "Get a launch with its runs, compared with the previous runs",
        params,
        response: { 200: LaunchDetail },
      },
    },
    async ({ params: { id } }) => detailOf(id),
  );

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
      const launch = await detailOf(id);
      events.publish({ type: "launch", agentId: launch.agentId, launchId: launch.id, runId: null });
      return launch;
    },
  );
}

/** The tests to run, each once, in the order of `testIds`. Throws if a test cannot be run. */
function chosen(tests: TestCase[], testIds: string[] | undefined): TestCase[] {
  if (!testIds) {
    const active = tests.filter(test => test.status === "active");
    if (active.length > testsMax) {
      throw new Refusal("VALIDATION_ERROR", {
        issues: [
          {
            path: "testIds",
            message: `The agent has more than ${testsMax} Active tests. Pass some of them.`,
          },
        ],
      });
    }
    if (active.length > 0) return active;
    throw new Refusal("CONFLICT", {
      message: "This agent has no Active test case.",
      hint: "Activate one, or pass disabled ones in testIds.",
    });
  }
  const byId = new Map(tests.map(test => [test.id, test]));
  const issues = testIds.flatMap((id, at): Issue[] => {
    const message = whyNotRunnable(byId.get(id));
    return message === undefined ? [] : [{ path: `testIds[${at}]`, message }];
  });
  if (issues.length > 0) {
    const message =
      testIds.length === 1 ? "This test case cannot be run." : "Some of these test cases cannot be run.";
    throw new Refusal("VALIDATION_ERROR", { message, issues });
  }
  return [...new Set(testIds)].map(id => byId.get(id)!);
}

function whyNotRunnable(test: TestCase | undefined): string | undefined {
  if (!test) return "This agent has no test case with this id.";
  if (test.turns.length === 0) return `“${test.name}” has no turns to send.`;
  if (test.assertions.length === 0) return `“${test.name}” has no assertions.`;
  return undefined;
}

/** Throws CONFLICT if the agent cannot be called or has too many open launches. */
async function requireReady({ db, requireCallable }: LaunchesDeps, agentId: string): Promise<void> {
  await requireCallable(agentId);
  if ((await countOpenLaunches(db, agentId)) >= openMax) {
    throw new Refusal("CONFLICT", {
      message: `Limit: ${openMax} unfinished launches per agent.`,
      hint: "Wait for some to finish, or cancel some.",
    });
  }
}
