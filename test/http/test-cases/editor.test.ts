// The test case editor over HTTP, on its own thread in the real service: dry runs, drafts and completions from traces.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeAgent } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import type { Reply } from "../../support/client.ts";
import { type JudgeServer, obliging, silence, startJudgeServer } from "../../support/judge-server.ts";
import { send } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
let judge: JudgeServer;
let traceId: string;

before(async () => {
  judge = await startJudgeServer();
  const asked = judge.connection({ model: "local" });
  service = await startTestService({ config: { roles: ["http"], judge: asked } });
  traceId = await store(service.agent.id);
});
after(async () => {
  await service.stop();
  await judge.close();
});

const spans = [
  {
    span_id: "root",
    name: "support",
    start_time_unix_nano: "1000000000",
    end_time_unix_nano: "1500000000",
    attributes: {
      "http.response.status_code": 200,
      "gen_ai.prompt": "Where is my parcel?",
      "gen_ai.response.text": "It is in Lyon.",
    },
  },
  { span_id: "plan", parent_span_id: "root", name: "plan", attributes: { "app.note": "<b>\ud800" } },
  {
    span_id: "call",
    parent_span_id: "plan",
    name: "tool",
    attributes: { "gen_ai.tool.name": "track", "gen_ai.tool.call.arguments": '{"id":7}' },
  },
];

