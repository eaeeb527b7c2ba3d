// A trace is received and evaluated: both paths, a real exporter, a real worker thread, a local judge.

import assert from "node:assert/strict";
import { after, before, beforeEach, suite, test } from "node:test";
import type { Attributes } from "@opentelemetry/api";
import type { RunDetail } from "../../src/http/traces/run-schemas.ts";
import type { TraceDetail } from "../../src/http/traces/schemas.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { exportSpans, openExporter, type RecordedSpan, recordSpans } from "../support/exporters.ts";
import { type JudgeServer, obliging, refusal, startJudgeServer } from "../support/judge-server.ts";
import { jsonOf, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

// Longer than the stock exporter takes between two batches on a busy machine.
// Longer than an export takes on a busy machine.
const debounceMs = 2_000;
// How long an unavailable judge is waited for.
const judgeDeadlineMs = 5_000;

let judge: JudgeServer;
let service: TestService;
before(async () => {
  judge = await startJudgeServer();
  const config = judge.connection({ concurrency: 8 });
  service = await startTestService({
    config: { debounceMs, debounceCapMs: 60_000, judge: config, judgeDeadlineMs },
  });
});
after(async () => {
  await service.stop();
  await judge.close();
});
beforeEach(() => {
  judge.script = obliging();
});

async function detail(traceId: string) {
  return await service.client.read(`/api/traces/${traceId}`);
}

/** The trace once nothing is pending or running for it. */
async function judged(traceId: string, runs = 1) {
  return eventually(async () => {
    const trace = await detail(traceId);
    assert.deepEqual(
      trace.runs.map(run => run.state),
      Array(runs).fill("completed"),
    );
    return trace;
  });
}

async function post(body: unknown, requestId?: string) {
  const headers = requestId === undefined ? {} : { "x-request-id": requestId };
  return jsonOf(await send(service, { body, headers }));
}

/** An agent of its own for one test, with its own service name. */
async function agentOf(otlpServiceName: string) {
  return makeAgent(service.owner, { otlpServiceName });
}

async function find(agentId: string) {
  return (await service.client.read(`/api/agents/${agentId}/traces`)).items;
}

const reply: Attributes = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "model-1",
  "gen_ai.response.text": "Your parcel is in Lyon.",
  "gen_ai.usage.input_tokens": 120,
  "gen_ai.usage.output_tokens": 30,
};
const input = [{ role: "user", parts: [{ type: "text", content: "Where is my parcel?" }] }];

/** A conversation with everything that the nine assertion types look at. */
const conversation: RecordedSpan = {
  name: "Support agent",
  attributes: { "http.response.status_code": 200 },
  children: [
    { name: "Classify intent", attributes: { decision: '{"route":"parcel","confidence":0.9}' } },
    {
      name: "Answer",
      attributes: { ...reply, "gen_ai.input.messages": JSON.stringify(input) },
      children: [
        {
          name: "Look up",
          attributes: {
            "gen_ai.tool.name": "find_parcel",
            "gen_ai.tool.call.arguments": '{"id":"P-7","carrier":"post"}',
          },
        },
      ],
    },
  ],
};

const nineAssertions = [
  { id: "node_call", type: "node_call", expected_name: "classify" },
  {
    id: "tool_call",
    type: "tool_call",
    expected_name: "find_parcel",
    expected_arguments: { id: { $regex: "^P-" } },
  },
  { id: "token_limit", type: "token_limit", max_total: 150 },
  { id: "http_status", type: "http_status", expected_status: "2xx" },
  { id: "response_time", type: "response_time", max_ms: 60_000 },
  { id: "response_regex", type: "response_regex", pattern: "Lyon" },
  { id: "semantic", type: "semantic", criteria: "Says where the parcel is." },
  {
    id: "json_match",
    type: "json_match",
    target_node: "classify",
    field: "decision",
    expected_value: { route: "parcel", confidence: 0.9 },
  },
  {
    id: "json_schema",
    type: "json_schema",
    target_node: "classify",
    field: "decision",
    schema: { type: "object", required: ["route"] },
  },
];

/** The same conversation as the body of a canonical request. */
function canonicalConversation(agentId: string) {
  const spans: object[] = [];
  const add = (span: RecordedSpan, parent: string | null) => {
    const id = `s${spans.length}`;
    spans.push({
      span_id: id,
      parent_span_id: parent,
      name: span.name,
      attributes: span.attributes ?? {},
      start_time_unix_nano: "1767225600000000000",
      end_time_unix_nano: "1767225600500000000",
    });
    for (const child of span.children ?? []) add(child, id);
  };
  add(conversation, null);
  return canonicalBody(agentId, { spans });
}

