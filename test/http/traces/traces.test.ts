// Reading traces: the list with its filters and pages, a whole trace, access to it, and deleting it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TracePage } from "../../../src/http/traces/schemas.ts";
import { makeAgent, makeTest, type Owner } from "../../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newSpanId,
  newTraceId,
} from "../../support/bodies.ts";
import type { Reply } from "../../support/client.ts";
import { refusalIn } from "../../support/client.ts";
import type { Sent } from "../../support/send.ts";
import { endRun, keepResults, storeTrace, storeTraces } from "../../support/stored-traces.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

type Fields = Record<string, unknown>;

/** Sends the trace and returns its id. */
async function store(sent: Sent): Promise<string> {
  const answer = await service.send(sent);
  assert.ok(answer.status < 300, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

/** Sends a canonical trace of these spans to the agent. */
function storeSpans(agentId: string, spans: Fields[], more: Fields = {}): Promise<string> {
  return store({ body: canonicalBody(agentId, { spans, ...more }) });
}

async function detail(id: string) {
  return await service.read(`/api/traces/${id}`);
}

async function list(agentId: string, query: Record<string, string | number> = {}) {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return await service.read(`/api/agents/${agentId}/traces?${text}`);
}

async function listedIds(agentId: string, query: Record<string, string | number> = {}): Promise<string[]> {
  return (await list(agentId, query)).items.map(trace => trace.id);
}

const message = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });

/** A conversation that has every derived value. */
const conversation: Fields[] = [
  {
    span_id: "root",
    name: "invoke_agent",
    start_time_unix_nano: "1700000000000000001",
    end_time_unix_nano: "1700000001500000001",
    attributes: { "http.response.status_code": 200 },
  },
  {
    span_id: "chat",
    parent_span_id: "root",
    name: "chat",
    attributes: {
      "gen_ai.request.model": "m",
      "gen_ai.input.messages": [message("user", "Where is my order?")],
      "gen_ai.output.messages": [message("assistant", "On its way.")],
      "gen_ai.usage.input_tokens": 20,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.reasoning.output_tokens": 3,
    },
    status: { code: 1, message: "fine" },
    events: [{ name: "first token", attributes: { at: 1 } }],
  },
  {
    span_id: "tool",
    parent_span_id: "chat",
    name: "execute_tool",
    attributes: { "gen_ai.tool.name": "find_order", "gen_ai.tool.call.arguments": '{"id":17}' },
  },
];

const listedFields = [
  "agentId",
  "conversationId",
  "durationMs",
  "externalId",
  "failed",
  "httpStatus",
  "id",
  "kind",
  "name",
  "path",
  "receivedAt",
  "responseText",
  "revision",
  "run",
  "spanCount",
  "tokens",
  "userId",
  "userInput",
];

test("a listed trace has every field by its name, with the values derived from its spans", async () => {
  const agent = await makeAgent(service.owner);
  const body = canonicalBody(agent.id, { spans: conversation });
  const id = await store({ headers: { "x-request-id": "order-17" }, body });
  const { items, nextCursor } = await list(agent.id);
  const { receivedAt, updatedAt, ...trace } = items[0]!;
  assert.deepEqual(trace, {
    id,
    agentId: agent.id,
    externalId: "order-17",
    kind: "live",
    path: "canonical",
    name: "invoke_agent",
    revision: 1,
    contentForgottenAt: null,
    durationMs: 1500,
    httpStatus: 200,
    tokens: { input: 20, output: 7, reasoning: 3, cached: null, total: 27 },
    failed: false,
    redacted: [],
    failedTests: [],
    spanCount: 3,
    userInput: "Where is my order?",
    responseText: "On its way.",
    costUsd: null,
    knownCostUsd: null,
    unpriced: [{ provider: null, model: "m", why: "no_price", tokens: 27 }],
    conversationId: null,
    userId: null,
    run: null,
  });
  assert.ok(Math.abs(Date.parse(receivedAt) - Date.now()) < 600_000);
  assert.deepEqual([items.length, nextCursor, updatedAt], [1, null, receivedAt]);
});

