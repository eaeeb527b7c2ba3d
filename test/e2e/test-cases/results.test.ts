// Browser tests of test case results, in the list and on their own page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { broken, chooseAction, judge, ok, openTests, rowOf, statusCheck } from "../../support/tests-page.ts";

const browser = useBrowser();

test("the results of a test case update live: last verdict, 30 days, pass rate", async () => {
  const opened = await openTests(browser, { name: "Is well", assertions: [statusCheck] });
  const { page } = opened;
  const row = rowOf(page, "Is well");
  await row.getByText("Not evaluated yet").waitFor();
  for (const attributes of [ok, {}, broken, ok, ok]) await judge(opened, attributes);
  await row.getByText("75%").waitFor();
  await row.getByText("3 of 4").waitFor();
  await row.getByText("Passed", { exact: true }).waitFor();
  await row.getByText("just now").waitFor();
  const strip = row.getByRole("img", {
    name: /^Is well, last 30 days: 3 passed, 1 failed, 1 missing instrumentation, on \d days?$/,
  });
  await strip.waitFor();
  for (const outcome of ["passed", "failed", "missing_instrumentation"]) {
    await eventually(async () =>
      assert.equal(await strip.locator(`path[data-outcome=${outcome}]`).count(), 1, outcome),
    );
  }
  await eventually(async () => assert.equal(await strip.locator("path[data-outcome=skipped]").count(), 0));
  await assertAccessible(page);
});

test("the results of a test case are listed by outcome, each with a link to its evaluation", async () => {
  const opened = await openTests(browser, { name: "Is well", assertions: [statusCheck] });
  const { page, path, made, complaints } = opened;
  const test = made[0]!.id;
  await chooseAction(page, "Is well", "Results");
  await page.getByRole("heading", { level: 2, name: "No evaluations yet" }).waitFor();
  const traces: string[] = [];
  for (const attributes of [ok, broken, {}, ok]) traces.push(await judge(opened, attributes));
  const links = page.getByRole("link", { name: /^Open trace/ });
  const hrefs = () => links.evaluateAll(found => found.map(link => link.getAttribute("href")!));
  const assertTraces = (...expected: string[]) =>
    eventually(async () => {
      const found = (await hrefs()).map(href => new URL(href, browser.origin));
      assert.deepEqual(
        found.map(({ pathname }) => pathname.split("/").at(-1)),
        expected,
      );
      for (const { searchParams } of found) assert.equal(searchParams.get("test"), test);
    });
  await assertTraces(...traces.toReversed());
  await page.getByText("66.7% passed, 2 of 3").waitFor();
  await page.getByText("HTTP status: The HTTP status is 500 (expected 2xx).").waitFor();
  await page.getByText("Show as table").click();
  await page
    .getByRole("region", { name: "Last 30 days" })
    .getByRole("cell", { name: "2 passed, 1 failed, 1 missing instrumentation" })
    .waitFor();

  await page.getByRole("link", { name: "Failed", exact: true }).click();
  await page.waitForURL(`**${path}/${test}/results?outcome=failed`);
  await assertTraces(traces[1]!);
  await page.getByRole("link", { name: "Missing instrumentation" }).click();
  await assertTraces(traces[2]!);
  await page.goBack();
  await assertTraces(traces[1]!);
  await page.goto(`${path}/${test}/results?outcome=skipped`);
  await page.getByRole("heading", { level: 2, name: "No “Skipped” results" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "All results" }).last().click();
  await assertTraces(...traces.toReversed());

  const invalid = page.getByText("Invalid filter in the URL");
  await page.goto(`${path}/${test}/results?outcome=lost&from=never&to=2020-01-01T00:00Z`);
  await page.getByText("Outcome: “lost” is not a known value.", { exact: true }).waitFor();
  await page.getByText("From: “never” is not a time.", { exact: true }).waitFor();
  await page.getByText(/^Scheduled before Jan 1, 2020, 12:00\sAM \(UTC\)$/).waitFor();
  await page.getByRole("heading", { level: 2, name: "No evaluations in this period" }).waitFor();
  await shoot(page, "results-invalid");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "results-invalid-390");
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole("link", { name: "Clear filters" }).click();
  await invalid.waitFor({ state: "detached" });
  await assertTraces(...traces.toReversed());
  await opened.owner.client.patch(`/api/tests/${test}`, {
    assertions: [{ ...statusCheck, expected_status: 200 }],
  });
  await page.reload();
  await page.getByText("Test changed since").first().waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
  await page.goto(`${path}/00000000-0000-4000-8000-000000000000/results`);
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});

test("results load page by page", async () => {
  const opened = await openTests(browser, { name: "Is well", assertions: [statusCheck] });
  const { page, path, made } = opened;
  for (let sent = 0; sent < 3; sent++) await judge(opened, ok);
  await page.route("**/api/tests/*/runs?limit=50*", (route, request) =>
    route.continue({ url: request.url().replace("limit=50", "limit=2") }),
  );
  await page.goto(`${path}/${made[0]!.id}/results`);
  const links = page.getByRole("link", { name: /^Open trace/ });
  await links.nth(1).waitFor();
  await eventually(async () => assert.equal(await links.count(), 2));
  const more = page.getByRole("button", { name: "Show more" });
  // A page may be short or even empty, and only the next one shows that it was the last.
  await eventually(async () => {
    if (await more.isVisible()) await more.click();
    assert.equal(await more.count(), 0);
  });
  await eventually(async () => assert.equal(await links.count(), 3));
});
