// 200: a canonical trace is replaced, an OTLP export is accepted, fully or partly.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newSpanId,
  newTraceId,
} from "../../support/bodies.ts";
import { exportSpans, openExporter, recordSpans } from "../../support/exporters.ts";
import { type Answer, json, jsonOf, messageOf, proto, type Sent } from "../../support/send.ts";
import { serviceName } from "../../support/service.ts";
import { world } from "../../support/world.ts";
import { fixture, resourceSpans } from "../../wire/make-body.ts";

const service = world({ roles: ["http"] });

async function detail(traceId: unknown) {
  return await service.read(`/api/traces/${traceId}`);
}

/** The agent's traces with this identity. */
async function stored(externalId: string, agentId = service.agentId) {
  const query = new URLSearchParams({ externalId });
  return (await service.read(`/api/agents/${agentId}/traces?${query}`)).items;
}

async function ok(sent: Sent): Promise<Answer> {
  const answer = await service.send(sent);
  assert.equal(answer.status, 200, answer.bytes.toString());
  return answer;
}

test("a canonical trace that is sent again is replaced as a whole and keeps its traceId", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id);
  const headers = { "x-request-id": "again" };
  const spans = [canonicalSpan({ attributes: { first: 1 } }), canonicalSpan({ span_id: "step" })];
  const first = await service.send({
    headers,
    body: canonicalBody(agent.id, { spans, metadata: { a: 1 } }),
  });
  assert.equal(first.status, 201);
  const answer = await ok({ headers, body: canonicalBody(agent.id) });
  const { traceId, hint } = jsonOf(first);
  assert.equal(hint, undefined);
  assert.deepEqual(jsonOf(answer), {
    traceId,
    externalId: "again",
    agentId: agent.id,
    status: "replaced",
    evaluation: "none",
    hint: "Replacing a trace schedules no evaluation. Unless one is pending, send the trace with a new x-request-id to have it evaluated.",
  });
  assert.equal(answer.headers["x-svc-trace-id"], traceId);
  const trace = await detail(traceId);
  assert.deepEqual(
    [trace.revision, trace.metadata, trace.spans.map(span => [span.span_id, span.attributes])],
    [2, null, [["root", {}]]],
  );
  assert.equal(trace.runs.length, 1);
});

