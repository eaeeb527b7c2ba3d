// 415: content types and encodings that the endpoint does not read.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { json, proto, refused } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

const code = "UNSUPPORTED_MEDIA_TYPE";

for (const type of [
  null,
  "",
  "text/plain",
  "application/jsonx",
  "application/ld+json",
  "text/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/octet-stream",
  "application/x-protobuf-lite",
  "*/*",
  "json",
  "application/json, application/x-protobuf",
]) {
  test(`Content-Type ${type} is ${code}`, async () => {
    const { hint } = refused(await service.send({ type, body: canonicalBody(service.agentId) }), 415, code);
    assert.match(String(hint), /application\/json/);
  });
}

for (const type of ["application/grpc", "application/grpc+proto"]) {
  test(`${type} is answered with the protocol to set`, async () => {
    const { hint } = refused(await service.send({ type, body: "x" }), 415, code);
    assert.match(String(hint), /OTEL_EXPORTER_OTLP_PROTOCOL=http\/protobuf/);
  });
}

const text = JSON.stringify(canonicalBody("none"));
for (const [encoding, body] of [
  ["br", brotliCompressSync(text)],
  ["deflate", deflateSync(text)],
  ["zstd", zstdCompressSync(text)],
  ["x-gzip", gzipSync(text)],
  ["gzip, gzip", gzipSync(gzipSync(text))],
  ["gzip, identity", gzipSync(text)],
  ["anything", Buffer.from(text)],
] as const) {
  test(`Content-Encoding ${encoding} is ${code}, in both encodings`, async () => {
    const headers = { "content-encoding": encoding };
    refused(await service.send({ headers, body }), 415, code);
    refused(await service.send({ headers, type: proto, body }), 415, code);
  });
}

test("Content-Encoding sent twice is two layers", async () => {
  const body = gzipSync(gzipSync(text));
  const headers = ["x-api-key", service.key, "content-type", json, "content-length", String(body.length)];
  const twice = ["content-encoding", "gzip", "content-encoding", "gzip"];
  const outgoing = request(`${service.url}/public/traces`, {
    method: "POST",
    agent: false,
    headers: [...headers, "host", "localhost", ...twice],
  });
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  const bytes = await buffer(response);
  const { statusCode: status, statusMessage, headers: received } = response;
  refused({ status, statusMessage, headers: received, bytes }, 415, code);
});

test("type and encoding are checked before the size, the body and the agent", async () => {
  refused(await service.send({ type: "text/plain", body: Buffer.alloc(31_457_281) }), 415, code);
  refused(await service.send({ headers: { "content-encoding": "br" }, body: "{" }), 415, code);
  const sent = encodings.protobuf(exportOf([exportedSpan()], "nobody"));
  refused(await service.send({ ...sent, headers: { "content-encoding": "br" } }), 415, code);
});
