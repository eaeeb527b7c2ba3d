// Rate limits in the dashboard: of a project in its settings, and of a key when it is created and in the list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeKey } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser();

test("a project's rate limit is set in its settings and removed by emptying the field", async () => {
  const owner = await browser.service.signUp();
  const path = `/projects/${owner.projectId}/settings`;
  const { page, complaints } = await browser.openAs(owner, { path });
  const section = page.getByRole("region", { name: "Rate limit" });
  const field = section.getByLabel("Requests per minute (optional)");
  const saved = async () =>
    (await owner.client.read(`/api/projects/${owner.projectId}/rate-limit`)).requestsPerMinute;
  await field.fill("0");
  await section.getByRole("button", { name: "Save rate limit" }).click();
  await eventually(async () => assert.equal(await field.getAttribute("aria-invalid"), "true"));
  await field.fill("600");
  await section.getByRole("button", { name: "Save rate limit" }).click();
  await page.getByText("Rate limit saved").waitFor();
  assert.equal(await saved(), 600);
  await assertReflows(page);
  await shoot(page, "rate-limit");
  await field.fill("");
  await section.getByRole("button", { name: "Save rate limit" }).click();
  await eventually(async () => assert.equal(await saved(), null));
  assert.deepEqual(complaints, []);
});

test("a key gets a rate limit when it is created, and another one in the list", async () => {
  const owner = await browser.service.signUp();
  await makeKey(owner, { name: "without" });
  const path = `/projects/${owner.projectId}/keys`;
  const { page, complaints } = await browser.openAs(owner, { path });
  await page.getByRole("button", { name: "New key" }).click();
  const form = page.getByRole("dialog", { name: "New key" });
  await form.getByLabel("Name").fill("limited");
  await form.getByLabel("Requests per minute (optional)").fill("1200");
  await shoot(page, "new-key-limit");
  await form.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I’ve stored it" }).click();
  const limit = page.getByRole("button", { name: "Rate limit of limited" });
  await limit.getByText("1,200 per minute").waitFor();
  await page.getByRole("button", { name: "Rate limit of without" }).getByText("No rate limit").waitFor();
  await limit.click();
  const dialog = page.getByRole("dialog", { name: "Rate limit" });
  await dialog.getByLabel("Requests per minute (optional)").fill("60");
  await shoot(page, "key-limit-dialog");
  await dialog.getByRole("button", { name: "Save limit" }).click();
  await limit.getByText("60 per minute").waitFor();
  await dialog.waitFor({ state: "detached" });
  await assertReflows(page);
  await shoot(page, "key-limits");
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot(page, "key-limits-390");
  assert.deepEqual(complaints, []);
});
