// Server-sent events: an account receives the events of its own traces and runs, and no others.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { suite, test } from "node:test";
import type { ServiceEvent } from "../../src/model/event.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { makeAgent, makeKey, makeTest, type Owner } from "../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { traceIdOf } from "../support/send.ts";
import { serviceName, startTestService } from "../support/service.ts";
import { world } from "../support/world.ts";

const service = world();

type Stream = {
  /** Everything received so far. */
  heard: ServiceEvent[];
  /** Resolves to the first event, past or future, that matches. */
  find(passes: (event: ServiceEvent) => boolean): Promise<ServiceEvent>;
  /** Resolves when the service ends the stream. */
  ended: Promise<unknown>;
  close(): void;
};

async function listen({ client }: Owner, query = "", headers = {}): Promise<Stream> {
  const outgoing = get(`${service.url}/api/events${query}`, {
    agent: false,
    headers: { cookie: client.cookie, ...headers },
  });
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(response.headers["cache-control"], "no-store");
  response.on("error", () => {}); // closed by the test
  const heard: ServiceEvent[] = [];
  const waiting: (() => void)[] = [];
  let rest = "";
  response.setEncoding("utf8").on("data", chunk => {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const [, type, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (!data) continue;
      const event = JSON.parse(data);
      assert.equal(event.type, type);
      heard.push(event);
    }
    for (const look of waiting.splice(0)) look();
  });
  await once(response, "data"); // how long to wait before connecting again
  return {
    heard,
    async find(passes) {
      for (;;) {
        const found = heard.find(passes);
        if (found) return found;
        await new Promise<void>(resolve => waiting.push(resolve));
      }
    },
    ended: new Promise(resolve => response.once("end", resolve)),
    close: () => outgoing.destroy(),
  };
}

async function store(agentId = service.agentId, key = service.key): Promise<string> {
  return traceIdOf(await service.send({ key, body: canonicalBody(agentId) }));
}

test("a stored trace, its replacement, its merge and its deletion are each sent as such", async () => {
  const stream = await listen(service.owner);
  const agentId = service.agentId;
  const headers = { "x-request-id": "heard" };
  const traceId = traceIdOf(await service.send({ headers, body: canonicalBody(agentId) }));
  await stream.find(event => event.type === "trace" && event.change === "created");
  await service.send({ headers, body: canonicalBody(agentId) });
  await service.send({ headers, ...encodings.json(exportOf([exportedSpan()], serviceName)) });
  await service.client.delete(`/api/traces/${traceId}`).expect(204);
  await stream.find(event => event.type === "trace" && event.change === "deleted");
  assert.deepEqual(
    stream.heard,
    ["created", "replaced", "merged", "deleted"].map(change => ({ type: "trace", agentId, traceId, change })),
  );
  stream.close();
});

test("a completed run is sent with its verdict, and can be read by then", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { assertions: [{ type: "node_call", expected_name: "answer" }] });
  const stream = await listen(service.owner, `?agentId=${agent.id}`);
  const traceId = await store(agent.id);
  const event = await stream.find(event => event.type === "run" && event.state === "completed");
  assert.ok(event.type === "run");
  assert.deepEqual(event, {
    type: "run",
    agentId: agent.id,
    traceId,
    runId: event.runId,
    state: "completed",
    verdict: event.verdict,
  });
  const run = await service.read(`/api/runs/${event.runId}`);
  assert.deepEqual([run.state, run.verdict], ["completed", event.verdict]);
  stream.close();
});

test("no events of other accounts are sent, and with agentId none of other agents", async () => {
  const stranger = await service.signUp();
  const foreign = await makeAgent(stranger);
  const { key } = await makeKey(stranger);
  const other = await makeAgent(service.owner);
  const strangers = await listen(stranger);
  const owners = await listen(service.owner);
  const narrow = await listen(service.owner, `?agentId=${other.id}`);

  await store(foreign.id, key);
  await store(service.agentId);
  const last = await store(other.id);
  await narrow.find(event => event.type === "trace" && event.traceId === last);
  await owners.find(event => event.type === "trace" && event.traceId === last);
  const own = await store(foreign.id, key);
  await strangers.find(event => event.type === "trace" && event.traceId === own);

  const agents = (stream: Stream) => new Set(stream.heard.map(event => event.agentId));
  assert.deepEqual(agents(narrow), new Set([other.id]));
  assert.deepEqual(agents(owners), new Set([service.agentId, other.id]));
  assert.deepEqual(agents(strangers), new Set([foreign.id]));
  for (const stream of [strangers, owners, narrow]) stream.close();
});

test("a rejected request is sent to the account that owns the key, with how to fix it", async () => {
  const stranger = await service.signUp();
  const { id: keyId, key } = await makeKey(stranger);
  const strangers = await listen(stranger);
  const owners = await listen(service.owner);
  await service.send({ key, body: exportOf([exportedSpan()], "shop-bot") });
  const heard = await strangers.find(event => event.type === "ingestion");
  assert.deepEqual(heard, {
    type: "ingestion",
    agentId: null,
    projectId: stranger.projectId,
    code: "OTLP_PLATFORM_NOT_FOUND",
    serviceName: "shop-bot",
    keyId,
  });
  await service.send({ body: "{" });
  const own = await owners.find(event => event.type === "ingestion");
  assert.ok(own.type === "ingestion");
  assert.deepEqual([own.projectId, own.code], [service.projectId, "VALIDATION_ERROR"]);
  assert.equal(strangers.heard.length, 1);
  for (const stream of [strangers, owners]) stream.close();
});

