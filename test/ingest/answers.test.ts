// What one request comes to for each of the services it names.
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

test("stored traces of one service are one OK with the sum of their spans", () => {
  assert.deepEqual(answersOf([stored("shop", 2), stored("shop", 3)], []), [
    { code: "OK", serviceName: "shop", agentId: "agent", spans: 5, reasons: {} },
  ]);
  assert.deepEqual(answersOf([stored(null)], []), [
    { code: "OK", serviceName: null, agentId: "agent", spans: 1, reasons: {} },
  ]);
});

test("a batch of which a part is refused is PARTIAL with its reasons, for the services that were refused anything", () => {
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

test("a batch refused whole is refused for each service by that service's first refusal", () => {
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

test("a service name is what a text column takes, and no longer than that", () => {
  const names = ["\0", "\ud800", "x".repeat(1_000_000)].map(
    name => answersOf([], [refused(name)])[0]!.serviceName!,
  );
  assert.deepEqual(names.slice(0, 2), ["\ufffd", "\ufffd"]);
  assert.equal(names[2]!.length, 500);
});
