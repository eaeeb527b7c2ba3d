// What every endpoint has in common: error responses, headers, limits, health checks and shutdown.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { z } from "zod";
import { onlyProcess } from "../../src/http/frame/machine.ts";
import { Refusal } from "../../src/model/refusal.ts";
import { type Owner, startTestApp, type TestApp } from "../support/app.ts";
import { refusalIn } from "../support/client.ts";
import { statusMessage } from "../support/rpc-status.ts";

const open = { config: { access: "open" } } as const;
let service: TestApp;
let owner: Owner;
before(async () => {
  service = await startTestApp({
    extend(app) {
      app.get("/broken", open, async () => {
        throw new Error("a detail for nobody");
      });
      app.get(
        "/mistaken",
        { ...open, schema: { response: { 200: z.object({ count: z.number() }) } } },
        async () => {
          return { count: "seven" as unknown as number };
        },
      );
      app.get("/refused", open, async () => {
        throw new Refusal("RATE_LIMITED", {
          hint: "Wait.",
          issues: Array.from({ length: 30 }, (_, index) => ({ path: `[${index}]`, message: "No." })),
          retryAfterSeconds: 7,
          cause: new Error("a detail for nobody"),
        });
      });
      app.post("/public/things", open, async () => "done");
      for (const path of ["/stalled", "/public/stalled"]) {
        app.post(path, { ...open, onRequest: (_request, _reply, _next) => {} }, async () => "never");
      }
    },
  });
  owner = await service.verifiedAccount();
});
after(() => service.close());

test("a refusal is answered with its code, hint, up to 20 issues and Retry-After, and nothing private", async () => {
  const { headers, body } = await service.client().get("/refused").expect(429);
  assert.equal(headers.get("retry-after"), "7");
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(Object.keys(body), ["code", "message", "hint", "issues", "requestId"]);
  assert.equal(body.issues!.length, 20);
  assert.equal(JSON.stringify(body).includes("nobody"), false);
});

test("a bug is 500 INTERNAL without details, and logged with the request id from the response", async () => {
  for (const path of ["/broken", "/mistaken"]) {
    const { body } = await service.client().get(path).expect(500);
    assert.deepEqual(Object.keys(body), ["code", "message", "requestId"]);
    assert.equal(body.code, "INTERNAL");
    const line = service.logs.find(line => line.includes(body.requestId) && line.includes("request failed"));
    assert.notEqual(line, undefined, `${path} was not logged`);
  }
  assert.equal(
    service.logs.some(line => line.includes("a detail for nobody")),
    true,
  );
});

