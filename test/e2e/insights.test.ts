// Insights in the dashboard: charts and tables of the same numbers, each of which leads to its traces.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { makeAgent, makeTest, type Owner } from "../support/app.ts";
import {
  assertAccessible,
  assertReflows,
  becomesTrue,
  signIn,
  startTestBrowser,
  type TestBrowser,
  type Window,
} from "../support/browser.ts";

let browser: TestBrowser;
before(async () => {
  browser = await startTestBrowser();
});
after(() => browser.close());

const hourMs = 3_600_000;
const hostile = `<img src=x onerror="document.title='hit'"> ${"W".repeat(120)}`;

type Opened = Window & {
  owner: Owner;
  agentId: string;
  /** The address of the agent's pages. */
  base: string;
  /** The beginning of the present hour. */
  now: number;
};

async function open(): Promise<Opened> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Watched" });
  const window = await browser.open();
  await signIn(window.page, owner);
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  return { ...window, owner, agentId: agent.id, base, now: Math.floor(Date.now() / hourMs) * hourMs };
}

type Hour = { ago: number; passed?: number; failed?: number; skipped?: number; missing?: number };

/** As the transactions that complete runs count them. */
async function count({ agentId, now }: Opened, hours: (Hour & { unrouted?: number })[]): Promise<void> {
  for (const { ago, passed = 0, failed = 0, skipped = 0, missing = 0, unrouted = 0 } of hours) {
    const runs = passed + failed + skipped + missing;
    await browser.service.db.pool.query(
      `insert into agent_hours values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        agentId,
        new Date(now - ago * hourMs),
        runs,
        passed,
        failed,
        skipped,
        missing,
        unrouted,
        runs * 1000,
        runs * 100,
        [0, runs],
      ],
    );
  }
}

async function countTest({ now }: Opened, testId: string, checkId: string, hour: Hour): Promise<void> {
  const { ago, passed = 0, failed = 0, skipped = 0, missing = 0 } = hour;
  const at = new Date(now - ago * hourMs);
  const { pool } = browser.service.db;
  const counts = [passed, failed, skipped, missing];
  await pool.query("insert into test_hours values ($1, $2, $3, $4, $5, $6, now(), 'passed')", [
    testId,
    at,
    ...counts,
  ]);
  await pool.query("insert into check_hours values ($1, $2, $3, $4, $5, $6, $7)", [
    testId,
    checkId,
    at,
    ...counts,
  ]);
}

const outcomesOf = (page: Page) => page.getByRole("region", { name: "Runs by outcome" });
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const namesOf = (links: Locator) =>
  links.evaluateAll(all => all.map(link => link.getAttribute("aria-label") ?? ""));

test("where nothing was judged, the next step is named: send traces, write a test, look further back", async () => {
  const opened = await open();
  const { page, base, owner, agentId } = opened;
  await page.goto(`${base}/insights`);
  await page.getByRole("heading", { name: "No trace yet" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("main").getByRole("link", { name: "Get started" }).last().click();
  await page.waitForURL(`**${base}/start`);

  await storeTrace(owner, agentId);
  await page.goto(`${base}/insights`);
  await page.getByRole("link", { name: "Write a test case" }).click();
  await page.waitForURL(`**${base}/tests/new`);

  await makeTest(owner, agentId);
  await page.goto(`${base}/insights`);
  await page.getByRole("heading", { name: "Nothing was judged in this time" }).waitFor();
  await assertAccessible(page);
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

test("each part of a bar leads to its traces of that hour, and Back to the charts", async () => {
  const opened = await open();
  const { page, base, now, complaints } = opened;
  await count(opened, [{ ago: 3, passed: 9, failed: 3, skipped: 1, missing: 2, unrouted: 4 }]);
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
    assert.deepEqual(searchOf(page), { receivedFrom, receivedTo, verdict });
    await page.goBack();
  }
  const unrouted = page.locator("dl").getByRole("link", { name: "4", exact: true });
  assert.equal(
    new URL((await unrouted.getAttribute("href"))!, browser.origin).searchParams.get("routing"),
    "unavailable",
  );
  await page.getByText("75 %").first().waitFor();
  await page.getByText("9 of 12").waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("a chart is one stop for Tab; arrows go from bar to bar, and Enter opens the traces of the one in focus", async () => {
  const opened = await open();
  const { page, base, now } = opened;
  await count(opened, [
    { ago: 9, passed: 2, failed: 1 },
    { ago: 4, passed: 5, failed: 3 },
  ]);
  await page.goto(`${base}/insights`);
  const chart = outcomesOf(page);
  await chart.getByRole("link").first().waitFor();
  assert.equal(await chart.locator("a[tabindex='0']").count(), 1);
  await chart.locator("a[tabindex='0']").focus();
  const focused = (text: string) =>
    becomesTrue(page, `document.activeElement.getAttribute("aria-label").endsWith("${text}")`);
  const { keyboard } = page;
  await focused("Failed 3");
  const tip = page.locator(".plot-tip");
  await tip.getByText("62.5 %").waitFor();
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
  assert.deepEqual(searchOf(page), {
    receivedFrom: new Date(now - 4 * hourMs).toISOString(),
    receivedTo: new Date(now - 3 * hourMs).toISOString(),
    verdict: "failed",
  });
});

test("the table holds the numbers of the charts, and hours without a run are gaps in the one, named in the other", async () => {
  const opened = await open();
  const { page, base } = opened;
  await count(opened, [
    { ago: 11, passed: 1_234, failed: 1 },
    { ago: 7, skipped: 6, missing: 7 },
    { ago: 2, passed: 8, failed: 4, skipped: 2, missing: 1, unrouted: 3 },
  ]);
  await page.goto(`${base}/insights`);
  await outcomesOf(page).locator("a[data-kind=all]").nth(2).waitFor();
  const charted = await namesOf(outcomesOf(page).locator("a[data-kind=all]"));
  assert.equal(charted.length, 3, "an hour without a run has no bar");
  const rate = page.getByRole("region", { name: "Pass rate" }).locator("circle");
  assert.equal(await rate.count(), 2, "nor has one without a rate a point");
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
      row["Pass rate"],
    ]),
    [
      ["1,234", "1", "0", "0", "99.9 %"],
      ["0", "0", "6", "7", "–"],
      ["8", "4", "2", "1", "66.6 %"],
    ],
  );
  assert.equal(inTable[2]!["Routing unavailable"], "3");
  await page.getByText("21 hours of 24 without a run are left out.").waitFor();
  await assertAccessible(page);
  await page.getByRole("row").nth(1).getByRole("link", { name: "4", exact: true }).click();
  await page.waitForURL(/verdict=failed/);
});

test("test cases stand the worst first, their names as text, each with its editor and its own chart", async () => {
  const opened = await open();
  const { page, base, owner, agentId, complaints } = opened;
  const check = { id: "quick", type: "response_time", max_ms: 1_000, description: "Answers at once" };
  const make = (name: string) => makeTest(owner, agentId, { name, assertions: [check] });
  const [fine, broken, blind] = [await make("Is fine"), await make(hostile), await make("Sees nothing")];
  await countTest(opened, fine.id, "quick", { ago: 3, passed: 99, failed: 1 });
  await countTest(opened, broken.id, "quick", { ago: 5, passed: 1, failed: 3, skipped: 2 });
  await countTest(opened, blind.id, "gone", { ago: 5, missing: 2 });
  await page.goto(`${base}/insights?by=test`);
  const rows = page.getByRole("table").getByRole("row");
  await rows.nth(3).waitFor();
  const names = await rows.getByRole("rowheader").allTextContents();
  assert.deepEqual(names, [hostile, "Is fine", "Sees nothing"]);
  await rows.nth(1).getByText("25 %").waitFor();
  await rows.nth(1).getByText("of 4").waitFor();
  await assertAccessible(page);
  assert.notEqual(await page.title(), "hit");

  await rows
    .nth(1)
    .getByRole("link", { name: /^Over time/ })
    .click();
  await page.waitForURL(`**${base}/insights?by=test&testId=${broken.id}`);
  const chart = page.getByRole("region", { name: "Results by outcome" });
  await chart.getByRole("link", { name: /: 3 failed$/ }).waitFor();
  await assertAccessible(page);
  assert.equal(await page.getByRole("region", { name: "Tokens" }).count(), 0);
  const passed = await chart.getByRole("link", { name: /: 1 passed$/ }).getAttribute("href");
  // A test passes on traces of any verdict.
  assert.equal(new URL(passed!, browser.origin).searchParams.has("verdict"), false);
  await chart.getByRole("link", { name: /: 3 failed$/ }).click();
  await page.waitForURL(`**${base}/traces?*`);
  const { testId, verdict } = searchOf(page);
  assert.deepEqual([testId, verdict], [broken.id, "failed"]);
  await page.goBack();
  await page.getByRole("link", { name: "Edit it" }).click();
  await page.waitForURL(`**${base}/tests/${broken.id}`);

  await page.goto(`${base}/insights?by=check`);
  await rows.nth(3).waitFor();
  const checks = await rows.getByRole("rowheader").allTextContents();
  assert.deepEqual(checks, [
    `Response time quick Answers at once${hostile}`,
    "Response time quick Answers at onceIs fine",
    "Check gone no longer in the testSees nothing",
  ]);
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("time range, interval and a custom range live in the address, and Back restores them", async () => {
  const opened = await open();
  const { page, base, now } = opened;
  await count(opened, [
    { ago: 1, passed: 1 },
    { ago: 100, passed: 2, failed: 2 },
  ]);
  await page.goto(`${base}/insights`);
  await page.getByRole("link", { name: "7 days", exact: true }).click();
  await page.waitForURL(`**${base}/insights?range=7d`);
  await outcomesOf(page)
    .getByRole("link", { name: /: 2 failed$/ })
    .waitFor();
  await page.getByRole("link", { name: "Days", exact: true }).click();
  await page.waitForURL(`**${base}/insights?range=7d&interval=day`);
  const day = new Date(now - 100 * hourMs).toISOString().slice(0, 10);
  const link = outcomesOf(page).getByRole("link", { name: / \d{4} UTC: 2 failed$/ });
  await link.waitFor();
  const whole = new URL((await link.getAttribute("href"))!, browser.origin).searchParams;
  assert.equal(whole.get("receivedFrom"), `${day}T00:00:00.000Z`);
  assert.equal(Date.parse(whole.get("receivedTo")!) - Date.parse(whole.get("receivedFrom")!), 24 * hourMs);
  await page.goBack();
  await page.waitForURL(`**${base}/insights?range=7d`);
  assert.equal(
    await page.getByRole("link", { name: "Hours", exact: true }).getAttribute("aria-current"),
    "true",
  );

  await page.getByRole("link", { name: "Custom", exact: true }).click();
  await page.getByLabel("From (UTC)").fill(`${day}T05:00`);
  await page.getByLabel("To (UTC)").fill(`${day}T04:00`);
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("Must be before the end.").waitFor();
  await assertAccessible(page);
  await page.getByLabel("From (UTC)").fill(`${day}T00:00`);
  await page.getByLabel("To (UTC)").fill(`${day}T23:00`);
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText(/00:00 to .*23:00, UTC, by the hour/).waitFor();
  const { from, to } = searchOf(page);
  assert.deepEqual([from, to], [`${day}T00:00:00.000Z`, `${day}T23:00:00.000Z`]);
});

test("at 320 pixels charts and table reflow, and remain accessible in both themes", async () => {
  const opened = await open();
  const { page, base, complaints } = opened;
  await count(
    opened,
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
    // Of seven days there is only more of the same.
    if (query !== "?range=7d") await assertAccessible(page);
  }
  assert.deepEqual(complaints, []);
});

test("insights that cannot be read say why, and Retry reads them again", async () => {
  const opened = await open();
  const { page, base } = opened;
  await count(opened, [{ ago: 1, passed: 1 }]);
  const requestId = crypto.randomUUID();
  await page.route("**/api/agents/*/insights*", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Something went wrong.", requestId } }),
  );
  await page.goto(`${base}/insights`);
  await page.getByRole("alert").getByText(requestId).waitFor();
  await assertAccessible(page);
  await page.unroute("**/api/agents/*/insights*");
  await page.getByRole("button", { name: "Retry" }).click();
  await outcomesOf(page).waitFor();
});
