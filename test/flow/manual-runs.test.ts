// A test case runs on an agent that is instrumented with the OpenTelemetry SDK: its trace arrives without further calls.
import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { after, before, test } from "node:test";
import { context, defaultTextMapGetter, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { type AgentServer, sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeTest } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { openExporter } from "../support/exporters.ts";
import { serviceName, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let server: AgentServer;
let provider: TracerProvider;
before(async () => {
  service = await startTestService({ config: { debounceMs: 500, debounceCapMs: 60_000 } });
  const exporter = openExporter("protobuf", service);
  provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  server = await startAgentServer(async ({ body, headers }, response) => {
    answerTraced(body.message, headers);
    sendJson(response, { reply: `The weather in ${body.message} is fine` });
  });
  const connection = {
    type: "http_api",
    url: server.url,
    bodyTemplate: '{"message":"{{input}}","conversation":"{{conversation_id}}","before":"{{history}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 60_000,
  };
  await service.client.put(`/api/agents/${service.agent.id}/connection`, connection).expect(200);
});
after(async () => {
  await provider.shutdown();
  await service.stop();
  await server.close();
});

/** As an instrumented web server does: continues the trace of the request's headers. */
function answerTraced(input: string, headers: IncomingHttpHeaders): void {
  const caller = new W3CTraceContextPropagator().extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
  const tracer = provider.getTracer("agent");
  const request = tracer.startSpan(
    "POST /chat",
    { attributes: { "http.response.status_code": 200, "gen_ai.prompt": input } },
    caller,
  );
  const within = trace.setSpan(context.active(), request);
  const call = tracer.startSpan(
    "call weather",
    {
      attributes: {
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.arguments": JSON.stringify({ city: input }),
      },
    },
    within,
  );
  call.end();
  request.setAttribute("gen_ai.response.text", `The weather in ${input} is fine`);
  request.setStatus({ code: SpanStatusCode.OK });
  request.end();
}

test("each turn is evaluated on the trace that the agent's instrumentation sent, and never as live traffic", async () => {
  const { id } = await makeTest(service.owner, service.agent.id, {
    passiveBehavior: "manual_only",
    turns: [{ input: "Paris" }, { input: "Oslo" }],
    assertions: [
      { type: "tool_call", expected_name: "weather", min: 2, max: 2 },
      { type: "tool_call", expected_name: "weather", expected_arguments: { city: "Paris" }, turn: 1 },
      { type: "tool_call", expected_name: "weather", expected_arguments: { city: "Oslo" }, turn: "last" },
      { type: "response_regex", pattern: "Oslo" },
      { type: "http_status", expected_status: 200 },
    ],
  });
  // Live traffic of this agent is evaluated.
  await makeTest(service.owner, service.agent.id);
  const launch = { testIds: [id] };
  const made = await service.client.post(`/api/agents/${service.agent.id}/launches`, launch).expect(201);
  const { body: ended } = await eventually(async () => {
    const answer = await service.client.get(`/api/launches/${made.body.id}`).expect(200);
    assert.notEqual(answer.body.finishedAt, null);
    return answer;
  });
  const run = await service.client.read(`/api/runs/${ended.runs[0]!.id}`);
  assert.equal(run.verdict, "passed", JSON.stringify(run.results));
  assert.deepEqual(
    run.turns!.map(turn => turn.arrived),
    [true, true],
  );
  assert.deepEqual(run.notices, []);
  assert.equal(server.requests[0]?.body.conversation, server.requests[1]?.body.conversation);
  assert.equal(server.requests[1]?.body.before.length, 2);
  for (const { traceId, w3cTraceId } of run.turns!) {
    const shown = await service.client.read(`/api/traces/${traceId}`);
    assert.deepEqual([shown.kind, shown.path, shown.externalId], ["test_run", "otlp", w3cTraceId]);
    assert.deepEqual(
      shown.runs.map(({ kind }: { kind: string }) => kind),
      ["manual"],
    );
    assert.deepEqual(shown.notices, []);
  }
  const tests = await service.client.read(`/api/agents/${service.agent.id}/traces?kind=test_run`);
  assert.equal(tests.items.length, 2);
});
