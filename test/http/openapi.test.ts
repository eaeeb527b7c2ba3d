// The OpenAPI description includes every endpoint and has no dangling reference.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { answers } from "../support/answers.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { startWholeApp } from "../support/whole-app.ts";

type Operation = {
  summary?: string;
  security?: object[];
  requestBody?: { required: boolean };
  responses: Record<string, object>;
  parameters?: { name: string; in: string }[];
};
type BodySchema = {
  properties: Record<string, { readOnly?: boolean }>;
  dependentRequired?: Record<string, string[]>;
};
type Body = { content: Record<string, { schema: BodySchema }> };
type Description = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, { name?: string }> };
};

let service: TestApp;
let described: Description;
before(async () => {
  service = await startWholeApp();
  described = (await service.client().read("/api/openapi.json")) as unknown as Description;
});
after(() => service.close());

test("every endpoint under /api, and the link in emails that turns alerts off, is described, with a summary, a response and the format of errors", () => {
  assert.match(described.openapi, /^3\.1/);
  const routes = service.app.routeTable.filter(
    ({ method, url }) => /^\/(?:api|alerts)\//.test(url) && method !== "HEAD" && url !== "/api/openapi.json",
  );
  for (const { method, url } of routes) {
    const operation = described.paths[url.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    assert.notEqual(operation, undefined, `${method} ${url} is not described`);
    assert.equal(typeof operation!.summary, "string");
    assert.match(Object.keys(operation!.responses)[0]!, /^20[0124]$/);
    assert.notEqual(operation!.responses["default"], undefined);
    if (url.includes(":id")) {
      assert.deepEqual(
        operation!.parameters?.filter(parameter => parameter.in === "path").map(({ name }) => name),
        [...url.matchAll(/:(\w+)/g)].map(([, name]) => name),
      );
    }
  }
  const operations = Object.entries(described.paths)
    .filter(([path]) => /^\/(?:api|alerts)\//.test(path))
    .flatMap(([, path]) => Object.values(path));
  assert.equal(operations.length, routes.length);
});

test("the tests' client knows the schema of whatever a route answers as JSON", () => {
  const known = new Map(
    Object.entries(answers).flatMap(([url, methods]) =>
      Object.entries(methods).map(([method, schema]) => [`${method} ${url}`, schema as z.ZodType]),
    ),
  );
  // The library's own answers to what signed-in people do with their sessions.
  const ofLibrary = /^POST \/api\/auth\/(?:sign-out|revoke-|update-user|delete-user)/;
  for (const { method, url, answers } of service.app.routeTable) {
    const [schema] = Object.values(answers) as unknown[];
    const name = `${method} ${url}`;
    if (!url.startsWith("/api/") || !(schema instanceof z.ZodType) || ofLibrary.test(name)) continue;
    if (method === "HEAD" || schema instanceof z.ZodUndefined) continue;
    assert.ok(known.has(name), `${name} is not in test/support/answers.ts`);
    assert.deepEqual(z.toJSONSchema(known.get(name)!), z.toJSONSchema(schema), name);
  }
});

test("the session cookie is described by its name, over http and over https", async () => {
  const secure = await startTestApp({ baseUrl: "https://onlooker.test" });
  after(() => secure.close());
  const body = await secure.client().read("/api/openapi.json");
  assert.equal(body.components["securitySchemes"]!["session"]!.name, "__Host-svc.session_token");
  assert.equal(described.components.securitySchemes["session"]!.name, "svc.session_token");
});

test("endpoints that need no session say so", () => {
  assert.deepEqual(described.paths["/api/auth/sign-in/email"]?.["post"]?.security, []);
  assert.deepEqual(described.paths["/alerts/off"]?.["post"]?.security, []);
  assert.equal(described.paths["/api/projects"]?.["post"]?.security, undefined);
});

test("endpoints that accept access tokens say so, and no others", () => {
  const opened = (path: string, method: string) =>
    described.paths[path]?.[method]?.security?.some(one => "token" in one) === true;
  for (const [path, method] of [
    ["/api/projects", "get"],
    ["/api/runs/{id}", "get"],
    ["/api/events", "get"],
    ["/api/agents/{id}/launches", "post"],
    ["/api/launches/{id}/cancel", "post"],
  ] as const) {
    assert.equal(opened(path, method), true, `${method} ${path}`);
  }
  for (const [path, method] of [
    ["/api/projects", "post"],
    ["/api/access-tokens", "get"],
    ["/api/auth/list-sessions", "get"],
    ["/api/agents/{id}/connection/test", "post"],
  ] as const) {
    assert.equal(opened(path, method), false, `${method} ${path}`);
  }
});

test("the event stream is described as one, and its errors as JSON", () => {
  type Answer = { content: Record<string, object> };
  const { responses } = described.paths["/api/events"]!["get"]!;
  const typesOf = (status: string) => Object.keys((responses[status] as Answer).content);
  assert.deepEqual(typesOf("200"), ["text/event-stream"]);
  assert.deepEqual(typesOf("default"), ["application/json"]);
});

test("a test case can be sent as it was returned, by its description too", () => {
  const bodyOf = (path: string, method: string) =>
    (described.paths[path]![method]!.requestBody as unknown as Body).content["application/json"]!.schema;
  for (const schema of [bodyOf("/api/tests/{id}", "put"), bodyOf("/api/tests/{id}", "patch")]) {
    for (const name of ["id", "agentId", "version", "eligibility"]) {
      assert.equal(schema.properties[name]?.readOnly, true, name);
    }
    assert.deepEqual(schema.dependentRequired, { agentId: ["id"], version: ["id"], eligibility: ["id"] });
  }
});

test("optional bodies are described as optional", () => {
  const isRequired = (path: string) => described.paths[path]?.["post"]?.requestBody?.required;
  assert.equal(isRequired("/api/agents/{id}/launches"), false);
  assert.equal(isRequired("/api/projects/{id}/judge/test"), false);
  assert.equal(isRequired("/api/agents/{id}/connection/test"), true);
});

test("bodies of test cases are described field by field", () => {
  const body = JSON.stringify(described.paths["/api/agents/{id}/tests"]?.["post"]?.requestBody);
  for (const field of ["passiveBehavior", "scenario", "assertions", "json_schema"]) {
    assert.equal(body.includes(`"${field}"`), true, `${field} is missing`);
  }
});

test("each schema is described once, and used", () => {
  const text = JSON.stringify(described);
  for (const name of Object.keys(described.components.schemas)) {
    assert.equal(text.includes(`"#/components/schemas/${name}"`), true, name);
  }
  assert.deepEqual(
    Object.keys(described.components.schemas).filter(name => name.endsWith("Input")),
    [],
  );
});

test("patterns use nothing that regex engines of other languages lack", () => {
  const patterns = [...JSON.stringify(described).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
  assert.equal(patterns.length > 20, true);
  for (const [, pattern] of patterns) assert.doesNotMatch(JSON.parse(pattern!), /\\[pPu]|\(\?<|\\[1-9]/);
});

test("what requests must be is described: cursors, numbers and booleans of queries, and fields that concern each other", async () => {
  const { client, projectId } = await service.verifiedAccount();
  type Schema = { type: string; pattern: string; minimum: number; maximum: number; default: unknown };
  type Described = { parameters: { name: string; schema: Schema }[] };
  const query = (path: string, name: string) =>
    (described.paths[path]!["get"] as unknown as Described).parameters.find(one => one.name === name)!.schema;
  const { type, minimum, maximum, default: standard } = query("/api/projects", "limit");
  assert.deepEqual([type, minimum, maximum, standard], ["integer", 1, 200, 50]);
  const cursor = new RegExp(query("/api/projects", "cursor").pattern);
  await client.post("/api/projects", { name: "Second" }).expect(201);
  const body = await client.read("/api/projects?limit=1");
  assert.match(body.nextCursor!, cursor);
  for (const wrong of ["", "A", `${body.nextCursor}A`, `${body.nextCursor!.slice(0, 21)}B`]) {
    assert.doesNotMatch(wrong, cursor);
    await client.get(`/api/projects?cursor=${wrong}`).expect(400);
  }
  assert.equal(query("/api/projects/{id}/labels", "agrees").type, "boolean");
  await client.get(`/api/projects/${projectId}/labels?agrees=true`).expect(200);
  for (const other of ["", "1", "yes", "True"]) {
    await client.get(`/api/projects/${projectId}/labels?agrees=${other}`).expect(400);
  }
  const keySchema = (described.paths["/api/projects/{id}/keys"]!["post"]!.requestBody as unknown as Body)
    .content["application/json"]!.schema as { if?: object; dependentSchemas?: object };
  assert.notEqual(keySchema.if, undefined);
  assert.deepEqual(Object.keys(keySchema.dependentSchemas ?? {}), ["expiresInDays", "expiresAt"]);
  const agentSchema = (path: string, method: string) =>
    (described.paths[path]![method]!.requestBody as unknown as Body).content["application/json"]!.schema as {
      then?: { required: string[] };
      allOf?: object[];
    };
  assert.deepEqual(agentSchema("/api/projects/{id}/agents", "post").then?.required, [
    "contentForgetAfterSeconds",
  ]);
  assert.equal(agentSchema("/api/agents/{id}", "patch").allOf?.length, 2);
});

test("what a check found may be anything", () => {
  const { Check } = described.components.schemas as unknown as {
    Check: { properties: { actual: { anyOf: object[] } } };
  };
  assert.deepEqual(Check.properties.actual.anyOf[1], { description: "Of other types of checks." });
});

test("every reference in the description resolves", () => {
  const names = [...JSON.stringify(described).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target!);
  assert.equal(names.length > 0, true);
  for (const name of names) {
    const schema = name.replace("#/components/schemas/", "");
    assert.notEqual(described.components.schemas[schema], undefined, `${name} leads nowhere`);
  }
  for (const schema of ["Agent", "Key", "Project", "TestCase", "Error"]) {
    assert.notEqual(described.components.schemas[schema], undefined);
  }
});
