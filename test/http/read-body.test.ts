// Bodies as they come in: asked for when they are wanted, given up when they are cut off, never crowding out others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { Slots } from "../../src/http/slots.ts";
import { canonicalBody } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { json, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
});
after(() => service.stop());

/** A request whose head alone has been sent. */
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

test("a client that asks whether to go on is told so once, and then answered", async () => {
  const body = JSON.stringify(canonicalBody(service.agent.id));
  const outgoing = begin({ expect: "100-continue", "content-length": body.length });
  let told = 0;
  outgoing.on("continue", () => {
    told++;
    outgoing.end(body);
  });
  assert.equal(await statusOf(outgoing), 201);
  assert.equal(told, 1);
});

test("elsewhere a client that asks whether to go on is told so as well", async () => {
  const body = JSON.stringify({ email: "nobody@example.com", password: "wrong password" });
  const outgoing = begin(
    { expect: "100-continue", "content-length": body.length },
    "/api/auth/sign-in/email",
  );
  outgoing.once("continue", () => outgoing.end(body));
  assert.equal(await statusOf(outgoing), 401);
});

test("an HTTP/1.0 client is answered without being told to go on", async () => {
  const body = JSON.stringify(canonicalBody(service.agent.id));
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

test("a body in many small pieces is one body", async () => {
  const body = Buffer.from(JSON.stringify(canonicalBody(service.agent.id, { note: "é".repeat(50) })));
  const outgoing = begin({ "transfer-encoding": "chunked" });
  for (const byte of body) outgoing.write(Buffer.from([byte]));
  outgoing.end();
  assert.equal(await statusOf(outgoing), 201);
});

test("large bodies that are cut off give back their places, and none is taken for a fault", async () => {
  const large = Buffer.alloc(2_000_000, " ");
  for (let round = 0; round < 3; round++) {
    const outgoing = Array.from({ length: 4 }, () => begin({ "content-length": 10_000_000 }));
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
  const sent = { body: canonicalBody(service.agent.id, { note }) };
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => send(service, sent)));
  assert.deepEqual(new Set(answers.map(answer => answer.status)), new Set([201]));
  assert.deepEqual(
    service.logs.filter(line => /"level":[4-6]0/.test(line)),
    [],
  );
});

test("large bodies that are refused give back their places", async () => {
  for (let count = 0; count < 6; count++) {
    assert.equal((await send(service, { body: Buffer.alloc(2_000_000, "[") })).status, 400);
    assert.equal((await send(service, { body: Buffer.alloc(31_457_281), chunked: true })).status, 413);
  }
  const note = "x".repeat(3_000_000);
  assert.equal((await send(service, { body: canonicalBody(service.agent.id, { note }) })).status, 201);
});

test("while every place for large bodies is taken, small ones pass", async () => {
  const large = Array.from({ length: 4 }, () => begin({ "content-length": 10_000_000 }));
  await Promise.all(
    large.map(one => new Promise(resolve => one.write(Buffer.alloc(2_000_000, " "), resolve))),
  );
  assert.equal((await send(service, { body: canonicalBody(service.agent.id) })).status, 201);
  for (const one of large) one.end(Buffer.alloc(8_000_000, " "));
  assert.deepEqual(await Promise.all(large.map(statusOf)), [400, 400, 400, 400]);
});

test("a place is given to who waits longest, once, however often it is given back", async () => {
  const slots = new Slots(1, 60_000);
  const first = await slots.take();
  const order: string[] = [];
  const second = slots.take().then(release => {
    order.push("second");
    return release;
  });
  const third = slots.take().then(release => {
    order.push("third");
    return release;
  });
  first?.();
  first?.();
  const release = await second;
  assert.deepEqual(order, ["second"]);
  release?.();
  (await third)?.();
  assert.deepEqual(order, ["second", "third"]);
  assert.ok(await slots.take());
});

test("who waits in vain for a place gets none and takes none from the others", async () => {
  const slots = new Slots(1, 1);
  const held = await slots.take();
  assert.equal(await slots.take(), undefined);
  held?.();
  assert.ok(await slots.take());
});

test("a key that stores is recorded as used", async () => {
  await send(service, { body: canonicalBody(service.agent.id) });
  await eventually(async () => {
    const { body } = await service.client.get(`/api/projects/${service.projectId}/keys`).expect(200);
    assert.notEqual(body.items[0].lastUsedAt, null);
  });
});
