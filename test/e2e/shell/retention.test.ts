// The retention of a project in its settings: a shorter time is confirmed by the project's name, and old traces go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { storeTrace } from "../../support/stored-traces.ts";

const browser = useBrowser();

test("a shorter retention is confirmed by name and deletes older traces; a longer one is saved at once", async () => {
  const { service } = browser;
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  await storeTrace(service.db, agent.id, { receivedAt: new Date(Date.now() - 40 * 86_400_000) });
  const listed = async () => (await owner.client.read(`/api/agents/${agent.id}/traces`)).items;
  const path = `/projects/${owner.projectId}/settings`;
  const { page, complaints } = await browser.openAs(owner, { path });
  const days = page.getByLabel("Delete traces after (days, optional)");
  await days.fill("0");
  await page.getByRole("button", { name: "Save retention" }).click();
  await becomesInvalid();
  await shoot(page, "retention-error");
  await days.fill("30");
  await page.getByRole("button", { name: "Save retention" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete older traces" });
  await dialog.getByText("more than 30 days old").waitFor();
  await shoot(page, "retention-confirm");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await listed()).length, 1);
  await page.getByRole("button", { name: "Save retention" }).click();
  await dialog.getByRole("textbox").fill("My project");
  await dialog.getByRole("button", { name: "Delete older traces" }).click();
  await page.getByText("Retention saved").waitFor();
  await dialog.waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual(await listed(), []));
  await days.fill("60");
  await page.getByRole("button", { name: "Save retention" }).click();
  const url = `/api/projects/${owner.projectId}/retention` as const;
  await eventually(async () =>
    assert.deepEqual(await owner.client.read(url), { days: 60, serverDays: null }),
  );
  await assertReflows(page);
  await shoot(page, "retention");
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot(page, "retention-390");
  assert.deepEqual(complaints, []);

  async function becomesInvalid(): Promise<void> {
    await eventually(async () => assert.equal(await days.getAttribute("aria-invalid"), "true"));
  }
});

test("what is shorter is judged by the retention that is saved now, not by the one shown", async () => {
  const owner = await browser.service.signUp();
  const url = `/api/projects/${owner.projectId}/retention` as const;
  await owner.client.put(url, { days: 10 }).expect(200);
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/settings` });
  const days = page.getByLabel("Delete traces after (days, optional)");
  await eventually(async () => assert.equal(await days.inputValue(), "10"));
  await days.fill("30");
  await owner.client.put(url, { days: 90 }).expect(200);
  const region = page.getByRole("region", { name: "Retention" });
  await region.getByRole("button", { name: "Save retention" }).click();
  await region.getByText("These settings were saved elsewhere since you opened them.").waitFor();
  // Its first value again: 20 days are longer than these, but shorter than those shown.
  await owner.client.put(url, { days: 10 }).expect(200);
  await days.fill("20");
  await region.getByRole("button", { name: "Save retention" }).click();
  await page.getByText("Retention saved").waitFor();
  await owner.client.put(url, { days: 90 }).expect(200);
  await days.fill("30");
  await region.getByRole("button", { name: "Save retention" }).click();
  await region.getByText("These settings were saved elsewhere since you opened them.").waitFor();
  await region.getByRole("button", { name: "Save retention" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete older traces" });
  await dialog.getByText("more than 30 days old").waitFor();
  assert.deepEqual((await owner.client.read(url)).days, 90);
});