test("a listed trace names five of its failed tests as they are called now, without deleted ones", async () => {
  const agent = await makeAgent(service.owner);
  const tests: { id: string }[] = [];
  for (let number = 1; number <= 7; number++) {
    tests.push(await makeTest(service.owner, agent.id, { name: `Test ${number}` }));
  }
  const ids = tests.map(({ id }) => id);
  const run = { state: "completed", verdict: "failed", counts: { failed: 7 }, failedTestIds: ids } as const;
  await storeTrace(service.db, agent.id, { run });
  await storeTrace(service.db, agent.id, { run: { ...run, failedTestIds: [] } });
  const names = async () =>
    (await list(agent.id)).items.map(trace => trace.failedTests.map(({ name }) => name));
  assert.deepEqual(await names(), [[], ["Test 1", "Test 2", "Test 3", "Test 4", "Test 5"]]);
  await service.client.patch(`/api/tests/${ids[0]}`, { name: "Renamed" }).expect(200);
  await service.client.delete(`/api/tests/${ids[1]}`).expect(204);
  assert.deepEqual(await names(), [[], ["Renamed", "Test 3", "Test 4", "Test 5"]]);
  const ordered = await list(agent.id, { order: "longest" });
  assert.equal(ordered.items.flatMap(trace => trace.failedTests).length, 4);
});

test("values missing from a trace are null in its list, never left out", async () => {
  const agent = await makeAgent(service.owner);
  await storeSpans(agent.id, [canonicalSpan()]);
  const [trace] = (await list(agent.id)).items;
  for (const field of listedFields) assert.ok(field in trace!, field);
  const { durationMs, httpStatus, tokens, userInput, responseText, run } = trace!;
  assert.deepEqual(
    { durationMs, httpStatus, tokens, userInput, responseText, run },
    {
      durationMs: null,
      httpStatus: null,
      tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
      userInput: null,
      responseText: null,
      run: null,
    },
  );
});

test("a list has the same total of tokens as the trace, also where it is as large as numbers go", async () => {
  const agent = await makeAgent(service.owner);
  const usage = { "gen_ai.usage.input_tokens": 27, "gen_ai.usage.output_tokens": Number.MAX_SAFE_INTEGER };
  const id = await storeSpans(agent.id, [canonicalSpan({ attributes: usage })]);
  const { items } = await list(agent.id);
  assert.deepEqual(items[0]!.tokens, (await detail(id)).tokens);
  assert.equal(items[0]!.tokens.total, Number.MAX_SAFE_INTEGER);
});

test("a trace in detail has its spans as they were sent, and everything derived from them", async () => {
  const metadata = { customer: "c-1", svc: { note: "kept" } };
  const id = await storeSpans(service.agentId, conversation, { metadata });
  const trace = await detail(id);
  for (const field of listedFields) assert.ok(field in trace, field);
  const { startTimeUnixNano, endTimeUnixNano, resource, notices, runs, tests } = trace;
  assert.deepEqual(
    { startTimeUnixNano, endTimeUnixNano, resource, notices, runs, tests, metadata: trace.metadata },
    {
      startTimeUnixNano: "1700000000000000001",
      endTimeUnixNano: "1700000001500000001",
      resource: null,
      notices: [],
      runs: [],
      tests: [],
      metadata,
    },
  );
  const unsaid = { parent_span_id: null, start_time_unix_nano: null, end_time_unix_nano: null };
  assert.deepEqual(
    trace.spans,
    conversation.map(span => ({ ...unsaid, attributes: {}, status: null, events: [], ...span })),
  );
  assert.deepEqual(trace.toolCalls, [
    {
      spanId: "tool",
      parentSpanId: "chat",
      name: "find_order",
      arguments: { id: 17 },
      result: null,
      convention: null,
    },
  ]);
  const { conventions, translated, readable } = trace;
  assert.deepEqual([conventions, translated, readable], [["*"], [], []]);
});

