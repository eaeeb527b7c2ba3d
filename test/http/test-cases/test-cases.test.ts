// Test cases over HTTP: a document is returned as it was sent, and several can change status at once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { templates } from "../../../web/templates.ts";
import { makeAgent, makeTest, type Owner, startTestApp, type TestApp } from "../../support/app.ts";
import { refusalIn } from "../../support/client.ts";

let service: TestApp;
let owner: Owner;
let agent: Agent;
before(async () => {
  service = await startTestApp();
  owner = await service.signUp();
  agent = await makeAgent(owner);
});
after(() => service.close());

test("a test case can be created, listed, read, changed, replaced and deleted", async () => {
  const { client } = owner;
  const { id: agentId } = await makeAgent(owner);
  const document = {
    name: "Refund",
    status: "active",
    passiveBehavior: "run_when_relevant",
    scenario: "The customer asks for a refund.",
    threshold: 0.8,
    turns: [{ input: "I want my money back" }],
    assertions: [
      {
        type: "tool_call",
        id: "lookup",
        expected_name: "find_order",
        expected_arguments: { id: "\0\ud800" },
      },
    ],
  };
  const { body: made } = await client.post(`/api/agents/${agentId}/tests`, document).expect(201);
  const { id, assertions, ...rest } = made;
  const { assertions: sent, ...expected } = document;
  assert.deepEqual(rest, { agentId, version: 1, ...expected, eligibility: null });
  assert.deepEqual(assertions[0], { ...assertions[0], expected_arguments: sent[0]!.expected_arguments });
  assert.deepEqual(await client.read(`/api/tests/${id}`), made);
  const list = await client.read(`/api/agents/${agentId}/tests`);
  assert.deepEqual(list, { items: [made], nextCursor: null });
  const { body: changed } = await client.patch(`/api/tests/${id}`, { threshold: 0.5 }).expect(200);
  assert.deepEqual(changed, { ...made, version: 2, threshold: 0.5 });
  const { body: replaced } = await client
    .put(`/api/tests/${id}`, { name: "Draft", status: "disabled" })
    .expect(200);
  assert.deepEqual([replaced.id, replaced.version, replaced.name, replaced.assertions], [id, 3, "Draft", []]);
  await client.delete(`/api/tests/${id}`).expect(204);
  await client.get(`/api/tests/${id}`).expect(404);
});

test("a test case can be changed and sent back as it was returned, but not to another one", async () => {
  const { client } = owner;
  const { id } = await makeTest(owner, agent.id);
  const answered = await client.read(`/api/tests/${id}`);
  const sent = { ...answered, name: "Renamed" };
  const { body: replaced } = await client.put(`/api/tests/${id}`, sent).expect(200);
  assert.deepEqual(replaced, { ...sent, version: 2 });
  const { body: changed } = await client.patch(`/api/tests/${id}`, { ...sent, threshold: 0.1 }).expect(200);
  assert.deepEqual(changed, { ...sent, threshold: 0.1, version: 3 });
  const { body: same } = await client.put(`/api/tests/${id.toUpperCase()}`, changed).expect(200);
  assert.equal(same.id, id);
  const other = await makeTest(owner, agent.id);
  for (const refused of [
    client.put(`/api/tests/${other.id}`, sent),
    client.patch(`/api/tests/${other.id}`, sent),
    client.put(`/api/tests/${id}`, { ...sent, surprise: 1 }),
    client.patch(`/api/tests/${id}`, { version: 9 }),
  ]) {
    assert.equal((await refused.expect(400)).body.code, "VALIDATION_ERROR");
  }
});

