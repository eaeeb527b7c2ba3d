// Judge limits and judge usage in the dashboard, and the hint on projects without a judge.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest, type Owner } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { storeTrace } from "../../support/stored-traces.ts";

const browser = useBrowser({ config: { roles: ["http"] } });

type Place = { page: Page; owner: Owner; agent: Agent; base: string; complaints: string[] };

async function open(): Promise<Place> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  const { page, complaints } = await browser.openAs(owner);
  return { page, owner, agent, complaints, base: `/projects/${owner.projectId}/agents/${agent.id}` };
}

/** Records judge usage of the agent, `ago` days back. */
async function spend(
  { id }: Agent,
  { ago = 0, usd = 0, tokens = 0, unpriced = 0, estimated = 0 }: Record<string, number>,
): Promise<void> {
  await browser.service.db.pool.query(
    `insert into judge_days values ($1, (now() at time zone 'utc')::date - $2::int, 3, 7, $3, 0, $4, $5, $6)`,
    [id, ago, tokens, usd, unpriced, estimated],
  );
}

const judging = (page: Page) => page.getByRole("region", { name: "Judge settings", exact: true });
const save = (page: Page) => page.getByRole("button", { name: "Save judge settings" }).click();

test("sampling and the daily budget are edited next to today's usage", async () => {
  const { page, owner, agent, base, complaints } = await open();
  await spend(agent, { usd: 0.0125, tokens: 12_345 });
  await page.goto(`${base}/settings`);
  const card = judging(page);
  await card.getByText("$0.0125").waitFor();
  await card.getByText("7 questions answered from the cache").waitFor();
  await card.getByLabel("Sampling (percent)").fill("12.5");
  await card.getByLabel("Daily budget in dollars (optional)").fill("2.5");
  await save(page);
  await page.getByText("Judge settings saved").waitFor();
  await card.getByText("$0.0125 of $2.50").waitFor();
  const path = `/api/agents/${agent.id}/judge-settings` as const;
  const body = await owner.client.read(path);
  assert.deepEqual([body.sampling, body.budgetUsd, body.budgetTokens], [0.125, 2.5, null]);
  await card.getByLabel("Sampling (percent)").fill("101");
  await save(page);
  await card.getByText(/less than or equal to 100/).waitFor();
  assert.equal((await owner.client.get(path)).body.sampling, 0.125);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("a used-up budget says what is skipped and until when", async () => {
  const { page, owner, agent, base } = await open();
  await spend(agent, { tokens: 100_000 });
  const settings = { sampling: 1, budgetUsd: null, budgetTokens: 100_000 };
  await owner.client.put(`/api/agents/${agent.id}/judge-settings`, settings).expect(200);
  await page.goto(`${base}/settings`);
  await judging(page).getByText("Today’s budget of 100,000 tokens is used up.").waitFor();
  await judging(page).getByLabel("Daily budget in tokens (optional)").fill("200000");
  await save(page);
  await judging(page).getByText("is used up.", { exact: false }).waitFor({ state: "detached" });
});

test("tokens that the judge’s server did not report are marked as estimated", async () => {
  const { page, agent, base } = await open();
  await spend(agent, { tokens: 5_000, estimated: 3_000 });
  const notice = "3,000 tokens are estimated, because the judge’s server reported no usage.";
  await page.goto(`${base}/settings`);
  await judging(page).getByText(notice).waitFor();
  await page.goto(`${base}/judging`);
  await page.getByText(notice).waitFor();
  await page
    .getByRole("table", { name: "Judge usage by day" })
    .getByText("(partly estimated)")
    .first()
    .waitFor();
  await assertAccessible(page);
});

test("tokens without a known price are counted separately and marked as outside the budget in dollars", async () => {
  const { page, owner, agent, base } = await open();
  await spend(agent, { tokens: 5_000, unpriced: 5_000 });
  const settings = { sampling: 1, budgetUsd: 1, budgetTokens: null };
  await owner.client.put(`/api/agents/${agent.id}/judge-settings`, settings).expect(200);
  await page.goto(`${base}/settings`);
  await judging(page).getByText("5,000 of today’s tokens have no known price").waitFor();
  await judging(page).getByText("or the budget").waitFor();
  await judging(page).getByText("No known price", { exact: true }).waitFor();
  await eventually(async () => assert.equal(await judging(page).getByText("$0.00").count(), 0));
  await judging(page).getByRole("link", { name: "Add a price" }).click();
  await page.getByRole("heading", { level: 2, name: "This project’s prices" }).waitFor();
  await page.goto(`${base}/judging`);
  await page.getByText("5,000 tokens have no known price and are not included in the cost.").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByText("No known price", { exact: true }).count(), 2),
  );
  await eventually(async () => assert.equal(await page.getByText("$0.00").count(), 0));
});

