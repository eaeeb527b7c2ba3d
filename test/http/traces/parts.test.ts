// Reading a trace by its parts: its outline, a span, the file with everything, for small and large traces.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ListedTrace,
  RawTrace,
  SpanDetail,
  type TraceDetail,
  type TraceOutline,
} from "../../../src/http/traces/schemas.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import type { Sent } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

type Fields = Record<string, unknown>;

async function store(sent: Sent): Promise<string> {
  const answer = await service.send(sent);
  assert.ok(answer.status < 300, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

const storeSpans = (spans: Fields[], more: Fields = {}) =>
  store({ body: canonicalBody(service.agentId, { spans, ...more }) });
const get = <P extends string>(path: P) => service.client.get(`/api/traces/${path}`);
const spanOf = (id: string, spanId: string, query = "") =>
  service.read(`/api/traces/${id}/spans/${encodeURIComponent(spanId)}?${query}`);
const textOf = async (path: string) => {
  const response = await fetch(`${service.url}/api/traces/${path}`, {
    headers: { cookie: service.client.cookie },
  });
  return { headers: response.headers, text: await response.text() };
};

/** More than is read on the main thread. */
const large = "x".repeat(300_000);

for (const [size, filling] of [
  ["small", "x"],
  ["large", large],
] as const) {
  test(`the outline of a ${size} trace is its detail without the content of its spans`, async () => {
    const agent = await makeAgent(service.owner);
    await makeTest(service.owner, agent.id, { name: "Fast" });
    const spans = [
      { span_id: "a", name: "run", attributes: { "gen_ai.operation.name": "invoke_agent", filling } },
      {
        span_id: "b",
        parent_span_id: "a",
        name: "chat",
        start_time_unix_nano: "1700000000000000000",
        end_time_unix_nano: "1700000001000000000",
        attributes: {
          "gen_ai.request.model": "small-model",
          "gen_ai.prompt": "Hello",
          "gen_ai.usage.input_tokens": 7,
        },
      },
      {
        span_id: "c",
        parent_span_id: "b",
        name: "find order",
        attributes: { "gen_ai.tool.name": "find_order" },
        status: { code: 2, message: "gone" },
      },
      { span_id: "d", parent_span_id: "nobody", name: "step" },
    ];
    const id = await store({ body: canonicalBody(agent.id, { spans, metadata: { region: "eu" } }) });
    const outline = await service.read(`/api/traces/${id}/outline`);
    const detail = (await get(id).expect(200)).body;
    const { spans: rows, cuts, omissions, ...rest } = outline;
    const { spans: _, toolCalls: __, modelCalls: ___, ...same } = detail;
    assert.deepEqual(rest, same);
    assert.deepEqual([cuts, omissions], [[], []]);
    const plain = { startTimeUnixNano: null, endTimeUnixNano: null, failed: false, tokens: null, call: null };
    const row = (spanId: string, parentSpanId: string | null, name: string, more: Fields) => ({
      ...plain,
      spanId,
      parentSpanId,
      name,
      ...more,
    });
    assert.deepEqual(rows, [
      row("a", null, "run", { role: "agent", detail: null }),
      row("b", "a", "chat", {
        role: "model",
        detail: "small-model",
        startTimeUnixNano: "1700000000000000000",
        endTimeUnixNano: "1700000001000000000",
        tokens: { input: 7, output: null, cached: null },
        call: { provider: null, model: "small-model", costUsd: null, why: "no_price" },
      }),
      row("c", "b", "find order", { role: "tool", detail: "find_order", failed: true }),
      row("d", "nobody", "step", { role: "other", detail: null }),
    ]);
    assert.equal(rest.runs.length, 1);
    assert.equal(rest.tests[0]!.why, "pending");
  });
}

test("the outline of 10,000 spans stays below 250 bytes per span, whatever the spans contain", async () => {
  const spans = Array.from({ length: 10_000 }, (_, at) => ({
    span_id: `span-${at}`,
    ...(at > 0 && { parent_span_id: `span-${at - 1}` }),
    name: `step ${at}`,
    start_time_unix_nano: `${1700000000000000000n + BigInt(at)}`,
    end_time_unix_nano: `${1700000001000000000n + BigInt(at)}`,
    attributes: { "gen_ai.tool.name": "find_order", note: "z".repeat(500) },
  }));
  const id = await storeSpans(spans);
  const { text } = await textOf(`${id}/outline`);
  assert.ok(text.length < 2_500_000, `${text.length}`);
  assert.equal((JSON.parse(text) as TraceOutlineRead).spans.length, 10_000);
});
type TraceOutlineRead = { spans: unknown[] };

test("texts of the outline are as short as in lists, and its metadata says where it was cut", async () => {
  const attributes = { "gen_ai.prompt": "p".repeat(9_000), "gen_ai.response.text": "r".repeat(9_000) };
  const id = await storeSpans([{ span_id: "a", name: "n".repeat(9_000), attributes }], {
    metadata: { note: "m".repeat(9_000) },
  });
  const outline = await service.read(`/api/traces/${id}/outline`);
  const { userInput, responseText, name, cuts, metadata } = outline;
  for (const text of [userInput, responseText, name, outline.spans[0]!.name]) assert.equal(text!.length, 500);
  assert.deepEqual(cuts, [{ path: ["metadata", "note"], length: 9_000 }]);
  assert.deepEqual(metadata, { note: "m".repeat(4_000) });
});

for (const [size, filling] of [
  ["small", "x"],
  ["large", large],
] as const) {
  test(`a span of a ${size} trace is returned with its long texts cut, and complete on request`, async () => {
    const long = `${"a".repeat(3_999)}\u{1F600}${"b".repeat(500)}`;
    const attributes = { long, short: "s", exact: "9007199254740993", list: [{ text: long }] };
    const sent = { span_id: "b/ü", parent_span_id: "a", name: "chat", attributes, events: [{ name: "e" }] };
    const id = await storeSpans([{ span_id: "a", name: "run", attributes: { filling } }, sent]);
    const { span, cuts, omissions, revision, traceId } = SpanDetail.parse(await spanOf(id, "b/ü"));
    const short = "a".repeat(3_999);
    assert.deepEqual(span["attributes"], { ...attributes, long: short, list: [{ text: short }] });
    assert.deepEqual(cuts, [
      { path: ["attributes", "long"], length: long.length },
      { path: ["attributes", "list", 0, "text"], length: long.length },
    ]);
    assert.deepEqual([omissions, revision, traceId], [[], 1, id]);
    assert.deepEqual(span["events"], [{ name: "e" }]);
    const whole = await spanOf(id, "b/ü", "whole=true");
    assert.deepEqual(whole.span["attributes"], attributes);
    assert.deepEqual([whole.cuts, whole.omissions], [[], []]);
    const { body } = await get(`${id}/spans/nobody`).expect(404);
    assert.equal(body.code, "NOT_FOUND");
  });
}

test("a span is returned in less than 256 KB, whatever it contains", async () => {
  const id = await storeSpans([
    {
      span_id: "a",
      name: "n".repeat(1_000_000),
      status: { code: 2, message: "€".repeat(1_000_000) },
      attributes: {
        ...Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`key.${at}`, "\u0000".repeat(200)])),
        list: Array.from({ length: 100_000 }, (_, at) => [at, "x"]),
      },
      events: Array.from({ length: 3_000 }, () => ({ name: "e".repeat(500) })),
    },
  ]);
  const { text } = await textOf(`${id}/spans/a`);
  assert.ok(Buffer.byteLength(text) < 256 * 1024, `${Buffer.byteLength(text)}`);
  const { omissions } = SpanDetail.parse(JSON.parse(text));
  assert.deepEqual(
    omissions.filter(({ path }) => path.length === 1),
    [
      { path: ["events"], entries: 3_000 },
      { path: ["attributes"], entries: 3_001 },
    ],
  );
});

