// Agents over HTTP, and the service names by which OpenTelemetry exporters are matched.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConventionRule } from "../../../src/model/agent/read-by.ts";
import { makeAgent, makeTest, type Owner, startTestApp, type TestApp } from "../../support/app.ts";

let service: TestApp;
let shared: Owner;
before(async () => {
  service = await startTestApp();
  shared = await service.signUp();
});
after(() => service.close());

test("an agent can be created, listed, read, changed and deleted", async () => {
  const { client, projectId } = await service.signUp();
  const { body: agent } = await client
    .post(`/api/projects/${projectId}/agents`, { name: "Bot", type: "workflow", otlpServiceName: "bot" })
    .expect(201);
  const { id } = agent;
  const fields = {
    name: "Bot",
    type: "workflow",
    otlpServiceName: "bot",
    conventions: ["*"],
    conventionRules: [],
    readFrom: null,
    content: "keep",
    contentForgetAfterSeconds: null,
    attributes: { deny: [], allow: null },
  };
  assert.deepEqual(agent, { id, projectId, ...fields });
  const list = await client.read(`/api/projects/${projectId}/agents`);
  assert.deepEqual(list, { items: [agent], nextCursor: null });
  assert.deepEqual(await client.read(`/api/agents/${id}`), agent);
  const { body: changed } = await client.patch(`/api/agents/${id}`, { name: "Robot" }).expect(200);
  assert.deepEqual(changed, { ...agent, name: "Robot" });
  assert.deepEqual((await client.patch(`/api/agents/${id}`, {}).expect(200)).body, changed);
  await client.delete(`/api/agents/${id}`).expect(204);
  await client.get(`/api/agents/${id}`).expect(404);
});

test("an agent needs only a name", async () => {
  const agent = await makeAgent(await service.signUp());
  assert.deepEqual([agent.type, agent.otlpServiceName], ["http_api", null]);
});

test("a service name of another agent in the project is 409 CONFLICT, when creating and when changing an agent", async () => {
  const owner = await service.signUp();
  await makeAgent(owner, { otlpServiceName: "checkout" });
  const other = await makeAgent(owner, { otlpServiceName: "search" });
  const body = { name: "Second", otlpServiceName: "checkout" };
  const made = await owner.client.post(`/api/projects/${owner.projectId}/agents`, body).expect(409);
  assert.equal(made.body.code, "CONFLICT");
  const changed = await owner.client.patch(`/api/agents/${other.id}`, body).expect(409);
  assert.equal(changed.body.code, "CONFLICT");
  assert.equal((await owner.client.read(`/api/agents/${other.id}`)).name, other.name);
});

