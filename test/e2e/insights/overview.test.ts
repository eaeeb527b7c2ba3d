// The overview of an agent: where its link leads, its numbers as links, live updates, and its empty and failed states.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { openInsights } from "../../support/insights-page.ts";
import { resultOf, semanticCheck, storeJudgedRun } from "../../support/judged-runs.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { storeTrace } from "../../support/stored-traces.ts";

const browser = useBrowser();
const hourMs = 3_600_000;
const longName =
  "Answers every question about refunds, exchanges and late deliveries politely and completely";

test("an agent's link leads to its overview, which leads to Get started and then counts its traces", async () => {
  const { page, base, owner, agentId, complaints } = await openInsights(browser);
  await page.goto(base);
  await page.waitForURL(`**${base}/overview`);
  await page.getByRole("heading", { name: "No traces yet" }).waitFor();
  await shoot(page, "empty");
  // The page listens: the first trace replaces the empty state.
  const { body } = await owner.client
    .post(`/api/projects/${owner.projectId}/keys`, { name: "CI", access: "full" })
    .expect(201);
  const spans = [{ span_id: "1", name: "answer" }];
  const key = { url: browser.service.url, key: body.key };
  assert.equal((await send(key, { body: { platformId: agentId, spans } })).status, 201);
  await page.getByText("No traffic a week before").waitFor();
  const unchecked = page.getByRole("region", { name: "Not checked by any test" });
  await unchecked.getByText("This agent has no test cases.").waitFor();
  await shoot(page, "little");
  await unchecked.getByRole("link", { name: "1 not evaluated" }).click();
  await page
    .getByRole("link", { name: /answer/ })
    .first()
    .waitFor();
  assert.deepEqual(complaints, []);
});

test("the overview shows what fails, and its numbers open their lists", async () => {
  const { page, base, agentId, owner, complaints } = await openInsights(browser);
  const { db } = browser.service;
  const failing = await makeTest(owner, agentId, { name: longName });
  const other = await makeTest(owner, agentId, { name: "Is polite" });
  const evaluate = async (
    outcome: "passed" | "failed" | "missing_instrumentation" | "skipped",
    userInput: string,
    { testId = failing.id, ago = 0, durationMs = 800 } = {},
  ) => {
    const receivedAt = new Date(Date.now() - ago);
    const traceId = await storeTrace(db, agentId, { userInput, durationMs, receivedAt });
    const results = [resultOf({ id: testId }, [semanticCheck("reply", { criteria: [] }, { outcome })])];
    await storeJudgedRun(db, { agentId, traceId }, { results });
  };
  for (let run = 0; run < 9; run++)
    await evaluate("passed", "Where is my order?", { testId: other.id, ago: hourMs });
  for (let run = 0; run < 3; run++) await evaluate("failed", `Can I get a refund for order ${run}?`);
  await evaluate("failed", "Supercalifragilisticexpialidocious".repeat(6), { durationMs: 61_000 });
  await evaluate("missing_instrumentation", "How many tokens?", { testId: other.id });
  await evaluate("skipped", "Tell me a joke", { testId: other.id });
  for (let run = 0; run < 12; run++) {
    await evaluate("passed", "A week ago", { testId: other.id, ago: 7 * 24 * hourMs + hourMs });
  }
  await storeTrace(db, agentId, { run: { state: "pending", dueAt: new Date(Date.now() + hourMs) } });
  await page.goto(`${base}/overview`);
  await page.getByText("9 of 13 passed").waitFor();
  await page.getByText("100% a week before (12 of 12)").waitFor();
  await page
    .getByText("Not in the pass rate: 1 missing instrumentation, 1 not fully evaluated, 1 pending.")
    .waitFor();
  const tests = page.getByRole("region", { name: "Failing tests" });
  await tests.getByRole("link", { name: longName }).waitFor();
  await assertAccessible(page);
  await assertReflows(page);
  for (const [width, height] of [
    [1440, 900],
    [768, 1024],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    await shoot(page, `full-${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 720 });

  await page.getByRole("link", { name: "4", exact: true }).first().click();
  await page.waitForURL(/verdict=failed/);
  await page.getByText("Can I get a refund for order 2?").first().waitFor();
  await page.goBack();
  await tests.getByRole("link", { name: "4 failures" }).click();
  await page.waitForURL(new RegExp(`/tests/${failing.id}/results`));
  await page.goBack();
  const failures = page.getByRole("region", { name: "Newest failures" });
  await failures.getByRole("link", { name: "Can I get a refund for order 2?" }).click();
  await page.waitForURL(/\/traces\/[0-9a-f-]+$/);
  assert.deepEqual(complaints, []);
});

test("an overview that cannot be read says so, and Retry reads it", async () => {
  const { page, base, agentId } = await openInsights(browser);
  await storeTrace(browser.service.db, agentId);
  const path = `**/api/agents/${agentId}/overview`;
  await page.route(path, route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Internal error.", requestId: "r1" } }),
  );
  await page.goto(`${base}/overview`);
  await page.getByRole("alert").getByText("r1").waitFor();
  await shoot(page, "error");
  await page.unroute(path);
  await page.getByRole("button", { name: "Retry" }).click();
  await eventually(async () =>
    assert.equal(await page.getByRole("region", { name: "Slowest traces" }).count(), 1),
  );
});