test("a large trace is never read at an earlier revision", async () => {
  const traceId = newTraceId();
  const batch = (name: string) => ({
    body: exportOf([
      exportedSpan({ traceId, name, attributes: [{ key: "x", value: { stringValue: large } }] }),
    ]),
  });
  const id = await store(batch("first"));
  const names = async () => {
    const { spans, revision } = (await get(`${id}/outline`).expect(200)).body;
    return [revision, spans.map(({ name }: { name: string }) => name).sort()];
  };
  assert.deepEqual(await names(), [1, ["first"]]);
  await store(batch("second"));
  assert.deepEqual(await names(), [2, ["first", "second"]]);
});

test("the file of a trace contains all of it, exactly as it is stored", async () => {
  const spans = [
    { span_id: "a", name: "\u0000\ud800", attributes: { large, nested: { __proto__x: [1.5, null] } } },
    { span_id: "b", parent_span_id: "a", name: "<script>" },
  ];
  const id = await storeSpans(spans, { metadata: { region: "eu" } });
  const { headers, text } = await textOf(`${id}/raw`);
  assert.equal(headers.get("content-disposition"), `attachment; filename="trace-${id}.json"`);
  assert.match(headers.get("content-type")!, /^application\/json/);
  const raw = RawTrace.parse(JSON.parse(text));
  const detail = (await get(id).expect(200)).body;
  assert.deepEqual(raw.spans, detail.spans);
  assert.deepEqual([raw.metadata, raw.revision, raw.path], [{ region: "eu" }, 1, "canonical"]);
});

