// API keys in the dashboard: creating one, which is shown once, the list of masked keys, and revoking, by keyboard too.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";

const browser = useBrowser();

async function openKeys(): Promise<{ page: Page; owner: Owner; complaints: string[] }> {
  const owner = await browser.service.signUp();
  const path = `/projects/${owner.projectId}/keys`;
  const { page, complaints, context } = await browser.openAs(owner, { path });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  return { page, owner, complaints };
}

test("a key can be created and revoked by keyboard alone, and focus returns to the button each time", async () => {
  const { page, owner, complaints } = await openKeys();
  const { keyboard } = page;
  const open = page.getByRole("button", { name: "New key" });
  await open.focus();
  await keyboard.press("Enter");
  const form = page.getByRole("dialog", { name: "New key" });
  await form.waitFor();
  await keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await becomesTrue(page, "document.activeElement.textContent === 'New key'");

  await keyboard.press("Enter");
  await form.waitFor();
  await becomesTrue(page, "document.activeElement?.name === 'name'");
  await keyboard.type("by keyboard");
  await keyboard.press("Enter");
  const made = page.getByRole("dialog", { name: "Your key “by keyboard”" });
  await made.waitFor();
  await keyboard.press("Escape");
  await assertAccessible(page);
  await eventually(async () => assert.equal(await made.isVisible(), true, "only its button closes it"));
  const text = await page.getByLabel("The key").inputValue();
  assert.match(text, /^svc_[A-Za-z0-9]{40}$/);
  await made.getByRole("button", { name: "I’ve stored it" }).focus();
  await keyboard.press("Enter");
  await made.waitFor({ state: "detached" });
  const row = page.getByRole("row").filter({ hasText: "by keyboard" });
  await row.getByText(`svc_...${text.slice(-4)}`).waitFor();
  await row.getByText(`by ${owner.email.split("@")[0]}`).waitFor();
  assert.equal((await page.content()).includes(text), false);

  await row.getByRole("button", { name: "Revoke by keyboard" }).focus();
  await keyboard.press("Enter");
  await page.getByRole("alertdialog", { name: "Revoke key" }).waitFor();
  await becomesTrue(page, "document.activeElement?.name === 'confirmation'");
  await assertAccessible(page);
  await keyboard.type("another name");
  await keyboard.press("Enter");
  await page.getByText("The name does not match.").waitFor();
  await keyboard.press("Control+a");
  await keyboard.type("by keyboard");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "No API keys yet" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("focus stays inside an open dialog", async () => {
  const { page } = await openKeys();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.waitFor();
  for (let press = 0; press < 12; press++) {
    await page.keyboard.press("Tab");
    await becomesTrue(page, "document.activeElement.closest('[role=dialog], [data-base-ui-focus-guard]')");
  }
});

test("the full key and its environment variables can be copied", async () => {
  const { page } = await openKeys();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("copied");
  await page.getByRole("button", { name: "Create key" }).click();
  const text = await page.getByLabel("The key").inputValue();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await eventually(async () => assert.equal(await page.evaluate("navigator.clipboard.readText()"), text));
  await page.getByRole("button", { name: "Copy as environment" }).click();
  await becomesTrue(page, "navigator.clipboard.readText().then(text => text.includes('OTEL_'))");
  await eventually(async () =>
    assert.equal(
      await page.evaluate("navigator.clipboard.readText()"),
      `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${browser.origin}/public/traces\n` +
        `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf\nOTEL_EXPORTER_OTLP_HEADERS=x-api-key=${text}\n`,
    ),
  );
});

test("revoking a key shows when it was last used, also if that was after the list was loaded", async () => {
  const { page, owner } = await openKeys();
  const { key } = await makeKey(owner, { name: "in use" });
  const agent = await makeAgent(owner);
  await page.reload();
  const revoke = page.getByRole("button", { name: "Revoke in use" });
  await revoke.click();
  await page.getByRole("alertdialog").getByText("has not been used so far.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  const sent = await send({ url: browser.service.url, key }, { body: canonicalBody(agent.id) });
  assert.equal(sent.status, 201);
  await eventually(async () => {
    const body = await owner.client.read(`/api/projects/${owner.projectId}/keys`);
    assert.ok(body.items[0]!.lastUsedAt);
  });
  await revoke.click();
  await page.getByRole("alertdialog").getByText("was last used").waitFor();
});

test("a key can have Granular Access and an expiry date, and a key that never expires shows a warning", async () => {
  const { page, owner } = await openKeys();
  await makeAgent(owner, { name: "Refunds" });
  await page.reload();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await eventually(async () => assert.equal(await dialog.getByLabel("Expires").inputValue(), "90"));
  await dialog.getByLabel("Name", { exact: true }).fill("refunds only");
  await dialog.getByLabel("Granular Access").check();
  await dialog.getByLabel("Expires").selectOption("Never");
  await dialog.getByText("Anyone who has this key").waitFor();
  await dialog.getByLabel("Expires").selectOption("On a date…");
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  await dialog.getByLabel("Last day").fill(day);
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByText("Choose at least one agent.").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Refunds").check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I’ve stored it" }).click();
  await page
    .getByRole("row")
    .filter({ hasText: "refunds only" })
    .getByText("Granular Access: Refunds", { exact: true })
    .waitFor();
  const body = await owner.client.read(`/api/projects/${owner.projectId}/keys`);
  assert.equal(body.items[0]!.access, "granular");
  assert.equal(Math.abs(Date.parse(body.items[0]!.expiresAt!) - Date.parse(day)) < 2 * 86_400_000, true);
});

test("the list marks expired keys and keys that expire soon, also on a narrow screen", async () => {
  const { page, owner } = await openKeys();
  const { id } = await makeKey(owner, { name: "old" });
  await makeKey(owner, { name: "ending", expiresInDays: 7 });
  await browser.service.db.pool.query("update keys set expires_at = now() - interval '1 day' where id = $1", [
    id,
  ]);
  await page.reload();
  await page.getByRole("row").filter({ hasText: "old" }).getByText("Expired").waitFor();
  await page
    .getByRole("row")
    .filter({ hasText: "ending" })
    .getByText(/in \d days/)
    .waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

test("the list of keys fits beside the navigation on a small laptop", async () => {
  const { page, owner } = await openKeys();
  const { id } = await makeKey(owner, { name: "Production traffic", expiresInDays: 7 });
  await owner.client.patch(`/api/keys/${id}`, { requestsPerMinute: 100_000 }).expect(200);
  await browser.service.db.pool.query(
    "update keys set last_used_at = now() - interval '13 minutes' where id = $1",
    [id],
  );
  await page.reload();
  await page.getByRole("button", { name: "Revoke Production traffic" }).waitFor();
  const hidden = await page.getByRole("table").evaluate(table => {
    const { scrollWidth, clientWidth } = table.parentElement!;
    return scrollWidth - clientWidth;
  });
  assert.equal(hidden, 0);
});

test("a key's last use links to its requests in the ingestion log, and a key without a creator names nobody", async () => {
  const { page, owner } = await openKeys();
  const { id } = await makeKey(owner, { name: "used" });
  await browser.service.db.pool.query(
    "update keys set last_used_at = now(), created_by = null where id = $1",
    [id],
  );
  await page.reload();
  const row = page.getByRole("row").filter({ hasText: "used" });
  const link = row.getByRole("link", { name: /requests with used/ });
  await link.waitFor();
  await eventually(async () => assert.equal(await row.getByText(/^ by /).count(), 0));
  await link.click();
  await page.waitForURL(`**/projects/${owner.projectId}/ingestion?key=${id}`);
  await eventually(async () => assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), id));
});

test("a list that fails to load shows the error with its request id, and Retry loads it", async () => {
  const { page } = await openKeys();
  const requestId = crypto.randomUUID();
  await page.route("**/api/projects/*/keys*", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Something went wrong.", requestId } }),
  );
  await page.reload();
  await page.getByRole("alert").getByText(requestId).waitFor();
  await page.getByRole("alert").getByText("INTERNAL").waitFor();
  await page.unroute("**/api/projects/*/keys*");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("heading", { name: "No API keys yet" }).waitFor();
});
