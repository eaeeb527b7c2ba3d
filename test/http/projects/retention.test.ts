// The retention of a project over the API: its shape, what is refused, and that older traces go with what they left.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ServiceEvent } from "../../../src/model/event.ts";
import { subscribe } from "../../../src/store/events.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { columnsWith } from "../../support/leftovers.ts";
import { jsonOf, send, traceIdOf } from "../../support/send.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"], retentionDays: 90 });

const pathOf = (projectId: string) => `/api/projects/${projectId}/retention` as const;

test("a new project has no time of its own, and what is saved is read back", async () => {
  const { client, projectId } = service;
  const path = pathOf(projectId);
  assert.deepEqual(await client.read(path), { days: null, serverDays: 90 });
  assert.deepEqual((await client.put(path, { days: 90 }).expect(200)).body, { days: 90, serverDays: 90 });
  assert.deepEqual(await client.read(path), { days: 90, serverDays: 90 });
  assert.deepEqual((await client.put(path, { days: null }).expect(200)).body, { days: null, serverDays: 90 });
});

test("a time that is no time, or longer than the server's, is refused and changes nothing", async () => {
  const { client, projectId } = service;
  const path = pathOf(projectId);
  for (const [body, at] of [
    [{ days: 0 }, "days"],
    [{ days: 1.5 }, "days"],
    [{ days: "7" }, "days"],
    [{ days: 91 }, "days"],
    [{ days: 3651 }, "days"],
    [{}, "days"],
    [{ days: 7, hours: 1 }, ""],
  ] as const) {
    const { body: refused } = await client.put(path, body).expect(400);
    assert.equal(refused.code, "VALIDATION_ERROR");
    assert.equal(refused.issues![0]!.path, at, JSON.stringify(body));
  }
  assert.equal((await client.read(path)).days, null);
});

test("older traces are deleted with their content soon after the answer, and are not stored again under their identity", async () => {
  const { client, projectId, db, agent, key } = service;
  const old = new Date(Date.now() - 8 * 86_400_000);
  const name = "An old conversation";
  const id = await storeTrace(db, agent.id, { receivedAt: old, name, externalId: "order-1" });
  const recent = await storeTrace(db, agent.id);
  const listed = async () => {
    const body = await client.read(`/api/agents/${agent.id}/traces`);
    return body.items.map((trace: { id: string }) => trace.id);
  };
  assert.deepEqual(await listed(), [recent, id]);
  await client.put(pathOf(projectId), { days: 7 }).expect(200);
  await eventually(async () => assert.deepEqual(await listed(), [recent]));
  assert.deepEqual(await columnsWith(service.databaseUrl, name), []);
  const body = canonicalBody(agent.id);
  const sent = await send({ url: service.url, key }, { body, headers: { "x-request-id": "order-1" } });
  assert.equal(sent.status, 200);
  assert.deepEqual([traceIdOf(sent), jsonOf(sent).evaluation], [id, "none"]);
  assert.match(jsonOf(sent).hint, /^Not stored: .* retention time .* new x-request-id/);
  assert.deepEqual(await listed(), [recent]);
});

test("what is sent again after its time is announced to nobody, and counts as accepted without a stored span", async () => {
  const owner = await service.signUp();
  const agent = await makeAgent(owner, { otlpServiceName: "late-bot" });
  const { key } = await makeKey(owner);
  const old = new Date(Date.now() - 8 * 86_400_000);
  const traceId = newTraceId();
  for (const externalId of ["order-2", traceId])
    await storeTrace(service.db, agent.id, { receivedAt: old, externalId });
  await owner.client.put(pathOf(owner.projectId), { days: 7 }).expect(200);
  await eventually(async () => {
    const body = await owner.client.read(`/api/agents/${agent.id}/traces`);
    assert.deepEqual(body.items, []);
  });

  const heard: ServiceEvent[] = [];
  const subscription = subscribe(service.databaseUrl, event => void heard.push(event));
  after(() => subscription.close());
  const intake = { url: service.url, key };
  const body = canonicalBody(agent.id);
  const stored: string[] = [];
  const store = async () => void stored.push(traceIdOf(await send(intake, { body })));
  const isAnnounced = (traceId: string) =>
    heard.some(event => event.type === "trace" && event.traceId === traceId);
  await eventually(async () => {
    await store();
    assert.ok(stored.some(isAnnounced), "nobody listens yet");
  });
  // Announced in order, so with it all that was sent before.
  const lastAnnounced = async () => {
    await store();
    await eventually(() => assert.ok(isAnnounced(stored.at(-1)!)));
  };
  await lastAnnounced();
  const before = heard.length;
  assert.equal((await send(intake, { body, headers: { "x-request-id": "order-2" } })).status, 200);
  const exported = encodings.json(exportOf([exportedSpan({ traceId })], "late-bot"));
  assert.equal((await send(intake, exported)).status, 200);
  await lastAnnounced();
  const last = { type: "trace", agentId: agent.id, traceId: stored.at(-1)!, change: "created" };
  assert.deepEqual(heard.slice(before), [last]);

  await eventually(async () => {
    const body = await owner.client.read(`/api/projects/${owner.projectId}/ingestion/summary`);
    const { length } = stored;
    assert.deepEqual(body.codes, [{ code: "OK", requests: length + 2, spans: length }]);
  });
});