test("a trace in detail has its model, its provider, the results of its tools, and ids that all spans agree on", async () => {
  const chat = (id: string, more: object) =>
    canonicalSpan({
      span_id: id,
      attributes: { "gen_ai.request.model": "gpt-4o", "session.id": "s-1", "user.id": "u-1", ...more },
    });
  const tool = canonicalSpan({
    span_id: "tool",
    attributes: { "gen_ai.tool.name": "find", "gen_ai.tool.call.result": '{"found":true}' },
  });
  const agreeing = chat("chat", { "gen_ai.response.model": "gpt-4o-2024", "gen_ai.system": "openai" });
  const one = await detail(await storeSpans(service.agentId, [agreeing, tool]));
  assert.deepEqual(
    [one.model, one.provider, one.conversationId, one.userId],
    ["gpt-4o-2024", "openai", "s-1", "u-1"],
  );
  assert.deepEqual(one.toolCalls[0]!.result, { found: true });
  for (const [more, conversationId] of [
    [{ "session.id": "s-2" }, null],
    [{ "session.id": "s-2", "gen_ai.conversation.id": "c-1" }, "c-1"],
  ] as const) {
    const other = await detail(await storeSpans(service.agentId, [agreeing, chat("other", more)]));
    assert.deepEqual([other.conversationId, other.userId], [conversationId, "u-1"]);
  }
});

test("an OTLP trace in detail has the attributes of its resource and scope", async () => {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const request = exportOf([exportedSpan({ attributes: [attribute("own", "span")], kind: 3 })]);
  const envelope = request.resourceSpans[0]!;
  envelope.resource.attributes.push(attribute("deployment", "blue"));
  envelope.scopeSpans[0]!.scope = { name: "lib", version: "1.2", attributes: [attribute("in", "scope")] };
  for (const encode of Object.values(encodings)) {
    const { resource, spans } = await detail(await store(encode(request)));
    assert.equal(resource!.deployment, "blue");
    assert.deepEqual(spans[0]!.attributes, { own: "span" });
    assert.deepEqual(spans[0]!.scope, { name: "lib", version: "1.2", attributes: { in: "scope" } });
  }
});

const hostile = [
  "nul \0 inside",
  "half a pair \ud800 and \udfff the other",
  "\udc00\ud800",
  "\u2028\u2029\ufeff\uffff",
  "'; drop table traces; --",
  "</script><script>",
  "%00 %_\\ $1",
];

test("hostile strings are returned exactly as they were sent, wherever they are", async () => {
  const attributes = { ...Object.fromEntries(hostile.map(text => [text, text])), list: hostile };
  const spans = hostile.map((text, at) =>
    canonicalSpan({
      span_id: `${at}${text}`,
      name: text,
      parent_span_id: at === 0 ? null : `0${hostile[0]}`,
      attributes,
      status: { message: text },
      events: [{ name: text }],
    }),
  );
  const id = await storeSpans(service.agentId, spans, { metadata: attributes });
  const trace = await detail(id);
  assert.deepEqual(
    trace.spans.map(({ start_time_unix_nano, end_time_unix_nano, ...span }: Fields) => span),
    spans,
  );
  assert.deepEqual(trace.metadata, attributes);
  assert.equal(trace.name, hostile[0]);

  const keyValues = hostile.map(text => ({ key: text, value: { stringValue: text } }));
  const exported = exportOf([exportedSpan({ name: hostile[0], attributes: keyValues })]);
  const [span] = (await detail(await store(encodings.json(exported)))).spans;
  assert.equal(span!.name, hostile[0]);
  assert.deepEqual(span!.attributes, Object.fromEntries(hostile.map(text => [text, text])));
});

