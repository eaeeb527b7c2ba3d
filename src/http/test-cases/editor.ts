// Routes of the test editor: dry runs, scenario trials, drafts made from a trace, and completions.

import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Editor } from "../../editor.ts";
import type { Permits } from "../../threads/fair-semaphore.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { holdersOfAccount, sharedPlacesOfAccounts, takePlace } from "../places.ts";
import { limitTrials } from "../rate-limit.ts";
import { Flag, Id } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
import {
  DraftedAssertion,
  DryRun,
  KnownClasses,
  ScenarioTrial,
  TraceInputs,
  Vocabulary,
} from "./editor-schemas.ts";
import { testParserOf } from "./parse.ts";
import { TestDocument, testBytesMax } from "./schemas.ts";
import { testCaseBody } from "./test-cases.ts";

// Each request may keep a whole trace in memory; a dry run keeps it while it waits for the judge.
const concurrentMax = 6;
const waitMs = 5_000;
/** Keeps one account from using all permits with requests that wait for the judge. */
const judgedOfAccountMax = 2;
const dryRunsPerMinute = 60;
// Drafts and completions evaluate or read whole traces, too.
const readsOfAccountMax = 3;
const readsPerMinute = 120;

const params = z.object({ id: z.string() });

type EditorDeps = Deps & { editor: Editor };

export function registerEditor(app: App, deps: EditorDeps): void {
  const places = sharedPlacesOfAccounts({ machine: deps.machine, name: "editor", count: concurrentMax });
  registerTrials(app, deps, places);
  registerLookUps(app, deps, places);
  registerDrafts(app, deps, places);
}

function registerTrials(app: App, deps: EditorDeps, places: Permits): void {
  const { db, machine, editor } = deps;
  const trials = limitTrials(
    { db, machine },
    {
      kind: "dry runs",
      busy: `Limit: ${judgedOfAccountMax} dry runs at a time. Wait for one to finish.`,
      concurrentMax: judgedOfAccountMax,
      perMinuteMax: dryRunsPerMinute,
      what: "dry runs",
    },
  );
  const parser = testParserOf(app, deps);

  app.post(
    "/api/agents/:id/tests/dry-run",
    {
      config: { waits: true },
      bodyLimit: testBytesMax,
      schema: {
        tags: ["tests"],
        summary: "Evaluate a past trace with a draft test case; stores nothing",
        params,
        querystring: z.object({
          routing: Flag.optional().describe("Whether to match the scenario, too."),
        }),
        body: z.object({
          test: testCaseBody,
          traceId: z.string(),
          routing: z.boolean().optional().describe("As in the query."),
        }),
        response: { 200: DryRun },
      },
    },
    async (request, reply) => {
      const { test, traceId, routing } = request.body;
      const input = {
        agentId: request.params.id.toLowerCase(),
        traceId,
        document: await parser.draft(request, test),
        routing: routing ?? request.query.routing ?? false,
      };
      return found(
        await trials(requireAccount(request).id, () =>
          withPlace(places, reply, signal => editor.dryRun(input, signal)),
        ),
      );
    },
  );

  app.post(
    "/api/agents/:id/tests/try-scenario",
    {
      config: { waits: true },
      schema: {
        tags: ["tests"],
        summary: "Match the latest inputs against a scenario, or estimate the cost",
        params,
        body: z.object({
          scenario: z.string().max(20_000).regex(/\S/, "Must not be blank."),
          count: z.int().min(1).max(50).default(50).describe("How many of the latest live traces to read."),
          estimate: z.boolean().describe("True: the judge is not called, and the figures are estimates."),
        }),
        response: { 200: ScenarioTrial },
      },
    },
    async (request, reply) => {
      const input = { agentId: request.params.id.toLowerCase(), ...request.body };
      return trials(requireAccount(request).id, () =>
        withPlace(places, reply, signal => editor.tryScenario(input, signal)),
      );
    },
  );
}

