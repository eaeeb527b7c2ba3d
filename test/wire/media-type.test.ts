// Content-Type and Content-Encoding.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readContentEncoding, readMediaType } from "../../src/wire/media-type.ts";
import { refusalOf } from "./make-body.ts";

describe("readMediaType", () => {
  const read: [string, "json" | "protobuf"][] = [
    ["application/json", "json"],
    ["Application/JSON", "json"],
    ["application/json; charset=utf-8", "json"],
    ["application/json;charset=UTF-8;x=y", "json"],
    ["  application/json  ; a=b", "json"],
    ["application/x-protobuf", "protobuf"],
    ["APPLICATION/X-PROTOBUF; messageType=x", "protobuf"],
    ["application/protobuf", "protobuf"],
  ];
  for (const [header, mediaType] of read) {
    test(`reads ${JSON.stringify(header)} as ${mediaType}`, () =>
      assert.equal(readMediaType(header), mediaType));
  }

  const refused = [
    undefined,
    "",
    ";",
    "text/plain",
    "application/jsonx",
    "application/vnd.api+json",
    "application/json, application/json",
    "application/grpc",
    ["application/json", "application/json"],
  ];
  for (const header of refused) {
    test(`refuses ${JSON.stringify(header)} and says what to send`, () => {
      const refusal = refusalOf("UNSUPPORTED_MEDIA_TYPE", () => readMediaType(header));
      assert.equal(refusal.status, 415);
      assert.ok(refusal.hint);
    });
  }

  test("tells a gRPC client which protocol to choose", () => {
    const refusal = refusalOf("UNSUPPORTED_MEDIA_TYPE", () => readMediaType("application/grpc+proto"));
    assert.match(refusal.hint!, /http\/protobuf/);
  });
});

describe("readContentEncoding", () => {
  const read: [string | undefined, "identity" | "gzip"][] = [
    [undefined, "identity"],
    ["", "identity"],
    ["identity", "identity"],
    ["Identity", "identity"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    [" gzip ", "gzip"],
  ];
  for (const [header, encoding] of read) {
    test(`reads ${JSON.stringify(header)} as ${encoding}`, () =>
      assert.equal(readContentEncoding(header), encoding));
  }

  for (const header of [
    "br",
    "deflate",
    "zstd",
    "x-gzip",
    "gzip, gzip",
    "identity, gzip",
    ["gzip", "gzip"],
  ]) {
    test(`refuses ${JSON.stringify(header)}`, () => {
      assert.equal(refusalOf("UNSUPPORTED_MEDIA_TYPE", () => readContentEncoding(header)).status, 415);
    });
  }
});