test("__proto__ and similar keys are keys like any other", async () => {
  const attributes = '{"__proto__":{"a":[{"__proto__":1}]},"constructor":{"prototype":2},"toString":"x"}';
  const body = `{"platformId":"${service.agentId}","metadata":${attributes},"spans":[{"span_id":"a","name":"b","attributes":${attributes}}]}`;
  const trace = await detail(await store({ body }));
  assert.equal(JSON.stringify(trace.spans[0]!.attributes), attributes);
  assert.equal(JSON.stringify(trace.metadata), attributes);
  const keyValue = {
    key: "__proto__",
    value: { kvlistValue: { values: [{ key: "__proto__", value: { boolValue: true } }] } },
  };
  for (const encode of Object.values(encodings)) {
    const { spans } = await detail(await store(encode(exportOf([exportedSpan({ attributes: [keyValue] })]))));
    assert.equal(JSON.stringify(spans[0]!.attributes), '{"__proto__":{"__proto__":true}}');
  }
});

test("no digit of a number is lost", async () => {
  const body = `{"platformId":"${service.agentId}","spans":[{"span_id":"a","name":"b",
    "start_time_unix_nano":1700000000123456789,"end_time_unix_nano":"18446744073709551615",
    "attributes":{"big":12345678901234567890,"small":-9007199254740993,"exact":9007199254740991,"half":0.5}}]}`;
  const { spans, startTimeUnixNano, endTimeUnixNano } = await detail(await store({ body }));
  assert.deepEqual([startTimeUnixNano, endTimeUnixNano], ["1700000000123456789", "18446744073709551615"]);
  assert.deepEqual(spans[0]!.attributes, {
    big: "12345678901234567890",
    small: "-9007199254740993",
    exact: 9007199254740991,
    half: 0.5,
  });
});

test("long texts are truncated in the list and complete in detail", async () => {
  const agent = await makeAgent(service.owner);
  const long = "word ".repeat(1_000).trim();
  const attributes = { "gen_ai.prompt": long, "gen_ai.response.text": long };
  const id = await storeSpans(agent.id, [canonicalSpan({ attributes })]);
  const [listed] = (await list(agent.id)).items;
  assert.ok(listed!.userInput!.length <= 500 && long.startsWith(listed!.userInput!.slice(0, 400)));
  assert.ok(listed!.responseText!.length <= 500);
  const trace = await detail(id);
  assert.deepEqual([trace.userInput, trace.responseText], [long, long]);
});

for (const [notice, spans] of [
  ["no_user_input", [canonicalSpan()]],
  ["no_timing", [canonicalSpan()]],
  ["orphan_spans", [canonicalSpan(), canonicalSpan({ span_id: "b", parent_span_id: "never sent" })]],
  ["no_root", [canonicalSpan({ parent_span_id: "root" })]],
  ["other_convention", [canonicalSpan({ attributes: { "ai.prompt": "Hello" } })]],
] as const) {
  test(`a trace to which the notice ${notice} applies has it in detail`, async () => {
    const trace = await detail(await storeSpans(service.agentId, [...spans]));
    assert.ok(trace.notices.includes(notice), trace.notices.join());
    assert.equal(trace.spans.length, spans.length);
    if (notice === "other_convention") {
      assert.deepEqual(Object.keys(trace.otherConvention!), ["name", "found", "send"]);
    }
  });
}

test("a cycle of parents is shown once", async () => {
  const spans = [
    canonicalSpan({ span_id: "a", parent_span_id: "b" }),
    canonicalSpan({ span_id: "b", parent_span_id: "a" }),
  ];
  const trace = await detail(await storeSpans(service.agentId, spans));
  assert.deepEqual([trace.spanCount, trace.rootSpanId], [2, "a"]);
});

test("merged batches are one trace ordered by time, whatever order they arrived in", async () => {
  const traceId = newTraceId();
  const [root, late, early] = [newSpanId(), newSpanId(), newSpanId()];
  const at = (start: number, end: number) => ({ startTimeUnixNano: `${start}`, endTimeUnixNano: `${end}` });
  const batches = [
    exportedSpan({ traceId, spanId: late, parentSpanId: root, ...at(5_000_000, 6_000_000) }),
    exportedSpan({ traceId, spanId: early, parentSpanId: root, ...at(2_000_000, 3_000_000) }),
    exportedSpan({ traceId, spanId: root, name: "root", ...at(1_000_000, 9_000_000) }),
  ];
  let id = "";
  for (const span of batches) id = await store(encodings.json(exportOf([span])));
  const trace = await detail(id);
  assert.deepEqual(
    trace.spans.map(span => span.span_id),
    [root, early, late],
  );
  assert.deepEqual(
    [trace.revision, trace.name, trace.durationMs, trace.notices],
    [3, "root", 8, ["no_user_input"]],
  );
});

