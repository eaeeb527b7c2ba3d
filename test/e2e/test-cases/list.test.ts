// Browser tests of the test case list: rows, filters, templates, keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTestCase } from "../../../src/model/test-case/test-case.ts";
import { insertTestCase } from "../../../src/store/test-cases.ts";
import { templates } from "../../../web/templates.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { assertNames, draft, judge, ok, openTests, rowOf, statusCheck } from "../../support/tests-page.ts";

const browser = useBrowser();

test("each row says whether its test evaluates live traces and why, and what it checks", async () => {
  const turns = [{ input: "a" }, { input: "b" }];
  const { page } = await openTests(
    browser,
    { name: "Always", assertions: [statusCheck, { type: "semantic", criteria: "Kind." }, statusCheck] },
    { name: "Sometimes", passiveBehavior: "run_when_relevant", scenario: "Somebody asks." },
    { name: "By hand", passiveBehavior: "manual_only" },
    { name: "Long talk", turns },
    { name: "Draft", ...draft },
  );
  for (const [name, ...texts] of [
    ["Always", "Active", "Always run", "Runs on every trace.", "3 checks: 2 × HTTP status, Semantic"],
    ["Sometimes", "Active", "Run when relevant", "Runs on traces that match the scenario."],
    ["By hand", "Active", "Manual runs only: does not run on live traffic."],
    ["Long talk", "Active", "Manual runs only, because it does not have exactly one turn."],
    ["Draft", "Disabled", "Always run", "Disabled: does not run on live traffic.", "No checks yet"],
  ] as const) {
    const row = rowOf(page, name);
    for (const text of [...texts, "Not evaluated yet", "No passes or failures"]) {
      await row.getByText(text, { exact: true }).waitFor();
    }
  }
  await page.setViewportSize({ width: 900, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

test("an agent without test cases is offered templates, its latest trace, or a blank form", async () => {
  const opened = await openTests(browser);
  const { page, path, owner } = opened;
  await page.getByRole("heading", { level: 2, name: "No test cases yet" }).waitFor();
  await eventually(async () =>
    assert.equal(
      await page.getByRole("link", { name: "Start from scratch" }).getAttribute("href"),
      `${path}/new`,
    ),
  );
  await eventually(async () =>
    assert.equal(await page.getByRole("link", { name: /latest trace/ }).count(), 0),
  );
  for (const { id, name } of templates) {
    const href = await page.getByRole("link", { name, exact: true }).getAttribute("href");
    assert.equal(href, `${path}/new?template=${id}`);
  }
  const body = canonicalBody(opened.agentId);
  const traceId = traceIdOf(await send({ url: browser.service.url, key: opened.key }, { body }));
  await page.reload();
  const fromTrace = page.getByRole("link", { name: "Create test from latest trace" });
  await eventually(async () =>
    assert.equal(await fromTrace.getAttribute("href"), `${path}/new?trace=${traceId}`),
  );
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);

  await makeTest(owner, opened.agentId);
  await page.reload();
  await page.getByRole("button", { name: "New test case" }).click();
  await assertAccessible(page);
  await page.getByRole("menuitem", { name: templates[0]!.name }).click();
  await page.waitForURL(`**${path}/new?template=${templates[0]!.id}`);
});

test("filters and sort order are in the URL, and Back restores them", async () => {
  const opened = await openTests(
    browser,
    { name: "Refund", passiveBehavior: "run_when_relevant", scenario: "Money back." },
    { name: "Delivery 10", assertions: [statusCheck] },
    { name: "Delivery 9", status: "disabled" },
    { name: "Broken", assertions: [{ ...statusCheck, negate: true }] },
  );
  const { page, path } = opened;
  await judge(opened, ok);
  await page.reload();
  await assertNames(page, ["Broken", "Delivery 9", "Delivery 10", "Refund"]);
  const search = page.getByRole("searchbox", { name: "Search" });
  await page.keyboard.press("/");
  await becomesTrue(page, "document.activeElement.type === 'search'");
  await page.keyboard.type("DELIV");
  await assertNames(page, ["Delivery 9", "Delivery 10"]);
  await page.getByText("2 of 4 tests").waitFor();
  await page.waitForURL(`**${path}?text=DELIV`);
  await page.getByRole("button", { name: "Name", exact: true }).click();
  await page.waitForURL("**?text=DELIV&sort=name");
  await page.getByLabel("Status").selectOption("active");
  await assertNames(page, ["Delivery 10"]);
  await page.goBack();
  await assertNames(page, ["Delivery 9", "Delivery 10"]);
  await eventually(async () => assert.equal(await search.inputValue(), "DELIV"));
  await page.goBack();
  await page.waitForURL(`**${path}?text=DELIV`);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await assertNames(page, ["Broken", "Delivery 9", "Delivery 10", "Refund"]);
  await eventually(async () => assert.equal(await search.inputValue(), ""));

  await search.fill("money");
  await assertNames(page, ["Refund"]);
  await page.goto(`${path}?sort=last&last=nonsense`);
  await page.getByText("No matching tests").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await assertNames(page, ["Broken", "Delivery 10", "Delivery 9", "Refund"]);
  await eventually(async () =>
    assert.equal(
      await page.getByRole("columnheader", { name: "Last verdict" }).getAttribute("aria-sort"),
      "ascending",
    ),
  );
  await page.getByLabel("Sort").selectOption("-rate");
  await assertNames(page, ["Delivery 10", "Broken", "Delivery 9", "Refund"]);
  await page.getByLabel("Last verdict").selectOption("none");
  await assertNames(page, ["Delivery 9", "Refund"]);
  await page.getByLabel("Passive behavior").selectOption("run_when_relevant");
  await assertNames(page, ["Refund"]);
});

test("hostile names are shown as text, and their tests can be deleted", async () => {
  const names = [
    "<img src=x onerror=alert(1)>",
    "“)]}'\" &amp; \u202eabc",
    `${"w".repeat(200)}`,
    "two\nlines\t here",
  ];
  const opened = await openTests(browser, ...names.map(name => ({ name })));
  const { page, complaints } = opened;
  for (const name of names) {
    await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).waitFor();
  }
  await eventually(async () => assert.equal(await page.locator("main img:not([role])").count(), 0));
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole("button", { name: /^Actions for two/ }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page
    .getByRole("alertdialog")
    .getByLabel(/to confirm/)
    .fill("two lines here");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete test case" }).click();
  await page.getByText("3 tests", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("rows can be focused, selected and opened by keyboard alone", async () => {
  const { page, path, made } = await openTests(browser, ...["One", "Two", "Three"].map(name => ({ name })));
  const { keyboard } = page;
  await assertNames(page, ["Three", "Two", "One"]);
  const focused = (name: string) => becomesTrue(page, `document.activeElement.textContent === "${name}"`);
  await keyboard.press("j");
  await focused("Three");
  await keyboard.press("j");
  await focused("Two");
  await keyboard.press("x");
  await page.getByText("1 test selected").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole("checkbox", { name: "Select Two" }).isChecked(), true),
  );
  await keyboard.press("k");
  await focused("Three");
  await keyboard.press("?");
  await page.getByRole("dialog").getByText("Next test case").waitFor();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Actions for Two" }).focus();
  await keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Edit" }).waitFor();
  await assertAccessible(page);
  await keyboard.press("Escape");
  await becomesTrue(page, "document.activeElement.ariaLabel === 'Actions for Two'");
  await page.getByRole("link", { name: "Two" }).focus();
  await keyboard.press("Enter");
  await page.waitForURL(`**${path}/${made[1]!.id}`);
});

test("1,000 test cases can be searched, selected and disabled, and only visible rows are rendered", async () => {
  const opened = await openTests(browser);
  const { page, agentId, owner } = opened;
  const document = parseTestCase({
    name: "x",
    passiveBehavior: "always_run",
    turns: [{ input: "a" }],
    assertions: [statusCheck],
  });
  for (let at = 0; at < 1000; at++) {
    await insertTestCase(browser.service.db, agentId, { ...document, name: `Number ${at}` });
  }
  await page.reload();
  await page.getByText("1,000 tests", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Number 999", exact: true }).waitFor();
  await eventually(async () => assert.ok((await page.getByRole("row").count()) < 60));
  await eventually(async () =>
    assert.equal(await page.getByRole("table").getAttribute("aria-rowcount"), "1001"),
  );
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await page.getByRole("link", { name: "Number 0", exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill("number 999");
  await page.getByText("1 of 1,000 tests").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("1,000 tests disabled").waitFor();
  const body = await owner.client.read(`/api/agents/${agentId}/tests?limit=200`);
  assert.ok(body.items.every(({ status }) => status === "disabled"));
});

test("a list that fails to load shows the error and can be retried", async () => {
  const { page } = await openTests(browser, { name: "Is well" });
  await page.route("**/api/agents/*/tests?*", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Broken.", requestId: "r-1" } }),
  );
  await page.reload();
  const alert = page.getByRole("alert");
  await alert.getByText("INTERNAL").waitFor();
  await alert.getByText("r-1").waitFor();
  await page.unroute("**/api/agents/*/tests?*");
  await alert.getByRole("button", { name: "Retry" }).click();
  await rowOf(page, "Is well").waitFor();
});

test("a test is deleted by its name as people type it, however its accents are stored", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Robot" });
  const { id } = await makeTest(owner, agent.id, { name: "Cafe\u0301 \u200bmenu" });
  const path = `/projects/${owner.projectId}/agents/${agent.id}/tests/${id}`;
  const { page } = await browser.openAs(owner, { path });
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByLabel(/to confirm/).fill("Caf\u00e9 menu");
  await page.getByRole("button", { name: "Delete test case" }).click();
  await page.getByText("No test cases yet").waitFor();
});