for (const [encoding, encode] of Object.entries(encodings)) {
  test(`an OTLP export in ${encoding} is answered with an empty response of exactly its type`, async () => {
    const { type, body } = encode(exportOf([exportedSpan()]));
    for (const sent of [{ body }, { body: gzipSync(body), headers: { "content-encoding": "gzip" } }]) {
      for (const chunked of [false, true]) {
        const answer = await ok({ type, chunked, ...sent });
        assert.equal(answer.headers["content-type"], type);
        assert.equal(answer.bytes.toString(), encoding === "json" ? "{}" : "");
        assert.match(String(answer.headers["x-svc-trace-id"]), /^[0-9a-f-]{36}$/);
      }
    }
  });

  test(`an OTLP export in ${encoding} of one trace has the x-request-id as its identity, else its traceId`, async () => {
    const traceId = newTraceId();
    const sent = encode(
      exportOf([exportedSpan({ traceId: traceId.toUpperCase() }), exportedSpan({ traceId })]),
    );
    const named = await ok({ ...sent, headers: { "x-request-id": `named ${encoding}` } });
    const unnamed = await ok({ ...sent, headers: { "x-request-id": "" } });
    assert.equal((await detail(named.headers["x-svc-trace-id"])).externalId, `named ${encoding}`);
    assert.equal((await detail(unnamed.headers["x-svc-trace-id"])).externalId, traceId);
  });

  test(`an OTLP export in ${encoding} of several traces is split by traceId, ignoring x-request-id`, async () => {
    const ids = [newTraceId(), newTraceId()];
    const spans = ids.flatMap(traceId => [exportedSpan({ traceId }), exportedSpan({ traceId })]);
    for (const id of ["ignored", "é", ["a", "b"]]) {
      const answer = await ok({ ...encode(exportOf(spans)), headers: { "x-request-id": id } });
      assert.equal(answer.headers["x-svc-trace-id"], undefined);
    }
    for (const id of ids)
      assert.deepEqual(
        (await stored(id)).map(trace => trace.spanCount),
        [2],
      );
    assert.deepEqual(await stored("ignored"), []);
  });

  test(`a partly rejected OTLP export in ${encoding} is answered with the number of rejected spans and the reasons`, async () => {
    const good = newTraceId();
    const bad = newTraceId();
    const request = {
      resourceSpans: [
        resourceSpans(serviceName, [
          exportedSpan({ traceId: good }),
          exportedSpan({ traceId: bad }),
          exportedSpan({ traceId: bad, parentSpanId: "00".repeat(8) }),
          exportedSpan({ traceId: "" }),
        ]),
        resourceSpans("nobody", [exportedSpan(), exportedSpan()]),
        resourceSpans(null, [exportedSpan()]),
      ],
    };
    const answer = await ok(encode(request));
    const { partialSuccess } =
      encoding === "json" ? jsonOf(answer) : messageOf(answer, "ExportTraceServiceResponse");
    const { errorMessage } = partialSuccess;
    assert.deepEqual(partialSuccess, { rejectedSpans: 6, errorMessage });
    for (const said of [
      "OTLP_ID_INVALID: 3 spans in 2 traces",
      "OTLP_PLATFORM_NOT_FOUND: 2 spans in 2 traces",
      "OTLP_SERVICE_NAME_REQUIRED: 1 span in 1 trace",
    ]) {
      assert.ok(errorMessage.includes(said), errorMessage);
    }
    assert.ok(Buffer.byteLength(errorMessage) <= 1024);
    assert.equal(answer.headers["x-svc-trace-id"], undefined);
    assert.equal((await stored(good)).length, 1);
    assert.equal((await stored(bad)).length, 0);
  });
}

test("application/protobuf is accepted as application/x-protobuf, which is the type of the response", async () => {
  const { body } = encodings.protobuf(exportOf([exportedSpan()]));
  for (const type of ["application/protobuf", "APPLICATION/X-PROTOBUF; v=1"]) {
    assert.equal((await ok({ type, body })).headers["content-type"], proto);
  }
});

test("the response's type has no parameter, even if the request's type does", async () => {
  const { body } = encodings.json(exportOf([exportedSpan()]));
  assert.equal((await ok({ type: "application/json; charset=utf-8", body })).headers["content-type"], json);
});

test("a later batch merges its spans into the trace: known ids are replaced, and none is duplicated", async () => {
  const traceId = newTraceId();
  const [root, step, late] = [newSpanId(), newSpanId(), newSpanId()] as [string, string, string];
  await ok(
    encodings.json(
      exportOf([
        exportedSpan({ traceId, spanId: root, name: "old" }),
        exportedSpan({ traceId, spanId: step, parentSpanId: root }),
      ]),
    ),
  );
  const batch = exportOf([
    exportedSpan({ traceId, spanId: root.toUpperCase(), name: "older" }),
    exportedSpan({ traceId, spanId: root.toUpperCase(), name: "new" }),
    exportedSpan({ traceId, spanId: late, parentSpanId: root }),
  ]);
  const answer = await ok(encodings.protobuf(batch));
  const trace = await detail(answer.headers["x-svc-trace-id"]);
  assert.deepEqual([trace.revision, trace.spanCount, trace.name], [2, 3, "new"]);
  assert.deepEqual(new Set(trace.spans.map(span => span.span_id)), new Set([root, step, late]));
  const resent = await ok(encodings.protobuf(batch));
  assert.equal((await detail(resent.headers["x-svc-trace-id"])).spanCount, 3);
});