test("after a merge the list and its filters show the values of the whole trace", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "merging" });
  const traceId = newTraceId();
  const root = newSpanId();
  const tokens = (intValue: number) => ({ key: "gen_ai.usage.input_tokens", value: { intValue } });
  const send = (span: Fields) =>
    store(encodings.protobuf(exportOf([exportedSpan({ traceId, ...span })], "merging")));
  const id = await send({ name: "child", parentSpanId: root, attributes: [tokens(5)] });
  assert.deepEqual((await list(agent.id)).items[0]!.tokens.total, 5);
  await send({ parentSpanId: root, attributes: [tokens(6)], status: { code: 2 } });
  await send({ spanId: root, name: "root" });
  assert.deepEqual(
    await listedIds(agent.id, { failed: "true", tokensMin: 11, tokensMax: 11, text: "ROOT" }),
    [id],
  );
  const [trace] = (await list(agent.id)).items;
  assert.deepEqual([trace!.revision, trace!.spanCount, trace!.name, trace!.failed], [3, 3, "root", true]);
});

/** Completes this trace's run without a worker. */
async function conclude(traceId: string, columns: Record<string, unknown>): Promise<void> {
  await endRun(service.db, traceId, columns);
}

test("each filter finds its matches and nothing else", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "filtered" });
  const plain = await storeSpans(agent.id, [canonicalSpan({ name: "50%_\\ off" })]);
  const rich = await store({
    headers: { "x-request-id": "Find/Me" },
    body: canonicalBody(agent.id, { spans: conversation }),
  });
  const span = exportedSpan({ name: "other", status: { code: 2 } });
  const exported = await store(encodings.json(exportOf([span], "filtered")));
  const { id: testId } = await makeTest(service.owner, agent.id);
  const run = async (columns: Record<string, unknown>) => {
    const id = await storeSpans(agent.id, [canonicalSpan()]);
    await conclude(id, columns);
    return id;
  };
  const keep = (traceId: string, outcome: "passed" | "failed", version: number) =>
    keepResults(service.db, { agentId: agent.id, traceId }, [{ testId, outcome, version }]);
  const done = { state: "completed", finished_at: new Date(), revision: 1 };
  const passed = await run({ ...done, verdict: "passed", routing: "not_needed", test_ids: [testId] });
  const unrouted = await run({ ...done, verdict: null, routing: "unavailable", test_ids: [] });
  const failed = await run({ ...done, verdict: "failed", routing: "ok", test_ids: [testId] });
  await keep(passed, "passed", 1);
  await keep(failed, "failed", 2);
  const pending = await storeSpans(agent.id, [canonicalSpan()]);
  const all = [pending, failed, unrouted, passed, exported, rich, plain];
  const { receivedAt: between, externalId } = await detail(exported);
  const upperCase = externalId.toUpperCase();

  const cases: [query: Record<string, string | number>, found: string[]][] = [
    [{}, all],
    [{ kind: "live" }, all],
    [{ kind: "test_run" }, []],
    [{ path: "otlp" }, [exported]],
    [{ path: "canonical" }, all.filter(id => id !== exported)],
    [{ state: "none" }, [exported, rich, plain]],
    [{ state: "pending" }, [pending]],
    [{ state: "completed" }, [failed, unrouted, passed]],
    [{ state: "running" }, []],
    [{ state: "error" }, []],
    [{ verdict: "passed" }, [passed]],
    [{ verdict: "failed", path: "otlp" }, []],
    [{ verdict: "missing_instrumentation" }, []],
    [{ routing: "unavailable" }, [unrouted]],
    [{ testId }, [failed, passed]],
    [{ testId: crypto.randomUUID() }, []],
    [{ testId, testOutcome: "failed" }, [failed]],
    [{ testId, testOutcome: "failed", testVersion: 1 }, []],
    [{ testId, testVersion: 1, verdict: "passed" }, [passed]],
    [{ tool: "find_order" }, [rich]],
    [{ tool: "FIND_ORDER" }, []],
    [{ model: "m", order: "oldest" }, [rich]],
    [{ order: "oldest" }, all.toReversed()],
    [{ order: "oldest", path: "canonical", state: "none" }, [plain, rich]],
    [{ order: "longest", state: "none" }, [rich, exported, plain]],
    [{ order: "most_tokens", verdict: "passed" }, [passed]],
    [{ spanName: "50%_\\ O" }, [plain]],
    [{ spanName: "other", attribute: "service.name", attributeValue: "filtered" }, [exported]],
    [{ attribute: "service.name", attributeValue: "other" }, []],
    [{ attribute: "gen_ai.tool.name", order: "oldest" }, [rich]],
    [{ metadata: "svc" }, []],
    [{ checkType: "response_time" }, [failed, passed]],
    [{ checkType: "response_time", verdict: "passed" }, [passed]],
    [{ checkType: "semantic" }, []],
    [{ failed: "true" }, [exported]],
    [{ failed: "false", state: "none" }, [rich, plain]],
    [{ httpStatus: 200 }, [rich]],
    [{ httpStatus: 500 }, []],
    [{ externalId: "Find/Me" }, [rich]],
    [{ externalId: "find/me" }, []],
    [{ externalId }, [exported]],
    [{ externalId: upperCase }, [exported]],
    [{ externalId: upperCase, path: "otlp" }, [exported]],
    [{ externalId: upperCase, path: "canonical" }, []],
    [{ durationMinMs: 1500, durationMaxMs: 1500 }, [rich]],
    [{ durationMinMs: 1500.5 }, []],
    [{ tokensMin: 27, tokensMax: 27 }, [rich]],
    [{ tokensMin: 28 }, []],
    [{ text: "WHERE is my" }, [rich]],
    [{ text: "on its way" }, [rich]],
    [{ text: "invoke_agent" }, [rich]],
    [{ text: "%" }, [plain]],
    [{ text: "0%_\\ o" }, [plain]],
    [{ receivedFrom: between }, all.slice(0, 5)],
    [{ receivedTo: between }, [rich, plain]],
    [{ receivedFrom: between, receivedTo: between }, []],
    [{ receivedFrom: "2001-01-01T00:00:00+02:00", receivedTo: "2001-02-01T00:00:00Z" }, []],
  ];
  for (const [query, expected] of cases) {
    assert.deepEqual(await listedIds(agent.id, query), expected, JSON.stringify(query));
  }
});