test("the columns that ingestion reads follow the document", async () => {
  const { id } = await makeTest(owner, agent.id);
  const columns = async () => {
    const { rows } = await service.db.pool.query(
      "select name, status, passive_behavior, turn_count from test_cases where id = $1",
      [id],
    );
    return rows[0];
  };
  assert.deepEqual(await columns(), {
    name: "Answers quickly",
    status: "active",
    passive_behavior: "always_run",
    turn_count: 1,
  });
  const turns = [{ input: "a" }, { input: "b" }];
  const change = { name: "Two turns", status: "disabled", passiveBehavior: "manual_only", turns };
  await owner.client.patch(`/api/tests/${id}`, change).expect(200);
  assert.deepEqual(await columns(), {
    name: "Two turns",
    status: "disabled",
    passive_behavior: "manual_only",
    turn_count: 2,
  });
});

test("several simultaneous changes to one test case are all kept", async () => {
  const { id } = await makeTest(owner, agent.id);
  const changes = [{ name: "Renamed" }, { scenario: "Someone waits." }, { threshold: 0.1 }];
  await Promise.all(changes.map(change => owner.client.patch(`/api/tests/${id}`, change).expect(200)));
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual([body.name, body.scenario, body.threshold], ["Renamed", "Someone waits.", 0.1]);
});

for (const [what, body, path] of [
  ["a body that is no object", [1], ""],
  ["no name", { turns: [] }, "name"],
  ["a name with U+0000", { name: "a\0", status: "disabled" }, "name"],
  ["an unknown status", { name: "a", status: "paused" }, "status"],
  ["an unknown field", { name: "a", status: "disabled", surprise: 1 }, "surprise"],
  [
    "an unknown assertion",
    { name: "a", status: "disabled", assertions: [{ type: "magic" }] },
    "assertions[0].type",
  ],
] as const) {
  test(`a test case with ${what} is 400 VALIDATION_ERROR and names the field`, async () => {
    const reply = await owner.client.post(`/api/agents/${agent.id}/tests`, body).expect(400);
    assert.equal(reply.body.code, "VALIDATION_ERROR");
    assert.equal(reply.body.issues![0]!.path, path);
  });
}

test("a change that would leave an active test case without assertions is refused and changes nothing", async () => {
  const { id } = await makeTest(owner, agent.id);
  const before = await owner.client.read(`/api/tests/${id}`);
  const { body } = await owner.client.patch(`/api/tests/${id}`, { assertions: [] }).expect(400);
  assert.equal(body.issues![0]!.path, "assertions");
  assert.deepEqual(await owner.client.read(`/api/tests/${id}`), before);
});

test("several test cases can be disabled and activated at once", async () => {
  const made = [await makeTest(owner, agent.id), await makeTest(owner, agent.id)];
  const testIds = made.map(({ id }) => id);
  for (const status of ["disabled", "active"]) {
    const { body } = await owner.client
      .post(`/api/agents/${agent.id}/tests/status`, { testIds, status })
      .expect(200);
    assert.deepEqual(new Set(body.items.map((item: { id: string }) => item.id)), new Set(testIds));
    for (const id of testIds) {
      assert.equal((await owner.client.read(`/api/tests/${id}`)).status, status);
    }
  }
});

test("a test case of another agent leaves all of them unchanged", async () => {
  const own = await makeTest(owner, agent.id);
  const sibling = await makeTest(owner, (await makeAgent(owner)).id);
  const stranger = await service.signUp();
  const foreign = await makeTest(stranger, (await makeAgent(stranger)).id);
  for (const { id } of [sibling, foreign, { id: "00000000-0000-4000-8000-000000000000" }]) {
    const { body } = await owner.client
      .post(`/api/agents/${agent.id}/tests/status`, { testIds: [own.id, id], status: "disabled" })
      .expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, "testIds[1]");
  }
  assert.equal((await owner.client.read(`/api/tests/${own.id}`)).status, "active");
  assert.equal((await stranger.client.read(`/api/tests/${foreign.id}`)).status, "active");
});

