// Insights by test case and check, worst first, and their time ranges.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { countResults, countRuns, hourMs } from "../../support/counts.ts";
import { eventually } from "../../support/eventually.ts";
import { openInsights, outcomesOf, searchOf } from "../../support/insights-page.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser();

const hostile = `<img src=x onerror="document.title='hit'"> ${"W".repeat(120)}`;

test("test cases are listed worst first, names shown as plain text, each with its editor and its own chart", async () => {
  const opened = await openInsights(browser);
  const { page, base, owner, agentId, now, complaints } = opened;
  const check = { id: "quick", type: "response_time", max_ms: 1_000, description: "Answers at once" };
  const make = (name: string) => makeTest(owner, agentId, { name, assertions: [check] });
  const [fine, broken, blind] = [await make("Is fine"), await make(hostile), await make("Sees nothing")];
  await countResults(browser.service.db, fine.id, "quick", now, { ago: 3, passed: 99, failed: 1 });
  await countResults(browser.service.db, broken.id, "quick", now, {
    ago: 5,
    passed: 1,
    failed: 3,
    skipped: 2,
  });
  await countResults(browser.service.db, blind.id, "gone", now, { ago: 5, missing: 2 });
  await page.goto(`${base}/insights?by=test`);
  const rows = page.getByRole("table").getByRole("row");
  await rows.nth(3).waitFor();
  const headers = rows.getByRole("rowheader");
  await eventually(async () =>
    assert.deepEqual(await headers.allTextContents(), [hostile, "Is fine", "Sees nothing"]),
  );
  await rows.nth(1).getByText("25%").waitFor();
  await rows.nth(1).getByText("of 4").waitFor();
  const failed = rows.nth(1).getByRole("link", { name: "3", exact: true });
  const leadsTo = new URL((await failed.getAttribute("href"))!, browser.origin);
  assert.equal(leadsTo.pathname, `${base}/tests/${broken.id}/results`);
  assert.equal(leadsTo.searchParams.get("outcome"), "failed");
  await eventually(async () => assert.notEqual(await page.title(), "hit"));

  await rows
    .nth(1)
    .getByRole("link", { name: /^Over time/ })
    .click();
  await page.waitForURL(`**${base}/insights?by=test&testId=${broken.id}`);
  const chart = page.getByRole("region", { name: "Results by outcome" });
  await chart.getByRole("link", { name: /: 3 failed$/ }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("region", { name: "Tokens" }).count(), 0));
  await chart.getByRole("link", { name: /: 3 failed$/ }).click();
  await page.waitForURL(`**${base}/tests/${broken.id}/results?*`);
  const [from, to] = [now - 5 * hourMs, now - 4 * hourMs].map(at => new Date(at).toISOString());
  await eventually(() => assert.deepEqual(searchOf(page), { from, to, outcome: "failed" }));
  await page.goBack();
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForURL(`**${base}/tests/${broken.id}`);

  await page.goto(`${base}/insights?by=check`);
  // The descriptions of the checks load separately from their counts.
  await rows.nth(3).getByText("no longer in the test").waitFor();
  await eventually(async () =>
    assert.deepEqual(await headers.allTextContents(), [
      `Response time quick Answers at once${hostile}`,
      "Response time quick Answers at onceIs fine",
      "Check gone no longer in the testSees nothing",
    ]),
  );
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("time range, interval and custom range are kept in the URL, and Back restores them", async () => {
  const opened = await openInsights(browser);
  const { page, base, now } = opened;
  await countRuns(browser.service.db, opened.agentId, opened.now, [
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
  await eventually(async () =>
    assert.equal(
      await page.getByRole("link", { name: "Hours", exact: true }).getAttribute("aria-current"),
      "true",
    ),
  );

  await page.getByRole("link", { name: "Custom", exact: true }).click();
  await page.getByLabel("From (UTC)").fill(`${day}T05:00`);
  await page.getByLabel("To (UTC)").fill(`${day}T04:00`);
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Must be before the end.").waitFor();
  await page.getByLabel("From (UTC)").fill("2020-01-01T00:00");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Choose at most 366 days.").waitFor();
  await page.getByLabel("From (UTC)").fill(`${day}T00:00`);
  await page.getByLabel("To (UTC)").fill(`${day}T23:00`);
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText(/12:00\sAM – 11:00\sPM UTC, hourly/).waitFor();
  const { from, to } = searchOf(page);
  assert.deepEqual([from, to], [`${day}T00:00:00.000Z`, `${day}T23:00:00.000Z`]);
  await page.goto(`${base}/insights?range=custom&from=2020-01-01T00:00Z&to=${day}T00:00Z`);
  await page.getByText("Choose at most 366 days.").waitFor();
  await page.goto(`${base}/insights?range=eon&by=all&interval=era&form=song&from=never`);
  await outcomesOf(page).waitFor();
  await page.getByText("Group by: “all” is not a known value.", { exact: true }).waitFor();
  await page.getByText("From: “never” is not a time.", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByText("Invalid filter in the URL").waitFor({ state: "detached" });
  await page.goto(`${base}/insights?from=${day}T00:00Z&to=${day}T23:00Z`);
  await page.getByText(/12:00\sAM – 11:00\sPM UTC, hourly/).waitFor();
  const custom = page.getByRole("link", { name: "Custom", exact: true });
  await eventually(async () => assert.equal(await custom.getAttribute("aria-current"), "true"));
  await page.goto(`${base}/insights?range=7d&from=${day}T00:00Z`);
  await page.getByText("From: used only with the time range “Custom”.", { exact: true }).waitFor();
  await shoot(page, "insights-invalid");
});
