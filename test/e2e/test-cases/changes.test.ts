// Browser tests of changing test cases: status, duplicate and delete, one by one and in bulk.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  assertNames,
  chooseAction,
  draft,
  listTests,
  openTests,
  rowOf,
  statusCheck,
} from "../../support/tests-page.ts";

const browser = useBrowser();

test("a test case can be disabled and activated in its row, which explains the effect", async () => {
  const opened = await openTests(browser, { name: "Is well" });
  const { page, complaints } = opened;
  const row = rowOf(page, "Is well");
  await row.getByText("Runs on every trace.").waitFor();
  await chooseAction(page, "Is well", "Disable");
  await row.getByText("Disabled: does not run on live traffic.").waitFor();
  await page.getByText("“Is well” disabled").waitFor();
  await eventually(async () => assert.equal((await listTests(opened))[0]!.status, "disabled"));
  await chooseAction(page, "Is well", "Activate");
  await row.getByText("Runs on every trace.").waitFor();
  await eventually(async () => assert.equal((await listTests(opened))[0]!.status, "active"));
  assert.deepEqual(complaints, []);
});

test("a range of test cases changes status at once; if one cannot, it is named and none changes", async () => {
  const names = ["One", "Two", "Three", "Four"];
  const opened = await openTests(browser, { name: "Draft", ...draft }, ...names.map(name => ({ name })));
  const { page, made } = opened;
  await assertNames(page, ["Four", "Three", "Two", "One", "Draft"]);
  await page.getByRole("checkbox", { name: "Select Three" }).check();
  await page.getByRole("checkbox", { name: "Select One" }).click({ modifiers: ["Shift"] });
  const bulk = page.getByRole("region", { name: "Actions for the selected tests" });
  await bulk.getByText("3 tests selected").waitFor();
  await bulk.getByRole("button", { name: "Disable" }).click();
  await page.getByText("3 tests disabled").waitFor();
  const statuses = async () => (await listTests(opened)).map(({ status }) => status);
  await eventually(async () =>
    assert.deepEqual(await statuses(), ["active", "disabled", "disabled", "disabled", "disabled"]),
  );

  await page.getByRole("checkbox", { name: "Select all" }).check();
  await bulk.getByText("5 tests selected").waitFor();
  await bulk.getByRole("button", { name: "Activate" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("Not activated, nor any other selected test").waitFor();
  const named = alert.getByRole("link");
  await eventually(async () => assert.deepEqual(await named.allTextContents(), ["Draft"]));
  await eventually(async () => assert.ok((await named.getAttribute("href"))!.endsWith(made[0]!.id)));
  await alert.getByText("An active test needs at least one assertion.").waitFor();
  await eventually(async () =>
    assert.deepEqual(await statuses(), ["active", "disabled", "disabled", "disabled", "disabled"]),
  );
  await assertAccessible(page);
  await alert.getByRole("button", { name: "Dismiss" }).click();
  await page.getByRole("checkbox", { name: "Select Draft" }).uncheck();
  await bulk.getByRole("button", { name: "Activate" }).click();
  await page.getByText("4 tests activated").waitFor();
  await eventually(async () =>
    assert.deepEqual(await statuses(), ["active", "active", "active", "active", "disabled"]),
  );
  await bulk.getByRole("button", { name: "Clear selection" }).click();
  await bulk.waitFor({ state: "detached" });
});

test("a duplicate is disabled and otherwise the same, however long the name", async () => {
  const name = `${"n".repeat(192)}😀${"n".repeat(6)}`;
  const opened = await openTests(browser, { name, assertions: [statusCheck] });
  const { page } = opened;
  await chooseAction(page, name, "Duplicate");
  await page.getByText("2 tests", { exact: true }).waitFor();
  const [copy, original] = await listTests(opened);
  assert.equal(copy!.name, `${"n".repeat(192)} (copy)`);
  assert.deepEqual([copy!.status, copy!.eligibility], ["disabled", "disabled"]);
  assert.deepEqual(copy!.assertions, original!.assertions);
});

test("deleting a test case asks for its name, deleting several for their number", async () => {
  const opened = await openTests(browser, ...["One", "Two", "Three", "Four"].map(name => ({ name })));
  const { page } = opened;
  await chooseAction(page, "Three", "Delete…");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel(/to confirm/).fill("Four");
  await dialog.getByRole("button", { name: "Delete test case" }).click();
  await dialog.getByText("The name does not match.").waitFor();
  await dialog.getByLabel(/to confirm/).fill("Three");
  await dialog.getByRole("button", { name: "Delete test case" }).click();
  await assertNames(page, ["Four", "Two", "One"]);
  await becomesTrue(page, "document.activeElement.textContent === 'Two'");

  await page.getByRole("checkbox", { name: "Select Four" }).check();
  await page.getByRole("checkbox", { name: "Select One" }).check();
  await page.getByRole("button", { name: "Delete…" }).click();
  await eventually(async () =>
    assert.deepEqual(await dialog.getByRole("listitem").allTextContents(), ["Four", "One"]),
  );
  await assertAccessible(page);
  await dialog.getByLabel("Type 2 to confirm").fill("3");
  await dialog.getByRole("button", { name: "Delete 2 test cases" }).click();
  await dialog.getByText("Type 2.").waitFor();
  await dialog.getByLabel("Type 2 to confirm").fill("2");
  await dialog.getByRole("button", { name: "Delete 2 test cases" }).click();
  await assertNames(page, ["Two"]);
  await becomesTrue(page, "document.activeElement.textContent === 'Two'");
  await eventually(async () => assert.equal((await listTests(opened)).length, 1));
});

test("when one of several deletions fails, it is named and the others are done", async () => {
  const opened = await openTests(browser, { name: "Stays" }, { name: "Goes" });
  const { page, made } = opened;
  await page.route(`**/api/tests/${made[0]!.id}`, route =>
    route.fulfill({ status: 503, json: { code: "UNAVAILABLE", message: "Not now." } }),
  );
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel("Type 2 to confirm").fill("2");
  await dialog.getByRole("button", { name: "Delete 2 test cases" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("Not deleted").waitFor();
  await alert.getByText("Stays: Not now.").waitFor();
  await assertNames(page, ["Stays"]);
});
