// 401: without a valid key nothing else about a request matters, least of all its body.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeKey as textOfKey } from "../../../src/model/key.ts";
import { makeKey } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { json, refused, type Sent } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

async function unauthorized(sent: Sent): Promise<string> {
  const { message, hint } = refused(await service.send(sent), 401, "UNAUTHORIZED");
  assert.match(String(hint), /x-api-key/);
  return message;
}

const never = textOfKey();
for (const [what, sent] of [
  ["none", { key: null }],
  ["an empty one", { key: "" }],
  ["one that was never made", { key: never }],
  ["one of another form", { key: "secret-of-someone" }],
  ["one in another header", { key: null, headers: { authorization: `Bearer ${never}` } }],
] as const) {
  test(`a request with this key is UNAUTHORIZED in both encodings, and the key is not repeated: ${what}`, async () => {
    for (const encode of Object.values(encodings)) {
      const message = await unauthorized({ ...sent, ...encode(exportOf([exportedSpan()])) });
      assert.equal(message.includes("secret") || message.includes(never), false);
    }
  });
}

test("a valid key is UNAUTHORIZED when it is sent twice, in lower case or in part", async () => {
  const body = canonicalBody(service.agentId);
  assert.equal((await service.send({ body })).status, 201);
  await unauthorized({ key: null, headers: { "x-api-key": [service.key, service.key] }, body });
  await unauthorized({ key: service.key.toLowerCase(), body });
  await unauthorized({ key: service.key.slice(0, -1), body });
  await unauthorized({ key: `${service.key}0`, body });
});

test("a revoked key is UNAUTHORIZED from the moment its revocation is answered", async () => {
  const { id, key } = await makeKey(service.owner);
  const sent = { key, body: canonicalBody(service.agentId) };
  assert.equal((await service.send(sent)).status, 201);
  await service.client.delete(`/api/keys/${id}`).expect(204);
  await unauthorized(sent);
});

test("an expired key is UNAUTHORIZED", async () => {
  const { id, key } = await makeKey(service.owner);
  await service.db.pool.query("update keys set expires_at = now() - interval '1 second' where id = $1", [id]);
  await unauthorized({ key, body: canonicalBody(service.agentId) });
  // The check when a trace is stored would say the same, but not of a body that stores nothing.
  await unauthorized({ key, body: "{" });
});

test("the key is checked before type, encoding, size and body", async () => {
  const key = never;
  await unauthorized({ key, type: null });
  await unauthorized({ key, type: "text/plain", body: "{" });
  await unauthorized({ key, headers: { "content-encoding": "br" }, body: "{" });
  await unauthorized({ key, headers: { "x-request-id": ["a", "b"] }, body: "{" });
  await unauthorized({ key, body: Buffer.alloc(31_457_281, " ") });
  await unauthorized({ key, body: Buffer.alloc(31_457_281, " "), chunked: true });
});

/** A request with only its head sent; the test writes the body. */
function begin(headers: Record<string, string | number>): {
  outgoing: ClientRequest;
  answered: Promise<IncomingMessage>;
} {
  const outgoing = request(`${service.url}/public/traces`, {
    method: "POST",
    agent: false,
    headers: { "x-api-key": never, "content-type": json, ...headers },
  });
  outgoing.on("error", () => {}); // the connection may be cut while the test still writes
  outgoing.flushHeaders();
  const answered = once(outgoing, "response").then(([response]) => response as IncomingMessage);
  return { outgoing, answered };
}

/** A connection on which the test writes requests byte by byte. */
function openConnection() {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", text => {
    received += text;
  });
  return {
    socket,
    received: () => received,
    post(key: string, length: number) {
      const head = [
        `x-api-key: ${key}`,
        `content-type: ${json}`,
        `content-length: ${length}`,
        "host: localhost",
      ];
      socket.write(`POST /public/traces HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`);
    },
  };
}

test("the 401 is sent after the body, and the connection serves the next request", async () => {
  const { socket, received, post } = openConnection();
  const refused = Buffer.alloc(3_000_000, " ");
  post(never, refused.length);
  socket.write(refused.subarray(0, 10));
  assert.equal(received(), "");
  await new Promise(resolve => socket.write(refused.subarray(10), resolve));
  await eventually(() => assert.match(received(), /^HTTP\/1\.1 401 /));
  const body = JSON.stringify(canonicalBody(service.agentId));
  post(service.key, Buffer.byteLength(body));
  socket.write(body);
  await eventually(() => assert.match(received(), /HTTP\/1\.1 201 /));
  socket.destroy();
});

// The service waits 2 s for the body, so these tests wait side by side.
suite("a connection whose body does not come is closed after the refusal", { concurrency: true }, () => {
  for (const [path, status] of [
    ["/public/traces", 401],
    ["/public/traces/v1/traces", 404],
    ["/api/projects", 401],
    ["/nowhere", 404],
  ] as const) {
    test(`POST ${path}`, async () => {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      const received = text(socket);
      socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 40\r\n\r\n`);
      const answer = await received;
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /\r\nconnection: close\r\n/i);
    });
  }
});

test("a gzip bomb with an invalid key is answered 401, without decompressing it", async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  const headers = { "content-encoding": "gzip" };
  await unauthorized({ key: never, headers, body: bomb });
  await unauthorized({ key: never, headers, body: bomb, chunked: true });
});

test("a client that sends Expect: 100-continue is answered 401 without a 100", async () => {
  const { outgoing, answered } = begin({ "content-length": 20_000_000, expect: "100-continue" });
  outgoing.on("continue", () => assert.fail("was told to go on"));
  assert.equal((await answered).statusCode, 401);
  outgoing.destroy();
});

/** Everything that the service sends on a connection to which `parts` are written one after the other. */
async function converse(head: string[], ...parts: Buffer[]): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const received = text(socket);
  socket.write(`${["POST /public/traces HTTP/1.1", "host: localhost", ...head].join("\r\n")}\r\n\r\n`);
  for (const part of parts) await new Promise(resolve => socket.write(part, resolve));
  return received;
}

test("a client that asked to close the connection can still send its whole body before it reads the 401", async () => {
  const body = Buffer.alloc(20_000_000);
  const head = [`x-api-key: ${never}`, `content-length: ${body.length}`, "connection: close"];
  assert.match(
    await converse(head, body.subarray(0, 10), body.subarray(10)),
    /^HTTP\/1\.1 401 .*UNAUTHORIZED/s,
  );
});

// The service waits 2 s before it disconnects such a client, so these tests wait side by side.
suite("a client that keeps sending after the 401 is disconnected", { concurrency: true }, () => {
  for (const connection of ["close", "keep-alive"]) {
    test(`connection: ${connection}`, async () => {
      const { outgoing, answered } = begin({ "transfer-encoding": "chunked", connection });
      const closed = new Promise(resolve => outgoing.once("close", resolve));
      assert.equal((await answered).statusCode, 401);
      const writing = setInterval(() => outgoing.write("more"), 50);
      await closed;
      clearInterval(writing);
    });
  }
});
