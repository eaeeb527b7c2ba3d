// Where failed results stand over the API: set with a note, and lists of traces filtered by it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { resultOf, storeJudgedRun } from "../../support/judged-runs.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

/** An agent with two tests that do not run by themselves. */
async function agentWithTests() {
  const agent = await makeAgent(service.owner);
  const make = async () => (await makeTest(service.owner, agent.id, { passiveBehavior: "manual_only" })).id;
  return { agentId: agent.id, one: await make(), other: await make() };
}

async function store(agentId: string): Promise<string> {
  return await service.store(canonicalBody(agentId));
}

/** Evaluates the trace: each test with its outcome. */
async function evaluate(agentId: string, traceId: string, outcomes: [testId: string, Outcome][]) {
  const results = outcomes.map(([id, outcome]) =>
    resultOf({ id }, [
      {
        ...{
          id: "c",
          type: "http_status" as const,
          outcome,
          reason: "",
          reasonCode: "http_status" as const,
          expected: 200,
          actual: 200,
          evidence: [],
        },
      },
    ]),
  );
  return storeJudgedRun(service.db, { agentId, traceId }, { results });
}

const put = (traceId: string, body: object, status = 200) =>
  service.client
    .put(`/api/traces/${traceId}/result-states`, body)
    .expect(status)
    .then(answer => answer.body);

async function listed(agentId: string, state: string): Promise<string[]> {
  const body = await service.read(`/api/agents/${agentId}/traces?resultState=${state}`);
  return body.items.map(item => item.id);
}

const lists = (agentId: string) =>
  Promise.all(["open", "known", "resolved"].map(state => listed(agentId, state)));

test("a failed result is open until it is set, and lists filter by it", async () => {
  const { agentId, one, other } = await agentWithTests();
  const [first, second, passed] = [await store(agentId), await store(agentId), await store(agentId)];
  await evaluate(agentId, first, [
    [one, "failed"],
    [other, "failed"],
  ]);
  await evaluate(agentId, second, [
    [one, "failed"],
    [other, "passed"],
  ]);
  await evaluate(agentId, passed, [[one, "passed"]]);
  assert.deepEqual(await lists(agentId), [[second, first], [], []]);
  const { updatedAt, ...known } = await put(first, { testId: one, state: "known", note: " Ticket 12 " });
  assert.deepEqual([known, typeof updatedAt], [{ testId: one, state: "known", note: "Ticket 12" }, "string"]);
  // Its other failure is open still.
  assert.deepEqual(await lists(agentId), [[second, first], [first], []]);
  await put(first, { testId: other, state: "resolved" });
  await put(second, { testId: one, state: "resolved" });
  assert.deepEqual(await lists(agentId), [[], [first], [second, first]]);
  await put(second, { testId: one, state: "open", note: "Again." });
  assert.deepEqual(await lists(agentId), [[second], [first], [first]]);
  const body = await service.read(`/api/traces/${second}/result-states`);
  assert.deepEqual(
    body.items.map(({ state, note }) => [state, note]),
    [["open", "Again."]],
  );
});

test("a later evaluation keeps the state of a test that fails again, and a new failure is open", async () => {
  const { agentId, one, other } = await agentWithTests();
  const traceId = await store(agentId);
  await evaluate(agentId, traceId, [
    [one, "failed"],
    [other, "passed"],
  ]);
  await put(traceId, { testId: one, state: "known" });
  await evaluate(agentId, traceId, [
    [one, "failed"],
    [other, "passed"],
  ]);
  assert.deepEqual(await lists(agentId), [[], [traceId], []]);
  await evaluate(agentId, traceId, [
    [one, "passed"],
    [other, "failed"],
  ]);
  assert.deepEqual(await lists(agentId), [[traceId], [], []]);
  await evaluate(agentId, traceId, [
    [one, "passed"],
    [other, "passed"],
  ]);
  assert.deepEqual(await lists(agentId), [[], [], []]);
});

test("failures of a deleted test are not open: nobody could set them any more", async () => {
  const { agentId, one, other } = await agentWithTests();
  const [both, single] = [await store(agentId), await store(agentId)];
  await evaluate(agentId, both, [
    [one, "failed"],
    [other, "failed"],
  ]);
  await evaluate(agentId, single, [[one, "failed"]]);
  await put(single, { testId: one, state: "resolved" });
  await service.client.delete(`/api/tests/${one}`).expect(204);
  assert.deepEqual(await lists(agentId), [[both], [], []]);
});

test("only failed results of the latest evaluation have a state, which goes with the trace", async () => {
  const { agentId, one, other } = await agentWithTests();
  const traceId = await store(agentId);
  await put(traceId, { testId: one, state: "known" }, 409);
  await evaluate(agentId, traceId, [
    [one, "failed"],
    [other, "passed"],
  ]);
  await put(traceId, { testId: other, state: "known" }, 409);
  await put(traceId, { testId: one, state: "gone" }, 400);
  await put(traceId, { testId: one, state: "known", note: "x".repeat(2_001) }, 400);
  await put(traceId, { testId: one, state: "known" });
  await service.client.delete(`/api/traces/${traceId}`).expect(204);
  const { rows } = await service.db.pool.query("select from result_states where trace_id = $1", [traceId]);
  assert.equal(rows.length, 0);
});
