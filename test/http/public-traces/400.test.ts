// 400: invalid bodies, headers and hints, each with its code, in the encoding of the request.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { RefusalCode } from "../../../src/model/refusals.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newSpanId,
} from "../../support/bodies.ts";
import { json, proto, type Refused, refused, type Sent } from "../../support/send.ts";
import { serviceName } from "../../support/service.ts";
import { world } from "../../support/world.ts";
import { field } from "../../wire/encode-otlp.ts";
import { fixture, resourceSpans } from "../../wire/make-body.ts";

const service = world({ roles: ["http"] });

/** The refusal, after checking that nothing was stored. */
async function refusal(code: RefusalCode, sent: Sent): Promise<Refused> {
  const count = async () =>
    (await service.db.pool.query("select count(*) as stored from traces")).rows[0].stored;
  const before = await count();
  const said = refused(await service.send(sent), 400, code);
  assert.equal(await count(), before);
  return said;
}

const ofSpans = (...spans: unknown[]) => ({ platformId: service.agentId, spans });

for (const [what, body] of [
  ["no JSON", "{"],
  ["an empty text", ""],
  ["a trailing comma", '{"spans":[{"span_id":"a","name":"b",}]}'],
  ["nothing but a byte order mark", "\uFEFF"],
  ["invalid UTF-8", Buffer.from('{"spans":[{"span_id":"\xff","name":"b"}]}', "latin1")],
  ["a list", [{ span_id: "a", name: "b" }]],
  ["a text", '"spans"'],
  ["null", "null"],
  ["an object of neither format", { nodes: { a: { output: 1 } } }],
  ["an empty object", {}],
  ["both formats", { spans: [canonicalSpan()], resourceSpans: [] }],
  ["the spans of another wrapper", { trace: { spans: [canonicalSpan()] } }],
  ["logs", { resourceLogs: [] }],
  ["metrics", { resourceMetrics: [] }],
  ["nothing but null", { spans: null, resourceSpans: null }],
] as const) {
  test(`a JSON body that is ${what} is VALIDATION_ERROR`, async () => {
    await refusal("VALIDATION_ERROR", { body });
  });
}

for (const [path, spans] of [
  ["spans", []],
  ["spans", {}],
  ["spans", "text"],
  ["spans[0]", [null]],
  ["spans[0]", [[]]],
  ["spans[0].span_id", [{ name: "n" }]],
  ["spans[0].span_id", [canonicalSpan({ span_id: "" })]],
  ["spans[0].span_id", [canonicalSpan({ span_id: 1 })]],
  ["spans[0].name", [{ span_id: "a" }]],
  ["spans[0].name", [canonicalSpan({ name: "" })]],
  ["spans[0].name", [canonicalSpan({ name: null })]],
  ["spans[0].parent_span_id", [canonicalSpan({ parent_span_id: 7 })]],
  ["spans[0].attributes", [canonicalSpan({ attributes: [] })]],
  ["spans[0].attributes", [canonicalSpan({ attributes: "{}" })]],
  ["spans[0].start_time_unix_nano", [canonicalSpan({ start_time_unix_nano: "-1" })]],
  ["spans[0].start_time_unix_nano", [canonicalSpan({ start_time_unix_nano: "18446744073709551616" })]],
  ["spans[0].end_time_unix_nano", [canonicalSpan({ end_time_unix_nano: 1.5 })]],
  ["spans[0].end_time_unix_nano", [canonicalSpan({ end_time_unix_nano: "2026-01-01" })]],
  ["spans[0].status", [canonicalSpan({ status: 2 })]],
  ["spans[0].status.code", [canonicalSpan({ status: { code: "ERROR" } })]],
  ["spans[0].status.message", [canonicalSpan({ status: { message: {} } })]],
  ["spans[0].events", [canonicalSpan({ events: {} })]],
  ["spans[1].span_id", [canonicalSpan(), canonicalSpan()]],
] as const) {
  test(`a canonical body with an invalid ${path} is VALIDATION_ERROR at that path: ${JSON.stringify(spans)}`, async () => {
    const { issues } = await refusal("VALIDATION_ERROR", {
      body: { platformId: service.agentId, spans },
    });
    assert.deepEqual(
      issues?.map(issue => issue.path),
      [path],
    );
  });
}

