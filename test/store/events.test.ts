// What happens in one process is heard in every other, and a listener that may have missed something is told so.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, describe, it } from "node:test";
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

/** A listener that is known to listen. */
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

describe("events", () => {
  it("are heard by another process, in their order, sent at the latest when their publisher closes", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const events = [created(), created(), created()];
    for (const event of events) publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, events));
    await listener.close();
  });

  it("of a busy agent become one refresh of it, and those of others stay", async () => {
    const listener = await listening();
    const publisher = new EventPublisher(other);
    const quiet = { ...created(), agentId: crypto.randomUUID() } as ServiceEvent;
    for (let count = 0; count < 500; count++) publisher.publish(created());
    publisher.publish(quiet);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard, [{ type: "refresh", agentId }, quiet]));
    await listener.close();
  });

  it("of many agents at once all arrive, though one notification could not hold them", async () => {
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

  it("of refusals are few a second of one project, and hold up no other's", async () => {
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

  it("all arrive whatever bytes their texts need", async () => {
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

  it("may have been missed once the connection broke: everything is to be read again", async () => {
    const listener = await listening();
    await db.pool.query("select pg_terminate_backend($1)", [listener.pid]);
    await eventually(() => assert.deepEqual(listener.heard, [{ type: "refresh", agentId: null }]));
    const publisher = new EventPublisher(other);
    const event = created();
    publisher.publish(event);
    await publisher.close();
    await eventually(() => assert.deepEqual(listener.heard.at(-1), event));
    await listener.close();
  });

  it("are let go of when the database is away", async () => {
    await other.close();
    const publisher = new EventPublisher(other);
    publisher.publish(created());
    await publisher.close();
  });
});

describe("a subscription", () => {
  it("closes before it is connected", async () => {
    await subscribe(url, () => {}).close();
  });

  it("closes while nothing answers", async () => {
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

  it("closes where there is no database at all", async () => {
    await subscribe("postgresql://a:b@127.0.0.1:1/c", () => {}).close();
  });
});