test("a project without a judge says so in one line that links to the judge settings", async () => {
  const { page, owner, agent, base, complaints } = await open();
  await makeTest(owner, agent.id, { passiveBehavior: "run_when_relevant", scenario: "A refund." });
  const run = {
    state: "completed",
    routing: "unavailable",
    verdict: "passed",
    counts: { passed: 1 },
  } as const;
  await storeTrace(browser.service.db, agent.id, { name: "an unrouted one", run });
  await page.goto(`${base}/traces`);
  const said = page.getByText("No judge: “Run when relevant” tests are not evaluated.");
  await said.waitFor();
  await page.getByTitle("“Run when relevant” tests were not evaluated: the project has no judge").waitFor();
  await eventually(async () => assert.equal(await said.count(), 1));
  await page.goto(`${base}/start`);
  await said.waitFor();
  await page.getByRole("link", { name: "Set up a judge" }).click();
  await page.getByRole("heading", { level: 2, name: "Judge for this project" }).waitFor();

  await owner.client
    .put(`/api/projects/${owner.projectId}/judge`, { provider: "openai", model: "m", apiKey: "sk-1" })
    .expect(200);
  await page.goto(`${base}/traces`);
  await page.getByTitle("“Run when relevant” tests were not evaluated", { exact: true }).waitFor();
  await eventually(async () => assert.equal(await said.count(), 0));
  assert.deepEqual(complaints, []);
});

test("the line about a missing judge is hidden when no test needs a judge", async () => {
  const { page, owner, agent, base } = await open();
  await makeTest(owner, agent.id);
  await storeTrace(browser.service.db, agent.id, { userInput: "A plain one" });
  await page.goto(`${base}/traces`);
  await page.getByText("A plain one").waitFor();
  await eventually(async () => assert.equal(await page.getByText("No judge is configured").count(), 0));
});

test("judge usage is shown by day and by test case, in tokens and, where prices are known, in dollars", async () => {
  const { page, owner, agent, base, complaints } = await open();
  const { id: testId } = await makeTest(owner, agent.id, { name: "Refunds are explained" });
  await spend(agent, { usd: 0.5, tokens: 1_000 });
  await spend(agent, { ago: 10, tokens: 2_000, unpriced: 2_000 });
  await browser.service.db.pool.query(
    "insert into judge_test_days values ($2, $1, (now() at time zone 'utc')::date, 999.6, 0, 0.25, 0, 0)",
    [testId, agent.id],
  );
  await page.goto(`${base}/insights`);
  await page.getByRole("link", { name: "Judge usage" }).click();
  await page.getByText("3,000 in, 0 out").waitFor();
  await page.getByText("2,000 tokens have no known price and are not included in the cost.").waitFor();
  const days = page.getByRole("table", { name: "Judge usage by day" });
  await eventually(async () => assert.equal(await days.getByRole("row").count(), 3));
  await days.getByRole("row").nth(1).getByText("$0.50").waitFor();
  await days.getByRole("row").nth(2).getByText("No known price").waitFor();
  const tests = page.getByRole("table", { name: "Judge usage by test case" });
  const row = tests.getByRole("row").filter({ hasText: "Refunds are explained" });
  await eventually(async () =>
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["1,000", "0", "$0.25"]),
  );
  await page.getByRole("link", { name: "Last 7 days" }).click();
  await page.getByText("1,000 in, 0 out").waitFor();
  await eventually(() => assert.match(page.url(), /days=7/));
  await eventually(async () => assert.equal(await days.getByRole("row").count(), 2));
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("an agent that never used the judge says so and links to the judge settings", async () => {
  const { page, base } = await open();
  await page.goto(`${base}/judging`);
  await page.getByRole("heading", { name: "The judge was not used in this period" }).waitFor();
  await page.getByRole("link", { name: "Open judge settings" }).click();
  await page.getByRole("heading", { level: 2, name: "Current judge" }).waitFor();
});