test("a test case that cannot be active leaves all of them disabled, and is named", async () => {
  const ready = await makeTest(owner, agent.id, { status: "disabled" });
  const draft = await makeTest(owner, agent.id, { status: "disabled", assertions: [] });
  const { body } = await owner.client
    .post(`/api/agents/${agent.id}/tests/status`, { testIds: [ready.id, draft.id], status: "active" })
    .expect(400);
  assert.equal(body.code, "VALIDATION_ERROR");
  assert.deepEqual(
    body.issues!.map(({ path }: { path: string }) => path),
    ["testIds[1].assertions"],
  );
  assert.equal((await owner.client.read(`/api/tests/${ready.id}`)).status, "disabled");
});

test("validation returns the saved form, warnings and whether live traces would be evaluated, and saves nothing", async () => {
  const { id } = await makeAgent(owner);
  const draft = { name: "Refund", passiveBehavior: "always_run", threshold: 7, turns: [{ input: "a" }] };
  const pasted = { type: "json_schema", target_node: "a", field: "b", schema: { name: "x", schema: {} } };
  const assertions = [{ type: "response_regex", pattern: "a" }, pasted];
  const { body } = await owner.client
    .post(`/api/agents/${id}/tests/validate`, { ...draft, assertions })
    .expect(200);
  assert.deepEqual([body.valid, body.eligibility], [true, null]);
  const common = { negate: false, depends_on: [] };
  assert.deepEqual(body.document.assertions, [
    { id: "a1", ...common, ...assertions[0] },
    { id: "a2", ...common, ...pasted, schema: {} },
  ]);
  assert.deepEqual(
    body.warnings.map(({ path }: { path: string }) => path),
    ["assertions[1].schema", "threshold"],
  );
  assert.deepEqual((await owner.client.read(`/api/agents/${id}/tests`)).items, []);
});

test("validation names every error by the path of its field", async () => {
  const assertions = [
    { type: "response_regex", pattern: "(?=a)" },
    { type: "json_schema", target_node: "a", field: "b", schema: { type: "thing" } },
  ];
  const { body } = await owner.client
    .post(`/api/agents/${agent.id}/tests/validate`, { name: "a", assertions, turns: [{ input: "a" }] })
    .expect(400);
  assert.equal(body.code, "VALIDATION_ERROR");
  assert.deepEqual(
    body.issues!.map(({ path }: { path: string }) => path),
    ["assertions[0].pattern", "assertions[1].schema.type", "scenario"],
  );
});

test("a test case says why it does not evaluate live traces", async () => {
  const turns = [{ input: "a" }, { input: "b" }];
  for (const [fields, eligibility] of [
    [{}, null],
    [{ status: "disabled" }, "disabled"],
    [{ passiveBehavior: "manual_only" }, "manual_only"],
    [{ turns }, "multi_turn"],
  ] as const) {
    const { id: agentId } = await makeAgent(owner);
    await makeTest(owner, agentId, fields);
    const body = await owner.client.read(`/api/agents/${agentId}/tests`);
    assert.equal(body.items[0]!.eligibility, eligibility);
  }
});

test("each template of the dashboard can be saved as it is, evaluates live traces, and has no warnings", async () => {
  for (const { id, document } of templates) {
    const { body } = await owner.client.post(`/api/agents/${agent.id}/tests/validate`, document).expect(200);
    assert.deepEqual([body.eligibility, body.warnings], [null, []], id);
  }
});

