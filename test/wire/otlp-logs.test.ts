// Decoding of log exports: what is kept, counted and refused, the same in both encodings.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { decodeLimits } from "../../src/wire/limits.ts";
import { decodeLogs } from "../../src/wire/otlp-logs.ts";
import { encodings } from "../support/bodies.ts";
import { logsOf, questionRecord, record, replyRecord } from "../support/log-records.ts";
import { proto } from "../support/send.ts";
import { refusalOf, spanId, traceId } from "./make-body.ts";

const ids = { traceId, spanId };
const question = questionRecord(ids, "Hello");

function decode(request: unknown, encoding: "json" | "protobuf" = "json", limits = decodeLimits) {
  const { type, body } = encodings[encoding](request);
  return decodeLogs(body, type === proto ? "protobuf" : "json", limits, name => name === "agent");
}

/** Counts of the one service: kept, empty, refused. */
function countsOf(records: unknown[], encoding?: "json" | "protobuf") {
  const [service] = decode(logsOf(records, "agent"), encoding);
  const kept = service!.spans.reduce((sum, span) => sum + span.records.length, 0);
  return [kept, service!.emptyCount, service!.refused.reduce((sum, one) => sum + one.recordCount, 0)];
}

test("the time of a record keeps every digit, however it is written", () => {
  for (const field of ["timeUnixNano", "observedTimeUnixNano"]) {
    const { timeUnixNano: _, observedTimeUnixNano: __, ...timeless } = question;
    const body = JSON.stringify(logsOf([{ ...timeless, [field]: "@" }], "agent"));
    const sent = Buffer.from(body.replace('"@"', "1.795206705954000001e18"));
    const [service] = decodeLogs(sent, "json", decodeLimits, () => true);
    assert.equal(service!.spans[0]!.records[0]!.time_unix_nano, "1795206705954000001", field);
  }
});

for (const encoding of ["json", "protobuf"] as const) {
  suite(encoding, () => {
    test("a record has its event's name, time, body and attributes", () => {
      const attributes = [{ key: "gen_ai.system", value: { stringValue: "openai" } }];
      const [service] = decode(
        logsOf([{ ...question, attributes, droppedAttributesCount: 2 }], "agent"),
        encoding,
      );
      assert.deepEqual(service, {
        serviceName: "agent",
        recordCount: 1,
        emptyCount: 0,
        unreadCount: 0,
        refused: [],
        spans: [
          {
            traceId,
            spanId,
            records: [
              {
                event_name: "gen_ai.user.message",
                time_unix_nano: "1000",
                body: { content: "Hello" },
                attributes: { "gen_ai.system": "openai" },
                dropped_attributes_count: 2,
              },
            ],
          },
        ],
      });
    });

    test("the name may be an attribute, the time that of the observation, and the body JSON text", () => {
      const { eventName, timeUnixNano: _, ...unnamed } = question;
      const sent = {
        ...unnamed,
        body: { stringValue: '{"role":"user","content":"Hello"}' },
        attributes: [{ key: "event.name", value: { stringValue: eventName } }],
      };
      const [service] = decode(logsOf([sent], "agent"), encoding);
      const [kept] = service!.spans[0]!.records;
      assert.deepEqual([kept!.event_name, kept!.time_unix_nano], ["gen_ai.user.message", "1"]);
    });

    test("records are kept by span, each once; other events, no span and no content are counted", () => {
      const elsewhere = { traceId: "f".repeat(32), spanId };
      const kept = [question, question, replyRecord(ids, "Hi"), questionRecord(elsewhere, "Hello")];
      const empty = [
        { ...question, eventName: "request.done" },
        { ...question, eventName: "" },
        { ...question, spanId: "" },
        { ...question, traceId: "0".repeat(32) },
        questionRecord(ids, " "),
        record({ ...ids, eventName: "gen_ai.choice", body: { kvlistValue: { values: [] } } }),
      ];
      assert.deepEqual(countsOf([...kept, ...empty], encoding), [3, empty.length, 0]);
    });

    test("a bad id refuses its record alone", () => {
      const bad = [
        { ...question, spanId: "00ab" },
        { ...question, traceId: `${traceId}00` },
      ];
      const [service] = decode(logsOf([...bad, question], "agent"), encoding);
      assert.deepEqual(
        service!.refused.map(({ recordCount, refusal }) => [
          recordCount,
          refusal.code,
          refusal.issues?.[0]?.path,
        ]),
        [[2, "OTLP_ID_INVALID", "resourceLogs[0].scopeLogs[0].logRecords[0].spanId"]],
      );
      assert.match(service!.refused[0]!.refusal.message, /^A log record /);
      assert.equal(service!.spans.length, 1);
    });

    test("records of a service that nobody reads are counted, and not looked at", () => {
      for (const name of ["other", null]) {
        const [service] = decode(logsOf([question, { ...question, spanId: "00ab" }], name), encoding);
        assert.deepEqual([service!.unreadCount, service!.refused, service!.spans], [2, [], []]);
      }
    });

    test("the limits of a request hold, and an empty export is no error", () => {
      const limits = { ...decodeLimits, spansMax: 2, tracesMax: 1 };
      refusalOf("PAYLOAD_TOO_LARGE", () => decode(logsOf([{}, {}, {}], "agent"), encoding, limits));
      const two = { resourceLogs: ["a", "b"].flatMap(name => logsOf([{}], name)["resourceLogs"]) };
      refusalOf("PAYLOAD_TOO_LARGE", () => decode(two, encoding, limits));
      const nested = { ...decodeLimits, nestingMax: 5 };
      refusalOf("VALIDATION_ERROR", () => decode(logsOf([question], "agent"), encoding, nested));
      const few = { ...decodeLimits, elementsMax: 5 };
      refusalOf("PAYLOAD_TOO_LARGE", () => decode(logsOf([question], "agent"), encoding, few));
      assert.deepEqual(decode({ resourceLogs: [] }, encoding), []);
    });
  });
}

test("in JSON, an unreadable record is refused alone, and a malformed envelope refuses the request", () => {
  const unreadable = [7, null, { ...question, attributes: {} }, { ...question, timeUnixNano: "soon" }];
  // Without ids there is nothing that it could be about.
  assert.deepEqual(countsOf([...unreadable, question]), [1, 2, 2]);
  for (const body of [
    { resourceLogs: {} },
    { resourceLogs: [7] },
    { resourceLogs: [{ scopeLogs: 7 }] },
    { resourceLogs: [{ scopeLogs: [{ logRecords: {} }] }] },
  ]) {
    refusalOf("VALIDATION_ERROR", () => decode(body));
  }
});

test("a body that is no log export is refused with where to send it", () => {
  const hintOf = (body: unknown) => String(refusalOf("VALIDATION_ERROR", () => decode(body)).hint);
  assert.match(hintOf({ resourceSpans: [] }), /\/public\/traces/);
  assert.match(hintOf({}), /resourceLogs/);
  assert.match(hintOf([]), /resourceLogs/);
  const bytes = Buffer.from([1, 2, 3, 255]);
  refusalOf("OTLP_PROTOBUF_INVALID", () => decodeLogs(bytes, "protobuf", decodeLimits, () => true));
});
