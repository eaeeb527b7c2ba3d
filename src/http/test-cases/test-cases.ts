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
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Id, pageSchema } from "../frame/schemas.ts";
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

export function registerTestCases(app: App, deps: Deps): void {
  const parser = testParserOf(app, deps);
  registerTestsOfAgent(app, deps, parser);
  registerSingleTests(app, deps, parser);
}

function registerTestsOfAgent(app: App, { db }: Deps, parser: TestParser): void {
  const route = routesOf(app, "tests");
  route("GET /api/agents/:id/tests", {
    access: "tokens",
    summary: "List test cases",
    query: PageQuery,
    answer: pageSchema(ListedTest),
    handler: async ({ id, query }) => {
      const { tests, scannedTo } = await listTestCases(db, id, listingOf(query));
      return pageOf(tests.map(testView), query, scannedTo);
    },
  });

  route("POST /api/agents/:id/tests", {
    access: "session",
    creates: "tests",
    bytesMax: testBytesMax,
    summary: "Create a test case",
    body: savedBody,
    status: 201,
    answer: ListedTest,
    handler: async ({ id, body, account }) =>
      testView(await insertTestCase(db, id, await parser.test(account, body))),
  });

  route("POST /api/agents/:id/tests/validate", {
    access: "session",
    bytesMax: testBytesMax,
    summary: "Validate a test case without saving it",
    body: savedBody,
    answer: ValidatedTest,
    handler: async ({ id, body, account }) => {
      const privacy = found(await findPrivacyOfAgent(db, id));
      const { document, warnings } = await parser.validated(account, body, privacy);
      return { valid: true as const, document, eligibility: whyNotEligible(document), warnings };
    },
  });

  route("POST /api/agents/:id/tests/status", {
    access: "session",
    summary: "Activate or disable several test cases, all or none; answers them without their inputs",
    body: z.object({ testIds: z.array(Id).min(1).max(1000), status: Status }),
    answer: z.object({ items: z.array(ListedTest) }),
    handler: async ({ id, body: { testIds, status } }) => {
      const change = (current: Document) => mergeTestCase(current, { status });
      return { items: (await updateTestCases(db, id, testIds, change)).map(testView) };
    },
  });
}

function registerSingleTests(app: App, { db }: Deps, parser: TestParser): void {
  const route = routesOf(app, "tests");
  route("GET /api/tests/:id", {
    access: "tokens",
    summary: "Get a test case",
    answer: ListedTest,
    handler: async ({ id }) => testView(found(await findTestCase(db, id))),
  });

  route("PUT /api/tests/:id", {
    access: "session",
    bytesMax: testBytesMax,
    summary: "Replace a test case",
    body: Replacement,
    answer: ListedTest,
    handler: async ({ id, body, account }) => {
      const document = await parser.test(account, withoutAdded(body, id));
      return testView(found(await updateTestCase(db, id, () => document)));
    },
  });

  route("PATCH /api/tests/:id", {
    access: "session",
    bytesMax: testBytesMax,
    summary: "Update a test case",
    body: DocumentChange,
    answer: ListedTest,
    handler: async ({ id, body, account }) => {
      const change = await parser.change(account, withoutAdded(body, id), async () =>
        found(await findTestCase(db, id)),
      );
      return testView(found(await updateTestCase(db, id, change)));
    },
  });

  route("DELETE /api/tests/:id", {
    access: "session",
    summary: "Delete a test case",
    handler: ({ id }) => deleteTestCase(db, id),
  });
}

function testView(test: Stored): ListedTest {
  return { ...test, eligibility: whyNotEligible(test) };
}

/** Removes the added fields if the body has the id of this test, as a response that is sent back does. */
function withoutAdded(body: unknown, id: string): unknown {
  if (typeof body !== "object" || body === null || !("id" in body) || body.id !== id) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !addedFields.includes(name)));
}
