// Settings with unsaved changes: leaving them is confirmed once, however many forms of the page have some.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser({ config: { roles: ["http"] } });

test("leaving settings asks once for all forms; Stay keeps the texts, and Leave discards them", async () => {
  const { page, guard, agentName, webhook, leave, complaints } = await openSettings();
  await agentName.fill("Half written");
  await webhook.fill("https://half.example/");
  await leave();
  await guard.waitFor();
  assert.equal(await guard.count(), 1);
  await shoot(page, "unsaved-settings");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "unsaved-settings-390");
  await guard.getByRole("button", { name: "Stay" }).click();
  await guard.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1280, height: 720 });
  assert.equal(await agentName.inputValue(), "Half written");
  assert.equal(await webhook.inputValue(), "https://half.example/");

  await page.goBack();
  await guard.getByRole("button", { name: "Stay" }).click();
  await page.waitForURL(/\/settings$/);
  assert.equal(await agentName.inputValue(), "Half written");

  const asked = page.waitForEvent("dialog");
  void page.evaluate("location.reload()").catch(() => {});
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();

  await leave();
  await guard.getByRole("button", { name: "Leave" }).click();
  await page.waitForURL(/\/insights$/);
  await page.getByRole("heading", { level: 1, name: "Insights" }).waitFor();
  assert.equal(await guard.count(), 0, "asks a second time");
  await page.goBack();
  await eventually(async () => assert.equal(await agentName.inputValue(), "Robot"));
  assert.deepEqual(complaints, []);
});

test("leaving settings does not ask after saving, after undoing the changes, or without any", async () => {
  const { page, guard, agentName, webhook, leave } = await openSettings();
  const leaves = async () => {
    await leave();
    await page.waitForURL(/\/insights$/);
    await page.getByRole("heading", { level: 1, name: "Insights" }).waitFor();
    assert.equal(await guard.count(), 0);
    await page.goBack();
    await agentName.waitFor();
  };
  await leaves();
  await agentName.fill("Half written");
  await agentName.fill("Robot");
  await webhook.fill("https://half.example/");
  await page.getByRole("region", { name: "Alerts" }).getByRole("button", { name: "Discard changes" }).click();
  await leaves();
  await agentName.fill("Renamed");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Agent saved").waitFor();
  await leaves();
  assert.equal(await agentName.inputValue(), "Renamed");
});

test("a form that saves and then leads elsewhere does not ask", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/agents` });
  await page.getByLabel("Name", { exact: true }).fill("First");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.waitForURL(/\/start$/);
  await page.getByRole("button", { name: /^Project: / }).click();
  await page.getByRole("menuitem", { name: "New project…" }).click();
  await page.getByRole("dialog", { name: "New project" }).getByLabel("Name").fill("Second");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("button", { name: "Project: Second" }).waitFor();
  assert.equal(await guardOf(page).count(), 0);
});

test("deleting an agent with unsaved settings does not ask", async () => {
  const { page, guard, agentName } = await openSettings();
  await agentName.fill("Half written");
  await page.getByRole("button", { name: "Delete agent…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete agent" });
  await dialog.getByLabel("Type “Robot” to confirm").fill("Robot");
  await dialog.getByRole("button", { name: "Delete agent" }).click();
  await page.waitForURL(/\/agents$/);
  assert.equal(await guard.count(), 0);
});

test("Back from a half-written new agent asks over its dialog, which Stay and Escape leave open", async () => {
  const owner = await browser.service.signUp();
  await makeAgent(owner, { name: "Robot" });
  const project = `/projects/${owner.projectId}`;
  const { page, complaints } = await browser.openAs(owner, { path: `${project}/ingestion` });
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("button", { name: "New agent" }).click();
  const name = page.getByRole("dialog", { name: "New agent" }).getByLabel("Name", { exact: true });
  await name.fill("Half written");
  const guard = guardOf(page);
  await page.goBack();
  await guard.waitFor();
  await assertAccessible(page);
  await shoot(page, "unsaved-new-agent");
  await guard.getByRole("button", { name: "Stay" }).click();
  await guard.waitFor({ state: "detached" });
  assert.equal(await name.inputValue(), "Half written");
  await page.goBack();
  await guard.waitFor();
  await page.keyboard.press("Escape");
  await guard.waitFor({ state: "detached" });
  assert.equal(await name.inputValue(), "Half written");
  await page.goBack();
  await guard.getByRole("button", { name: "Leave" }).click();
  await page.waitForURL(/\/ingestion$/);
  assert.deepEqual(complaints, []);
});

for (const [name, path, label, typed, saved] of [
  ["a project", "settings", /^Name$/, "Half written", "My project"],
  ["a project’s rate limit", "settings", /^Requests per minute/, "70", ""],
  ["a project’s retention", "settings", /^Delete traces after/, "70", ""],
  ["privacy settings", "settings/privacy", "Attributes to pseudonymize", "user.id", ""],
  ["a search for data to erase", "settings/erasures", "User ID", "typed", ""],
  ["an account", "/settings/profile", /^Name$/, "Half written", undefined],
] as const) {
  test(`leaving ${name} with unsaved changes asks`, async () => {
    const owner = await browser.service.signUp();
    const project = `/projects/${owner.projectId}`;
    const { page } = await browser.openAs(owner, {
      path: path.startsWith("/") ? path : `${project}/${path}`,
    });
    const field = page.getByLabel(label, { exact: true });
    const before = await field.inputValue();
    if (saved !== undefined) assert.equal(before, saved);
    await field.fill(typed);
    await page.getByRole("link", { name: "Ingestion log" }).click();
    await guardOf(page).getByRole("button", { name: "Stay" }).click();
    assert.equal(await field.inputValue(), typed);
    await field.fill(before);
    await page.getByRole("link", { name: "Ingestion log" }).click();
    await page.waitForURL(/\/ingestion$/);
  });
}

const guardOf = (page: Page) => page.getByRole("alertdialog", { name: "Leave without saving?" });

async function openSettings() {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Robot" });
  const path = `/projects/${owner.projectId}/agents/${agent.id}`;
  const window = await browser.openAs(owner, { path: `${path}/insights` });
  const { page } = window;
  await page.getByRole("link", { name: "Settings", exact: true }).last().click();
  await page.waitForURL(/\/settings$/);
  return {
    ...window,
    guard: guardOf(page),
    agentName: page.getByLabel("Name", { exact: true }),
    webhook: page.getByLabel("Webhook URL"),
    leave: () => page.getByRole("link", { name: "Insights", exact: true }).click(),
  };
}
