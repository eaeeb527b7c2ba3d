// /api/tests: the test cases of an agent, each one JSON document with an id.

import { z } from "zod";
import { ifThen } from "../../model/if-then.ts";
import type { TestCaseDocument as Document, TestCase as Stored } from "../../model/test-case/document.ts";
import { whyNotEligible } from "../../model/test-case/eligibility.ts";
import { mergeTestCase, testCaseInputSchema } from "../../model/test-case/test-case.ts";
import { findPrivacyOfAgent } from "../../store/accounts/privacy.ts";
import {
  deleteTestCase,
  findTestCase,
  insertTestCase,
  listTestCases,
  updateTestCase,
  updateTestCases,
} from "../../store/test-cases.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Id, pageSchema } from "../schemas.ts";
import { type TestParser, testParserOf } from "./parse.ts";
import { ListedTest, Status, testBytesMax, ValidatedTest } from "./schemas.ts";

// Only for OpenAPI: the model validates test cases and reports every issue itself.
const { $schema: _, required: __, ...description } = z.toJSONSchema(testCaseInputSchema, { io: "input" });
export const testCaseBody = z.unknown().meta({ ...description, required: ["name"] });

const { assertions, ...otherProperties } = description.properties!;
/** With at least one assertion. */
export const triedTestBody = z.unknown().meta({
  ...description,
  properties: { ...otherProperties, assertions: { ...(assertions as object), minItems: 1 } },
  required: ["name", "assertions"],
});

/** What an active test must have, which a draft may lack. */
const ready = ifThen(
  { properties: { status: { const: "active" } } },
  {
    required: ["turns", "assertions"],
    properties: { turns: { minItems: 1 }, assertions: { minItems: 1 } },
    ...ifThen(
      { properties: { passiveBehavior: { const: "run_when_relevant" } } },
      { required: ["scenario"], properties: { scenario: { pattern: "\\S" } } },
    ),
  },
);
const savedBody = z.unknown().meta({ ...description, required: ["name"], ...ready });

/** Fields that responses add to the document. */
const addedFields = ["id", "agentId", "version", "eligibility"];
const ignored = {
  readOnly: true,
  description: "Ignored beside `id`; accepted so that a response can be sent back.",
};
const added = {
  ...Object.fromEntries(addedFields.map(name => [name, ignored])),
  id: { readOnly: true, type: "string", format: "uuid", description: "The id in the URL." },
};
const change = {
  ...description,
  properties: { ...description.properties, ...added },
  dependentRequired: Object.fromEntries(
    addedFields.filter(name => name !== "id").map(name => [name, ["id"]]),
  ),
};
const Replacement = z.unknown().meta({ ...change, required: ["name"], ...ready });
const DocumentChange = z.unknown().meta(change);

const tags = ["tests"];
const params = z.object({ id: z.string() });

export function registerTestCases(app: App, deps: Deps): void {
  const parser = testParserOf(app, deps);
  registerTestsOfAgent(app, deps, parser);
  registerSingleTests(app, deps, parser);
}

function registerTestsOfAgent(app: App, { db }: Deps, parser: TestParser): void {
  app.get(
    "/api/agents/:id/tests",
    {
      schema: {
        tags,
        summary: "List test cases",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(ListedTest) },
      },
    },
    async ({ params, query }) => {
      const { tests, scannedTo } = await listTestCases(db, params.id, listingOf(query));
      return pageOf(tests.map(testView), query, scannedTo);
    },
  );

  app.post(
    "/api/agents/:id/tests",
    {
      config: { creates: "tests" },
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Create a test case",
        params,
        body: savedBody,
        response: { 201: ListedTest },
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(
          testView(await insertTestCase(db, request.params.id, await parser.test(request, request.body))),
        ),
  );

  app.post(
    "/api/agents/:id/tests/validate",
    {
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Validate a test case without saving it",
        params,
        body: savedBody,
        response: { 200: ValidatedTest },
      },
    },
    async request => {
      const privacy = found(await findPrivacyOfAgent(db, request.params.id));
      const { document, warnings } = await parser.validated(request, request.body, privacy);
      return { valid: true as const, document, eligibility: whyNotEligible(document), warnings };
    },
  );

  app.post(
    "/api/agents/:id/tests/status",
    {
      schema: {
        tags,
        summary: "Activate or disable several test cases, all or none; answers them without their inputs",
        params,
        body: z.object({ testIds: z.array(Id).min(1).max(1000), status: Status }),
        response: { 200: z.object({ items: z.array(ListedTest) }) },
      },
    },
    async ({ params, body: { testIds, status } }) => {
      const change = (current: Document) => mergeTestCase(current, { status });
      return { items: (await updateTestCases(db, params.id, testIds, change)).map(testView) };
    },
  );
}

function registerSingleTests(app: App, { db }: Deps, parser: TestParser): void {
  app.get(
    "/api/tests/:id",
    { schema: { tags, summary: "Get a test case", params, response: { 200: ListedTest } } },
    async request => testView(found(await findTestCase(db, request.params.id))),
  );

  app.put(
    "/api/tests/:id",
    {
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Replace a test case",
        params,
        body: Replacement,
        response: { 200: ListedTest },
      },
    },
    async request => {
      const { params, body } = request;
      const document = await parser.test(request, withoutAdded(body, params.id));
      return testView(found(await updateTestCase(db, params.id, () => document)));
    },
  );

  app.patch(
    "/api/tests/:id",
    {
      bodyLimit: testBytesMax,
      schema: {
        tags,
        summary: "Update a test case",
        params,
        body: DocumentChange,
        response: { 200: ListedTest },
      },
    },
    async request => {
      const { params, body } = request;
      const change = await parser.change(request, withoutAdded(body, params.id), async () =>
        found(await findTestCase(db, params.id)),
      );
      return testView(found(await updateTestCase(db, params.id, change)));
    },
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

function testView(test: Stored): ListedTest {
  return { ...test, eligibility: whyNotEligible(test) };
}

/** Removes the added fields if the body has the id of this test, as a response that is sent back does. */
function withoutAdded(body: unknown, id: string): unknown {
  if (typeof body !== "object" || body === null || !("id" in body) || body.id !== id) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !addedFields.includes(name)));
}
