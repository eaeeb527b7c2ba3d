// Judge calls over the API: a run's calls in full with their sums, and the usage of an agent by day and test.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SemanticActual } from "../../../src/model/run/run.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { idsOf, type JudgeServer, startJudgeServer, usage } from "../../support/judge-server.ts";
import { send } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let judge: JudgeServer;
let service: TestService;
before(async () => {
  judge = await startJudgeServer();
  service = await startTestService({ config: { judge: judge.connection(), evaluators: 1 } });
});
after(async () => {
  await service.stop();
  await judge.close();
});

const span = {
  span_id: "root",
  name: "support",
  attributes: { "gen_ai.prompt": "Where is my parcel?", "gen_ai.response.text": "It is in Lyon." },
};

/** The trace once its run is completed. */
async function judged(agentId: string) {
  const answer = await send(service, { body: canonicalBody(agentId, { spans: [span] }) });
  const traceId = String(answer.headers["x-svc-trace-id"]);
  return eventually(async () => {
    const body = await service.client.read(`/api/traces/${traceId}`);
    assert.equal(body.run?.state, "completed");
    return body;
  });
}

test("a run shows its calls in full and their sums, and an agent its usage by day and test", async () => {
  const agent = await makeAgent(service.owner);
  const { id: testId } = await makeTest(service.owner, agent.id, {
    name: "Finds the parcel",
    passiveBehavior: "run_when_relevant",
    scenario: "The user asks for a parcel.",
    assertions: [{ id: "a", type: "semantic", criteria: ["Says where it is.", "Is polite."] }],
  });
  await service.client.put(`/api/projects/${agent.projectId}/judge/prices`, {
    prices: [{ model: "local-model", validFrom: "2026-01-01", inputUsd: 1_000, outputUsd: 0 }],
  });
  const trace = await judged(agent.id);
  const [input, output] = [2 * usage.prompt_tokens, 2 * usage.completion_tokens];
  const took = {
    ...{ inputTokens: input, outputTokens: output, costUsd: input / 1_000 },
    ...{ unpricedTokens: 0, estimatedTokens: 0 },
  };
  assert.deepEqual(trace.runs[0]!.judging, { calls: 2, ...took });
  const run = await service.client.read(`/api/runs/${trace.run!.id}`);
  assert.deepEqual(run.judging, trace.runs[0]!.judging);

  const body = await service.client.read(`/api/runs/${run.id}/calls`);
  assert.deepEqual(
    body.items.map(({ kind, state, reason, costUsd }: Record<string, unknown>) => [
      kind,
      state,
      reason,
      costUsd,
    ]),
    [
      ["route", "ok", null, input / 2_000],
      ["semantic", "ok", null, input / 2_000],
    ],
  );
  const first = await service.client.read(`/api/runs/${run.id}/calls?limit=1`);
  const second = await service.client.read(`/api/runs/${run.id}/calls?limit=1&cursor=${first.nextCursor}`);
  assert.deepEqual([...first.items, ...second.items], body.items);
  assert.deepEqual([second.nextCursor, body.nextCursor], [null, null]);
  assert.equal(body.items[0]!.instructions, judge.requests[0]!.instructions);
  assert.equal(body.items[0]!.material, judge.requests[0]!.material);
  const { labels } = JSON.parse(body.items[0]!.answer!);
  const [asked] = idsOf(judge.requests[0]!);
  assert.equal(labels.find(({ id }: { id: string }) => id === asked).label, "match");
  assert.equal(JSON.stringify(body).includes("key-1"), false);

  const judging = await service.client.read(`/api/agents/${agent.id}/judging`);
  const { day, ...today } = judging.days[0]!;
  assert.deepEqual(today, { calls: 2, cached: 0, ...took });
  assert.deepEqual(judging.tests, [{ testId, name: "Finds the parcel", ...took }]);
  const earlier = await service.client.get(`/api/agents/${agent.id}/judging?to=2020-01-01`).expect(200);
  assert.deepEqual(earlier.body, { days: [], tests: [] });
  const within = await service.client
    .get(`/api/agents/${agent.id}/judging?from=${day}&to=${day}`)
    .expect(200);
  assert.deepEqual(within.body, judging);
});

test("the same conversation costs nothing the second time, and its run has no calls", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { assertions: [{ type: "semantic", criteria: "Says Lyon." }] });
  assert.equal((await judged(agent.id)).runs[0]!.judging!.calls, 1);
  const asked = judge.requests.length;
  const { runs } = await judged(agent.id);
  assert.deepEqual([runs[0]!.verdict, runs[0]!.judging, judge.requests.length], ["passed", null, asked]);
  assert.equal((runs[0]!.results[0]!.checks[0]!.actual as SemanticActual).cached, true);
  assert.deepEqual(await service.client.read(`/api/runs/${runs[0]!.id}/calls`), {
    ...{ items: [], nextCursor: null },
  });
});

test("a range of days that is reversed, too long or invalid is refused at its field", async () => {
  for (const query of [
    "from=2026-02-01&to=2026-01-01",
    "from=2020-01-01&to=2026-01-01",
    "from=yesterday",
    "from=0000-01-01",
  ]) {
    const { body } = await service.client.get(`/api/agents/${service.agent.id}/judging?${query}`).expect(400);
    assert.deepEqual([body.code, body.issues![0]!.path], ["VALIDATION_ERROR", "from"], query);
  }
  await service.client.get(`/api/agents/${service.agent.id}/judging?to=0001-01-02`).expect(400);
  await service.client.get(`/api/agents/${service.agent.id}/judging?to=2000-01-01`).expect(200);
});