test("tests with costly patterns are checked on a thread, one at a time for each account, and others at once", async () => {
  const author = await service.signUp();
  const { client } = author;
  const { id: agentId } = await makeAgent(author);
  const patterns = (count: number, end = "") =>
    Array.from({ length: count }, (_, at) => ({
      type: "response_regex",
      pattern: `[a-z]{1,400}${at}${end}`,
    }));
  const costly = { name: "Costly", status: "disabled", assertions: patterns(20) };
  const validate = (body: object) => client.post(`/api/agents/${agentId}/tests/validate`, body);

  const answers = await Promise.all([
    validate(costly),
    validate(costly),
    validate({ name: "Cheap", status: "disabled" }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 429]);
  assert.equal(answers[2]!.status, 200);
  assert.equal(
    refusalIn(answers.find(({ status }) => status === 429)!).message,
    "Your last test is still being checked. Try again in a moment.",
  );

  const { body: refused } = await validate({ ...costly, assertions: patterns(20, "(") }).expect(400);
  assert.equal(refused.issues![0]!.path, "assertions[0].pattern");
  const { body: made } = await client.post(`/api/agents/${agentId}/tests`, costly).expect(201);
  const { body: renamed } = await client.patch(`/api/tests/${made.id}`, { name: "Renamed" }).expect(200);
  assert.deepEqual([renamed.name, renamed.assertions], ["Renamed", made.assertions]);
  await client.patch(`/api/tests/${made.id}`, { assertions: patterns(20, "(") }).expect(400);
  await client.patch(`/api/tests/${crypto.randomUUID()}`, { assertions: patterns(20) }).expect(404);
  const { body: patched } = await client
    .patch(`/api/tests/${made.id}`, { assertions: patterns(10) })
    .expect(200);
  assert.deepEqual([patched.name, patched.assertions.length], ["Renamed", 10]);
});

test("escaped keys keep their names, whatever was sent before", async () => {
  const saved = async (args: string) => {
    const assertion = `{"type":"tool_call","expected_name":"x","expected_arguments":${args}}`;
    const text = `{"name":"Escaped keys","status":"disabled","assertions":[${assertion}]}`;
    const { body } = await owner.client.request("POST", `/api/agents/${agent.id}/tests`, text).expect(201);
    const { cookie } = owner.client;
    return (await fetch(`${service.url}/api/tests/${body.id}`, { headers: { cookie } })).text();
  };
  // Without care this V8 reads the key of the second of each pair as that of the first.
  for (const [before, key] of [
    ["gr\\u0", "größe"],
    ["\\", '"'],
  ]) {
    const escaped = JSON.stringify(key).replace(/[^ -~]/g, one => `\\u00${one.charCodeAt(0).toString(16)}`);
    await saved(`{"id":1,${JSON.stringify(before)}:0}`);
    const text = await saved(`{"id":1,${escaped}:0}`);
    assert.ok(text.includes(`{"id":1,${JSON.stringify(key)}:0}`), text);
  }
});

test("integers beyond 2^53 are kept as decimal text, in a draft and in what is stored", async () => {
  const fields = '"type":"json_match","target_node":"step","field":"order"';
  const assertions = [
    `{${fields},"expected_value":9007199254740993}`,
    '{"type":"tool_call","expected_name":"x","expected_arguments":{"id":{"$gt":-9007199254740993},"n":1e3}}',
    '{"type":"json_schema","target_node":"a","field":"b","schema":{"maximum":9223372036854775807}}',
  ].join();
  const text = `{"name":"Large","status":"disabled","assertions":[${assertions}]}`;
  const path = `/api/agents/${agent.id}/tests` as const;
  const { body: made } = await owner.client.request("POST", path, text).expect(201);
  const stored = await owner.client.read(`/api/tests/${made.id}`);
  for (const { assertions: kept } of [made, stored]) {
    const [match, call, schema] = kept;
    assert.deepEqual(match, { ...match, expected_value: "9007199254740993" });
    assert.deepEqual(call, { ...call, expected_arguments: { id: { $gt: "-9007199254740993" }, n: 1000 } });
    assert.deepEqual(schema, { ...schema, schema: { maximum: "9223372036854775807" } });
  }
  const infinite = `{"name":"Infinite","status":"disabled","assertions":[{${fields},"expected_value":1e999}]}`;
  const { body: refused } = await owner.client.request("POST", path, infinite).expect(400);
  assert.deepEqual(refused.issues, [
    { path: "assertions[0].expected_value", message: "The number is too large." },
  ]);
});
