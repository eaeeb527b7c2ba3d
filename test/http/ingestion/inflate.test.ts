// Large gzip bodies: the limit, and what they leave in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { inflateLarge } from "../../../src/http/ingestion/inflate.ts";

const mebibyte = 1024 * 1024;

test("inflates to exactly the limit, and not to one byte more", async () => {
  const text = Buffer.alloc(mebibyte + 5, "abc");
  const body = gzipSync(text);
  assert.deepEqual(await inflateLarge(body, text.length), text);
  assert.equal(await inflateLarge(body, text.length - 1), "too large");
});

test("leaves no garbage, whether the body is taken or too large", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * mebibyte, " "));
  const body = gzipSync(Buffer.alloc(24 * mebibyte, " "));
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 8; round++) {
    assert.equal(await inflateLarge(bomb, 24 * mebibyte), "too large");
    const inflated = (await inflateLarge(body, 24 * mebibyte)) as Buffer;
    (inflated.buffer as ArrayBuffer).transfer(0);
  }
  const left = process.memoryUsage().arrayBuffers - before;
  assert.ok(left < 24 * mebibyte, `${Math.round(left / mebibyte)} MB of buffers are left`);
});
