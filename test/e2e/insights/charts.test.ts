// Insights in the dashboard: charts and tables show the same numbers, and each number links to its traces.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest, type Owner } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { countRuns, hourMs, hourWithRoom } from "../../support/counts.ts";
import { eventually } from "../../support/eventually.ts";
import { openInsights, outcomesOf, searchOf } from "../../support/insights-page.ts";
import { shoot } from "../../support/shoot.ts";
import { broken, judge, ok, openTests, statusCheck } from "../../support/tests-page.ts";

const browser = useBrowser();

const namesOf = (links: Locator) =>
  links.evaluateAll(all => all.map(link => link.getAttribute("aria-label") ?? ""));

test("without evaluations the page names the next step: send traces, create a test case, choose a longer range", async () => {
  const opened = await openInsights(browser);
  const { page, base, owner, agentId } = opened;
  await page.goto(`${base}/insights`);
  await page.getByRole("heading", { name: "No traces yet" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Get started" }).last().click();
  await page.waitForURL(`**${base}/start`);

  await storeTrace(owner, agentId);
  await page.goto(`${base}/insights`);
  await page.getByRole("link", { name: "Create test case" }).click();
  await page.waitForURL(`**${base}/tests/new`);

  await makeTest(owner, agentId);
  await page.goto(`${base}/insights`);
  await page.getByRole("heading", { name: "No evaluations in this period" }).waitFor();
  await page.getByRole("link", { name: "Last 7 days" }).click();
  await page.waitForURL(`**${base}/insights?range=7d`);
  await page.getByRole("link", { name: "Last 30 days" }).waitFor();
});

async function storeTrace(owner: Owner, agentId: string): Promise<void> {
  const { body } = await owner.client
    .post(`/api/projects/${owner.projectId}/keys`, { name: "CI", access: "full" })
    .expect(201);
  const sent = await fetch(`${browser.service.url}/public/traces`, {
    method: "POST",
    headers: { "x-api-key": body.key, "content-type": "application/json" },
    body: JSON.stringify({ platformId: agentId, spans: [{ span_id: "1", name: "answer" }] }),
  });
  assert.equal(sent.status, 201);
}

test("each part of a bar links to its traces of that hour, and Back returns to the charts", async () => {
  const opened = await openInsights(browser);
  const { page, base, now, complaints } = opened;
  await countRuns(browser.service.db, opened.agentId, opened.now, [
    { ago: 3, passed: 9, failed: 3, skipped: 1, missing: 2, unrouted: 4 },
  ]);
  await page.goto(`${base}/insights`);
  const chart = outcomesOf(page);
  const [receivedFrom, receivedTo] = [now - 3 * hourMs, now - 2 * hourMs].map(at =>
    new Date(at).toISOString(),
  );
  for (const [name, verdict] of [
    [/UTC: 3 failed$/, "failed"],
    [/UTC: 9 passed$/, "passed"],
    [/UTC: 1 skipped$/, "skipped"],
    [/UTC: 2 missing instrumentation$/, "missing_instrumentation"],
  ] as const) {
    await chart.getByRole("link", { name }).click();
    await page.waitForURL(`**${base}/traces?*`);
    await eventually(() =>
      assert.deepEqual(searchOf(page), { kind: "live", receivedFrom, receivedTo, verdict }),
    );
    await page.goBack();
  }
  const unrouted = page.locator("dl").getByRole("link", { name: "4", exact: true });
  await eventually(async () =>
    assert.equal(
      new URL((await unrouted.getAttribute("href"))!, browser.origin).searchParams.get("routing"),
      "unavailable",
    ),
  );
  await page.getByText("75%").first().waitFor();
  await page.getByText("9 of 12").waitFor();
  assert.deepEqual(complaints, []);
});

test("a bar of one test links to exactly the results it counts, whatever the verdicts of their traces", async () => {
  const opened = await openTests(browser, { name: "Is well", assertions: [statusCheck] });
  const { page, owner, agentId } = opened;
  await makeTest(owner, agentId, {
    name: "Never holds",
    assertions: [{ type: "http_status", expected_status: 418 }],
  });
  await hourWithRoom();
  for (const attributes of [ok, broken, {}, ok, broken, ok]) await judge(opened, attributes);
  const body = await owner.client.read(`/api/agents/${agentId}/tests`);
  const { id } = body.items.find(({ name }) => name === "Is well")!;
  for (const [word, count] of [
    ["passed", 3],
    ["failed", 2],
    ["missing instrumentation", 1],
  ] as const) {
    await page.goto(opened.path.replace(/tests$/, `insights?by=test&testId=${id}&range=24h`));
    await page
      .getByRole("region", { name: "Results by outcome" })
      .getByRole("link", { name: new RegExp(`UTC: ${count} ${word}$`) })
      .click();
    await page.waitForURL("**/results?*");
    await page.getByText(/^Scheduled /).waitFor();
    const rows = page
      .getByRole("table")
      .getByRole("row")
      .filter({ has: page.getByRole("link") });
    await eventually(async () => assert.equal(await rows.count(), count, word));
  }
  await page.getByRole("link", { name: "Any time" }).click();
  await page.waitForURL(url => url.searchParams.get("from") === null);
  const { origin, pathname } = new URL(page.url());
  await page.goto(`${origin}${pathname}?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z`);
  const rows = page
    .getByRole("table")
    .getByRole("row")
    .filter({ has: page.getByRole("link") });
  await eventually(async () => assert.equal(await rows.count(), 6, "a reversed time range is ignored"));
});

test("a bar's number equals the number of rows in Traces that it links to", async () => {
  const opened = await openTests(browser, { name: "Is well", assertions: [statusCheck] });
  const { page } = opened;
  await hourWithRoom();
  for (const attributes of [ok, broken, {}, ok, broken, ok]) await judge(opened, attributes);
  for (const [word, count] of [
    ["passed", 3],
    ["failed", 2],
    ["missing instrumentation", 1],
  ] as const) {
    await page.goto(opened.path.replace(/tests$/, "insights"));
    await outcomesOf(page)
      .getByRole("link", { name: new RegExp(`UTC: ${count} ${word}$`) })
      .click();
    await page.waitForURL("**/traces?*");
    const verdicts = page.getByRole("row").filter({ hasText: new RegExp(`${word}`, "i") });
    await eventually(async () => assert.equal(await verdicts.count(), count, word));
    await eventually(async () =>
      assert.equal(
        await page
          .getByRole("row")
          .filter({ has: page.getByRole("link") })
          .count(),
        count,
      ),
    );
  }
});

test("a chart is one Tab stop; arrow keys move between bars, and Enter opens the traces of the focused bar", async () => {
  const opened = await openInsights(browser);
  const { page, base, now } = opened;
  await countRuns(browser.service.db, opened.agentId, opened.now, [
    { ago: 9, passed: 2, failed: 1 },
    { ago: 4, passed: 5, failed: 3 },
  ]);
  await page.goto(`${base}/insights`);
  const chart = outcomesOf(page);
  await chart.getByRole("link").first().waitFor();
  await eventually(async () => assert.equal(await chart.locator("a[tabindex='0']").count(), 1));
  await chart.locator("a[tabindex='0']").focus();
  const focused = (text: string) =>
    becomesTrue(page, `document.activeElement.getAttribute("aria-label").endsWith("${text}")`);
  const { keyboard } = page;
  await focused("Failed 3");
  const tip = page.locator(".plot-tip");
  await tip.getByText("62.5%").waitFor();
  await keyboard.press("Escape");
  await tip.waitFor({ state: "detached" });
  await keyboard.press("ArrowUp");
  await focused(": 3 failed");
  await tip.waitFor();
  await keyboard.press("ArrowLeft");
  await focused(": 1 failed");
  await keyboard.press("ArrowUp");
  await focused(": 2 passed");
  await keyboard.press("ArrowUp");
  await focused(": 2 passed");
  await keyboard.press("End");
  await focused(": 5 passed");
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await page.waitForURL(`**${base}/traces?*`);
  const hour = {
    kind: "live",
    receivedFrom: new Date(now - 4 * hourMs).toISOString(),
    receivedTo: new Date(now - 3 * hourMs).toISOString(),
  };
  await eventually(() => assert.deepEqual(searchOf(page), { ...hour, verdict: "failed" }));
});

test("the table and the tooltips show the charts' numbers, and hours without evaluations are gaps", async () => {
  const opened = await openInsights(browser);
  const { page, base } = opened;
  await countRuns(browser.service.db, opened.agentId, opened.now, [
    { ago: 11, passed: 1_234, failed: 1 },
    { ago: 7, skipped: 6, missing: 7 },
    { ago: 2, passed: 8, failed: 4, skipped: 2, missing: 1, others: 5, unrouted: 3 },
  ]);
  await page.goto(`${base}/insights`);
  await outcomesOf(page).locator("a[data-kind=all]").nth(2).waitFor();
  const charted = await namesOf(outcomesOf(page).locator("a[data-kind=all]"));
  assert.equal(charted.length, 3, "an hour without evaluations has no bar");
  await outcomesOf(page)
    .getByRole("link", { name: /: 8 passed$/ })
    .hover();
  const tip = page.locator(".plot-tip");
  await tip.getByText("66.7%").waitFor();
  await tip.hover();
  await eventually(async () =>
    assert.equal(await tip.isVisible(), true, "the pointer can move onto the tooltip"),
  );
  await assertAccessible(page);
  await shoot(page, "insights-not-fully-evaluated");
  const rate = page.getByRole("region", { name: "Pass rate" }).locator("circle");
  await eventually(async () =>
    assert.equal(await rate.count(), 2, "an hour without a pass rate has no point"),
  );
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await page.waitForURL(`**${base}/insights?form=table`);
  const rows = page.getByRole("table").getByRole("row");
  await rows.nth(3).waitFor();
  const cells = await rows.evaluateAll(all =>
    all.map(row => [...row.querySelectorAll("th, td")].map(cell => cell.textContent)),
  );
  const [headings, ...told] = cells as string[][];
  const inTable = told
    .reverse()
    .map(row => Object.fromEntries(headings!.map((heading, at) => [heading, row[at]])));
  const inChart = charted.map(name => {
    const [when, facts] = name.split(" UTC: ") as [string, string];
    const numbers = facts.split(", ").map(fact => fact.match(/^(.*?) ([\d–<].*)$/)!.slice(1));
    return { "Hour (UTC)": when, ...Object.fromEntries(numbers) };
  });
  for (const [at, column] of inChart.entries()) {
    const row = Object.fromEntries(Object.keys(column).map(word => [word, inTable[at]![word]]));
    assert.deepEqual(row, column);
  }
  assert.deepEqual(
    inTable.map(row => [
      row["Passed"],
      row["Failed"],
      row["Skipped"],
      row["Missing instrumentation"],
      row["Not fully evaluated"],
      row["Pass rate"],
    ]),
    [
      ["1,234", "1", "0", "0", "0", "99.9%"],
      ["0", "0", "6", "7", "0", "–"],
      ["8", "4", "2", "1", "5", "66.7%"],
    ],
  );
  assert.equal(inTable[2]!["Routing unavailable"], "3");
  await page.getByText("Not shown: 22 of 25 hours without data").waitFor();
  await page.getByRole("row").nth(1).getByRole("link", { name: "4", exact: true }).click();
  await page.waitForURL(/verdict=failed/);
});

test("charts and table reflow at 320 pixels and stay accessible in both themes", async () => {
  const opened = await openInsights(browser);
  const { page, base, complaints } = opened;
  await countRuns(
    browser.service.db,
    opened.agentId,
    opened.now,
    Array.from({ length: 160 }, (_, ago) => ({
      ago: ago + 1,
      passed: 20_000 + ago,
      failed: ago % 7,
      unrouted: ago % 2,
    })),
  );
  await page.setViewportSize({ width: 320, height: 640 });
  for (const query of ["", "?range=7d", "?form=table", "?range=custom"]) {
    await page.goto(`${base}/insights${query}`);
    await page
      .getByRole("link", { name: /passed$|^20,0/ })
      .first()
      .waitFor();
    await assertReflows(page);
    // Seven days show the same elements, only more of them.
    if (query !== "?range=7d") await assertAccessible(page);
  }
  assert.deepEqual(complaints, []);
});

test("insights that fail to load show the error, and Retry loads them", async () => {
  const opened = await openInsights(browser);
  const { page, base } = opened;
  await countRuns(browser.service.db, opened.agentId, opened.now, [{ ago: 1, passed: 1 }]);
  const requestId = crypto.randomUUID();
  await page.route("**/api/agents/*/insights*", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Something went wrong.", requestId } }),
  );
  await page.goto(`${base}/insights`);
  await page.getByRole("alert").getByText(requestId).waitFor();
  await page.unroute("**/api/agents/*/insights*");
  await page.getByRole("button", { name: "Retry" }).click();
  await outcomesOf(page).waitFor();
});

test("tokens and cost are shown by model, and models without a price are named and lead to the prices", async () => {
  const { page, base, agentId, now, complaints } = await openInsights(browser);
  const { db } = browser.service;
  for (const [model, provider, calls] of [
    ["gpt-4o", "openai", 2],
    ["house-7b", "vllm", 1],
  ] as const) {
    await db.pool.query("insert into model_hours values ($1, $2, $3, $4, 0, $5, 0, $6, $7, 0, $8)", [
      ...[agentId, new Date(now - 3 * hourMs), provider, model, calls],
      ...[calls * 1_000_000, calls * 400_000, calls * 100_000],
    ]);
  }
  await page.goto(`${base}/insights`);
  await page.getByRole("link", { name: "Models", exact: true }).click();
  const figure = (word: string) => page.locator(".figure", { hasText: word }).locator("dd");
  // 2 × (0.6 × 2.50 + 0.4 × 1.25 + 0.1 × 10)
  await figure("Cost").getByText("≥ $6.00").waitFor();
  await figure("Tokens in").getByText("1.2M cached").waitFor();
  await page.getByText("No known price for tokens of").getByText("house-7b").waitFor();
  const row = page.getByRole("row", { name: /^gpt-4o/ });
  await row.getByText("$6.00").waitFor();
  await page.getByRole("heading", { name: "Cost", exact: true }).waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await row.getByRole("link", { name: "gpt-4o" }).click();
  await page.waitForURL(/traces\?.*model=gpt-4o/);
  await page.goBack();
  await page
    .getByRole("row", { name: /^house-7b/ })
    .getByRole("link", { name: "No price" })
    .click();
  await page.waitForURL(/settings\/prices$/);
  assert.deepEqual(complaints, []);
});

test("redactions are shown by rule, and without any the page leads to the privacy settings", async () => {
  const { page, base, owner, agentId, now, complaints } = await openInsights(browser);
  await page.goto(`${base}/insights?by=redaction`);
  await page.getByRole("heading", { name: "This project has no privacy rules" }).waitFor();
  await shoot(page, "insights-redactions-none");
  await owner.client.put(`/api/projects/${owner.projectId}/privacy`, { builtIn: ["*"] }).expect(200);
  await page.reload();
  await page.getByRole("heading", { name: "No redactions in this period" }).waitFor();

  const rows = [
    [3, "email", 1_204],
    [2, "email", 31],
    [2, "a-rule-with-the-longest-name-of-32", 7],
    [0, "unchecked", 2],
  ] as const;
  for (const [ago, rule, count] of rows) {
    await browser.service.db.pool.query(
      "insert into redaction_hours (agent_id, hour, rule, count) values ($1, $2, $3, $4)",
      [agentId, new Date(now - ago * hourMs), rule, count],
    );
  }
  await page.reload();
  const table = page.getByRole("table", { name: "Rules, most frequent first" });
  await table.getByRole("row", { name: /email 1,235 99%/ }).waitFor();
  await table.getByText("texts not stored, because checking them took too long").waitFor();
  await eventually(async () => assert.equal(await table.getByRole("row").count(), 4));
  await shoot(page, "insights-redactions");
  const chart = page.getByRole("region", { name: "Redactions" });
  await chart.getByRole("link").first().click();
  await page.waitForURL(`**${base}/traces?kind=live**`);
  await page.goBack();
  await page.setViewportSize({ width: 390, height: 844 });
  await table.waitFor();
  await assertReflows(page);
  await shoot(page, "insights-redactions-narrow");
  assert.deepEqual(complaints, []);
});