test("every bad field is named, up to 20 of them, and no value that was sent is repeated", async () => {
  const secret = "sk-do-not-repeat";
  const some = await refusal("VALIDATION_ERROR", {
    body: { ...ofSpans(canonicalSpan({ name: [secret], status: secret, events: secret })), metadata: secret },
  });
  assert.deepEqual(
    new Set(some.issues?.map(issue => issue.path)),
    new Set(["metadata", "spans[0].events", "spans[0].name", "spans[0].status"]),
  );
  assert.equal(JSON.stringify(some).includes(secret), false);
  const many = await refusal("VALIDATION_ERROR", { body: ofSpans(...Array(50).fill({ [secret]: 1 })) });
  assert.equal(many.issues?.length, 20);
  assert.equal(JSON.stringify(many).includes(secret), false);
});

test("201 levels of nesting are rejected and 200 accepted, in JSON and in attributes of either encoding", async () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  // Body, spans, span and attributes are four levels.
  const canonical = (levels: number) =>
    `{"platformId":"${service.agentId}","spans":[{"span_id":"a","name":"b","attributes":{"a":${nested(levels - 4)}}}]}`;
  assert.equal((await service.send({ body: canonical(200) })).status, 201);
  await refusal("VALIDATION_ERROR", { body: canonical(201) });
  await refusal("VALIDATION_ERROR", { body: "[".repeat(1_000_000) });
  let value: object = { stringValue: "deep" };
  let anyValue = field(1, "deep");
  for (let level = 0; level < 200; level++) {
    value = { arrayValue: { values: [value] } };
    anyValue = field(5, field(1, anyValue));
  }
  await refusal(
    "VALIDATION_ERROR",
    encodings.json(exportOf([exportedSpan({ attributes: [{ key: "a", value }] })])),
  );
  const attribute = Buffer.concat([field(1, "a"), field(2, anyValue)]);
  const body = field(1, field(2, field(2, field(9, attribute))));
  await refusal("VALIDATION_ERROR", { type: proto, body });
});

for (const [what, sent] of [
  ["an empty list", { body: { resourceSpans: [] } }],
  ["a resource without scopes", { body: { resourceSpans: [{}] } }],
  ["a scope without spans", { body: { resourceSpans: [{ scopeSpans: [{ spans: [] }] }] } }],
  ["0 bytes of protobuf", { type: proto, body: "" }],
  [
    "0 bytes of protobuf under gzip",
    { type: proto, body: gzipSync(""), headers: { "content-encoding": "gzip" } },
  ],
  ["a protobuf resource without spans", { type: proto, body: field(1, "") }],
  ["a protobuf message of unknown fields", { type: proto, body: field(15, "what is to come") }],
] as const) {
  test(`an export without spans is OTLP_NO_SPANS: ${what}`, async () => {
    await refusal("OTLP_NO_SPANS", sent);
  });
}

test("protobuf that cannot be decoded is OTLP_PROTOBUF_INVALID", async () => {
  const body = fixture("11-vercel-ai-v7-otel-tool-loop.pb").subarray(0, -3);
  await refusal("OTLP_PROTOBUF_INVALID", { type: proto, body });
});

for (const [encoding, encode] of Object.entries(encodings)) {
  test(`an OTLP span in ${encoding} with an invalid id is OTLP_ID_INVALID`, async () => {
    const request = exportOf([exportedSpan({ spanId: "ab" })]);
    const { hint } = await refusal("OTLP_ID_INVALID", encode(request));
    assert.match(String(hint), /hexadecimal/);
  });

  for (const [what, service] of [
    ["missing", null],
    ["empty", ""],
  ] as const) {
    test(`an OTLP resource in ${encoding} with service.name ${what} is OTLP_SERVICE_NAME_REQUIRED`, async () => {
      await refusal("OTLP_SERVICE_NAME_REQUIRED", encode(exportOf([exportedSpan()], service)));
    });
  }

  test(`an OTLP export in ${encoding} whose traces are all rejected is answered with the error of the first one`, async () => {
    const request = (first: string | null) => ({
      resourceSpans: [
        resourceSpans(first, [exportedSpan()]),
        resourceSpans(serviceName, [exportedSpan({ spanId: "" })]),
        resourceSpans("nobody", [exportedSpan()]),
      ],
    });
    await refusal("OTLP_SERVICE_NAME_REQUIRED", encode(request(null)));
    await refusal("OTLP_ID_INVALID", encode({ resourceSpans: request(null).resourceSpans.slice(1) }));
  });
}

