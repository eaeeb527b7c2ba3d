// The sample trace: stored and evaluated like any other, only for its owner, and only with a verified email.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAgent, makeTest } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { world } from "../../support/world.ts";

const service = world();

test("a sample is a new trace each time, marked as a sample, with everything that tests look at", async () => {
  const { client } = service;
  const path = `/api/agents/${service.agentId}/sample-trace` as const;
  const first = (await client.post(path).expect(201)).body;
  const second = (await client.post(path).expect(201)).body;
  assert.notEqual(first.traceId, second.traceId);
  assert.equal(first.evaluation, "none");
  const trace = await client.read(`/api/traces/${first.traceId}`);
  assert.match(trace.externalId, /^sample-/);
  assert.equal(trace.name, "Sample conversation");
  assert.deepEqual(trace.metadata, { sample: true });
  assert.deepEqual(trace.notices, []);
  assert.equal(trace.kind, "live");
  assert.equal(trace.durationMs, 1400);
  assert.equal(trace.httpStatus, 200);
  assert.equal(trace.tokens.total, 430);
  assert.equal(trace.userInput, "Where is my order A-1042?");
  assert.ok(trace.responseText!.includes("Thursday"));
  assert.equal(trace.toolCalls[0]!.name, "lookup_order");
  const said = await client.read(`/api/traces/${first.traceId}/conversation`);
  assert.deepEqual(
    said.turns.map((turn: { kind: string; role?: string }) => turn.role ?? turn.kind),
    ["user", "tool_call", "assistant"],
    "the question stands before the call that answers it",
  );
  const log = await client.read(`/api/projects/${service.projectId}/ingestion`);
  assert.deepEqual(log.items, [], "it came by no key");
});

test("a sample is evaluated by the agent's tests", async () => {
  const agent = await makeAgent(service.owner, { name: "Judged" });
  await makeTest(service.owner, agent.id, { assertions: [{ type: "response_time", max_ms: 5000 }] });
  const { body } = await service.client.post(`/api/agents/${agent.id}/sample-trace`).expect(201);
  assert.equal(body.evaluation, "scheduled");
  await eventually(async () => {
    const trace = await service.read(`/api/traces/${body.traceId}`);
    assert.equal(trace.runs[0]!.verdict, "passed");
  });
});

test("until the email is verified a sample is refused, as a trace sent with a key is", async () => {
  const owner = await service.signUp({ verified: false });
  const agent = await makeAgent(owner);
  const { body } = await owner.client.post(`/api/agents/${agent.id}/sample-trace`).expect(403);
  assert.equal(body.code, "EMAIL_NOT_VERIFIED");
  const traces = await owner.client.read(`/api/agents/${agent.id}/traces`);
  assert.deepEqual(traces.items, []);
});
