// Reading request bodies: on demand, limited in number, given up when they stall, without blocking small ones.
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { mock, test } from "node:test";
import { gzipSync } from "node:zlib";
import { enforceMinRate, type MinRate } from "../../../src/http/ingestion/min-rate.ts";
import { BodyReader, bodyBytesMax } from "../../../src/http/ingestion/read-body.ts";
import { Refusal } from "../../../src/model/refusal.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { json, proto, refused } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

/** A request with only its head sent. */
function begin(headers: OutgoingHttpHeaders, path = "/public/traces"): ClientRequest {
  const outgoing = request(service.url + path, {
    method: "POST",
    agent: false,
    headers: { "x-api-key": service.key, "content-type": json, ...headers },
  });
  outgoing.flushHeaders();
  return outgoing;
}

const statusOf = async (outgoing: ClientRequest) => {
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
};

test("a client that sends Expect: 100-continue gets one 100, then its answer", async () => {
  const body = JSON.stringify(canonicalBody(service.agentId));
  const outgoing = begin({ expect: "100-continue", "content-length": body.length });
  let told = 0;
  outgoing.on("continue", () => {
    told++;
    outgoing.end(body);
  });
  assert.equal(await statusOf(outgoing), 201);
  assert.equal(told, 1);
});

test("a client that sends Expect: 100-continue to a wrong path is answered without a 100", async () => {
  for (const path of ["/v1/traces", "/public/traces/v1/traces", "/public/nowhere", "/"]) {
    const outgoing = begin({ expect: "100-continue", "content-length": 5_000_000 }, path);
    outgoing.on("continue", () => assert.fail("It was asked for its body."));
    assert.equal(await statusOf(outgoing), 404);
    outgoing.destroy();
  }
});

test("other endpoints answer Expect: 100-continue as well", async () => {
  const body = JSON.stringify({ email: "nobody@example.com", password: "wrong password" });
  const outgoing = begin(
    { expect: "100-continue", "content-length": body.length },
    "/api/auth/sign-in/email",
  );
  outgoing.once("continue", () => outgoing.end(body));
  assert.equal(await statusOf(outgoing), 401);
});