async function makeNineChecks(agentId: string): Promise<void> {
  await makeTest(service.owner, agentId, {
    passiveBehavior: "run_when_relevant",
    scenario: "The user asks for a parcel.",
    assertions: nineAssertions,
  });
}

function assertAllNinePassed(trace: TraceDetail): void {
  const run = trace.runs[0]!;
  assert.deepEqual([run.routing, run.verdict, run.score], ["ok", "passed", 1]);
  const result = run.results[0]!;
  assert.deepEqual(
    result.checks.map(({ id, type, outcome }) => [id, type, outcome]),
    nineAssertions.map(({ id, type }) => [id, type, "passed"]),
  );
  assert.deepEqual(result.counts, { passed: 9, failed: 0, skipped: 0, missing_instrumentation: 0 });
}

suite("a canonical trace", () => {
  test("is evaluated immediately, with every type of assertion in its result", async () => {
    const agent = await agentOf("canonical");
    await makeNineChecks(agent.id);
    const { traceId, evaluation } = await post(canonicalConversation(agent.id));
    assert.equal(evaluation, "scheduled");
    const trace = await judged(traceId);
    assertAllNinePassed(trace);
    assert.equal(trace.runs[0]!.dueAt, trace.runs[0]!.createdAt);
    assert.deepEqual(trace.notices, []);
  });

  test("that is replaced after its evaluation is not evaluated again, and shows that it has changed since", async () => {
    const agent = await agentOf("replaced");
    await makeTest(service.owner, agent.id, { assertions: [{ type: "http_status", expected_status: 200 }] });
    const body = (status: number) =>
      canonicalBody(agent.id, {
        spans: [canonicalSpan({ attributes: { "http.response.status_code": status } })],
      });
    const { traceId } = await post(body(200), "replaced-1");
    await judged(traceId);
    const again = await post(body(500), "replaced-1");
    assert.deepEqual([again.traceId, again.status, again.evaluation], [traceId, "replaced", "none"]);
    const trace = await detail(traceId);
    assert.deepEqual([trace.revision, trace.httpStatus], [2, 500]);
    assert.deepEqual(
      trace.runs.map(run => [run.state, run.revision, run.verdict]),
      [["completed", 1, "passed"]],
    );
    assert.ok(trace.notices.includes("judged_earlier_revision"));
  });

  test("without an eligible test is stored without a run", async () => {
    const agent = await agentOf("unjudged");
    await makeTest(service.owner, agent.id, { passiveBehavior: "manual_only" });
    const { traceId, evaluation } = await post(canonicalBody(agent.id));
    const trace = await detail(traceId);
    assert.deepEqual([evaluation, trace.run, trace.runs], ["none", null, []]);
    assert.deepEqual(
      trace.tests.map(({ applied, why }) => [applied, why]),
      [[false, "manual_only"]],
    );
  });
});

for (const protocol of ["protobuf", "json"] as const) {
  suite(`a trace from the stock exporter, ${protocol} with gzip`, () => {
    test("is evaluated once for all its batches, after the debounce", async () => {
      const name = `exporter-${protocol}`;
      const agent = await agentOf(name);
      await makeNineChecks(agent.id);
      const exporter = openExporter(protocol, service);
      // Children end first, so the root is in the last batch.
      const spans = recordSpans(name, conversation);
      for (const span of spans) assert.equal(await exportSpans(exporter, [span]), undefined);
      const [listed, ...more] = await find(agent.id);
      assert.deepEqual(more, []);
      const trace = await judged(listed!.id);
      assertAllNinePassed(trace);
      assert.deepEqual([trace.revision, trace.spanCount, trace.runs[0]!.revision], [4, 4, 4]);
      assert.equal(Date.parse(trace.runs[0]!.dueAt) - Date.parse(trace.updatedAt), debounceMs);

      // Sent again, as an exporter does when the response was lost.
      assert.equal(await exportSpans(exporter, spans), undefined);
      assert.equal((await detail(listed!.id)).runs.length, 1);
      await exporter.shutdown();
    });
  });
}

