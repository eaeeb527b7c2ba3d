// An agent whose traces are written in another convention: blank at first, read once its convention is chosen.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Agent } from "../../src/model/agent/agent.ts";
import { recordedBody } from "../reading/conventions/recordings.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { jsonOf } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world({ debounceMs: 100, debounceCapMs: 1_000 });

const recording = "23-openinference-py-langchain-basic";
const question = "What is the weather in Paris?";
const reply = "It is rainy, 14°C in Paris.";

/** The recording with a trace id of its own, sent as the agent's. */
async function post(serviceName: string, traceId: string = newTraceId()): Promise<string> {
  const text = recordedBody(recording, "json").toString();
  const own = /"traceId":\s*"([0-9a-f]{32})"/.exec(text)![1]!;
  const body = JSON.parse(text.replaceAll(own, traceId));
  for (const { resource } of body.resourceSpans) {
    const name = resource.attributes.find((one: { key: string }) => one.key === "service.name");
    name.value.stringValue = serviceName;
  }
  await jsonOf(await service.send({ body }));
  return traceId;
}

const newTraceId = () => crypto.randomUUID().replaceAll("-", "");

async function listed(agentId: string) {
  return (await service.read(`/api/agents/${agentId}/traces`)).items;
}

const judged = (traceId: string, runs: number) =>
  eventually(async () => {
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.deepEqual(
      trace.runs.map(run => run.state),
      Array(runs).fill("completed"),
    );
    return trace;
  });

const assertions = [
  { type: "tool_call", expected_name: "get_weather", expected_arguments: { city: "Paris" }, max: 1 },
  { type: "response_regex", pattern: "rainy" },
  { type: "token_limit", max_input: 43, max_output: 14 },
  { type: "node_call", expected_name: "get_weather", negate: true },
];

