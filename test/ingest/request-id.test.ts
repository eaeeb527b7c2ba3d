// x-request-id as an identity: used unchanged, or rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readRequestId } from "../../src/ingest/request-id.ts";
import { refusalOf } from "../wire/make-body.ts";

const printable = fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code));

test("1 to 255 printable ASCII characters are the identity, unchanged", () => {
  const ids = fc.string({ unit: printable, minLength: 1, maxLength: 255 });
  fc.assert(fc.property(ids, id => assert.equal(readRequestId([id]), id)));
  assert.equal(readRequestId(["x".repeat(255)])?.length, 255);
});

test("a missing or empty header is no identity", () => {
  assert.equal(readRequestId([]), undefined);
  assert.equal(readRequestId([""]), undefined);
});

test("other characters, too many characters and a second header are VALIDATION_ERROR, without repeating the value", () => {
  const other = fc.integer({ min: 0, max: 0xff }).filter(code => code < 0x20 || code > 0x7e);
  const around = fc.string({ unit: printable, maxLength: 20 });
  fc.assert(
    fc.property(around, other, around, (before, code, after) => {
      refusalOf("VALIDATION_ERROR", () => readRequestId([before + String.fromCharCode(code) + after]));
    }),
  );
  const long = refusalOf("VALIDATION_ERROR", () => readRequestId(["y".repeat(256)]));
  assert.equal(JSON.stringify([long.message, long.hint, long.issues]).includes("yyy"), false);
  refusalOf("VALIDATION_ERROR", () => readRequestId(["a", "a"]));
  refusalOf("VALIDATION_ERROR", () => readRequestId(["", ""]));
});
