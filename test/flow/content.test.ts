// What is stored of an agent's traces: attributes it denies or allows, and traces without content, on every way in.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Agent } from "../../src/model/agent/agent.ts";
import { sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalSpan, exportOf, newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { columnsWith } from "../support/leftovers.ts";
import { callSpan, logsOf, questionRecord, record } from "../support/log-records.ts";
import { jsonOf } from "../support/send.ts";
import { world } from "../support/world.ts";
import { otlpSpan } from "../wire/make-body.ts";

const service = world({ debounceMs: 100, debounceCapMs: 1_000 });

const change = async (agent: Agent, body: object) =>
  (await service.client.patch(`/api/agents/${agent.id}`, body).expect(200)).body;

const canary = "canary-4711";
const otlpText = (key: string, stringValue: string) => ({ key, value: { stringValue } });

/** A canonical trace with the canary in every field that may have content. */
function canonicalTrace(agentId: string): object {
  return {
    platformId: agentId,
    metadata: { note: canary, [canary]: 1 },
    spans: [
      canonicalSpan({
        status: { code: 2, message: canary },
        events: [{ name: canary, attributes: { text: canary } }],
        attributes: {
          "gen_ai.request.model": "m-1",
          "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: canary }] }],
          "gen_ai.response.text": canary,
          "gen_ai.usage.input_tokens": 12,
          "gen_ai.usage.output_tokens": canary,
          "gen_ai.conversation.id": "c-1",
          "user.id": "u-1",
          "app.note": canary,
          [canary]: true,
        },
      }),
      canonicalSpan({
        span_id: "tool",
        parent_span_id: "root",
        name: "look up",
        attributes: { "gen_ai.tool.name": "lookup", "gen_ai.tool.call.arguments": { id: canary } },
      }),
    ],
  };
}

async function sendCanonical(agentId: string) {
  const traceId = await service.store(canonicalTrace(agentId));
  return service.read(`/api/traces/${traceId}`);
}

suite("attributes that an agent denies", () => {
  test("are dropped on both paths and in log records, by key and by beginning; allow leaves only its own", async () => {
    const agent = await makeAgent(service.owner, { otlpServiceName: "denying" });
    assert.deepEqual(agent.attributes, { deny: [], allow: null });
    await change(agent, { attributes: { deny: ["app.*", "service.name", "note", canary], allow: null } });
    const [root] = (await sendCanonical(agent.id)).spans;
    assert.equal("app.note" in root!.attributes, false);
    assert.equal(canary in root!.attributes, false);
    assert.equal(root!.attributes["gen_ai.response.text"], canary);

    await change(agent, { attributes: { allow: ["gen_ai.*"] } });
    const traceId = newTraceId();
    const attributes = [otlpText("gen_ai.request.model", "m"), otlpText("app.note", canary)];
    await jsonOf(
      await service.send({
        body: exportOf([otlpSpan({ traceId, spanId: newSpanId(), attributes })], "denying"),
      }),
    );
    const row = (await service.read(`/api/agents/${agent.id}/traces`)).items[0]!;
    const trace = await service.read(`/api/traces/${row.id}`);
    assert.deepEqual(trace.spans[0]!.attributes, { "gen_ai.request.model": "m" });
    assert.deepEqual(trace.resource, { "service.name": "denying" });
  });

  test("are refused where a key has a star in the middle", async () => {
    const agent = await makeAgent(service.owner);
    const { body } = await service.client
      .patch(`/api/agents/${agent.id}`, { attributes: { deny: ["app.*.id"], allow: null } })
      .expect(400);
    assert.deepEqual(
      body.issues!.map(({ path }) => path),
      ["attributes.deny[0]"],
    );
  });
});

suite("an agent that stores no content", () => {
  test("stores none from its creation on", async () => {
    const agent = await makeAgent(service.owner, { content: "none" });
    assert.equal(JSON.stringify(await sendCanonical(agent.id)).includes(canary), false);
  });

  test("keeps structure, tokens, names, status and ids of traces and log records, and nothing else", async () => {
    const agent = await makeAgent(service.owner, { otlpServiceName: "silent" });
    await change(agent, { content: "none", conventions: ["*"] });
    const trace = await sendCanonical(agent.id);
    const [root] = trace.spans;
    assert.deepEqual(root!.attributes, {
      "gen_ai.request.model": "m-1",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.conversation.id": "c-1",
      "user.id": "u-1",
      "gen_ai.operation.name": "chat",
    });
    assert.deepEqual([root!.status, root!.events], [{ code: 2 }, []]);
    assert.deepEqual(
      [trace.failed, trace.tokens.input, trace.model, trace.conversationId, trace.userId],
      [true, 12, "m-1", "c-1", "u-1"],
    );
    assert.deepEqual(
      trace.toolCalls.map(({ name, arguments: args }) => [name, args]),
      [["lookup", null]],
    );
    assert.equal(trace.metadata, null);

    // Another convention, its content in attributes, events and log records.
    const about = { traceId: newTraceId(), spanId: newSpanId() };
    const logs = logsOf(
      [
        questionRecord(about, canary),
        record({
          ...about,
          eventName: "gen_ai.client.inference.operation.details",
          attributes: [otlpText("gen_ai.response.model", "m-2"), otlpText("gen_ai.output.messages", canary)],
        }),
      ],
      "silent",
    );
    await jsonOf(await service.send({ path: "/public/logs", body: logs }));
    const span = {
      ...callSpan(about, {
        "openinference.span.kind": "LLM",
        "llm.token_count.prompt": "30",
        "llm.input_messages.0.message.content": canary,
      }),
      traceState: canary,
      events: [{ name: "e", timeUnixNano: "1", attributes: [otlpText("x", canary)] }],
      links: [{ traceId: newTraceId(), spanId: newSpanId(), attributes: [otlpText("x", canary)] }],
      status: { code: 1, message: canary },
    };
    const body = exportOf([span], "silent");
    const [sent] = body.resourceSpans;
    sent!.resource.attributes.push(otlpText("host.name", canary));
    sent!.scopeSpans[0]!.scope = { name: "s", attributes: [otlpText("x", canary)] };
    await jsonOf(await service.send({ body }));
    const row = (await service.read(`/api/agents/${agent.id}/traces`)).items[0]!;
    assert.equal(row.tokens.input, 30);
    const otlp = await service.read(`/api/traces/${row.id}`);
    assert.equal(otlp.spans[0]!.attributes["gen_ai.usage.input_tokens"], 30);
    // The agent of the tests before stored it.
    await service.client.delete(`/api/agents/${(await denying())!.id}`).expect(204);
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
  });

  test("has checks of content missing, whatever the trace says, and keeps those of structure; nothing is routed", async () => {
    const agent = await makeAgent(service.owner, { otlpServiceName: "judged" });
    await change(agent, { content: "none" });
    const assertions = [
      { type: "response_regex", pattern: "x" },
      { type: "response_regex", pattern: "x", negate: true },
      { type: "semantic", criteria: ["Says where the parcel is"] },
      { type: "json_match", target_node: "nowhere", field: "a", expected_value: 1 },
      { type: "json_schema", target_node: "answer", field: "a", schema: {} },
      { type: "tool_call", expected_name: "lookup", expected_arguments: { id: 1 } },
      { type: "tool_call", expected_name: "lookup" },
      { type: "token_limit", max_input: 20 },
    ];
    await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
    const relevant = await makeTest(service.owner, agent.id, {
      passiveBehavior: "run_when_relevant",
      scenario: "The user asks for a parcel",
    });
    const { id } = await sendCanonical(agent.id);
    const trace = await eventually(async () => {
      const stored = await service.read(`/api/traces/${id}`);
      assert.equal(stored.runs[0]!.state, "completed");
      return stored;
    });
    assert.deepEqual(
      trace.runs[0]!.results[0]!.checks.map(check => [check.outcome, check.reasonCode]),
      [
        ...assertions.slice(0, 6).map(() => ["missing_instrumentation", "content_not_stored"]),
        ["passed", "tool_call_count"],
        ["passed", "token_usage"],
      ],
    );
    assert.equal(trace.tests.find(one => one.testId === relevant.id)!.why, "content_not_stored");
    const { body: again } = await service.client
      .post(`/api/agents/${agent.id}/judge-again`, { traceIds: [id] })
      .expect(200);
    assert.deepEqual(
      again.refused.map(({ reason }) => reason),
      ["content_not_stored"],
    );
  });

  test("checks the reply of a manual run in memory, and stores the outcome without a text", async () => {
    const said = "reply-9090";
    const server = await startAgentServer(async (_request, response) => sendJson(response, { reply: said }));
    try {
      const agent = await makeAgent(service.owner);
      await change(agent, { content: "none" });
      const connection = {
        type: "http_api",
        url: server.url,
        bodyTemplate: '{"message":"{{input}}"}',
        reply: { kind: "json", pointer: "/reply" },
        waitMs: 0,
      };
      await service.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
      const { id } = await makeTest(service.owner, agent.id, {
        passiveBehavior: "manual_only",
        turns: [{ input: "One" }, { input: "Two" }],
        assertions: [
          { type: "response_regex", pattern: "reply-\\d+" },
          { type: "response_regex", pattern: "nothing", turn: 1 },
          { type: "semantic", criteria: ["Replies"] },
        ],
      });
      const made = await service.client
        .post(`/api/agents/${agent.id}/launches`, { testIds: [id] })
        .expect(201);
      const ended = await eventually(async () => {
        const launch = await service.read(`/api/launches/${made.body.id}`);
        assert.notEqual(launch.finishedAt, null);
        return launch;
      });
      const run = await service.read(`/api/runs/${ended.runs[0]!.id}`);
      assert.deepEqual(
        run.results[0]!.checks.map(check => [check.outcome, check.reasonCode, check.actual]),
        [
          ["passed", "pattern_found", null],
          ["failed", "pattern_not_found", null],
          ["missing_instrumentation", "content_not_stored", null],
        ],
      );
      assert.deepEqual(
        run.turns!.map(turn => [turn.input, turn.text, turn.content]),
        [
          ["One", null, "none"],
          ["Two", null, "none"],
        ],
      );
      assert.equal(server.requests.length, 2);
      assert.deepEqual(await columnsWith(service.databaseUrl, said), []);
    } finally {
      await server.close();
    }
  });

  const denying = async () =>
    (await service.read(`/api/projects/${service.projectId}/agents`)).items.find(
      one => one.otlpServiceName === "denying",
    );

  test("changes a batch that was prepared before the setting was saved", async () => {
    const agent = await makeAgent(service.owner, { otlpServiceName: "changing" });
    // Far more agents than a key brings along: this one's settings are known only when its batch is stored.
    await service.db.pool.query(
      `insert into agents (id, project_id, name, type, content, intake_key)
        select gen_random_uuid(), $1, 'x', 'workflow', 'none', 'x' from generate_series(1, 250)`,
      [service.projectId],
    );
    try {
      await service.db.pool.query(
        "update agents set id = 'ffffffff-ffff-7fff-bfff-ffffffffffff' where id = $1",
        [agent.id],
      );
      const late = { ...agent, id: "ffffffff-ffff-7fff-bfff-ffffffffffff" };
      await change(late, { content: "none" });
      const trace = await sendCanonical(late.id);
      assert.equal(trace.responseText, null);
      assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
    } finally {
      await service.db.pool.query("delete from agents where intake_key = 'x'");
    }
  });
});