test("while a thread reads 30 MB, other requests are answered, and a deleted trace is gone immediately", async () => {
  const attributes = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`part.${at}`, "w".repeat(3_000_000)]),
  );
  const id = await storeSpans([{ span_id: "a", name: "heavy", attributes }]);
  let open = true;
  let answered = 0;
  const reading = spanOf(id, "a").finally(() => {
    open = false;
  });
  while (open) {
    await service.client.get("/healthz").expect(200);
    answered++;
  }
  const { cuts } = await reading;
  assert.equal(cuts.length, 10);
  assert.ok(answered > 1, `${answered}`);
  await service.client.delete(`/api/traces/${id}`).expect(204);
  await get(`${id}/spans/a`).expect(404);
  await get(`${id}/outline`).expect(404);
  await get(`${id}/raw`).expect(404);
});

test("a trace costs the prices of its day, by span and in lists, and a project's own as soon as they are saved", async () => {
  const agent = await makeAgent(service.owner);
  const call = (id: string, model: string) => ({
    ...{ span_id: id, parent_span_id: "root", name: "chat" },
    attributes: {
      ...{ "gen_ai.provider.name": "openai", "gen_ai.request.model": model },
      ...{ "gen_ai.usage.input_tokens": 1_000, "gen_ai.usage.output_tokens": 100 },
      "gen_ai.usage.cache_read.input_tokens": 400,
    },
  });
  const spans = [{ span_id: "root", name: "run" }, call("a", "gpt-4o-2024-08-06"), call("b", "house-7b")];
  const id = await store({ body: canonicalBody(agent.id, { spans }) });
  const inLists = async () => (await service.read(`/api/agents/${agent.id}/traces`)).items[0]!;
  const priced = (600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6;
  const unpriced = [{ provider: "openai", model: "house-7b", why: "no_price", tokens: 1_100 }];
  const costOf = ({ costUsd, knownCostUsd, unpriced }: ListedTrace | TraceOutline | TraceDetail) => ({
    costUsd,
    knownCostUsd,
    unpriced,
  });
  const partly = { costUsd: null, knownCostUsd: priced, unpriced };
  const outline = await service.read(`/api/traces/${id}/outline`);
  const detail = await service.read(`/api/traces/${id}`);
  for (const view of [await inLists(), outline, detail]) {
    assert.deepEqual(costOf(view), partly);
    assert.deepEqual(view.tokens.cached, 800);
  }
  const tokens = { input: 1_000, cached: 400, cacheWrite: 0, output: 100 };
  assert.deepEqual(detail.modelCalls, [
    { spanId: "a", provider: "openai", model: "gpt-4o-2024-08-06", tokens, costUsd: priced, why: null },
    { spanId: "b", provider: "openai", model: "house-7b", tokens, costUsd: null, why: "no_price" },
  ]);
  assert.deepEqual(
    outline.spans.map(({ call }) => call?.costUsd ?? call?.why),
    [undefined, priced, "no_price"],
  );

  const prices = [{ model: "house-7b", validFrom: "2026-01-01", inputUsd: 10, outputUsd: 20, cachedUsd: 1 }];
  await service.client.put(`/api/projects/${service.owner.projectId}/judge/prices`, { prices }).expect(200);
  const all = priced + (600 * 10 + 400 * 1 + 100 * 20) / 1e6;
  const whole = { costUsd: all, knownCostUsd: all, unpriced: [] };
  assert.deepEqual(costOf(await inLists()), whole);
  assert.deepEqual(costOf(await service.read(`/api/traces/${id}`)), whole);
  const path = `/api/agents/${agent.id}/traces?order=most_expensive&provider=openai` as const;
  const page = await service.read(path);
  assert.deepEqual(
    page.items.map((trace: Fields) => trace["id"]),
    [id],
  );
  await service.client
    .put(`/api/projects/${service.owner.projectId}/judge/prices`, { prices: [] })
    .expect(200);
});
