// What the log says of requests that are answered 503: who reads it sees the outage, and not each of its requests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Refusal } from "../../src/model/refusal.ts";
import { messageOf, refusalOf } from "../../src/threads/refusal-message.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

const open = { config: { access: "open" } } as const;
let service: TestApp;
before(async () => {
  const outage = () =>
    Object.assign(new Error("connect ECONNREFUSED 10.0.0.5:5432"), { code: "ECONNREFUSED" });
  service = await startTestApp({
    extend: app => {
      for (const path of ["/outage", "/public/outage", "/beside"]) {
        app.get(path, open, async () => {
          throw outage();
        });
      }
      app.post("/outage", open, async () => {
        throw outage();
      });
      app.get("/addresses", open, async () => {
        const { code } = outage();
        throw Object.assign(new AggregateError([outage(), outage()]), { code });
      });
      app.get("/thread", open, async () => {
        throw new Refusal("UNAVAILABLE", { message: "The thread ended." });
      });
      app.get("/in-a-thread", open, async () => {
        throw refusalOf(messageOf(new Refusal("UNAVAILABLE", { cause: outage() })));
      });
      app.get("/bug", open, async () => {
        throw new Refusal("UNAVAILABLE", { cause: new TypeError("undefined is not a function") });
      });
    },
  });
});
after(() => service.close());

/** The lines that requests of this path log, of this level or above. */
function linesOf(path: string, level = 40) {
  const lines = service.logs.map(line => JSON.parse(line));
  return lines.filter(line => line.req?.path === path && line.level >= level);
}

async function ask(path: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) await service.client().get(path).expect(503);
}

test("an outage is a warning of one line for each route, without a stack; each request is one at the level debug", async () => {
  for (const path of ["/outage", "/public/outage", "/beside"]) {
    await ask(path, 3);
    const [line, ...more] = linesOf(path);
    assert.deepEqual(
      [line.level, line.err, line.code],
      [40, "connect ECONNREFUSED 10.0.0.5:5432", "UNAVAILABLE"],
    );
    assert.match(line.reqId, /./);
    assert.deepEqual(more, []);
    assert.equal(linesOf(path, 20).length, 3);
  }
});

test("what only reads is not said to be unsaved", async () => {
  const { body: read } = await service.client().get("/outage").expect(503);
  assert.equal(read.message, "The database is unavailable.");
  const { body: written } = await service.client().post("/outage").expect(503);
  assert.equal(written.message, "The database is unavailable; this may not have been saved.");
});

test("an outage that a thread met is logged as one", async () => {
  await ask("/in-a-thread", 2);
  assert.deepEqual(
    linesOf("/in-a-thread").map(({ level, err }) => [level, err]),
    [[40, "connect ECONNREFUSED 10.0.0.5:5432"]],
  );
});

test("a minute later, the next line says how many more there were", async t => {
  await ask("/outage", 3);
  const before = linesOf("/outage");
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + 61_000);
  const told = before.length;
  await ask("/outage", 2);
  const [line, ...more] = linesOf("/outage").slice(told);
  assert.ok(line.more >= 2);
  assert.deepEqual(more, []);
});

test("an error without a message has its code", async () => {
  await ask("/addresses", 1);
  assert.equal(linesOf("/addresses")[0].err, "ECONNREFUSED");
});

test("what the service refuses itself is a warning with its sentence", async () => {
  await ask("/thread", 2);
  assert.deepEqual(
    linesOf("/thread").map(({ level, err }) => [level, err]),
    [[40, "The thread ended."]],
  );
});

test("a bug keeps its stack, and each is logged", async () => {
  await ask("/bug", 2);
  assert.deepEqual(
    linesOf("/bug").map(({ level, err }) => [level, /undefined is not a function/.test(err.stack)]),
    [
      [50, true],
      [50, true],
    ],
  );
});