function registerLookUps(app: App, { editor }: EditorDeps, places: Permits): void {
  app.post(
    "/api/agents/:id/tests/rests-on",
    {
      schema: {
        tags: ["tests"],
        summary: "List what the judge found that criteria rest on; makes no call",
        params,
        body: z.object({ criteria: z.array(z.string().max(10_000)).max(600) }),
        response: { 200: KnownClasses },
      },
    },
    async ({ params: { id }, body: { criteria } }, reply) => ({
      items: await withPlace(places, reply, signal =>
        editor.knownClasses({ agentId: id.toLowerCase(), criteria }, signal),
      ),
    }),
  );

  app.post(
    "/api/agents/:id/tests/trace-inputs",
    {
      schema: {
        tags: ["tests"],
        summary: "Read the whole user inputs of traces, to use them as inputs of a test",
        params,
        body: z.object({ traceIds: z.array(Id).min(1).max(100) }),
        response: { 200: TraceInputs },
      },
    },
    async ({ params: { id }, body: { traceIds } }, reply) => {
      const request = { agentId: id.toLowerCase(), traceIds: [...new Set(traceIds)] };
      return { items: await withPlace(places, reply, signal => editor.traceInputs(request, signal)) };
    },
  );
}

/** Also completions: both read whole traces. */
function registerDrafts(app: App, { db, machine, editor }: EditorDeps, places: Permits): void {
  const reads = limitTrials(
    { db, machine },
    {
      kind: "drafts",
      busy: `Limit: ${readsOfAccountMax} drafts at a time. Try again in a moment.`,
      concurrentMax: readsOfAccountMax,
      perMinuteMax: readsPerMinute,
      what: "drafts",
    },
  );

  app.get(
    "/api/agents/:id/vocabulary",
    {
      schema: {
        tags: ["tests"],
        summary: "List span, tool, attribute and argument names of the agent's latest traces",
        params,
        response: { 200: Vocabulary },
      },
    },
    async (request, reply) => {
      const agentId = request.params.id.toLowerCase();
      return reads(requireAccount(request).id, () =>
        withPlace(places, reply, signal => editor.vocabulary({ agentId }, signal)),
      );
    },
  );

  app.post(
    "/api/traces/:id/draft-test",
    {
      schema: {
        tags: ["traces"],
        summary: "Draft a test case that passes on a trace; saves nothing",
        params,
        response: { 200: TestDocument },
      },
    },
    async (request, reply) =>
      found(
        await reads(requireAccount(request).id, () =>
          withPlace(places, reply, signal => editor.draftTest({ traceId: request.params.id }, signal)),
        ),
      ),
  );

  app.post(
    "/api/traces/:id/draft-assertion",
    {
      schema: {
        tags: ["traces"],
        summary: "Draft an assertion for one value of a trace; saves nothing",
        params,
        body: z.object({
          spanId: z.string(),
          attribute: z.string().nullable().describe("Null for the span itself."),
          path: z
            .array(z.union([z.string(), z.number().int().min(0)]))
            .max(50)
            .default([])
            .describe("Keys and positions inside the attribute's value, from the outside in."),
        }),
        response: { 200: DraftedAssertion },
      },
    },
    async (request, reply) => {
      const input = { traceId: request.params.id, ...request.body };
      return found(
        await reads(requireAccount(request).id, () =>
          withPlace(places, reply, signal => editor.draftAssertion(input, signal)),
        ),
      );
    },
  );
}

/** Runs `work` with a place of the account; its signal aborts when the client disconnects. */
async function withPlace<T>(
  places: Permits,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  // The client may have disconnected while its session was looked up.
  if (reply.raw.destroyed) gone.abort();
  const holders = holdersOfAccount(requireAccount(reply.request));
  const release = await takePlace(places, { holders, what: "editor requests", waitMs, signal: gone.signal });
  try {
    return await work(gone.signal);
  } finally {
    release();
  }
}