test("batches of one trace sent at the same time merge without loss", async () => {
  const traceId = newTraceId();
  const spans = Array.from({ length: 24 }, () => exportedSpan({ traceId }));
  await Promise.all(spans.map((span, at) => ok(encodings[at % 2 ? "json" : "protobuf"](exportOf([span])))));
  const [trace, ...others] = await stored(traceId);
  assert.deepEqual([others, trace!.spanCount, trace!.revision], [[], 24, 24]);
});

test("the same traceId from two services is two traces, one per agent", async () => {
  const other = await makeAgent(service.owner, { otlpServiceName: "other-agent" });
  const traceId = newTraceId();
  const request = {
    resourceSpans: [
      resourceSpans(serviceName, [exportedSpan({ traceId })]),
      resourceSpans("other-agent", [exportedSpan({ traceId }), exportedSpan({ traceId })]),
      resourceSpans(serviceName, [exportedSpan({ traceId })]),
    ],
  };
  const answer = await ok({ ...encodings.json(request), headers: { "x-request-id": "not used" } });
  assert.equal(answer.headers["x-svc-trace-id"], undefined);
  assert.equal((await stored(traceId))[0]!.spanCount, 2);
  assert.equal((await stored(traceId, other.id))[0]!.spanCount, 2);
});

test("batches that a Collector combines or splits are stored alike", async () => {
  const spansOf = (ids: string[]) => ids.map(traceId => exportedSpan({ traceId, spanId: "0a".repeat(8) }));
  const together = [newTraceId(), newTraceId()];
  const apart = [newTraceId(), newTraceId()];
  await ok(encodings.protobuf(exportOf(spansOf(together))));
  for (const span of spansOf(apart)) await ok(encodings.protobuf(exportOf([span])));
  const shapes = await Promise.all(
    [together, apart].map(async ids => {
      const traces = await Promise.all(ids.map(id => stored(id)));
      return traces.map(([trace]) => [
        trace!.revision,
        trace!.spanCount,
        trace!.name,
        trace!.externalId.length,
      ]);
    }),
  );
  assert.deepEqual(shapes[0], shapes[1]);
});

test("an OTLP batch merges into a canonical trace of the same identity, and a canonical body replaces both", async () => {
  const traceId = newTraceId();
  const spanId = newSpanId();
  const canonical = {
    headers: { "x-request-id": traceId },
    body: canonicalBody(service.agentId, { spans: [canonicalSpan({ span_id: spanId })] }),
  };
  const first = await service.send(canonical);
  assert.equal(first.status, 201);
  const batch = exportOf([exportedSpan({ traceId, parentSpanId: spanId })]);
  const merged = await ok(encodings.protobuf(batch));
  assert.equal(merged.headers["x-svc-trace-id"], jsonOf(first).traceId);
  const [both] = await stored(traceId);
  assert.deepEqual([both!.path, both!.revision, both!.spanCount], ["otlp", 2, 2]);
  assert.equal(jsonOf(await ok(canonical)).status, "replaced");
  const [alone] = await stored(traceId);
  assert.deepEqual([alone!.path, alone!.revision, alone!.spanCount], ["canonical", 3, 1]);
});

test("on OTLP the agent comes from service.name alone: a key for it may write, and platform ids are ignored", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "Granular-Agent" });
  const other = await makeAgent(service.owner);
  for (const agentIds of [[agent.id], [other.id, agent.id]]) {
    const { key } = await makeKey(service.owner, { access: "granular", agentIds });
    const request = exportOf([exportedSpan()], "Granular-Agent");
    const answer = await ok({
      ...encodings.json({ ...request, platformId: other.id, metadata: { platformId: other.id } }),
      key,
    });
    assert.equal((await detail(answer.headers["x-svc-trace-id"])).agentId, agent.id);
  }
});

