// The results that the ingestion log keeps of one request, by service name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf } from "../../src/ingest/answers.ts";
import { refusalsOf } from "../../src/model/ingestion.ts";
import { Refusal, type RefusalCode } from "../../src/model/refusal.ts";

const stored = (serviceName: string | null, spanCount = 1) => ({ serviceName, agentId: "agent", spanCount });
const refused = (serviceName: string | null, code: RefusalCode = "OTLP_PLATFORM_NOT_FOUND") => ({
  serviceName,
  refusal: new Refusal(code),
});

test("all stored traces of one service are a single OK with the sum of their spans", () => {
  assert.deepEqual(answersOf([stored("shop", 2), stored("shop", 3)], []), [
    { code: "OK", serviceName: "shop", agentId: "agent", spans: 5, reasons: {} },
  ]);
  assert.deepEqual(answersOf([stored(null)], []), [
    { code: "OK", serviceName: null, agentId: "agent", spans: 1, reasons: {} },
  ]);
});

test("a partly rejected batch is PARTIAL with reasons for the services that lost traces, and OK for the others", () => {
  const answers = answersOf(
    [stored("shop", 4), stored("desk")],
    [refused("shop", "OTLP_ID_INVALID"), refused("shop", "OTLP_ID_INVALID"), refused("lost"), refused(null)],
  );
  assert.deepEqual(answers, [
    { code: "PARTIAL", serviceName: "shop", agentId: "agent", spans: 4, reasons: { OTLP_ID_INVALID: 2 } },
    { code: "OK", serviceName: "desk", agentId: "agent", spans: 1, reasons: {} },
    {
      code: "PARTIAL",
      serviceName: "lost",
      agentId: null,
      spans: 0,
      reasons: { OTLP_PLATFORM_NOT_FOUND: 1 },
    },
    { code: "PARTIAL", serviceName: null, agentId: null, spans: 0, reasons: { OTLP_PLATFORM_NOT_FOUND: 1 } },
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