for (const order of ["newest", "oldest"]) {
  test(`a search of spans, ${order} first, looks at every trace, and adds up to all of them`, async () => {
    const agent = await makeAgent(service.owner);
    // More than the search asks for at a time, and fewer than one look at the table reads.
    await storeTraces(service.db, agent.id, 450);
    let looked = 0;
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await list(agent.id, { spanName: "never", order, ...(cursor && { cursor }) });
      looked += page.searched!.traces;
      cursor = page.nextCursor;
      assert.equal(page.searched!.from === null, cursor === null);
    }
    assert.equal(looked, 450);
  });
}

for (const query of [
  "kind=dead",
  "path=grpc",
  "state=done",
  "verdict=good",
  "routing=maybe",
  "failed=perhaps",
  "httpStatus=abc",
  "httpStatus=99999999999",
  "testId=17",
  "checkType=vibes",
  "receivedFrom=yesterday",
  "receivedTo=2026-01-01",
  "receivedFrom=2026-01-02T00:00:00Z&receivedTo=2026-01-02T00:59:59%2B01:00",
  "durationMinMs=-1",
  "durationMaxMs=1e999",
  "tokensMin=1.5",
  "tokensMax=1e300",
  `text=${"x".repeat(201)}`,
  "text=a%00b",
  "externalId=a%00b",
  "testOutcome=failed",
  "testVersion=1",
  `testVersion=0&testId=${crypto.randomUUID()}`,
  "attributeValue=1",
  "metadataValue=1",
  "order=best",
  "order=longest&spanName=x",
  `cursor=${"A".repeat(76)}`,
  `cursor=${"A".repeat(22)}&order=longest`,
  `cursor=${"A".repeat(76)}&order=longest`,
  `cursor=${"_".repeat(76)}&order=most_tokens`,
  `cursor=${orderedCursor("0", "f", "e")}&order=most_expensive`,
  "limit=0",
  "limit=201",
  "limit=x",
  "durationMaxMs=",
  "tokensMin=0x10",
  "httpStatus=%20200",
  "testVersion=0b1",
  "cursor=x",
  "cursor=",
  `cursor=${crypto.randomUUID()}`,
]) {
  test(`a list with the query ${query.slice(0, 40)} is 400 VALIDATION_ERROR`, async () => {
    const { body } = await service.client.get(`/api/agents/${service.agentId}/traces?${query}`).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, query.split("=")[0]);
  });
}