test("an evaluation is scheduled for a batch with a new span id, and postponed but not duplicated by the next", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "judged-agent" });
  await makeTest(service.owner, agent.id);
  const traceId = newTraceId();
  const batch = () => encodings.protobuf(exportOf([exportedSpan({ traceId })], "judged-agent"));
  const answer = await ok(batch());
  const [first] = (await detail(answer.headers["x-svc-trace-id"])).runs;
  assert.equal(first!.state, "pending");
  await ok(batch());
  const [moved, ...others] = (await detail(answer.headers["x-svc-trace-id"])).runs;
  assert.deepEqual([moved!.id, others], [first!.id, []]);
  assert.ok(Date.parse(moved!.dueAt) > Date.parse(first!.dueAt));
});

for (const [name, otlpServiceName] of [
  ["01-otel-proto-example-trace.json", "my.service"],
  ["02-rust-two-spans-child-first.json", "basic-otlp-tracing-example"],
  ["08-jaeger-multi-resource.json", "example-trace"],
  ["11-vercel-ai-v7-otel-tool-loop.pb", "ai-sdk-v7-agent"],
  ["14-js-edge-values.json", "edge-agent"],
] as const) {
  test(`a recorded export of a real exporter is accepted as a whole: ${name}`, async () => {
    const agent = await makeAgent(service.owner, { otlpServiceName });
    const type = name.endsWith(".json") ? json : proto;
    const answer = await ok({ type, body: fixture(name) });
    assert.equal(answer.bytes.toString(), type === json ? "{}" : "");
    const body = await service.read(`/api/agents/${agent.id}/traces`);
    assert.notEqual(body.items.length, 0);
  });
}

for (const protocol of ["protobuf", "json"] as const) {
  test(`the stock exporter for ${protocol} with gzip succeeds, and its spans are stored as recorded`, async () => {
    const exporter = openExporter(protocol, service);
    const spans = recordSpans(serviceName, {
      name: "invoke_agent",
      attributes: {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 12,
        half: 0.5,
        yes: true,
        list: ["a", "b"],
      },
      children: [
        { name: "execute_tool", attributes: { "gen_ai.tool.name": "get_weather" } },
        { name: "chat", status: { code: 2, message: "no model" } },
      ],
    });
    assert.equal(await exportSpans(exporter, spans), undefined);
    const [listed] = await stored(spans[0]!.spanContext().traceId);
    const trace = await detail(listed!.id);
    assert.deepEqual(
      [trace.name, trace.path, trace.durationMs, trace.tokens.input, trace.failed, trace.spanCount],
      ["invoke_agent", "otlp", 2, 12, true, 3],
    );
    assert.deepEqual(
      trace.toolCalls.map(call => call.name),
      ["get_weather"],
    );
    const root = trace.spans.find(span => span.name === "invoke_agent");
    assert.deepEqual(root!.attributes, spans.find(span => span.name === "invoke_agent")!.attributes);
    assert.equal(trace.resource!["service.name"], serviceName);
    await exporter.shutdown();
  });

  test(`the stock exporter for ${protocol} reports the refusal of an unknown service name`, async () => {
    const exporter = openExporter(protocol, service);
    const failure = await exportSpans(exporter, recordSpans("nobody", { name: "root" }));
    assert.ok(failure instanceof Error);
    assert.equal((failure as { code?: unknown }).code, 404);
    await exporter.shutdown();
  });
}

test("the OpenAPI description has no JSON schema for protobuf, and names it only where it is sent", async () => {
  type Part = { content: Record<string, { schema?: unknown }> };
  const body = await service.read("/api/openapi.json");
  const { requestBody, responses } = body.paths["/public/traces"]!["post"] as {
    requestBody: Part;
    responses: Record<"200" | "201" | "default", Part>;
  };
  for (const { content } of [requestBody, responses[200], responses.default]) {
    assert.deepEqual(content["application/x-protobuf"], {});
    assert.notEqual(content["application/json"]?.schema, undefined);
  }
  assert.deepEqual(Object.keys(responses[201].content), ["application/json"]);
});
