// Events reach every process, and a listener that may have missed some is told to read everything again.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, suite, test } from "node:test";
import type { ServiceEvent } from "../../src/model/event.ts";
import { EventPublisher, subscribe } from "../../src/store/events.ts";
import { eventually } from "../support/eventually.ts";
import { openTwice } from "./traces/make-write.ts";

const { url, db, other, close } = await openTwice();
after(close);

const agentId = crypto.randomUUID();
const created = (traceId = crypto.randomUUID()): ServiceEvent => ({
  type: "trace",
  agentId,
  traceId,
  change: "created",
});

/** A listener that has started listening. */
async function listening() {
  const heard: ServiceEvent[] = [];
  const subscription = subscribe(url, event => void heard.push(event));
  const client = await eventually(async () => {
    const { rows } = await db.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity
        where datname = current_database() and query like 'listen %' and state = 'idle'`,
    );
    assert.equal(rows.length, 1);
    return rows[0]!;
  });
  return { heard, pid: client.pid, close: () => subscription.close() };
}

suite("events", () => {
  test("reach another process in order, and are all sent before their publisher closes", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const events = [created(), created(), created()];
    for (const event of events) publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, events));
    await listener.close();
  });

  test("are told as a refresh where a notification cannot be read, and those after it still arrive", async () => {
    const listener = await listening();
    const payloads = [
      "",
      "not JSON",
      "{}",
      "[null]",
      '[{"type":"trace"}]',
      `[${JSON.stringify(created())},1]`,
    ];
    for (const payload of payloads) await db.pool.query("select pg_notify('onlooker_events', $1)", [payload]);
    const event = created();
    await db.pool.query("select pg_notify('onlooker_events', $1)", [JSON.stringify([event])]);
    const refresh = { type: "refresh", agentId: null };
    await eventually(() => assert.deepEqual(listener.heard, [...payloads.map(() => refresh), event]));
    await listener.close();
  });

  test("of a busy agent are combined into one refresh, without affecting other agents", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const quiet = { ...created(), agentId: crypto.randomUUID() } as ServiceEvent;
    for (let count = 0; count < 500; count++) publisher.publish(created());
    publisher.publish(quiet);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, [{ type: "refresh", agentId }, quiet]));
    await listener.close();
  });

  test("of a run within a batch are one, so that fast runs of a large launch are still told apart", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const launchId = crypto.randomUUID();
    const runs = Array.from(
      { length: 20 },
      (): ServiceEvent => ({ type: "launch", agentId, launchId, runId: crypto.randomUUID() }),
    );
    for (let count = 0; count < 5; count++) for (const run of runs) publisher.publish(run);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, runs));
    await listener.close();
  });

  test("of many agents at once all arrive, even if they do not fit in one notification", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const events = Array.from(
      { length: 300 },
      () => ({ ...created(), agentId: crypto.randomUUID() }) as ServiceEvent,
    );
    for (const event of events) publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, events));
    await listener.close();
  });

  test("about refusals are limited to a few per second and project, without delaying other projects", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const refused = (projectId: string, serviceName: string): ServiceEvent => ({
      type: "ingestion",
      agentId: null,
      projectId,
      code: "OTLP_PLATFORM_NOT_FOUND",
      serviceName,
      keyId: agentId,
    });
    for (let count = 0; count < 500; count++) publisher.publish(refused("busy", "again"));
    for (let count = 0; count < 500; count++) publisher.publish(refused("busy", `name ${count}`));
    publisher.publish(refused("quiet", "name"));
    publisher.publish(created());
    await publisher.close();
    await eventually(() => assert.equal(listener.heard.at(-1)?.type, "trace"));
    const projects = listener.heard.map(event => event.type === "ingestion" && event.projectId);
    const busy = projects.filter(project => project === "busy").length;
    assert.ok(busy >= 5 && busy < 100, `${busy}`);
    assert.equal(projects.filter(project => project === "quiet").length, 1);
    await listener.close();
  });

  test("all arrive, whatever bytes their texts contain", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const events = Array.from(
      { length: 60 },
      (_, index): ServiceEvent => ({
        type: "ingestion",
        agentId: null,
        projectId: `project ${index}`,
        code: "OTLP_PLATFORM_NOT_FOUND",
        serviceName: (["\u0001", "漢", "🦊", "x"][index % 4] as string).repeat(250),
        keyId: agentId,
      }),
    );
    for (const event of events) publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, events));
    await listener.close();
  });

  test("cause a full refresh after a lost connection, because some may have been missed", async () => {
    const listener = await listening();
    await db.pool.query("select pg_terminate_backend($1::int)", [listener.pid]);
    await eventually(() => assert.deepEqual(listener.heard, [{ type: "refresh", agentId: null }]));
    const publisher = new EventPublisher(other);
    const event = created();
    publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard.at(-1), event));
    await listener.close();
  });

  test("are dropped while the database is down", async () => {
    await other.close();
    const publisher = new EventPublisher(other);
    publisher.publish(created());
    await publisher.close();
  });
});

suite("a subscription", () => {
  test("closes before it is connected", async () => {
    await subscribe(url, () => {}).close();
  });

  test("closes while nothing answers", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const connected = once(silent, "connection");
    const subscription = subscribe(`postgresql://a:b@127.0.0.1:${port}/c`, () => {});
    const [socket] = await connected;
    await subscription.close();
    socket.destroy();
    silent.close();
  });

  test("closes when there is no database", async () => {
    await subscribe("postgresql://a:b@127.0.0.1:1/c", () => {}).close();
  });
});