/** A cursor of another order than time with these bounds and this id, each given by its first digit. */
function orderedCursor(low: string, high: string, id: string): string {
  const ids = [low, high, id].map(digit => digit.padEnd(32, digit === "0" ? "0" : "f")).join("");
  return Buffer.from(`01${ids}${"0".repeat(16)}`, "hex").toString("base64url");
}

test("pages contain every trace once, newest first, even if traces are added in between", async () => {
  const agent = await makeAgent(service.owner);
  const ids: string[] = [];
  for (let count = 0; count < 7; count++) ids.unshift(await storeSpans(agent.id, [canonicalSpan()]));
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: TracePage = await list(agent.id, { limit: 3, ...(cursor && { cursor }) });
    pages.push(page.items.map(trace => trace.id));
    cursor = page.nextCursor;
    await storeSpans(agent.id, [canonicalSpan()]);
  } while (cursor);
  assert.deepEqual(pages, [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  assert.equal((await list(agent.id, { limit: 10 })).nextCursor, null);
});

test("a trace shows its latest completed run, else its latest one, and says if it has changed since", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id);
  const body = canonicalBody(agent.id);
  const headers = { "x-request-id": "judged" };
  const id = await store({ headers, body });
  assert.equal((await detail(id)).run!.state, "pending");
  const done = { state: "completed", finished_at: new Date(), revision: 1, verdict: "failed" };
  await conclude(id, {
    ...done,
    routing: "unavailable",
    passed: 1,
    failed: 2,
    skipped: 3,
    missing_instrumentation: 4,
  });
  const trace = await detail(id);
  assert.deepEqual(
    trace.notices.filter((notice: string) => /routing|revision/.test(notice)),
    ["routing_unavailable"],
  );
  assert.deepEqual(trace.run!.counts, { passed: 1, failed: 2, skipped: 3, missing_instrumentation: 4 });
  assert.deepEqual(
    trace.runs.map(run => run.id),
    [trace.run!.id],
  );
  assert.deepEqual((await list(agent.id)).items[0]!.run, trace.run);

  await store({ headers, body });
  assert.ok(
    !(await detail(id)).notices.includes("judged_earlier_revision"),
    "sent again, nothing has changed",
  );

  await store({ headers, body: { ...body, metadata: { changed: true } } });
  await service.db.pool.query(
    "insert into queue (id, trace_id, agent_id, due_at) values ($1, $2, $3, now())",
    [crypto.randomUUID(), id, agent.id],
  );
  const changed = await detail(id);
  assert.ok(changed.notices.includes("judged_earlier_revision"));
  assert.equal(changed.runs.length, 2);
  assert.equal(changed.run!.id, trace.run!.id);
  assert.equal((await list(agent.id)).items[0]!.run!.id, trace.run!.id);
});

