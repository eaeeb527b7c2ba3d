// The clients of `npm run torture` know why they were refused, whatever encoding the answer has.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Refusal } from "../../src/model/refusal.ts";
import { encodeStatus } from "../../src/wire/otlp-reply.ts";
import { send } from "../../torture/requests.ts";

const refusal = new Refusal("RATE_LIMITED");
const answers: Record<string, [status: number, type: string, body: Uint8Array | string]> = {
  "/protobuf": [429, "application/x-protobuf", encodeStatus(refusal)],
  "/json": [429, "application/json", JSON.stringify({ code: refusal.code, message: refusal.message })],
  "/proxy": [429, "text/html", "<html>"],
  "/cut": [429, "application/json", '{"code":'],
  "/stored": [201, "application/x-protobuf", ""],
};

test("a refusal has its code in JSON and in protobuf, and none from others", async t => {
  const server = createServer((request, response) => {
    const [status, type, body] = answers[request.url!]!;
    request.resume().on("end", () => response.writeHead(status, { "content-type": type }).end(body));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const codes: Record<string, unknown> = {};
  for (const path of Object.keys(answers)) {
    const request = { path, headers: {}, body: Buffer.from("body") };
    const { status, code } = await send(url, request, new AbortController().signal);
    codes[path] = [status, code];
  }
  assert.deepEqual(codes, {
    "/protobuf": [429, "RATE_LIMITED"],
    "/json": [429, "RATE_LIMITED"],
    "/proxy": [429, undefined],
    "/cut": [429, undefined],
    "/stored": [201, undefined],
  });
});
