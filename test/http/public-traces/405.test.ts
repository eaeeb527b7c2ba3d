// 405: the endpoint answers only POST, and says so whatever else is in the request.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { statusMessage } from "../../support/rpc-status.ts";
import { json, jsonOf, proto, refused, type Sent } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

async function notAllowed(sent: Sent, hint = "Use POST."): Promise<void> {
  const answer = await service.send(sent);
  assert.deepEqual([answer.status, answer.headers.allow], [405, "POST"]);
  const reason = "Method Not Allowed: METHOD_NOT_ALLOWED, ";
  const type = sent.type === proto ? proto : json;
  assert.equal(answer.headers["content-type"], type);
  assert.equal(answer.statusMessage.slice(0, reason.length), reason);
  assert.ok(hint.startsWith(answer.statusMessage.slice(reason.length)));
  if (sent.method === "HEAD") return;
  refused(answer, 405, "METHOD_NOT_ALLOWED");
  if (type === json) assert.equal(jsonOf(answer).hint, hint);
  else assert.equal(statusMessage(answer.bytes), `METHOD_NOT_ALLOWED: Method not allowed. (${hint})`);
}

for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]) {
  test(`${method} on the endpoint is METHOD_NOT_ALLOWED, with or without a key`, async () => {
    for (const path of ["/public/traces", "/public/traces/", "/public/traces?x=1"]) {
      await notAllowed({ method, path });
      await notAllowed({ method, path, key: null, type: null });
    }
  });
}

for (const [path, allow] of [
  ["/public/traces", "POST"],
  ["/public/traces?x=1", "POST"],
  ["/api/projects", "GET, HEAD, POST"],
  ["/api/projects/0199a1b2-0000-7000-8000-000000000001/keys", "GET, HEAD, POST"],
  ["/healthz", "GET, HEAD"],
] as const) {
  for (const method of ["QUERY", "PROPFIND", "BREW", "X-Y", "get", "Brew2", "X_Y"]) {
    test(`${method} on ${path} is METHOD_NOT_ALLOWED, whether HTTP libraries know the method or not`, async () => {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      const said = await text(socket);
      const reason = /^HTTP\/1\.1 405 (.*)\r\n/.exec(said)?.[1];
      const code = path.startsWith("/public/") ? ": METHOD_NOT_ALLOWED, Use POST." : "";
      assert.equal(reason, `Method Not Allowed${code}`);
      assert.equal(/^allow: (.*)\r$/im.exec(said)?.[1], allow);
      assert.match(said, /"code":"METHOD_NOT_ALLOWED".*"hint":"Use (GET|POST)/);
    });
  }
}

for (const [what, line, header] of [
  ["an unknown method", "BREW", "host: localhost"],
  ["an unknown Expect", "POST", "host: localhost\r\nexpect: foo"],
  ["no Host", "POST", "accept: */*"],
] as const) {
  test(`a sender of protobuf with ${what} is answered in protobuf`, async () => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    const head = `${line} /public/traces HTTP/1.1\r\n${header}\r\nconnection: close\r\ncontent-length: 0\r\n`;
    socket.write(`${head}Content-Type: ${proto}\r\n\r\n`);
    const said = await text(socket);
    const reason = /^HTTP\/1\.1 \d+ [^:\r]*: ([A-Z_]+)/.exec(said)?.[1];
    assert.match(said, /\r\ncontent-type: application\/x-protobuf\r\n/i);
    assert.equal(statusMessage(Buffer.from(said.split("\r\n\r\n")[1]!)).split(":")[0], reason);
  });
}

test("PUT on / is METHOD_NOT_ALLOWED and lists the methods of the dashboard and of senders", async () => {
  const { status, headers } = await service.send({ method: "PUT", path: "/" });
  assert.equal(status, 405);
  assert.deepEqual(String(headers.allow).split(", ").sort(), ["GET", "HEAD", "POST"]);
});

test("an unknown method on an unknown path, and what is no HTTP, are not 405", async () => {
  for (const head of ["BREW /nowhere HTTP/1.1", "BREW /api/projects", "\u0000\u0001"]) {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(`${head}\r\nhost: localhost\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1\.1 400 Bad Request\r\n/);
  }
});

test("the method is checked before the body: neither broken JSON nor 40 MB of it matters", async () => {
  await notAllowed({ method: "PUT", body: "{" });
  await notAllowed({ method: "PUT", type: proto, body: "{" });
  await notAllowed({ method: "DELETE", type: "text/plain", body: "{" });
  await notAllowed({ method: "PATCH", body: Buffer.alloc(2_000_000, " ") });
});

test("a client reads the answer to an unknown method, however large its body", async () => {
  const body = Buffer.alloc(8_000_000, " ");
  for (let i = 0; i < 10; i++) {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(`BREW /public/traces HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    assert.match(await text(socket), /^HTTP\/1\.1 405 /);
  }
});

test("a request target may be a whole URL, as a proxy is sent it", async () => {
  for (const [target, answer] of [
    ["http://localhost/public/traces", /^HTTP\/1\.1 405 .*\r\nallow: POST\r\n/is],
    ["HTTP://localhost:1/public/traces/?x=1", /^HTTP\/1\.1 405 .*\r\nallow: POST\r\n/is],
    ["http://localhost/healthz", /^HTTP\/1\.1 200 /],
    ["http://localhost?x=1", /^HTTP\/1\.1 (200|404) /],
  ] as const) {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    assert.match(await text(socket), answer);
  }
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.write(
    "POST http://localhost/v1/traces HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
  );
  assert.match(
    await text(socket),
    /^HTTP\/1\.1 404 Not Found: NOT_FOUND, Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/,
  );
});

test("CONNECT is answered with a bare 400, on every path", async () => {
  for (const target of ["localhost:443", "/public/traces"]) {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    assert.equal(await text(socket), "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  }
});

test("GET on the paths that exporters use by mistake is METHOD_NOT_ALLOWED too, and says what to set", async () => {
  for (const path of ["/public/traces/v1/traces", "/public/v1/traces", "/v1/traces", "/v1/logs"]) {
    const hint = jsonOf(await service.send({ path })).hint as string;
    assert.match(hint, /^Set OTEL_EXPORTER_OTLP_(TRACES|LOGS)_ENDPOINT/);
    await notAllowed({ method: "GET", path }, hint);
    await notAllowed({ method: "HEAD", path }, hint);
    await notAllowed({ method: "GET", path: `${path}/`, type: proto }, hint);
  }
});

test("a browser's preflight is refused and grants nothing", async () => {
  const headers = { origin: "https://elsewhere.example", "access-control-request-method": "POST" };
  const answer = await service.send({ method: "OPTIONS", headers });
  assert.equal(answer.status, 405);
  assert.deepEqual(
    Object.keys(answer.headers).filter(name => name.startsWith("access-control-")),
    [],
  );
});
