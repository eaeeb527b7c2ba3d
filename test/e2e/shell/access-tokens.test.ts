// Browser tests of access tokens, and of assertions limited to a turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

const browser = useBrowser();

test("an access token is created, shown once, works, and can be revoked", async () => {
  const owner = await browser.service.signUp();
  const { page, complaints } = await browser.openAs(owner, { path: "/settings/tokens" });
  await page.getByRole("heading", { name: "No access tokens yet" }).waitFor();
  await page.getByRole("button", { name: "New token" }).click();
  const form = page.getByRole("dialog", { name: "New access token" });
  await form.getByLabel("Name").fill("GitHub Actions");
  await form.getByLabel("Expires").selectOption("Never");
  await form.getByText("An expiry date is safer.").waitFor();
  await assertAccessible(page);
  await form.getByRole("button", { name: "Create token" }).click();
  const made = page.getByRole("dialog", { name: "Your access token “GitHub Actions”" });
  await made.waitFor();
  const token = await page.getByLabel("The access token").inputValue();
  assert.match(token, /^svcp_[A-Za-z0-9]{40}$/);
  await assertAccessible(page);
  await made.getByRole("button", { name: "I’ve stored it" }).click();
  const card = page.getByRole("listitem").filter({ hasText: "GitHub Actions" });
  await card.getByText(`svcp_...${token.slice(-4)}`).waitFor();
  await card.getByText("never used").waitFor();
  assert.equal((await page.content()).includes(token), false);

  const ask = () =>
    fetch(`${browser.service.url}/api/projects`, { headers: { authorization: `Bearer ${token}` } });
  await eventually(async () => assert.equal((await ask()).status, 200));
  await page.reload();
  await card.getByText("last used").waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);

  await card.getByRole("button", { name: "Revoke GitHub Actions" }).click();
  const confirm = page.getByRole("alertdialog", { name: "Revoke access token" });
  await confirm.getByLabel("Type “GitHub Actions” to confirm").fill("GitHub Actions");
  await confirm.getByRole("button", { name: "Revoke token" }).click();
  await page.getByRole("heading", { name: "No access tokens yet" }).waitFor();
  await eventually(async () => assert.equal((await ask()).status, 401));
  assert.deepEqual(complaints, []);
});

test("an assertion of a test with several turns can be limited to one turn", async () => {
  const { service } = browser;
  const { id } = await makeTest(service.owner, service.agent.id, {
    passiveBehavior: "manual_only",
    turns: [{ input: "Hello" }, { input: "And tomorrow?" }],
  });
  const { page, complaints } = await browser.openAs(service.owner, {
    path: `/projects/${service.projectId}/agents/${service.agent.id}/tests/${id}`,
  });
  const turn = page.getByLabel("Turn", { exact: true });
  const check = page.getByRole("listitem", { name: /^1\. / }).locator(".editor-fold");
  await check.click();
  await turn.selectOption("Turn 2");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const body = await service.client.read(`/api/tests/${id}`);
  assert.equal(body.assertions[0]!.turn, 2);
  await page.reload();
  await check.click();
  await eventually(async () => assert.equal(await turn.inputValue(), "2"));
  await turn.selectOption("Each turn");
  await eventually(async () => assert.equal(await turn.inputValue(), "each"));
  await turn.selectOption("The whole conversation");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const whole = await service.client.read(`/api/tests/${id}`);
  assert.equal("turn" in whole.assertions[0]!, false);
  assert.deepEqual(complaints, []);
});