test("a service.name that is not a string is OTLP_SERVICE_NAME_REQUIRED", async () => {
  for (const value of [{ intValue: 1 }, { arrayValue: { values: [{ stringValue: serviceName }] } }, null]) {
    const request = exportOf([exportedSpan()], null);
    Object.assign((request["resourceSpans"] as { resource: object }[])[0]!.resource, {
      attributes: [{ key: "service.name", value }],
    });
    await refusal("OTLP_SERVICE_NAME_REQUIRED", encodings.json(request));
  }
});

test("an export of a real exporter without a service.name is OTLP_SERVICE_NAME_REQUIRED", async () => {
  await refusal("OTLP_SERVICE_NAME_REQUIRED", { body: fixture("07-jaeger-no-service-name.json") });
  await refusal("OTLP_SERVICE_NAME_REQUIRED", { body: fixture("05-java-all-anyvalue-kinds.json") });
});

test("an x-request-id that is too long, not ASCII or sent twice is VALIDATION_ERROR, on both paths", async () => {
  for (const id of ["a".repeat(256), "é", "tab\there", ["a", "b"], ["a", "a"]]) {
    const headers = { "x-request-id": id };
    const { issues } = await refusal("VALIDATION_ERROR", { headers, body: canonicalBody(service.agentId) });
    assert.match(String(issues?.[0]?.path), /x-request-id/);
    await refusal("VALIDATION_ERROR", { headers, ...encodings.json(exportOf([exportedSpan()])) });
    await refusal("VALIDATION_ERROR", { headers, ...encodings.protobuf(exportOf([exportedSpan()])) });
  }
});

const valid = JSON.stringify({ spans: [canonicalSpan()] });
for (const [what, body] of [
  ["no gzip", Buffer.from(valid)],
  ["nothing at all", Buffer.alloc(0)],
  ["cut short", gzipSync(valid).subarray(0, -5)],
  ["only a head", gzipSync(valid).subarray(0, 10)],
  ["corrupt", Buffer.from(gzipSync(valid).map((byte, at) => (at === 20 ? byte ^ 0xff : byte)))],
  [
    "of a wrong checksum",
    Buffer.from(gzipSync(valid).map((byte, at, all) => (at === all.length - 8 ? byte ^ 1 : byte))),
  ],
  ["followed by other bytes", Buffer.concat([gzipSync(valid), Buffer.from("more")])],
  ["of two layers", gzipSync(gzipSync(valid))],
] as const) {
  test(`a gzip body that is ${what} is 400 with the code of its type`, async () => {
    const headers = { "content-encoding": "gzip" };
    await refusal("VALIDATION_ERROR", { headers, body });
    await refusal("VALIDATION_ERROR", { headers, body, chunked: true });
    await refusal("OTLP_PROTOBUF_INVALID", { type: proto, headers, body });
  });
}

test("a large truncated gzip body is 400, as a small one is", async () => {
  const large = gzipSync(JSON.stringify(canonicalBody(service.agentId, { filling: "x".repeat(3_000_000) })));
  const headers = { "content-encoding": "gzip" };
  await refusal("VALIDATION_ERROR", { headers, body: large.subarray(0, -1) });
  await refusal("VALIDATION_ERROR", { headers, body: Buffer.concat([large, Buffer.from([0])]) });
});

test("gzip without a Content-Encoding is not decompressed, and the answer says what to send", async () => {
  const twice = { body: gzipSync(gzipSync(valid)), headers: { "content-encoding": "gzip" } };
  for (const request of [{ body: gzipSync(valid) }, twice]) {
    for (const path of ["/public/traces", "/public/logs"]) {
      const { message, hint } = await refusal("VALIDATION_ERROR", { path, ...request });
      assert.match(message, /compressed with gzip more often/);
      assert.match(hint!, /Content-Encoding: gzip/);
      const { message: ofProtobuf } = await refusal("OTLP_PROTOBUF_INVALID", {
        path,
        type: proto,
        ...request,
      });
      assert.match(ofProtobuf, /compressed with gzip more often/);
    }
  }
});

test("an empty body of JSON says so", async () => {
  const { message, hint } = await refusal("VALIDATION_ERROR", { body: Buffer.alloc(0) });
  assert.equal(message, "The body is empty, which is not valid JSON.");
  assert.match(hint!, /has a body/);
});

type Access = "full" | "one" | "two" | "none";
type Ids = { own: string; other: string; unknown: string; foreign: string };