suite("a trace in another convention", () => {
  let agent: Agent;
  let traceId: string;

  test("arrives blank, and says which convention would give what", async () => {
    agent = await makeAgent(service.owner, { otlpServiceName: "langchain", conventions: [] });
    assert.deepEqual(agent.conventions, []);
    await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
    await post("langchain");
    const row = (await listed(agent.id))[0]!;
    traceId = row.id;
    assert.deepEqual([row.userInput, row.responseText, row.tokens.total], [null, null, null]);
    const trace = await judged(traceId, 1);
    assert.deepEqual(trace.toolCalls, []);
    assert.deepEqual(trace.readable, ["openinference"]);
    assert.deepEqual([trace.conventions, trace.translated, trace.runs[0]!.conventions], [[], [], []]);
    assert.deepEqual(
      trace.runs[0]!.results[0]!.checks.map(check => check.outcome),
      ["failed", "missing_instrumentation", "missing_instrumentation", "failed"],
    );
    const preview = await service.read(`/api/traces/${traceId}/preview?conventions=openinference`);
    assert.deepEqual(preview, {
      conventionRules: [],
      matches: [],
      conventions: ["openinference"],
      userInput: question,
      responseText: reply,
      tokens: {
        input: 43,
        output: 14,
        reasoning: preview.tokens.reasoning,
        cached: preview.tokens.cached,
        total: 57,
      },
      tools: ["get_weather"],
      model: preview.model,
      provider: preview.provider,
      conversationId: preview.conversationId,
      userId: preview.userId,
    });
  });

  test("is read in lists and detail once its convention is chosen, and no run is scheduled", async () => {
    const { body } = await service.client
      .patch(`/api/agents/${agent.id}`, { conventions: ["openinference", "openinference"] })
      .expect(200);
    assert.deepEqual(body.conventions, ["openinference"]);
    const row = (await listed(agent.id))[0]!;
    assert.deepEqual([row.userInput, row.responseText, row.tokens.total], [question, reply, 57]);
    assert.equal((await service.read(`/api/agents/${agent.id}/conventions`)).rereading, null);
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.equal(trace.runs.length, 1);
    assert.equal(trace.revision, row.revision);
    assert.deepEqual([trace.userInput, trace.responseText], [question, reply]);
    assert.deepEqual(
      trace.toolCalls.map(({ name, arguments: args, result, convention }) => [
        name,
        args,
        result,
        convention,
      ]),
      [["get_weather", { city: "Paris" }, "rainy, 14°C", "openinference"]],
    );
    assert.ok(trace.model!.startsWith("gpt-4o-mini"));
    const input = trace.translated[0]!;
    assert.deepEqual([input.field, input.convention, input.replaced], ["userInput", "openinference", null]);
    assert.deepEqual(trace.readable, []);
    assert.ok(!trace.notices.includes("other_convention"));
    assert.ok(!JSON.stringify(trace.spans).includes("gen_ai.input.messages"));
  });

  test("shows its conversation with the attributes that were sent", async () => {
    const { turns } = await service.read(`/api/traces/${traceId}/conversation`);
    const texts = turns.map(turn =>
      turn.kind === "message"
        ? [turn.role, (turn.pieces[0] as { text: string }).text]
        : ["call", turn.name, turn.result!.text],
    );
    assert.deepEqual(texts, [
      ["system", texts[0]![1]],
      ["user", question],
      ["call", "get_weather", "rainy, 14°C"],
      ["assistant", reply],
    ]);
    for (const { attribute, translated } of turns) {
      assert.ok(!attribute!.startsWith("gen_ai."), `${attribute}`);
      assert.equal(translated!.convention, "openinference");
      assert.ok(translated!.as.startsWith("gen_ai."));
    }
  });

  test("is evaluated with the convention when somebody has it judged again", async () => {
    const again = await service.client
      .post(`/api/agents/${agent.id}/judge-again`, { traceIds: [traceId] })
      .expect(200);
    assert.equal(again.body.scheduled, 1);
    const trace = await judged(traceId, 2);
    const [run, before] = trace.runs;
    assert.deepEqual([run!.conventions, before!.conventions], [["openinference"], []]);
    assert.deepEqual([run!.cause, run!.verdict], ["again", "passed"]);
    const places = run!.results[0]!.checks.flatMap(check => check.evidence);
    assert.ok(places.length > 3);
    for (const { attribute, translated } of places) {
      if (attribute === null) continue;
      assert.ok(!attribute.startsWith("gen_ai."), `${attribute}`);
      assert.equal(translated!.convention, "openinference");
    }
  });

  test("is read on arrival, in parts that merge, and by whichever convention recognizes it", async () => {
    await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["mlflow", "*"] }).expect(200);
    const body = await service.read(`/api/agents/${agent.id}`);
    assert.deepEqual(body.conventions, ["*"]);
    const externalId = await post("langchain");
    const { rows } = await service.db.pool.query(
      "select user_input, derived_revision from traces where external_id = $1",
      [externalId],
    );
    assert.deepEqual(rows, [{ user_input: question, derived_revision: 1 }]);
    await post("langchain", externalId);
    const row = (await listed(agent.id)).find(one => one.externalId === externalId);
    assert.deepEqual([row!.userInput, row!.tokens.total], [question, 57]);
  });

  test("keeps a convention that does not exist out of the setting", async () => {
    const { body } = await service.client
      .patch(`/api/agents/${agent.id}`, { conventions: ["openinference", "nonsense"] })
      .expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, "conventions[1]");
    assert.match(body.issues![0]!.message, /Known conventions: .*openinference/);
    await service.client.get(`/api/traces/${traceId}/preview?conventions=nonsense`).expect(400);
  });
});

