// Routes of the test editor: dry runs, scenario trials, drafts made from a trace, and completions.

import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Editor } from "../../editor.ts";
import type { Account } from "../../model/account.ts";
import type { Permits } from "../../threads/fair-semaphore.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { holdersOfAccount, sharedPlacesOfAccounts, takePlace } from "../frame/places.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { Flag, Id } from "../frame/schemas.ts";
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

type EditorDeps = Deps & { editor: Editor };

export function registerEditor(app: App, deps: EditorDeps): void {
  const places = sharedPlacesOfAccounts({ machine: deps.machine, name: "editor", count: concurrentMax });
  registerTrials(app, deps, places);
  registerLookUps(app, deps, places);
  registerDrafts(app, deps, places);
}

function registerTrials(app: App, deps: EditorDeps, places: Permits): void {
  const route = routesOf(app, "tests");
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

  route("POST /api/agents/:id/tests/dry-run", {
    access: "session",
    waits: true,
    bytesMax: testBytesMax,
    summary: "Evaluate a past trace with a draft test case; stores nothing",
    query: z.object({
      routing: Flag.optional().describe("Whether to match the scenario, too."),
    }),
    body: z.object({
      test: testCaseBody,
      traceId: z.string(),
      routing: z.boolean().optional().describe("As in the query."),
    }),
    answer: DryRun,
    handler: async ({ id, query, body, account, reply }) => {
      const { test, traceId, routing } = body;
      const input = {
        agentId: id,
        traceId,
        document: await parser.draft(account, test),
        routing: routing ?? query.routing ?? false,
      };
      return found(
        await trials(account.id, () =>
          withPlace(places, { account, reply }, signal => editor.dryRun(input, signal)),
        ),
      );
    },
  });

  route("POST /api/agents/:id/tests/try-scenario", {
    access: "session",
    waits: true,
    summary: "Match the latest inputs against a scenario, or estimate the cost",
    body: z.object({
      scenario: z.string().max(20_000).regex(/\S/, "Must not be blank."),
      count: z.int().min(1).max(50).default(50).describe("How many of the latest live traces to read."),
      estimate: z.boolean().describe("True: the judge is not called, and the figures are estimates."),
    }),
    answer: ScenarioTrial,
    handler: async ({ id, body, account, reply }) => {
      const input = { agentId: id, ...body };
      return trials(account.id, () =>
        withPlace(places, { account, reply }, signal => editor.tryScenario(input, signal)),
      );
    },
  });
}

function registerLookUps(app: App, { editor }: EditorDeps, places: Permits): void {
  const route = routesOf(app, "tests");
  route("POST /api/agents/:id/tests/rests-on", {
    access: "session",
    summary: "List what the judge found that criteria rest on; makes no call",
    body: z.object({ criteria: z.array(z.string().max(10_000)).max(600) }),
    answer: KnownClasses,
    handler: async ({ id, body: { criteria }, account, reply }) => ({
      items: await withPlace(places, { account, reply }, signal =>
        editor.knownClasses({ agentId: id, criteria }, signal),
      ),
    }),
  });

  route("POST /api/agents/:id/tests/trace-inputs", {
    access: "session",
    summary: "Read the whole user inputs of traces, to use them as inputs of a test",
    body: z.object({ traceIds: z.array(Id).min(1).max(100) }),
    answer: TraceInputs,
    handler: async ({ id, body: { traceIds }, account, reply }) => {
      const request = { agentId: id, traceIds: [...new Set(traceIds)] };
      return {
        items: await withPlace(places, { account, reply }, signal => editor.traceInputs(request, signal)),
      };
    },
  });
}

/** Also completions: both read whole traces. */
function registerDrafts(app: App, { db, machine, editor }: EditorDeps, places: Permits): void {
  const route = routesOf(app, "traces");
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

  routesOf(app, "tests")("GET /api/agents/:id/vocabulary", {
    access: "tokens",
    summary: "List span, tool, attribute and argument names of the agent's latest traces",
    answer: Vocabulary,
    handler: async ({ id: agentId, account, reply }) => {
      return reads(account.id, () =>
        withPlace(places, { account, reply }, signal => editor.vocabulary({ agentId }, signal)),
      );
    },
  });

  route("POST /api/traces/:id/draft-test", {
    access: "session",
    summary: "Draft a test case that passes on a trace; saves nothing",
    answer: TestDocument,
    handler: async ({ id, account, reply }) =>
      found(
        await reads(account.id, () =>
          withPlace(places, { account, reply }, signal => editor.draftTest({ traceId: id }, signal)),
        ),
      ),
  });

  route("POST /api/traces/:id/draft-assertion", {
    access: "session",
    summary: "Draft an assertion for one value of a trace; saves nothing",
    body: z.object({
      spanId: z.string(),
      attribute: z.string().nullable().describe("Null for the span itself."),
      path: z
        .array(z.union([z.string(), z.number().int().min(0)]))
        .max(50)
        .default([])
        .describe("Keys and positions inside the attribute's value, from the outside in."),
    }),
    answer: DraftedAssertion,
    handler: async ({ id, body, account, reply }) => {
      const input = { traceId: id, ...body };
      return found(
        await reads(account.id, () =>
          withPlace(places, { account, reply }, signal => editor.draftAssertion(input, signal)),
        ),
      );
    },
  });
}

/** Runs `work` with a place of the account; its signal aborts when the client disconnects. */
async function withPlace<T>(
  places: Permits,
  { account, reply }: { account: Account; reply: FastifyReply },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = untilClosed(reply);
  const holders = holdersOfAccount(account);
  const release = await takePlace(places, { holders, what: "editor requests", waitMs, signal });
  try {
    return await work(signal);
  } finally {
    release();
  }
}