/** What each kind of key rejects. 201.test.ts has what it accepts. */
const unresolved: [key: Access, hint: string, body: (ids: Ids) => object][] = [
  ["full", "none", () => ({})],
  ["full", "an empty id", () => ({ platformId: "" })],
  ["full", "a malformed id", () => ({ platformId: "support-agent" })],
  ["full", "a number", () => ({ platformId: 17 })],
  ["full", "an unknown id", ({ unknown }) => ({ platformId: unknown })],
  ["full", "an agent of another account", ({ foreign }) => ({ metadata: { platformId: foreign } })],
  [
    "full",
    "a malformed id before a good one",
    ({ own }) => ({ platformId: "no", metadata: { platformId: own } }),
  ],
  ["two", "none", () => ({})],
  ["two", "an agent it does not name", ({ other }) => ({ platformId: other })],
  ["two", "an agent of another account", ({ foreign }) => ({ platformId: foreign })],
  ["one", "another agent of the project", ({ other }) => ({ platformId: other })],
  ["one", "an unknown id", ({ unknown }) => ({ metadata: { svc: { platform_id: unknown } } })],
  ["one", "an agent of another account", ({ foreign }) => ({ metadata: { "svc.platform_id": foreign } })],
  ["none", "none, its only agent being deleted", () => ({})],
  ["none", "its only agent, which is deleted", ({ own }) => ({ platformId: own })],
];

for (const [access, hint, fields] of unresolved) {
  test(`a key for ${access} with this hint is CUSTOM_API_PLATFORM_NOT_FOUND: ${hint}`, async () => {
    const owner = await service.signUp();
    const stranger = await service.signUp();
    const [own, second, other] = [await makeAgent(owner), await makeAgent(owner), await makeAgent(owner)];
    const foreign = await makeAgent(stranger);
    const agentIds = access === "two" ? [own.id, second.id] : [own.id];
    const { key } = await makeKey(owner, access === "full" ? {} : { access: "granular", agentIds });
    if (access === "none") await owner.client.delete(`/api/agents/${own.id}`).expect(204);
    const ids = { own: own.id, other: other.id, unknown: crypto.randomUUID(), foreign: foreign.id };
    const said = await refusal("CUSTOM_API_PLATFORM_NOT_FOUND", {
      key,
      body: { spans: [canonicalSpan()], ...fields(ids) },
    });
    // The hint names the field, and only those agents that the key may see.
    assert.equal(/platformId/.test(String(said.hint)), true);
    assert.equal(/agents of this key were deleted.*Create a key/.test(String(said.hint)), access === "none");
    const visible = access === "full" ? [own.id, second.id, other.id] : access === "none" ? [] : agentIds;
    const named = String(said.hint).match(/[0-9a-f-]{36}/g) ?? [];
    assert.deepEqual(new Set(named), new Set(visible));
  });
}

test("the body is decoded before the agent is found: an invalid span of an unknown agent is VALIDATION_ERROR", async () => {
  await refusal("VALIDATION_ERROR", { body: { platformId: crypto.randomUUID(), spans: [{}] } });
  await refusal(
    "OTLP_ID_INVALID",
    encodings.json(exportOf([exportedSpan({ spanId: newSpanId().slice(1) })], "nobody")),
  );
});

test("a body that is not JSON but declared as JSON is VALIDATION_ERROR", async () => {
  await refusal("VALIDATION_ERROR", { type: json, body: fixture("11-vercel-ai-v7-otel-tool-loop.pb") });
});

for (const [what, framing, end] of [
  ["in malformed chunks", "transfer-encoding: chunked\r\n\r\n5\r\n", "hello\r\nno size\r\n"],
  ["that ends early", "content-length: 50\r\n\r\n", "hello"],
  ["of no readable length", "content-length: five\r\n\r\n", "hello"],
  ["with two lengths", "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", "hello"],
] as const) {
  test(`a body ${what} is answered with a bare 400, and the connection ends`, async () => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    const head = `POST /public/traces HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${service.key}\r\n`;
    socket.write(`${head}content-type: ${json}\r\n${framing}`);
    socket.end(end);
    assert.equal(await text(socket), "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
}

test("headers that are too large are answered with 431", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const head = "POST /public/traces HTTP/1.1\r\nhost: localhost\r\n";
  socket.write(`${head}baggage: ${"a".repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
});
