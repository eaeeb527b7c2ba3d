// The results that the ingestion log keeps of one request, by service name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf as answersOfRequest } from "../../src/ingest/answers.ts";
import { refusalsOf, withoutContent } from "../../src/model/ingestion.ts";
import { Refusal } from "../../src/model/refusal.ts";
import type { RefusalCode } from "../../src/model/refusals.ts";

const stored = (serviceName: string | null, spanCount = 1) => ({ serviceName, agentId: "agent", spanCount });
const refused = (serviceName: string | null, code: RefusalCode = "OTLP_PLATFORM_NOT_FOUND") => ({
  serviceName,
  refusal: new Refusal(code),
});

const answersOf = (
  ...groups: Parameters<typeof answersOfRequest> extends [infer S, infer R, string] ? [S, R] : never
) => answersOfRequest(...groups, "request-1");
const rejection = (code: RefusalCode) => ({ code, requestId: "request-1", paths: [] });

test("all stored traces of one service are a single OK with the sum of their spans", () => {
  assert.deepEqual(answersOf([stored("shop", 2), stored("shop", 3)], []), [
    { code: "OK", serviceName: "shop", agentId: "agent", spans: 5, reasons: {}, rejection: null },
  ]);
  assert.deepEqual(answersOf([stored(null)], []), [
    { code: "OK", serviceName: null, agentId: "agent", spans: 1, reasons: {}, rejection: null },
  ]);
});

test("a partly rejected batch is PARTIAL with reasons for the services that lost traces, and OK for the others", () => {
  const answers = answersOf(
    [stored("shop", 4), stored("desk")],
    [refused("shop", "OTLP_ID_INVALID"), refused("shop", "OTLP_ID_INVALID"), refused("lost"), refused(null)],
  );
  assert.deepEqual(answers, [
    {
      code: "PARTIAL",
      serviceName: "shop",
      agentId: "agent",
      spans: 4,
      reasons: { OTLP_ID_INVALID: 2 },
      rejection: rejection("OTLP_ID_INVALID"),
    },
    { code: "OK", serviceName: "desk", agentId: "agent", spans: 1, reasons: {}, rejection: null },
    {
      code: "PARTIAL",
      serviceName: "lost",
      agentId: null,
      spans: 0,
      reasons: { OTLP_PLATFORM_NOT_FOUND: 1 },
      rejection: rejection("OTLP_PLATFORM_NOT_FOUND"),
    },
    {
      code: "PARTIAL",
      serviceName: null,
      agentId: null,
      spans: 0,
      reasons: { OTLP_PLATFORM_NOT_FOUND: 1 },
      rejection: rejection("OTLP_PLATFORM_NOT_FOUND"),
    },
  ]);
  assert.deepEqual(answers.map(refusalsOf), [
    ["OTLP_ID_INVALID"],
    [],
    ["OTLP_PLATFORM_NOT_FOUND"],
    ["OTLP_PLATFORM_NOT_FOUND"],
  ]);
});

test("a fully rejected batch has one result per service, the service's first refusal", () => {
  const answers = answersOf(
    [],
    [refused("a"), refused("a", "PAYLOAD_TOO_LARGE"), refused("b", "OTLP_PLATFORM_NOT_ALLOWED")],
  );
  assert.deepEqual(
    answers.map(({ serviceName, code, reasons }) => [serviceName, code, reasons]),
    [
      ["a", "OTLP_PLATFORM_NOT_FOUND", {}],
      ["b", "OTLP_PLATFORM_NOT_ALLOWED", {}],
    ],
  );
});

test("a service name is made safe for a text column and cut to its length", () => {
  const names = ["\0", "\ud800", "x".repeat(1_000_000)].map(
    name => answersOf([], [refused(name)])[0]!.serviceName!,
  );
  assert.deepEqual(names.slice(0, 2), ["\ufffd", "\ufffd"]);
  assert.equal(names[2]!.length, 500);
});

test("a rejection keeps the paths of its first issues, and nothing in them that a sender chose", () => {
  const paths = ["spans[3].name", "spans[4]", "resourceSpans[0].resource.attributes[2]", "spans[5]"];
  const issues = paths.map(path => ({ path, message: "must not be kept" }));
  const refusal = new Refusal("VALIDATION_ERROR", { issues, agentId: "other" });
  const [answer] = answersOf([], [{ serviceName: "shop", refusal }]);
  assert.equal(answer!.agentId, "other");
  assert.deepEqual(answer!.rejection, {
    code: "VALIDATION_ERROR",
    requestId: "request-1",
    paths: paths.slice(0, 3),
  });
  for (const [path, kept] of [
    ["headers['x-request-id']", "headers['x-request-id']"],
    [
      "resourceSpans[1].scopeSpans[2].spans[3].parentSpanId",
      "resourceSpans[1].scopeSpans[2].spans[3].parentSpanId",
    ],
    ["spans[0].attributes.ada@example.com", "spans[0].attributes…"],
    ['spans[0].attributes["a secret"].value', "spans[0].attributes…"],
    ["spans[0].attributes['secret']", "spans[0].attributes…"],
    ["metadata.customer", "metadata…"],
    ["spans[12345678901].name", "spans…"],
    ["__proto__", "…"],
    ["", ""],
  ] as const) {
    assert.equal(withoutContent(path), kept);
  }
});