test("the request id is the server's own, never the client's", async () => {
  const ids: string[] = [];
  for (let asked = 0; asked < 2; asked++) {
    const headers = { "x-request-id": "mine", "request-id": "mine" };
    const { body } = await service.client().request("GET", "/nowhere", undefined, headers).expect(404);
    assert.match(body.requestId, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    ids.push(body.requestId);
  }
  assert.notEqual(ids[0], ids[1]);
});

test("an unknown URL is 404 NOT_FOUND with and without a session", async () => {
  for (const client of [service.client(), owner.client]) {
    for (const path of ["/nowhere", "/api", "/api/nowhere", "/api/projects/a/b", "/%ff"]) {
      assert.equal((await client.get(path).expect(404)).body.code, "NOT_FOUND");
    }
  }
});

test("a known URL with another method is 405 METHOD_NOT_ALLOWED and lists the allowed ones", async () => {
  for (const [method, path, allow] of [
    ["PUT", "/api/projects", "GET, HEAD, POST"],
    ["POST", "/api/agents/1?x=y", "GET, HEAD, PATCH, DELETE"],
    ["GET", "/public/things", "POST"],
    ["OPTIONS", "/api/projects", "GET, HEAD, POST"],
    ["DELETE", "/healthz", "GET, HEAD"],
  ] as const) {
    const { headers, body } = await owner.client.request(method, path).expect(405);
    assert.equal(body.code, "METHOD_NOT_ALLOWED");
    const sorted = (text: string) => text.split(", ").sort();
    assert.deepEqual(sorted(headers.get("allow")!), sorted(allow));
  }
});

for (const [what, type, body, status, code] of [
  ["a form", "application/x-www-form-urlencoded", "name=x", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["plain text", "text/plain", '{"name":"x"}', 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["no JSON", "application/json", '{"name":', 400, "VALIDATION_ERROR"],
  ["a JSON text of another shape", "application/json", "[]", 400, "VALIDATION_ERROR"],
  ["null", "application/json", "null", 400, "VALIDATION_ERROR"],
  ["nothing", "application/json", "", 400, "VALIDATION_ERROR"],
  ["201 levels", "application/json", "[".repeat(201) + "]".repeat(201), 400, "VALIDATION_ERROR"],
  ["half a million levels", "application/json", "[".repeat(5e5) + "]".repeat(5e5), 400, "VALIDATION_ERROR"],
  ["more than 1 MB", "application/json", `"${"x".repeat(1_048_576)}"`, 413, "PAYLOAD_TOO_LARGE"],
] as const) {
  test(`a body that is ${what} is ${status} ${code}`, async () => {
    const headers = { "content-type": type };
    const reply = await owner.client.request("POST", "/api/projects", body, headers);
    assert.deepEqual([reply.status, refusalIn(reply).code], [status, code]);
  });
}

test("a body of exactly 1 MB is read", async () => {
  const body = JSON.stringify({ name: "Large", padding: "" });
  const padded = body.replace('""', `"${"x".repeat(1_048_576 - body.length)}"`);
  await owner.client.request("POST", "/api/projects", padded).expect(201);
});

test("a body that is not UTF-8 is 400 VALIDATION_ERROR", async () => {
  const reply = await fetch(`${service.url}/api/projects`, {
    method: "POST",
    headers: { cookie: owner.client.cookie, "content-type": "application/json" },
    body: Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]),
  });
  assert.equal(reply.status, 400);
});

test("errors in a body are named with their paths in JavaScript notation", async () => {
  const { projectId } = owner;
  const body = { name: "x", access: "granular", agentIds: ["a"] };
  const { body: refused } = await owner.client.post(`/api/projects/${projectId}/keys`, body).expect(400);
  assert.equal(refused.issues![0]!.path, "agentIds[0]");
  assert.equal(refused.issues![0]!.message.length > 0, true);
});

test("keys such as __proto__ change nothing but themselves", async () => {
  const text = '{"name":"Plain","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  await owner.client.request("POST", "/api/projects", text).expect(201);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test("every response has the security headers, and none allows other origins", async () => {
  for (const path of ["/api/projects", "/api/nowhere", "/api/agents/%ff", "/broken", "/healthz"]) {
    const headers = { origin: "https://evil.example" };
    const reply = await owner.client.request("GET", path, undefined, headers);
    assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
    assert.equal(reply.headers.get("referrer-policy"), "no-referrer");
    assert.match(reply.headers.get("content-security-policy")!, /default-src 'none'; frame-ancestors 'none'/);
    assert.equal(reply.headers.get("cache-control"), path.startsWith("/api/") ? "no-store" : null);
    assert.equal(reply.headers.get("access-control-allow-origin"), null);
  }
});

test("under an https base URL browsers are told to use https only", async () => {
  const secure = await startTestApp({ baseUrl: "https://onlooker.test" });
  try {
    for (const path of ["/api/nowhere", "/healthz"]) {
      const { headers } = await secure.client().get(path);
      assert.equal(headers.get("strict-transport-security"), "max-age=31536000");
    }
  } finally {
    await secure.close();
  }
  assert.equal((await service.client().get("/healthz")).headers.get("strict-transport-security"), null);
});

/** The response to `sent`, after which nothing more arrives, when Node's timeout is over. */
async function timedOut(sent: string): Promise<{ head: string; body: Buffer }> {
  const arrived = once(service.app.server, sent.includes("\r\n\r\n") ? "request" : "connection");
  const client = connect(Number(new URL(service.url).port), "127.0.0.1");
  client.write(sent);
  const received = buffer(client);
  const [from] = (await arrived) as [Socket | IncomingMessage];
  const error = Object.assign(new Error("timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  service.app.server.emit("clientError", error, "socket" in from ? from.socket : from);
  const bytes = await received;
  const end = bytes.indexOf("\r\n\r\n");
  return { head: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) };
}

const headOf = (path: string, type: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\n`;

for (const [what, sent, type, reason] of [
  ["headers", "POST /public/tra", "application/json", /^Request Timeout: REQUEST_TIMEOUT, Retry\./],
  [
    "body for ingestion",
    headOf("/public/stalled", "application/json"),
    "application/json",
    /^Request Timeout: REQUEST_TIMEOUT, Retry\./,
  ],
  ["body", headOf("/stalled", "application/json"), "application/json; charset=utf-8", /^Request Timeout$/],
] as const) {
  test(`a request whose ${what} takes too long to arrive is answered with 408 and Retry-After`, async () => {
    const { head, body } = await timedOut(sent);
    assert.match(/^HTTP\/1\.1 408 (.*)\r\n/.exec(head)![1]!, reason);
    assert.match(head, /\r\nRetry-After: 1\r\n/);
    assert.equal(/\r\nContent-Type: (.*)\r\n/.exec(head)![1], type);
    const { code, message, hint, requestId } = JSON.parse(body.toString());
    assert.deepEqual([code, message], ["REQUEST_TIMEOUT", "The request took too long to arrive."]);
    assert.match(hint, /^Retry\./);
    assert.ok(requestId);
  });
}

test("a sender of protobuf whose body takes too long to arrive is answered in protobuf", async () => {
  const { head, body } = await timedOut(headOf("/public/stalled", "application/x-protobuf"));
  assert.match(head, /^HTTP\/1\.1 408 Request Timeout: REQUEST_TIMEOUT, Retry\./);
  assert.match(head, /\r\nContent-Type: application\/x-protobuf\r\n/);
  assert.match(statusMessage(body), /^REQUEST_TIMEOUT: The request took too long to arrive\. \(Retry\./);
});

test("a request that is not HTTP is answered with 400, and the connection ends", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.end("no http\r\n\r\n");
  let reply = "";
  socket.on("data", chunk => {
    reply += chunk;
  });
  await once(socket, "close");
  assert.equal(reply, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
});

for (const [what, head, status, code, hint] of [
  ["without a Host", "", "400 Bad Request", "VALIDATION_ERROR", /host name/],
  [
    "with an unknown Expect",
    "Host: x\r\nExpect: something\r\n",
    "417 Expectation Failed",
    "EXPECTATION_FAILED",
    /100-continue/,
  ],
  ["with two Hosts", "Host: x\r\nHost: x\r\n", "400 Bad Request", "VALIDATION_ERROR", /one Host/],
] as const) {
  for (const path of ["/api/projects", "/public/things", "/nowhere", "/healthz"]) {
    test(`a request of ${path} ${what} is ${status} ${code}`, async () => {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.end(`POST ${path} HTTP/1.1\r\n${head}Content-Length: 0\r\nConnection: close\r\n\r\n`);
      let reply = "";
      socket.on("data", chunk => {
        reply += chunk;
      });
      await once(socket, "close");
      const [start = "", body = ""] = reply.split("\r\n\r\n");
      const phrase = path.startsWith("/public/") ? `${status}: ${code}, ` : `${status}\r\n`;
      assert.ok(start.startsWith(`HTTP/1.1 ${phrase}`), start);
      assert.match(start, /content-type: application\/json/i);
      const refusal = JSON.parse(body);
      assert.equal(refusal.code, code);
      assert.match(refusal.hint, hint);
      assert.ok(refusal.requestId);
    });
  }
}

for (const codings of ["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "chunked, chunked"]) {
  test(`a body in the transfer codings ${JSON.stringify(codings)} is a 400 and not read as the next request`, async () => {
    for (const type of ["application/json", "application/x-protobuf"]) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      const head = `POST /public/things HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n`;
      socket.write(`${head}Transfer-Encoding: ${codings}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
      socket.end("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      const said = await text(socket);
      assert.match(said, /^HTTP\/1\.1 400 Bad Request/);
      assert.doesNotMatch(said.slice(8), /HTTP\/1\.1 (4|5)/);
      // Node's own parser refuses a second "chunked".
      if (codings.startsWith("chunked")) continue;
      assert.match(said, /^HTTP\/1\.1 400 Bad Request: VALIDATION_ERROR/);
      assert.match(said, new RegExp(`content-type: ${type}\r\n`, "i"));
    }
  });
}

