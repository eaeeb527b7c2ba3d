// Canonical bodies: validation of spans, and the platform hint.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Issue } from "../../src/model/refusal.ts";
import { canonicalSpans, decodeJson, refusalOf } from "./make-body.ts";

type Json = Record<string, unknown>;

const span = (more: Json = {}): Json => ({ span_id: "a", name: "step", ...more });
const issuesOf = (body: unknown): Issue[] => refusalOf("VALIDATION_ERROR", () => decodeJson(body)).issues!;
const pathsOf = (body: unknown) => issuesOf(body).map(issue => issue.path);

function hintOf(body: Json) {
  const decoded = decodeJson({ spans: [span()], ...body });
  assert.ok(decoded.path === "canonical");
  return decoded.platformHint;
}

suite("a canonical span", () => {
  test("is read with every field, and unknown ones are left out", () => {
    const sent = {
      span_id: "a",
      parent_span_id: "p",
      name: "step",
      attributes: { "gen_ai.tool.name": "t", deep: { list: [1, null] } },
      start_time_unix_nano: "1795206705954000000",
      end_time_unix_nano: "18446744073709551615",
      status: { code: 2, message: "boom" },
      events: [{ name: "e" }, 1],
    };
    assert.deepEqual(canonicalSpans({ spans: [{ ...sent, kind: 2, unknown: 1 }], other: 1 }), [sent]);
  });

  test("needs only span_id and name; null counts as absent", () => {
    const least = {
      span_id: "a",
      parent_span_id: null,
      name: "step",
      attributes: {},
      start_time_unix_nano: null,
      end_time_unix_nano: null,
      status: null,
      events: [],
    };
    const nulls = Object.fromEntries(
      Object.keys(least).map(key => [key, key === "span_id" ? "a" : key === "name" ? "step" : null]),
    );
    assert.deepEqual(canonicalSpans({ spans: [span()] }), [least]);
    assert.deepEqual(canonicalSpans({ spans: [nulls], metadata: null, platformId: null }), [least]);
  });

  test("with an empty parent_span_id is a root", () => {
    assert.equal(canonicalSpans({ spans: [span({ parent_span_id: "" })] })[0]!.parent_span_id, null);
  });

  test("keeps a status without code or message", () => {
    assert.deepEqual(
      canonicalSpans({ spans: [span({ status: { code: null, message: null } })] })[0]!.status,
      {},
    );
  });

  test("has a status code that is a whole number", () => {
    assert.deepEqual(pathsOf({ spans: [span({ status: { code: 1.5 } })] }), ["spans[0].status.code"]);
  });
});

suite("a time", () => {
  const read: [written: string, read: string][] = [
    ['"0"', "0"],
    ['"1795206705954000001"', "1795206705954000001"],
    ['"18446744073709551615"', "18446744073709551615"],
    ['"007"', "7"],
    ["0", "0"],
    ["1795206705954", "1795206705954"],
    ["1795206705954000001", "1795206705954000001"],
    ["18446744073709551615", "18446744073709551615"],
    ["1795206705954000001.0", "1795206705954000001"],
    ["1.7e18", "1700000000000000000"],
    ["1.23456789012345E+18", "1234567890123450000"],
    ["0.01795206705954000001e20", "1795206705954000001"],
    ["179520670595400000100e-2", "1795206705954000001"],
    ["18446744073709551615.000", "18446744073709551615"],
    ["1.8446744073709551615e19", "18446744073709551615"],
  ];
  for (const [written, time] of read) {
    test(`is read from ${written}`, () => {
      const body = `{"spans":[{"span_id":"a","name":"b","start_time_unix_nano":${written}}]}`;
      assert.equal(canonicalSpans(body)[0]!.start_time_unix_nano, time);
    });
  }

  const refused = [
    '""',
    '"1e3"',
    '"0x10"',
    '"1.0"',
    '"-1"',
    '" 1"',
    '"2026-01-01T00:00:00Z"',
    '"18446744073709551616"',
    '"99999999999999999999"',
    '"000000000000000000001"',
    "-1",
    "1.5",
    "1795206705954000001.5",
    "1.7952067059540000015e18",
    "179520670595400000150e-2",
    "18446744073709551616",
    "18446744073709551616.0",
    "1.8446744073709551616e19",
    "-1.7e18",
    "1e400",
    "true",
    "{}",
    "[]",
  ];
  for (const written of refused) {
    test(`is refused when it is ${written}`, () => {
      const body = `{"spans":[{"span_id":"a","name":"b","end_time_unix_nano":${written}}]}`;
      assert.deepEqual(pathsOf(body), ["spans[0].end_time_unix_nano"]);
    });
  }
});

test("the time of an event keeps every digit, however it is written", () => {
  for (const written of ["1795206705954000001", "1795206705954000001.0", "1.795206705954000001e18"]) {
    const body = `{"spans":[{"span_id":"a","name":"b","events":[{"time_unix_nano":${written}}]}]}`;
    assert.deepEqual(canonicalSpans(body)[0]!.events, [{ time_unix_nano: "1795206705954000001" }]);
  }
});

suite("a canonical body", () => {
  test("is refused when a span_id comes twice, naming each repetition", () => {
    const spans = [span(), span({ span_id: "b" }), span(), span()];
    assert.deepEqual(pathsOf({ spans }), ["spans[2].span_id", "spans[3].span_id"]);
  });

  test("may bear the names of JavaScript's own properties as span ids", () => {
    const spans = ["__proto__", "constructor", "toString"].map(span_id => span({ span_id }));
    assert.equal(canonicalSpans({ spans }).length, 3);
  });

  test("keeps its metadata, and is refused when that is no object", () => {
    const metadata = { "svc.platform_id": "x", note: { a: [1] } };
    const decoded = decodeJson({ spans: [span()], metadata });
    assert.ok(decoded.path === "canonical");
    assert.deepEqual(decoded.batch, { ...decoded.batch, metadata, resource: null });
    assert.deepEqual(pathsOf({ spans: [span()], metadata: [] }), ["metadata"]);
  });
});

suite("the platform hint", () => {
  const all = {
    platformId: "1",
    metadata: { svc: { platform_id: "2" }, "svc.platform_id": "3", platformId: "4" },
  };
  test("is the first that is present, in their documented order", () => {
    assert.deepEqual(hintOf(all), { value: "1", field: "platformId" });
    assert.deepEqual(hintOf({ ...all, platformId: null }), { value: "2", field: "metadata.svc.platform_id" });
    assert.deepEqual(hintOf({ metadata: { ...all.metadata, svc: {} } }), {
      value: "3",
      field: "metadata.svc.platform_id",
    });
    assert.deepEqual(hintOf({ metadata: { ...all.metadata, svc: "x", "svc.platform_id": null } }), {
      value: "4",
      field: "metadata.platformId",
    });
  });
});
