// An agent's judge limits over the API: sampling, budget, and today's usage.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { registerJudgeSettings } from "../../../src/http/judge/settings.ts";
import { makeAgent, type Owner, startTestApp, type TestApp } from "../../support/app.ts";

let service: TestApp;
let owner: Owner;
before(async () => {
  service = await startTestApp({ extend: registerJudgeSettings });
  owner = await service.signUp();
});
after(() => service.close());

const nothing = {
  calls: 0,
  cached: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  unpricedTokens: 0,
  estimatedTokens: 0,
};

test("an agent is fully judged and has no budget by default", async () => {
  const { id } = await makeAgent(owner);
  const path = `/api/agents/${id}/judge-settings` as const;
  const body = await owner.client.read(path);
  const { day, ...today } = body.today;
  assert.match(day, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual({ ...body, today }, { sampling: 1, budgetUsd: null, budgetTokens: null, today: nothing });

  const settings = { sampling: 0.1, budgetUsd: 2.5, budgetTokens: 1_000_000 };
  const saved = (await owner.client.put(path, settings).expect(200)).body;
  assert.deepEqual({ ...saved, today: undefined }, { ...settings, today: undefined });
  assert.deepEqual(await owner.client.read(path), saved);
  const none = { sampling: 0, budgetUsd: 0, budgetTokens: null };
  assert.equal((await owner.client.put(path, none).expect(200)).body.budgetUsd, 0);
});

test("today's usage counts only this agent and this UTC day", async () => {
  const { id } = await makeAgent(owner);
  const { id: other } = await makeAgent(owner);
  await service.db.pool.query(
    `insert into judge_days
      select agent, (now() at time zone 'utc')::date - ago, calls, 7, 1200, 300, 0.0125, 40
      from (values ($1::uuid, 0, 3), ($1, 1, 500), ($2, 0, 900)) as given (agent, ago, calls)`,
    [id, other],
  );
  const body = await owner.client.read(`/api/agents/${id}/judge-settings`);
  const { day: _, ...today } = body.today;
  assert.deepEqual(today, {
    calls: 3,
    cached: 7,
    inputTokens: 1200,
    outputTokens: 300,
    costUsd: 0.0125,
    unpricedTokens: 40,
    estimatedTokens: 0,
  });
});

test("an invalid share or budget is refused at its field", async () => {
  const { id } = await makeAgent(owner);
  const right = { sampling: 1, budgetUsd: null, budgetTokens: null };
  for (const [wrong, field] of [
    [{ sampling: 1.01 }, "sampling"],
    [{ sampling: -0.1 }, "sampling"],
    [{ budgetUsd: -1 }, "budgetUsd"],
    [{ budgetTokens: 0.5 }, "budgetTokens"],
    [{ budgetTokens: "many" }, "budgetTokens"],
  ] as const) {
    const { body } = await owner.client
      .put(`/api/agents/${id}/judge-settings`, { ...right, ...wrong })
      .expect(400);
    assert.equal(body.issues![0]!.path, field);
  }
});