test("chunked is taken in any case", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const head =
    "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: , Chunked\r\n\r\n";
  socket.end(`${head}0\r\n\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 200 /);
});

test("HTTP/1.0 needs no Host", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.end("GET /healthz HTTP/1.0\r\n\r\n");
  const [chunk] = await once(socket, "data");
  assert.match(String(chunk), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a process that works reports ready, and its metrics can be read", async () => {
  await service.client().get("/healthz").expect(200);
  await service.client().get("/readyz").expect(200);
  const { headers, body } = await service.client().get("/metrics").expect(200);
  assert.match(headers.get("content-type")!, /^text\/plain/);
  for (const name of [
    "svc_ingest_requests_total",
    "svc_ingest_spans_total",
    "svc_runs_total",
    "svc_runs_waiting",
    "svc_judge_calls_total",
    "svc_http_request_duration_seconds_bucket",
    "process_cpu_seconds_total",
  ]) {
    assert.equal(body.includes(name), true, `${name} is missing`);
  }
  assert.match(body, /route="\/api\/projects",status="201"/);
});

test("a process whose database was not migrated is not ready", async () => {
  const fresh = await startTestApp();
  try {
    await fresh.db.pool.query("delete from migrations");
    const { headers } = await fresh.client().get("/readyz").expect(503);
    assert.equal(headers.get("retry-after"), "1");
  } finally {
    await fresh.close();
  }
});

test("while the database is down every endpoint is 503 UNAVAILABLE with Retry-After, and the process stays alive", async () => {
  const away = await startTestApp();
  const { client, email, password } = await away.signUp();
  away.db.pool.options.connectionString = "postgresql://nobody@127.0.0.1:1/nothing";
  await assert.rejects(
    away.db.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()",
    ),
  );
  try {
    await away.client().get("/healthz").expect(200);
    await away.client().get("/readyz").expect(503);
    const replies = [
      await client.get("/api/projects"),
      await client.post("/api/projects", { name: "x" }),
      await client.post("/api/auth/sign-out"),
      await away.client().post("/api/auth/sign-in/email", { email, password }),
      await away.client().post("/api/auth/sign-up/email", { email: "new@example.com", password }),
      await away.client().post("/api/auth/request-password-reset", { email }),
      await away.client().post("/api/verification/confirm", { token: "x" }),
    ];
    for (const reply of replies) {
      assert.deepEqual([reply.status, refusalIn(reply).code], [503, "UNAVAILABLE"]);
      assert.match(reply.headers.get("retry-after")!, /^[23]$/);
    }
  } finally {
    await away.close();
  }
});

test("a server that is closing is not ready, also on a connection that is still open", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const closing = await startTestApp({
    extend: app =>
      void app.get("/slow", open, async () => {
        started.resolve();
        await finish.promise;
        return "finished";
      }),
  });
  const socket = connect(Number(new URL(closing.url).port), "127.0.0.1");
  const answers = text(socket);
  socket.write("GET /slow HTTP/1.1\r\nHost: onlooker.test\r\n\r\n");
  await started.promise;
  const closed = closing.close();
  const asked = once(closing.app.server, "request");
  socket.write("GET /readyz HTTP/1.1\r\nHost: onlooker.test\r\n\r\n");
  await asked;
  finish.resolve();
  const [, ready] = (await answers).split("finished");
  assert.match(ready!, /^HTTP\/1\.1 503 .*\{"status":"stopping"\}$/s);
  await closed;
});

test("one of several processes tells which are missing, and that the one that leads hangs", async () => {
  const health = { processes: 3, serving: 3, isLed: true };
  const one = await startTestApp({ machine: { ...onlyProcess(), health: () => health } });
  const ask = async (path: string) => {
    const { status, body } = await one.client().get(path);
    return [status, body];
  };
  assert.deepEqual(await ask("/readyz"), [200, { status: "ready" }]);
  health.serving = 1;
  const missing = { status: "degraded", httpProcessesMissing: 2, httpProcesses: 3 };
  assert.deepEqual(await ask("/readyz"), [200, missing]);
  assert.deepEqual(await ask("/healthz"), [200, { status: "ok" }]);
  health.isLed = false;
  const unled = [503, { status: "waiting", waitingFor: "leader" }];
  assert.deepEqual([await ask("/readyz"), await ask("/healthz")], [unled, unled]);
  await one.close();
});

test("a server that is closed finishes the current request and the email being sent", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const closing = await startTestApp({
    extend: app =>
      void app.get("/slow", open, async () => {
        started.resolve();
        await finish.promise;
        return "finished";
      }),
  });
  let sent = 0;
  closing.mailer.send = async () => {
    await finish.promise;
    sent++;
  };
  await closing.signUp();
  const reply = closing.client().get("/slow");
  await started.promise;
  const closed = closing.close();
  finish.resolve();
  assert.equal((await reply.expect(200)).body, "finished");
  await closed;
  assert.equal(sent, 1);
});
