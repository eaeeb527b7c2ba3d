// Which OTLP requests in JSON are stored as they arrived: those written as JSON.stringify would write them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceAsReceived, isAsReceived } from "../../fuzz/as-received.ts";
import { prepareBody } from "../../src/ingest/prepare.ts";
import type { PreparedBatch } from "../../src/ingest/prepared.ts";
import { scanJson } from "../../src/wire/json-scan.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { readPlain } from "../../src/wire/plain.ts";
import { exportedSpan, exportOf } from "../support/bodies.ts";

function batchOf(body: Buffer): PreparedBatch {
  const prepared = prepareBody(body, "json", decodeLimits);
  assert.ok(prepared.path === "otlp");
  const [group] = prepared.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

test("JSON that says the same in other words is encoded again, so that a search finds its texts as they are", () => {
  const span = exportedSpan({ startTimeUnixNano: "5", attributes: [text("a", "b\\n\u0001c")] });
  const one = JSON.stringify(exportOf([span]));
  assert.equal(isAsReceived(batchOf(Buffer.from(one))), true);
  const changed = (from: string, to: string) => {
    assert.ok(one.includes(from), from);
    return one.replace(from, to);
  };
  const others: [string, string][] = [
    ["a space", changed('"key":', '"key": ')],
    ["a line break at its end", `${one}\n`],
    ["an escape that is not needed", changed('"stringValue":"b', '"stringValue":"\\u0062')],
    ["an escape in capitals", changed("\\u0001", "\\u001F")],
    ["an escape that has a short form", changed("\\u0001", "\\u000a")],
    ["an escaped key", changed('"stringValue"', '"stringV\\u0061lue"')],
    ["a field that nobody reads", changed('"key":', '"more":1,"key":')],
    ["a field twice", changed('"stringValue":', '"stringValue":"gone","stringValue":')],
    ["a null", changed('{"stringValue":', '{"intValue":null,"stringValue":')],
    ["a number with zeros", changed('"stringValue":"b\\\\n\\u0001c"', '"doubleValue":1.50')],
    ["a negative zero", changed('"stringValue":"b\\\\n\\u0001c"', '"doubleValue":-0')],
    ["an integer with zeros", changed('"stringValue":"b\\\\n\\u0001c"', '"intValue":"007"')],
    ["an integer of many digits", changed('"stringValue":"b\\\\n\\u0001c"', '"intValue":9007199254740993')],
    [
      "an integer with a fraction",
      changed('"stringValue":"b\\\\n\\u0001c"', '"intValue":9007199254740993.0'),
    ],
    ["an integer with an exponent", changed('"stringValue":"b\\\\n\\u0001c"', '"intValue":9e15')],
    ["a time as a number", changed('"startTimeUnixNano":"5"', '"startTimeUnixNano":1.7e18')],
    ["an id in capitals", one.replace(/"spanId":"[^"]+"/, '"spanId":"B7AD6B7169203331"')],
  ];
  for (const [what, body] of others) assert.equal(isAsReceived(batchOf(Buffer.from(body))), false, what);
});

test("a text of JSON may have any length, with an escape anywhere", () => {
  for (let length = 0; length < 60; length++) {
    for (let at = 0; at <= length; at += at < 22 || at > 27 ? 7 : 1) {
      for (const escaped of ['"', "\\", "\n", "\u0001", '\\"\\']) {
        const said = `${"x".repeat(at)}${escaped}${"y".repeat(length - at)}`;
        const request = exportOf([
          exportedSpan({ attributes: [text("a", said), text("gen_ai.prompt", said)] }),
        ]);
        const body = Buffer.from(JSON.stringify(request));
        assert.equal(differenceAsReceived(body, "json", null), null, JSON.stringify(said));
      }
    }
  }
});

test("JSON with a control character is not plain, wherever it is and however the body lies in memory", () => {
  const one = Buffer.from(
    JSON.stringify(exportOf([exportedSpan({ attributes: [text("a", "text".repeat(12))] })])),
  );
  for (let offset = 0; offset < 4; offset++) {
    const body = Buffer.alloc(one.length + offset).subarray(offset);
    one.copy(body);
    assert.ok(readPlain(body, "json", decodeLimits));
    for (let at = 0; at < body.length; at++) {
      for (const code of at % 16 === 0 ? Array.from({ length: 32 }, (_, code) => code) : [0, 31]) {
        const before = body[at]!;
        body[at] = code;
        assert.equal(readPlain(body, "json", decodeLimits), null, `${code} at ${at}`);
        body[at] = before;
      }
    }
  }
});

test("JSON that is invalid is refused, wherever the fault is", () => {
  const one = JSON.stringify(exportOf([exportedSpan({ attributes: [text("a", "text")] })]));
  const invalid = [
    ...Array.from({ length: one.length }, (_, end) => one.slice(0, end)),
    `${one}}`,
    ...["te\u0000xt", "te\nxt", "te\\xt", "te\\u12xt"].map(inner => one.replace('"text"', `"${inner}"`)),
    one.replace("[{", "[,{"),
    one.replace("}]", "},]"),
    one.replace('"attributes":', ',"attributes":'),
    one.replace('"stringValue"', '"stringValue\\'),
  ];
  for (const body of invalid) {
    assert.throws(() => batchOf(Buffer.from(body)), { name: "Refusal", code: "VALIDATION_ERROR" });
  }
  const latin1 = Buffer.from(one.replace("text", "t\u00e9xt"), "latin1");
  assert.throws(() => batchOf(latin1), { name: "Refusal", code: "VALIDATION_ERROR" });
});

test("JSON is plain up to the largest number of values, whatever its length", () => {
  const values = [
    { stringValue: "text".repeat(1_000) },
    { arrayValue: { values: [{ stringValue: "item" }, { intValue: "1" }] } },
    { arrayValue: { values: [] } },
    { kvlistValue: { values: [text("inner", "text"), text("other", "text")] } },
    {},
  ];
  const attributes = values.map((value, at) => ({ key: `k${at}`, value }));
  const events = [{ name: "e", timeUnixNano: "1", attributes }];
  const body = Buffer.from(JSON.stringify(exportOf([exportedSpan({ attributes, events })])));
  const { elements } = scanJson(body, decodeLimits);
  assert.ok(elements < body.length / 2);
  assert.ok(readPlain(body, "json", { ...decodeLimits, elementsMax: elements }));
  assert.equal(readPlain(body, "json", { ...decodeLimits, elementsMax: elements - 1 }), null);
});

test("whatever byte of a request changes, it is not plain unless it is as JSON.stringify would write it", () => {
  const values = [
    { stringValue: "te\nxt" },
    { boolValue: true },
    { intValue: "-12" },
    { doubleValue: 1.5 },
    { arrayValue: { values: [{ stringValue: "item" }] } },
    { kvlistValue: { values: [text("inner", "text")] } },
  ];
  const attributes = values.map((value, at) => ({ key: `k${at}`, value }));
  const body = Buffer.from(JSON.stringify(exportOf([exportedSpan({ attributes })])));
  assert.ok(readPlain(body, "json", decodeLimits));
  for (let at = 0; at < body.length; at++) {
    const before = body[at]!;
    for (const other of '\\"{}[],:0-.eu ') {
      body[at] = other.charCodeAt(0);
      if (!readPlain(body, "json", decodeLimits)) continue;
      const read = body.toString();
      assert.equal(read, JSON.stringify(JSON.parse(read)), `${other} at ${at}`);
    }
    body[at] = before;
  }
});