test("with projectId only that project's traces and rejected requests are sent; with agentId alone no rejected requests", async () => {
  const owner = await service.signUp();
  const { body: project } = await owner.client.post("/api/projects", { name: "Second" }).expect(201);
  const second = { ...owner, projectId: project.id };
  const [agent, secondAgent] = [await makeAgent(owner), await makeAgent(second)];
  const [first, secondKey] = [(await makeKey(owner)).key, (await makeKey(second)).key];
  const all = await listen(owner);
  const ofSecond = await listen(owner, `?projectId=${project.id}`);
  const ofAgent = await listen(owner, `?agentId=${secondAgent.id}`);
  const ofBoth = await listen(owner, `?agentId=${secondAgent.id}&projectId=${project.id}`);

  await service.send({ key: first, body: "{" });
  await store(agent.id, first);
  await service.send({ key: secondKey, body: "{" });
  const last = await store(secondAgent.id, secondKey);
  const hears = async (stream: Stream, expected: string[]) => {
    await stream.find(event => event.type === "trace" && event.traceId === last);
    const kindOf = (event: ServiceEvent) => (event.type === "ingestion" ? event.projectId : event.agentId);
    // A rejection is sent once it is in the log.
    await eventually(() => assert.deepEqual(new Set(stream.heard.map(kindOf)), new Set(expected)));
  };
  await hears(all, [owner.projectId, agent.id, project.id, secondAgent.id]);
  await hears(ofSecond, [project.id, secondAgent.id]);
  await hears(ofBoth, [project.id, secondAgent.id]);
  await hears(ofAgent, [secondAgent.id]);
  const mismatched = await owner.client.get(`/api/events?agentId=${agent.id}&projectId=${project.id}`);
  assert.equal(mismatched.status, 404);
  assert.equal((await owner.client.get(`/api/events?projectId=${service.projectId}`)).status, 404);
  for (const stream of [all, ofSecond, ofAgent, ofBoth]) stream.close();
});

test("many events of one agent become one refresh", async () => {
  const agent = await makeAgent(service.owner);
  const stream = await listen(service.owner, `?agentId=${agent.id}`);
  // Published directly: storing so many traces at once is too slow on some machines.
  const publisher = new EventPublisher(service.db);
  for (let told = 0; told < 120; told += 1) {
    publisher.publish({ type: "trace", agentId: agent.id, traceId: randomUUID(), change: "created" });
  }
  await publisher.close();
  await stream.find(event => event.type === "refresh");
  assert.deepEqual(stream.heard, [{ type: "refresh", agentId: agent.id }]);
  stream.close();
});

// Streams look up every few seconds whose agents are whose, so these tests wait side by side.
suite("an open stream", { concurrency: true }, () => {
  test("receives events of an agent created later", async () => {
    const stream = await listen(service.owner);
    const agent = await makeAgent(service.owner);
    await eventually(async () => {
      await store(agent.id);
      assert.ok(stream.heard.some(event => event.agentId === agent.id));
    });
    stream.close();
  });

  test("ends when the token that opened it is revoked, even if a session cookie was sent too", async () => {
    const { body } = await service.client.post("/api/access-tokens", { name: "CI" }).expect(201);
    const stream = await listen(service.owner, "", { authorization: `Bearer ${body.token}` });
    await service.client.delete(`/api/access-tokens/${body.id}`).expect(204);
    await stream.ended;
  });

  test("ends when its session is signed out", async () => {
    const owner = await service.signUp();
    const stream = await listen(owner);
    await owner.client.post("/api/auth/sign-out", {}).expect(200);
    await stream.ended;
  });

  test("ends when its agent is deleted", async () => {
    const agent = await makeAgent(service.owner);
    const stream = await listen(service.owner, `?agentId=${agent.id}`);
    await service.client.delete(`/api/agents/${agent.id}`).expect(204);
    await stream.ended;
  });
});

test("events of another account's agent are 404, and without a session there are none", async () => {
  const stranger = await service.signUp();
  const { body } = await stranger.client.get(`/api/events?agentId=${service.agentId}`).expect(404);
  assert.equal(body.code, "NOT_FOUND");
  assert.equal((await stranger.client.get("/api/events?agentId=x")).status, 400);
  assert.equal((await fetch(`${service.url}/api/events`)).status, 401);
});

test("stopping the service ends its streams", async () => {
  const other = await startTestService({ config: { roles: ["http"] } });
  const outgoing = get(`${other.url}/api/events`, { agent: false, headers: { cookie: other.client.cookie } });
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const ended = once(response.resume(), "end");
  await Promise.all([other.stop(), ended]);
});