test("of several agents created at once with one service name, one is created", async () => {
  const { client, projectId } = await service.signUp();
  const body = { name: "Racer", otlpServiceName: "racer" };
  const replies = await Promise.all(
    [1, 2, 3, 4].map(() => client.post(`/api/projects/${projectId}/agents`, body)),
  );
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

test("a service name is exact: another case, added spaces and other projects do not conflict", async () => {
  const owner = await service.signUp();
  const { body: project } = await owner.client.post("/api/projects", { name: "Second" }).expect(201);
  for (const otlpServiceName of ["shop", "Shop", "shop ", " shop", null, null]) {
    assert.equal((await makeAgent(owner, { otlpServiceName })).otlpServiceName, otlpServiceName);
  }
  await makeAgent(owner, { projectId: project.id, otlpServiceName: "shop" });
});

test("a service name can be removed, and is free again", async () => {
  const owner = await service.signUp();
  const agent = await makeAgent(owner, { otlpServiceName: "free" });
  const { body } = await owner.client.patch(`/api/agents/${agent.id}`, { otlpServiceName: null }).expect(200);
  assert.equal(body.otlpServiceName, null);
  await makeAgent(owner, { otlpServiceName: "free" });
});

for (const [what, fields, path] of [
  ["no name", { name: undefined }, "name"],
  ["an unknown type", { type: "robot" }, "type"],
  ["an empty service name", { otlpServiceName: "" }, "otlpServiceName"],
  ["a service name of 256 characters", { otlpServiceName: "x".repeat(256) }, "otlpServiceName"],
  ["a service name with U+0000", { otlpServiceName: "a\0" }, "otlpServiceName"],
  ["a service name with half of a character", { otlpServiceName: "\udfff" }, "otlpServiceName"],
] as const) {
  test(`an agent with ${what} is 400 VALIDATION_ERROR`, async () => {
    const { client, projectId } = shared;
    const body = { name: "Bot", ...fields };
    const reply = await client.post(`/api/projects/${projectId}/agents`, body).expect(400);
    assert.equal(reply.body.code, "VALIDATION_ERROR");
    assert.equal(reply.body.issues![0]!.path, path);
  });
}

test("deleting an agent deletes its test cases", async () => {
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  const { id } = await makeTest(owner, agent.id);
  await owner.client.delete(`/api/agents/${agent.id}`).expect(204);
  await owner.client.get(`/api/tests/${id}`).expect(404);
});

test("an agent's own rules are replaced as a whole, and each error names its row and field", async () => {
  const owner = await service.signUp();
  const { id } = await makeAgent(owner);
  const rules: ConventionRule[] = [
    { from: "app.question", to: "gen_ai.input.messages", spanName: "POST /chat" },
    { from: "app.messages.*", to: "gen_ai.output.messages" },
  ];
  const change = (conventionRules: unknown) => owner.client.patch(`/api/agents/${id}`, { conventionRules });
  assert.deepEqual((await change(rules).expect(200)).body.conventionRules, rules);
  assert.deepEqual(
    (await owner.client.patch(`/api/agents/${id}`, {}).expect(200)).body.conventionRules,
    rules,
  );
  const to = "user.id";
  const cases: [unknown, string, RegExp][] = [
    [[{ from: "a", to: "app.user" }], "conventionRules[0].to", /Attributes that a rule can give: .*user\.id/],
    [
      [
        { from: "a", to },
        { from: "", to },
      ],
      "conventionRules[1].from",
      /./,
    ],
    [[{ from: "a".repeat(201), to }], "conventionRules[0].from", /200/],
    [[{ from: "a", to, spanName: "" }], "conventionRules[0].spanName", /./],
    [[{ from: "a\u0000", to }], "conventionRules[0].from", /U\+0000/],
    [[{ from: "a*b", to }], "conventionRules[0].from", /only at the end/],
    [[{ from: to, to }], "conventionRules[0].from", /read already/],
    [
      [
        { from: "a", to },
        { from: "b", to },
        { from: "a", to },
      ],
      "conventionRules[2]",
      /Same as rule 1\./,
    ],
    [Array.from({ length: 51 }, (_, at) => ({ from: `a${at}`, to })), "conventionRules", /50/],
    [[{ to }], "conventionRules[0].from", /./],
    ["all", "conventionRules", /./],
  ];
  for (const [sent, path, message] of cases) {
    const { body } = await change(sent).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, path, JSON.stringify(body.issues));
    assert.match(body.issues![0]!.message, message);
  }
  assert.deepEqual((await owner.client.read(`/api/agents/${id}`)).conventionRules, rules);
  const other = await makeAgent(owner, { conventionRules: rules });
  assert.deepEqual(other.conventionRules, rules);
  assert.deepEqual((await change([]).expect(200)).body.conventionRules, []);
});

test("a new agent stores what it was created to store", async () => {
  const settings = { content: "none" as const, attributes: { deny: ["secret"], allow: null } };
  const made = await makeAgent(shared, settings);
  assert.deepEqual([made.content, made.attributes], ["none", settings.attributes]);
  assert.deepEqual(await shared.client.read(`/api/agents/${made.id}`), made);
  const forgetful = await makeAgent(shared, { content: "forget", contentForgetAfterSeconds: 60 });
  assert.deepEqual([forgetful.content, forgetful.contentForgetAfterSeconds], ["forget", 60]);
  const body = { name: "Bot", content: "forget" };
  const reply = await shared.client.post(`/api/projects/${shared.projectId}/agents`, body).expect(400);
  assert.equal(reply.body.issues![0]!.path, "contentForgetAfterSeconds");
});

test("an unknown field is refused by name, and an agent can be sent back as it was returned", async () => {
  const agent = await makeAgent(shared);
  const paths = [
    ["post", `/api/projects/${shared.projectId}/agents`],
    ["patch", `/api/agents/${agent.id}`],
  ] as const;
  for (const [method, path] of paths) {
    const { body } = await shared.client[method](path, { name: "Bot", contents: "none" }).expect(400);
    assert.match(body.issues![0]!.message, /"contents"/);
  }
  const { body } = await shared.client.patch(`/api/agents/${agent.id}`, { ...agent, content: "none" });
  assert.deepEqual(body, { ...agent, content: "none" });
});

test("content can be forgotten after a minute to a year, and only then has a time", async () => {
  const { id } = await makeAgent(shared);
  const patch = (body: object) => shared.client.patch(`/api/agents/${id}`, body);
  const set = async (body: object) => {
    const { body: agent } = await patch(body).expect(200);
    return [agent.content, agent.contentForgetAfterSeconds];
  };
  const refused: [object, RegExp][] = [
    [{ content: "forget" }, /^Enter a time between a minute and a year: 60 to 31,536,000 seconds\.$/],
    [{ contentForgetAfterSeconds: 60 }, /^Only for `content: forget`\./],
    [{ content: "none", contentForgetAfterSeconds: 60 }, /^Only for `content: forget`\./],
    [{ content: "forget", contentForgetAfterSeconds: null }, /^Enter a time /],
    [{ content: "forget", contentForgetAfterSeconds: 59 }, /^Must be between a minute and a year: /],
    [{ content: "forget", contentForgetAfterSeconds: 31_536_001 }, /^Must be between a minute and a year: /],
  ];
  for (const [body, message] of refused) {
    const { issues } = (await patch(body).expect(400)).body;
    assert.deepEqual(
      issues!.map(({ path }: { path: string }) => path),
      ["contentForgetAfterSeconds"],
    );
    assert.match(issues![0]!.message, message);
  }
  assert.deepEqual(await set({ content: "forget", contentForgetAfterSeconds: 60 }), ["forget", 60]);
  assert.deepEqual(await set({ contentForgetAfterSeconds: 31_536_000 }), ["forget", 31_536_000]);
  assert.deepEqual(await set({ content: "forget" }), ["forget", 31_536_000]);
  assert.deepEqual(await set({ content: "none" }), ["none", null]);
  assert.deepEqual(await set({ content: "keep", contentForgetAfterSeconds: null }), ["keep", null]);
});