test("an HTTP/1.0 client gets no 100 Continue", async () => {
  const body = JSON.stringify(canonicalBody(service.agentId));
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const head = [
    "POST /public/traces HTTP/1.0",
    `x-api-key: ${service.key}`,
    `content-type: ${json}`,
    `content-length: ${body.length}`,
    "expect: 100-continue",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  assert.match(await text(socket), /^HTTP\/1\.1 201 /);
});

test("a body in many small chunks is one body", async () => {
  const body = Buffer.from(JSON.stringify(canonicalBody(service.agentId, { note: "é".repeat(50) })));
  const outgoing = begin({ "transfer-encoding": "chunked" });
  for (const byte of body) outgoing.write(Buffer.from([byte]));
  outgoing.end();
  assert.equal(await statusOf(outgoing), 201);
});

test("large bodies that are cut off release their slots, and are not reported as errors", async () => {
  const large = Buffer.alloc(2_000_000, " ");
  for (let round = 0; round < 3; round++) {
    // As many as one key may have.
    const outgoing = Array.from({ length: 2 }, () => begin({ "content-length": 10_000_000 }));
    await Promise.all(
      outgoing.map(async one => {
        await new Promise(resolve => one.write(large, resolve));
        one.on("error", () => {}); // the test's own doing
        const closed = new Promise(resolve => one.once("close", resolve));
        one.destroy();
        await closed;
      }),
    );
  }
  const note = "x".repeat(3_000_000);
  const sent = { body: canonicalBody(service.agentId, { note }) };
  // One at a time: a slot that was kept would keep each of them out, and none waits for another on a busy machine.
  for (let count = 0; count < 3; count++) assert.equal((await service.send(sent)).status, 201);
  assert.deepEqual(
    // A machine that is busy with other things logs that connecting to PostgreSQL took too long.
    service.logs.filter(line => /"level":[4-6]0/.test(line) && !line.includes("database unavailable")),
    [],
  );
});

test("large bodies that are rejected release their slots", async () => {
  for (let count = 0; count < 6; count++) {
    assert.equal((await service.send({ body: Buffer.alloc(2_000_000, "[") })).status, 400);
    assert.equal((await service.send({ body: Buffer.alloc(31_457_281), chunked: true })).status, 413);
  }
  const note = "x".repeat(3_000_000);
  assert.equal((await service.send({ body: canonicalBody(service.agentId, { note }) })).status, 201);
});

test("while a key has its share of the slots for large bodies, small ones pass", async () => {
  const large = Array.from({ length: 2 }, () => begin({ "content-length": 10_000_000 }));
  await Promise.all(
    large.map(one => new Promise(resolve => one.write(Buffer.alloc(2_000_000, " "), resolve))),
  );
  assert.equal((await service.send({ body: canonicalBody(service.agentId) })).status, 201);
  for (const one of large) one.end(Buffer.alloc(8_000_000, " "));
  assert.deepEqual(await Promise.all(large.map(statusOf)), [400, 400]);
});

test("large bodies of one key that stall let other keys in, and its own wait and are 429 with Retry-After", async () => {
  const stalled = Array.from({ length: 2 }, () => begin({ "content-length": 10_000_000 }));
  await Promise.all(
    stalled.map(one => new Promise(resolve => one.write(Buffer.alloc(2_000_000, " "), resolve))),
  );
  const { body } = await service.client
    .post(`/api/projects/${service.projectId}/keys`, { name: "other", access: "full" })
    .expect(201);
  const note = "x".repeat(3_000_000);
  const large = { body: canonicalBody(service.agentId, { note }) };
  assert.equal((await service.send({ ...large, key: body.key })).status, 201);

  const own = await service.send({ type: proto, body: Buffer.alloc(3_000_000) });
  assert.match(refused(own, 429, "RATE_LIMITED").message, /large requests of this key/);
  assert.match(String(own.headers["retry-after"]), /^[23]$/);
  for (const one of stalled) one.end(Buffer.alloc(8_000_000, " "));
  assert.deepEqual(await Promise.all(stalled.map(statusOf)), [400, 400]);
});

test("a large body is inflated in few trips to the thread pool, each of which waits for a busy machine", async () => {
  const inflaters = new Set<number>();
  let trips = 0;
  const hook = createHook({
    init(id, type) {
      if (type === "ZLIB") inflaters.add(id);
    },
    before(id) {
      if (inflaters.has(id)) trips++;
    },
  });
  const body = gzipSync(Buffer.alloc(bodyBytesMax, " "));
  const incoming = Object.assign(Readable.from([body]), {
    headers: { "content-length": `${body.length}` },
    complete: true,
  });
  hook.enable();
  const { bytes, release } = await new BodyReader().read(
    incoming as unknown as IncomingMessage,
    {} as ServerResponse,
    "gzip",
    "json",
    ["account", "key"],
  );
  hook.disable();
  release();
  assert.equal(bytes.length, bodyBytesMax);
  assert.ok(trips >= 1 && trips < 200, `${trips} trips`);
});

/** A server that reads bodies at a minimum rate and answers their length. `begun`: how many it is reading. */
async function openReading(minRate: MinRate) {
  const reader = new BodyReader({ minRate });
  // Each request has a key and an account of its own.
  let requests = 0;
  const reading = { begun: 0 };
  const server = createServer(async (incoming, outgoing) => {
    reading.begun++;
    try {
      const { bytes, release } = await reader.read(incoming, outgoing, "identity", "json", [
        `account ${++requests}`,
        `key ${requests}`,
      ]);
      release();
      outgoing.end(`${bytes.length}`);
    } catch (error) {
      assert.ok(error instanceof Refusal);
      outgoing.writeHead(error.status, { connection: "close" }).end(error.code);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = (server.address() as AddressInfo).port;
  const upload = (headers: OutgoingHttpHeaders) => {
    const outgoing = request({ host: "127.0.0.1", port, method: "POST", agent: false, headers });
    outgoing.on("error", () => {}); // requests that are refused, or go away
    outgoing.flushHeaders();
    const answer = once(outgoing, "response").then(async ([response]: IncomingMessage[]) => [
      response!.statusCode,
      await text(response!),
    ]);
    return { outgoing, answer };
  };
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { reading, upload, close };
}

test("large bodies that stall are rejected as retryable, and release their slots", async () => {
  const { upload, close } = await openReading({ bytes: 100_000, ms: 500 });
  for (const headers of [{ "content-length": 10_000_000 }, { "transfer-encoding": "chunked" }]) {
    const stalled = [1, 2, 3, 4].map(() => upload(headers));
    for (const { outgoing } of stalled) outgoing.write(Buffer.alloc(2_000_000));
    for (const { answer } of stalled) assert.deepEqual(await answer, [503, "UNAVAILABLE"]);
  }
  const { outgoing, answer } = upload({ "content-length": 2_000_000 });
  outgoing.end(Buffer.alloc(2_000_000));
  assert.deepEqual(await answer, [200, "2000000"]);
  await close();
});

test("a small body may be slow", async () => {
  const { upload, close } = await openReading({ bytes: 100_000, ms: 5 });
  const small = upload({ "content-length": 200 });
  small.outgoing.write(Buffer.alloc(100));
  const large = upload({ "content-length": 2_000_000 });
  assert.deepEqual(await large.answer, [503, "UNAVAILABLE"]);
  small.outgoing.end(Buffer.alloc(100));
  assert.deepEqual(await small.answer, [200, "200"]);
  await close();
});

test("a client that disconnects while it waits for a slot takes none", { timeout: 30_000 }, async () => {
  // Nobody stalls here: only the clients that disconnect release slots.
  const { reading, upload, close } = await openReading({ bytes: 0, ms: 60_000 });
  const holding = [1, 2, 3, 4].map(() => upload({ "content-length": 2_000_000 }));
  await eventually(async () => assert.equal(reading.begun, 4));
  const declared = [1, 2, 3, 4].map(() => upload({ "content-length": 2_000_000 }));
  await eventually(async () => assert.equal(reading.begun, 8));
  for (const { outgoing, answer } of declared) {
    answer.catch(() => {}); // they are answered nothing
    outgoing.destroy();
  }
  for (const { outgoing, answer } of holding) {
    outgoing.end(Buffer.alloc(2_000_000));
    assert.deepEqual(await answer, [200, "2000000"]);
  }
  const { outgoing, answer } = upload({ "content-length": 2_000_000 });
  outgoing.end(Buffer.alloc(2_000_000));
  assert.deepEqual(await answer, [200, "2000000"]);
  await close();
});

test("an upload keeps the minimum rate if it sends enough in every interval", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  let late = 0;
  const monitor = enforceMinRate({ bytes: 100, ms: 1_000 }, () => late++);
  const pass = async (bytes: number) => {
    monitor.count(bytes);
    mock.timers.tick(1_000);
    await new Promise(resolve => setImmediate(resolve));
  };
  for (const bytes of [100, 500, 100]) await pass(bytes);
  assert.equal(late, 0);
  await pass(99);
  assert.equal(late, 1);
  await pass(0);
  assert.equal(late, 1, "told once");
  mock.timers.reset();
});

test("using a key to store a trace is recorded", async () => {
  await service.send({ body: canonicalBody(service.agentId) });
  await eventually(async () => {
    const body = await service.read(`/api/projects/${service.projectId}/keys`);
    assert.notEqual(body.items[0]!.lastUsedAt, null);
  });
});

test("a key whose requests are all rejected counts as used, too", async () => {
  const body = { name: "rejected", access: "full" };
  const created = await service.client.post(`/api/projects/${service.projectId}/keys`, body).expect(201);
  const { id, key } = created.body;
  assert.equal((await service.send({ key, body: { spans: [] } })).status, 400);
  await eventually(async () => {
    assert.notEqual((await service.read(`/api/keys/${id}`)).lastUsedAt, null);
  });
});
