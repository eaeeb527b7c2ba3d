// Traces for which the judge was unavailable: counted above the list, found by a filter, and re-evaluated.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { Check } from "../../../src/model/run/run.ts";
import type { Assertion } from "../../../src/model/test-case/assertion.ts";
import { EventPublisher } from "../../../src/store/events.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest, type Owner } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { resultOf, storeJudgedRun } from "../../support/judged-runs.ts";
import { storeTrace } from "../../support/stored-traces.ts";

// No worker, so that scheduled runs complete only when a test completes them.
const browser = useBrowser({ config: { roles: ["http"], allowPrivateTargets: ["127.0.0.1"] } });

const check: Check = {
  id: "reply",
  type: "semantic",
  outcome: "skipped",
  skipped: "judge_unavailable",
  reason: "The judge answered 503, 6 tries in 15 min.",
  reasonCode: "judge_not_asked",
  expected: { threshold: 0.7 },
  actual: null,
  evidence: [],
};
const assertion = {
  id: "reply",
  type: "semantic",
  criteria: "Kind.",
  negate: false,
  depends_on: [],
} as Assertion;

/** A new account and agent with a test, two traces for which the judge was unavailable, and one that was judged. */
async function openOutage(
  path = "/traces",
): Promise<{ page: Page; owner: Owner; agent: Agent; testId: string }> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  const { db } = browser.service;
  const { id: testId } = await makeTest(owner, agent.id, { name: "Kind" });
  for (const [at, userInput] of ["First question", "Second question"].entries()) {
    const receivedAt = new Date(Date.now() - 7_200_000 + at * 60_000);
    const traceId = await storeTrace(db, agent.id, { userInput, receivedAt });
    const results = [resultOf({ id: testId, name: "Kind" }, [check], [assertion])];
    await storeJudgedRun(db, { agentId: agent.id, traceId }, { outage: true, results });
  }
  await storeTrace(db, agent.id, {
    userInput: "Judged well",
    run: { state: "completed", verdict: "passed" },
  });
  const { page } = await browser.openAs(owner, {
    viewport: { width: 1280, height: 800 },
    path: `/projects/${owner.projectId}/agents/${agent.id}${path.replace("TEST", testId)}`,
  });
  return { page, owner, agent, testId };
}

/** Completes scheduled runs and publishes their events, as a worker would. */
async function complete(agentId: string, limit: number): Promise<void> {
  const { db } = browser.service;
  const { rows } = await db.pool.query<{ id: string; trace_id: string }>(
    `with ended as (
      delete from queue where id in (select id from queue where agent_id = $1 and cause = 'again' limit $2) returning *
    )
    insert into runs (id, trace_id, agent_id, kind, state, due_at, cause, finished_at, verdict, routing, revision, passed,
      failed, skipped, missing_instrumentation, test_ids)
    select id, trace_id, agent_id, kind, 'completed', due_at, cause, now(), 'passed', 'not_needed', 1, 1, 0, 0, 0, '{}'
    from ended
    returning id, trace_id`,
    [agentId, limit],
  );
  const events = new EventPublisher(db);
  for (const { id, trace_id } of rows) {
    events.publish({
      type: "run",
      agentId,
      traceId: trace_id,
      runId: id,
      state: "completed",
      verdict: "passed",
    });
  }
  await events.close();
}

test("the list counts the traces without a judge, filters them, and shows the progress of re-evaluating them", async () => {
  const { page, agent } = await openOutage();
  await page.getByText("The judge was unavailable for 2 traces (oldest: 2 hours ago).").waitFor();
  await page.getByText("Judged well").waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Show traces" }).click();
  await page.getByRole("list", { name: "Active filters" }).getByText("Unavailable").waitFor();
  await page.getByText("Judged well").waitFor({ state: "detached" });
  await eventually(() => assert.equal(new URL(page.url()).searchParams.get("outage"), "true"));
  await eventually(async () => assert.equal(await page.getByRole("row").count(), 3));
  await page.getByRole("button", { name: "Re-evaluate" }).click();
  await page.getByRole("region", { name: "Notifications" }).getByText("Re-evaluating 2 traces").waitFor();
  await page.getByText("Re-evaluating all.").waitFor();
  await page.getByRole("button", { name: "Re-evaluate" }).waitFor({ state: "detached" });
  await complete(agent.id, 1);
  await page.getByText("The judge was unavailable for 1 trace").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  await complete(agent.id, 1);
  await page.getByText(/The judge was unavailable for/).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "No matching traces" }).waitFor();
});

test("the filter for traces without a judge is chosen like any other, and its URL can be reloaded", async () => {
  const { page } = await openOutage();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Judge", exact: true }).click();
  await page.getByRole("button", { name: "Unavailable", exact: true }).click();
  await page.getByText("Judged well").waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Second question").waitFor();
  await eventually(async () => assert.equal(await page.getByText("Judged well").count(), 0));
});

test("the banner is hidden when the judge was never unavailable", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  await storeTrace(browser.service.db, agent.id, { userInput: "Judged well", run: { state: "completed" } });
  const { page } = await browser.openAs(owner);
  const read = page.waitForResponse(/\/outages$/);
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}/traces`);
  await read;
  await page.getByText("Judged well").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByText(/The judge was unavailable for/).count(), 0),
  );
});

test("a result that was skipped because the judge was unavailable can be re-evaluated from a test's results", async () => {
  const { page } = await openOutage("/tests/TEST/results?outcome=skipped");
  const row = page.getByRole("row").filter({ hasText: "The judge answered 503" }).first();
  await row.getByText("The judge answered 503, 6 tries in 15 min.").waitFor();
  await row.getByRole("button", { name: "Re-evaluate" }).click();
  await page.getByRole("region", { name: "Notifications" }).getByText("Re-evaluating the trace").waitFor();
});

test("while the judge is paused, the page says why and links to its settings instead of offering to re-evaluate", async t => {
  const server = await startJudgeServer(() => refusal(401));
  t.after(() => server.close());
  const { page, owner } = await openOutage();
  const judge = `/api/projects/${owner.projectId}/judge` as const;
  const { url, provider, model, apiKey } = server.connection();
  await owner.client.put(judge, { url, provider, model, apiKey }).expect(200);
  await owner.client.post(`${judge}/test`, {}).expect(200);
  await page.reload();
  await page.getByText("The judge is still paused. The judge rejected the API key (401).").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  await eventually(async () =>
    assert.equal(await page.getByRole("button", { name: "Re-evaluate" }).count(), 0),
  );
  await page.getByRole("link", { name: "Open the paused judge" }).click();
  await page.waitForURL("**/settings/judge");
  server.script = obliging();
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("The judge works.").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Re-evaluate" }).waitFor();
});