test("a trace says for every test of the agent whether it ran, and why not", async () => {
  const agent = await makeAgent(service.owner);
  const early = await storeSpans(agent.id, [canonicalSpan()]);
  const make = async (fields: object) => (await makeTest(service.owner, agent.id, fields)).id;
  const expected = new Map([
    [await make({ status: "disabled" }), "disabled"],
    [await make({ passiveBehavior: "manual_only" }), "manual_only"],
    [await make({ turns: [{ input: "a" }, { input: "b" }] }), "multi_turn"],
  ]);
  const eligible = await make({});
  const late = await storeSpans(agent.id, [canonicalSpan()]);
  for (const [id, why] of [
    [early, "not_evaluated"],
    [late, "pending"],
  ] as const) {
    const { tests } = await detail(id);
    const said = new Map(tests.map(said => [said.testId, said.why]));
    assert.deepEqual(said, new Map([...expected, [eligible, why]]));
    assert.ok(tests.every(said => said.applied === false && said.name !== ""));
  }
});

test("traces of another account and unknown traces are not found", async () => {
  const stranger: Owner = await service.signUp();
  const id = await storeSpans(service.agentId, [canonicalSpan()]);
  const replies: Reply<unknown>[] = [];
  for (const client of [stranger.client]) {
    replies.push(await client.get(`/api/traces/${id}`));
    replies.push(await client.delete(`/api/traces/${id}`));
    replies.push(await client.get(`/api/agents/${service.agentId}/traces`));
  }
  for (const nobodys of [crypto.randomUUID(), "17", "%00", "x".repeat(200)]) {
    replies.push(await service.client.get(`/api/traces/${nobodys}`));
    replies.push(await service.client.delete(`/api/traces/${nobodys}`));
    replies.push(await service.client.get(`/api/agents/${nobodys}/traces`));
  }
  for (const reply of replies) assert.deepEqual([reply.status, refusalIn(reply).code], [404, "NOT_FOUND"]);
  assert.equal((await detail(id)).id, id);
});

test("a cursor from another agent's list shows nothing of that list", async () => {
  const stranger = await service.signUp();
  const agent = await makeAgent(stranger);
  for (let count = 0; count < 2; count++) await storeSpans(service.agentId, [canonicalSpan()]);
  const { nextCursor } = await list(service.agentId, { limit: 1 });
  const body = await stranger.client.read(`/api/agents/${agent.id}/traces?cursor=${nextCursor}`);
  assert.deepEqual([body.items, body.nextCursor], [[], null]);
});

test("a trace of more than 32 MB is not read whole, and the hint says how to read it", async () => {
  const id = await storeSpans(service.agentId, [canonicalSpan()]);
  const size = "update traces set batch_bytes = $2 where id = $1";
  await service.db.pool.query(size, [id, 32 * 1024 * 1024 + 1]);
  const { body } = await service.client.get(`/api/traces/${id}`).expect(413);
  assert.equal(body.code, "PAYLOAD_TOO_LARGE");
  assert.match(body.hint!, /\/outline/);
  await service.client.get(`/api/traces/${id}/outline`).expect(200);
});

test("a deleted trace deletes its runs, and its identity can be used again", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id);
  const sent = { headers: { "x-request-id": "to go" }, body: canonicalBody(agent.id) };
  const id = await store(sent);
  const [run] = (await detail(id)).runs;
  const { status, body } = await service.client.delete(`/api/traces/${id}`);
  assert.deepEqual([status, body], [204, ""]);
  await service.client.get(`/api/traces/${id}`).expect(404);
  await service.client.delete(`/api/traces/${id}`).expect(404);
  await service.client.get(`/api/runs/${run!.id}`).expect(404);
  assert.deepEqual(await listedIds(agent.id), []);
  const again = await service.send(sent);
  assert.equal(again.status, 201);
  assert.notEqual(again.headers["x-svc-trace-id"], id);
});
