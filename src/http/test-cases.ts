// Test cases of an agent: one JSON document each, with its id around it.
import { z } from "zod";
import { mergeTestCase, parseTestCase, testCaseInputSchema } from "../model/test-case.ts";
import {
  deleteTestCase,
  findTestCase,
  insertTestCase,
  listTestCases,
  updateTestCase,
  updateTestCases,
} from "../store/test-cases.ts";
import type { App, Deps } from "./deps.ts";
import { found, listingOf, PageQuery, pageOf, pageSchema } from "./page.ts";
import { Id } from "./validate.ts";

const Status = z.enum(["active", "disabled"]);

// Loose: what was stored under an earlier version's rules can still be shown.
const TestCase = z
  .looseObject({
    id: Id,
    agentId: Id,
    name: z.string(),
    status: Status,
    passiveBehavior: z.enum(["always_run", "run_when_relevant", "manual_only"]),
    scenario: z.string(),
    threshold: z.unknown(),
    turns: z.array(z.object({ input: z.string() })),
    assertions: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  })
  .meta({ id: "TestCase" });

// For the description of the API only: the model reads test cases, and names every fault itself.
const { $schema: _, required: __, ...description } = z.toJSONSchema(testCaseInputSchema, { io: "input" });
const NewDocument = z.unknown().meta({ ...description, required: ["name"] });
const DocumentChange = z.unknown().meta(description);

export function registerTestCases(app: App, { db }: Deps): void {
  const tags = ["tests"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/tests",
    {
      schema: {
        tags,
        summary: "List test cases",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(TestCase) },
      },
    },
    async ({ params, query }) => pageOf(await listTestCases(db, params.id, listingOf(query)), query),
  );

  app.post(
    "/api/agents/:id/tests",
    { schema: { tags, summary: "Make a test case", params, body: NewDocument, response: { 201: TestCase } } },
    async (request, reply) =>
      reply.code(201).send(await insertTestCase(db, request.params.id, parseTestCase(request.body))),
  );

  app.post(
    "/api/agents/:id/tests/status",
    {
      schema: {
        tags,
        summary: "Enable or disable several test cases, all or none",
        params,
        body: z.object({ testIds: z.array(Id).min(1).max(1000), status: Status }),
        response: { 200: z.object({ items: z.array(TestCase) }) },
      },
    },
    async ({ params, body: { testIds, status } }) => ({
      items: await updateTestCases(db, params.id, testIds, current => mergeTestCase(current, { status })),
    }),
  );

  app.get(
    "/api/tests/:id",
    { schema: { tags, summary: "One test case", params, response: { 200: TestCase } } },
    async request => found(await findTestCase(db, request.params.id)),
  );

  app.put(
    "/api/tests/:id",
    {
      schema: {
        tags,
        summary: "Replace a test case",
        params,
        body: NewDocument,
        response: { 200: TestCase },
      },
    },
    async request => {
      const document = parseTestCase(request.body);
      return found(await updateTestCase(db, request.params.id, () => document));
    },
  );

  app.patch(
    "/api/tests/:id",
    {
      schema: {
        tags,
        summary: "Change a test case",
        params,
        body: DocumentChange,
        response: { 200: TestCase },
      },
    },
    async request =>
      found(await updateTestCase(db, request.params.id, current => mergeTestCase(current, request.body))),
  );

  app.delete(
    "/api/tests/:id",
    { schema: { tags, summary: "Delete a test case", params, response: { 204: z.undefined() } } },
    async (request, reply) => {
      await deleteTestCase(db, request.params.id);
      return reply.code(204).send();
    },
  );
}