suite("a trace in attributes of the agent's own", () => {
  let agent: Agent;
  let traceId: string;
  const body = {
    spans: [
      {
        span_id: "root",
        name: "POST /chat",
        attributes: { "app.question": question, "app.answer": reply, "app.tokens": "57" },
      },
      {
        span_id: "tool",
        parent_span_id: "root",
        name: "fn get_weather",
        attributes: { "fn.name": "get_weather", "fn.args": '{"city":"Paris"}', "fn.out": "rainy" },
      },
    ],
  };
  const conventionRules = [
    { from: "app.question", to: "gen_ai.input.messages", spanName: "POST *" },
    { from: "app.answer", to: "gen_ai.response.text" },
    { from: "app.tokens", to: "gen_ai.usage.input_tokens" },
    { from: "fn.name", to: "gen_ai.tool.name" },
    { from: "fn.args", to: "gen_ai.tool.call.arguments" },
    { from: "fn.out", to: "gen_ai.tool.call.result" },
    { from: "app.user", to: "user.id" },
  ];
  const sendOne = async () => {
    const platform = { ...body, metadata: { svc: { platform_id: agent.id } } };
    return (await jsonOf(await service.send({ body: platform }))).traceId;
  };

  test("is previewed by rules that are not saved", async () => {
    agent = await makeAgent(service.owner, { otlpServiceName: "own attributes", conventions: [] });
    await makeTest(service.owner, agent.id, {
      passiveBehavior: "always_run",
      assertions: [
        { type: "tool_call", expected_name: "get_weather", expected_arguments: { city: "Paris" } },
        { type: "response_regex", pattern: "rainy" },
        { type: "token_limit", max_input: 57 },
      ],
    });
    traceId = await sendOne();
    await judged(traceId, 1);
    const preview = async (more: object) =>
      (await service.client.post(`/api/traces/${traceId}/preview`, more).expect(200)).body;
    const before = await preview({});
    assert.deepEqual(
      [before.userInput, before.responseText, before.tools, before.matches],
      [null, null, [], []],
    );
    const after = await preview({ conventionRules });
    assert.deepEqual(
      [after.userInput, after.responseText, after.tokens.input, after.tools],
      [question, reply, 57, ["get_weather"]],
    );
    assert.deepEqual(after.matches, [1, 1, 1, 1, 1, 1, 0]);
    assert.deepEqual([after.conventions, after.conventionRules], [[], conventionRules]);
    const { body: refused } = await service.client
      .post(`/api/traces/${traceId}/preview`, { conventionRules: [{ from: "a", to: "b" }] })
      .expect(400);
    assert.equal(refused.issues![0]!.path, "conventionRules[0].to");
    await (await service.signUp()).client.post(`/api/traces/${traceId}/preview`, {}).expect(404);
  });

  test("is read by rules without any convention, marked with where, and evaluated again by them", async () => {
    await service.client.patch(`/api/agents/${agent.id}`, { conventionRules }).expect(200);
    const row = (await listed(agent.id))[0]!;
    assert.deepEqual([row.userInput, row.responseText, row.tokens.input], [question, reply, 57]);
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.deepEqual(trace.conventionRules, conventionRules);
    assert.deepEqual(trace.runs[0]!.conventionRules, []);
    assert.deepEqual(
      trace.translated.map(({ field, attribute, convention }) => [field, attribute, convention]),
      [
        ["userInput", "app.question", "rules"],
        ["responseText", "app.answer", "rules"],
        ["tokens", "app.tokens", "rules"],
      ],
    );
    assert.deepEqual(
      trace.toolCalls.map(call => [call.name, call.arguments, call.result, call.convention]),
      [["get_weather", { city: "Paris" }, "rainy", "rules"]],
    );
    await service.client.post(`/api/agents/${agent.id}/judge-again`, { traceIds: [traceId] }).expect(200);
    const { runs } = await judged(traceId, 2);
    assert.deepEqual([runs[0]!.conventionRules, runs[0]!.verdict], [conventionRules, "passed"]);
    const places = runs[0]!.results[0]!.checks.flatMap(check => check.evidence);
    const own = places.filter(place => place.attribute !== null);
    assert.ok(own.length >= 3);
    for (const { attribute, translated } of own) {
      assert.match(attribute!, /^(app|fn)\./);
      assert.equal(translated!.convention, "rules");
    }
  });

  test("is read by rules on arrival", async () => {
    const id = await sendOne();
    const { rows } = await service.db.pool.query(
      "select user_input, input_tokens::int as tokens, derived_revision as derived from traces where id = $1",
      [id],
    );
    assert.deepEqual(rows, [{ user_input: question, tokens: 57, derived: 1 }]);
    assert.equal((await judged(id, 1)).runs[0]!.verdict, "passed");
  });
});