async function store(agentId: string): Promise<string> {
  const answer = await send(service, { body: canonicalBody(agentId, { spans }) });
  assert.equal(answer.status, 201, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

const semantic = { type: "semantic", criteria: "Says where the parcel is." };
const parcelTest = { name: "Parcel", scenario: "Asks for a parcel.", assertions: [semantic] };

function dryRun(body: object, query = "") {
  return service.client.post(`/api/agents/${service.agent.id}/tests/dry-run?${query}`, { traceId, ...body });
}

test("an unsaved test is evaluated on a stored trace, with a scenario match on request", async () => {
  for (const reply of [
    await dryRun({ test: parcelTest }, "routing=true").expect(200),
    await dryRun({ test: parcelTest, routing: true }).expect(200),
  ]) {
    const { result, applicability, ...rest } = reply.body;
    assert.deepEqual(rest, { traceId, revision: 1 });
    assert.deepEqual([result.outcome, result.checks[0]!.id, result.checks[0]!.score], ["passed", "a1", 1]);
    assert.deepEqual([applicability!.applied, applicability!.why], [true, "scenario_matched"]);
  }
  assert.equal((await dryRun({ test: parcelTest }).expect(200)).body.applicability, null);
  assert.deepEqual((await service.client.get(`/api/agents/${service.agent.id}/tests`)).body.items, []);
});

test("a trace of another agent or account, or an unknown one, is 404", async () => {
  const sibling = await store((await makeAgent(service.owner)).id);
  for (const other of [sibling, crypto.randomUUID(), "not-an-id"]) {
    const { body } = await dryRun({ test: parcelTest, traceId: other }).expect(404);
    assert.equal(body.code, "NOT_FOUND");
  }
  const stranger = await service.signUp();
  const { id } = await makeAgent(stranger);
  await stranger.client.post(`/api/agents/${id}/tests/dry-run`, { test: parcelTest, traceId }).expect(404);
});

test("an invalid document is refused with the paths of its own fields", async () => {
  const { body } = await dryRun({ test: { ...parcelTest, assertions: [{ type: "magic" }] } }).expect(400);
  assert.deepEqual([body.code, body.issues![0]!.path], ["VALIDATION_ERROR", "assertions[0].type"]);
  await dryRun({}).expect(400);
});

test("an account's third simultaneous dry run is 429, and a client that disconnects frees its slot", async () => {
  judge.script = () => silence;
  judge.requests.length = 0;
  const leaving = new AbortController();
  const url = `${service.url}/api/agents/${service.agent.id}/tests/dry-run`;
  const asked = judge.requests.length;
  // Two equal questions would share one answer.
  const asking = (what: string) => ({
    name: "Parcel",
    assertions: [{ ...semantic, criteria: `Says ${what}.` }],
  });
  const waiting = ["where", "when"].map(what =>
    fetch(url, {
      method: "POST",
      signal: leaving.signal,
      headers: { "content-type": "application/json", cookie: service.client.cookie },
      body: JSON.stringify({ test: asking(what), traceId }),
    }).catch(() => "left"),
  );
  await judge.arrived(asked + 2);
  const refused = await dryRun({ test: parcelTest }).expect(429);
  assert.deepEqual([refused.body.code, refused.headers.get("retry-after")], ["RATE_LIMITED", "1"]);
  judge.script = obliging();
  leaving.abort();
  assert.deepEqual(await Promise.all(waiting), ["left", "left"]);
  let ran: Reply<unknown>;
  do ran = await dryRun({ test: parcelTest });
  while (ran.status === 429);
  assert.equal(ran.status, 200);
});

test("a draft from a trace can be dry-run on that trace and saved as it is", async () => {
  const { body: draft } = await service.client.post(`/api/traces/${traceId}/draft-test`).expect(200);
  assert.deepEqual([draft.status, draft.turns], ["active", [{ input: "Where is my parcel?" }]]);
  assert.deepEqual(
    draft.assertions.map(({ type }: { type: string }) => type),
    ["tool_call", "node_call", "http_status", "response_time"],
  );
  const { body } = await dryRun({ test: draft }).expect(200);
  assert.equal(body.result.outcome, "passed");
  const { id } = await makeAgent(service.owner);
  await service.client.post(`/api/agents/${id}/tests`, draft).expect(201);
});

test("a value becomes an assertion that passes, or the refusal says why none fits", async () => {
  const draft = (body: object) => service.client.post(`/api/traces/${traceId}/draft-assertion`, body);
  const { body: assertion } = await draft({
    spanId: "call",
    attribute: "gen_ai.tool.call.arguments",
    path: ["id"],
  }).expect(200);
  assert.deepEqual(assertion, { ...assertion, expected_name: "track", expected_arguments: { id: 7 } });
  assert.equal("id" in assertion, false);
  const { body: ran } = await dryRun({ test: { name: "a", assertions: [assertion] } }).expect(200);
  assert.equal(ran.result.outcome, "passed");
  const { body: step } = await draft({ spanId: "plan", attribute: null }).expect(200);
  assert.deepEqual(step, { ...step, type: "node_call", expected_name: "plan" });
  const { body } = await draft({ spanId: "nobody", attribute: "a" }).expect(400);
  assert.deepEqual([body.code, body.issues![0]!.path], ["VALIDATION_ERROR", "spanId"]);
});

test("the vocabulary contains the content of traces, as data", async () => {
  const { id } = await makeAgent(service.owner);
  const empty = { traces: 0, complete: true, spans: [], tools: [] };
  const { id: silent } = await makeAgent(service.owner);
  assert.deepEqual(await service.client.read(`/api/agents/${silent}/vocabulary`), empty);
  await store(id);
  const body = await service.client.read(`/api/agents/${id}/vocabulary`);
  assert.deepEqual(body.tools, [{ name: "track", count: 1, arguments: [{ key: "id", samples: [7] }] }]);
  const plan = body.spans.find(({ name }: { name: string }) => name === "plan");
  assert.deepEqual(plan!.attributes, [{ key: "app.note", samples: ["<b>\ud800"] }]);
});

test("a scenario is tried on the agent's latest inputs, and an estimate asks nothing", async () => {
  const { id } = await makeAgent(service.owner);
  const stored = await store(id);
  const post = (body: object, agentId = id) =>
    service.client.post(`/api/agents/${agentId}/tests/try-scenario`, body);
  judge.script = obliging({
    label: scenario => (scenario === "Is looking for a parcel." ? "match" : "no_match"),
  });
  judge.requests.length = 0;
  const { body: guess } = await post({ scenario: "Is looking for a parcel.", estimate: true }).expect(200);
  assert.deepEqual([guess.inputs, guess.items, guess.left, judge.requests.length], [1, [], 1, 0]);
  const { body } = await post({ scenario: "Is looking for a parcel.", estimate: false, count: 3 }).expect(
    200,
  );
  assert.deepEqual(
    body.items.map(({ traceId, input, label }: Record<string, unknown>) => [traceId, input, label]),
    [[stored, "Where is my parcel?", "match"]],
  );
  assert.equal(judge.requests.length, 1);
  const { body: other } = await post({ scenario: "Asks for a refund.", estimate: false }).expect(200);
  assert.equal(other.items[0]!.label, "no_match");
  for (const wrong of [
    { scenario: "  ", estimate: true },
    { scenario: "A parcel.", estimate: true, count: 51 },
    { scenario: "A parcel." },
  ]) {
    assert.equal((await post(wrong).expect(400)).body.code, "VALIDATION_ERROR");
  }
  const stranger = await service.signUp();
  await stranger.client
    .post(`/api/agents/${id}/tests/try-scenario`, { scenario: "A parcel.", estimate: true })
    .expect(404);
});

test("what the judge found that criteria rest on is kept after the trace is deleted, and shown without a call", async () => {
  const { id } = await makeAgent(service.owner);
  const stored = await store(id);
  const find = async (...criteria: string[]) =>
    (await service.client.post(`/api/agents/${id}/tests/rests-on`, { criteria }).expect(200)).body.items;
  const criterion = "Names no price.";
  assert.deepEqual(await find(criterion), []);
  judge.script = obliging({ evidence: () => "", restsOn: () => "absence" });
  const test = { ...parcelTest, assertions: [{ ...semantic, criteria: criterion }] };
  await service.client.post(`/api/agents/${id}/tests/dry-run`, { traceId: stored, test }).expect(200);
  const asked = judge.requests.length;
  await service.client.delete(`/api/traces/${stored}`).expect(204);
  assert.deepEqual(await find(criterion, "Never asked about."), [{ criterion, restsOn: "absence" }]);
  assert.equal(judge.requests.length, asked);
});

test("the whole inputs of given traces are read in their order, and none of another agent's", async () => {
  const long = "x".repeat(20_000);
  const foreign = await store((await makeAgent(service.owner)).id);
  const ids: string[] = [];
  for (const attributes of [{ "gen_ai.prompt": long }, { "gen_ai.response.text": "Hello" }]) {
    const body = canonicalBody(service.agent.id, { spans: [{ span_id: "a", name: "a", attributes }] });
    ids.push(String((await send(service, { body })).headers["x-svc-trace-id"]));
  }
  const path = `/api/agents/${service.agent.id}/tests/trace-inputs` as const;
  const traceIds = [ids[1]!, ids[0]!, foreign, traceId, crypto.randomUUID()];
  const { body } = await service.client.post(path, { traceIds }).expect(200);
  assert.deepEqual(body.items, [
    { traceId: ids[1], input: null, unread: false },
    { traceId: ids[0], input: long, unread: false },
    { traceId, input: "Where is my parcel?", unread: false },
  ]);
  await service.client.post(path, { traceIds: [] }).expect(400);
  await service.client.post(path, { traceIds: Array.from({ length: 101 }, () => traceId) }).expect(400);
});

test("a dry run evaluates the trace alone, whatever inputs and repeats the test has", async () => {
  const plain = {
    name: "Fast",
    turns: [{ input: "a" }],
    assertions: [{ type: "response_time", max_ms: 900 }],
  };
  const inputs = Array.from({ length: 1_000 }, (_, at) => ({ input: `${at} ${"x".repeat(950)}` }));
  const [one, other] = await Promise.all(
    [plain, { ...plain, inputs }].map(async test => (await dryRun({ test }).expect(200)).body.result),
  );
  assert.deepEqual(other, one);
});