suite("an OTLP trace", () => {
  const spanOf = (traceId: string, spanId: string) =>
    exportedSpan({ traceId, spanId: spanId.padStart(16, "0") });

  test("that was evaluated is not evaluated again for a resent batch, and once more for a new span", async () => {
    const agent = await agentOf("resent");
    await makeTest(service.owner, agent.id);
    const otlp = newTraceId();
    const batch = (...ids: string[]) =>
      post(
        exportOf(
          ids.map(id => spanOf(otlp, id)),
          "resent",
        ),
      );
    await batch("a", "b");
    const { id: traceId } = (await find(agent.id))[0]!;
    await judged(traceId);
    await batch("b", "a");
    await batch("a");
    assert.equal((await detail(traceId)).runs.length, 1);
    await Promise.all([batch("c"), batch("d"), batch("c", "d")]);
    const trace = await judged(traceId, 2);
    assert.equal(trace.spans.length, 4);
    assert.ok(!trace.notices.includes("judged_earlier_revision"));
  });
});

suite("the cap of the debounce", () => {
  test("starts the evaluation of a trace whose batches never pause", async () => {
    const capped = await startTestService({ config: { debounceMs: 800, debounceCapMs: 1_000 } });
    after(() => capped.stop());
    await makeTest(capped.owner, capped.agent.id);
    const traceId = newTraceId();
    await eventually(async () => {
      await send(capped, { body: exportOf([exportedSpan({ traceId })]) });
      const list = await capped.client.get(`/api/agents/${capped.agent.id}/traces`).expect(200);
      assert.equal(list.body.items[0]!.run!.state, "completed");
    });
  });
});

suite("an unavailable judge", () => {
  test("leaves its checks skipped after the deadline, and they are judged when the user evaluates again", async () => {
    const agent = await agentOf("longer");
    await makeTest(service.owner, agent.id, {
      assertions: [
        { id: "plain", type: "response_regex", pattern: "Lyon" },
        { id: "semantic", type: "semantic", criteria: "Is polite." },
      ],
    });
    judge.script = () => refusal(503);
    const { traceId } = await post(canonicalConversation(agent.id));
    const skipped = await judged(traceId);
    const checksOf = (run: RunDetail) => run.results[0]!.checks.map(check => check.skipped ?? check.outcome);
    assert.deepEqual(
      [skipped.run!.outage, checksOf(skipped.runs[0]!)],
      [true, ["passed", "judge_unavailable"]],
    );
    assert.equal(skipped.run!.verdict, "passed");
    judge.script = obliging();
    // A judge that failed often is paused for a while.
    const again = await eventually(async () => {
      await service.client.post(`/api/agents/${agent.id}/judge-again`, {}).expect(200);
      const body = await service.client.read(`/api/agents/${agent.id}/outages`);
      assert.equal(body.traces, 0);
      return detail(traceId);
    });
    assert.deepEqual(
      [again.run!.cause, again.run!.outage, checksOf(again.runs[0]!), again.runs.at(-1)!.outage],
      ["again", false, ["passed", "passed"], false],
    );
  });

  test("is not needed for a trace without user input: conditional tests do not run, and the trace says so", async () => {
    const agent = await agentOf("wordless");
    await makeTest(service.owner, agent.id);
    await makeTest(service.owner, agent.id, { passiveBehavior: "run_when_relevant", scenario: "Anything." });
    const { traceId } = await post(canonicalBody(agent.id));
    const trace = await judged(traceId);
    assert.equal(trace.runs[0]!.routing, "no_user_input");
    assert.ok(trace.notices.includes("no_user_input"));
    assert.equal(trace.runs[0]!.results.length, 1);
    assert.deepEqual(new Set(trace.tests.map(test => test.why)), new Set(["always_run", "no_user_input"]));
  });

  test("does not affect Always-run tests, and the trace says that routing was unavailable", async () => {
    const agent = await agentOf("outage");
    await makeTest(service.owner, agent.id, {
      assertions: [
        { id: "plain", type: "response_regex", pattern: "Lyon" },
        { id: "semantic", type: "semantic", criteria: "Is polite." },
      ],
    });
    const { id: conditional } = await makeTest(service.owner, agent.id, {
      passiveBehavior: "run_when_relevant",
      scenario: "The user has lost a parcel.",
    });
    // The last test to ask the judge, because it pauses the service's judge.
    judge.script = () => refusal(401);
    const { traceId } = await post(canonicalConversation(agent.id));
    const trace = await judged(traceId);
    const [run] = trace.runs;
    assert.deepEqual([run!.routing, run!.verdict], ["unavailable", "passed"]);
    assert.deepEqual(trace.notices, ["routing_unavailable"]);
    assert.deepEqual(
      run!.results.map(result => result.checks.map(check => [check.id, check.outcome])),
      [
        [
          ["plain", "passed"],
          ["semantic", "skipped"],
        ],
      ],
    );
    const why = trace.tests.find(test => test.testId === conditional);
    assert.deepEqual([why!.applied, why!.why], [false, "routing_unavailable"]);
  });
});
