// A session that ends while something is edited: the user signs in again over the page, and nothing typed is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, type Owner } from "../../support/app.ts";
import { assertReflows, becomesFocused, framesPass, signIn, useBrowser } from "../../support/browser.ts";
import { newClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";

const browser = useBrowser();

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Your session has ended" });

/** As from another device, by Settings → Sessions → End all other sessions. */
async function endSessions(owner: Owner): Promise<void> {
  await browser.service.db.pool.query("delete from sessions where account_id = $1", [owner.accountId]);
}

/** Ends the sessions when this request is on its way, so that no request in the background meets the end first. */
async function endSessionsDuring(page: Page, owner: Owner, method: string, url: string): Promise<void> {
  let ended = false;
  await page.route(url, async route => {
    if (!ended && route.request().method() === method) {
      ended = true;
      await endSessions(owner);
    }
    await route.continue();
  });
}

test("a test case is saved after signing in again by keyboard, also when the password is wrong first", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Robot" });
  const path = `/projects/${owner.projectId}/agents/${agent.id}/tests/new?template=answers`;
  const { page, complaints } = await browser.openAs(owner, { path });
  await page.getByRole("button", { name: /^Name/ }).click();
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Answers in the evening");
  await endSessionsDuring(page, owner, "POST", `**/api/agents/${agent.id}/tests`);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const dialog = dialogOf(page);
  const password = dialog.getByLabel("Password", { exact: true });
  await becomesFocused(password);
  assert.equal(await dialog.getByLabel("Email").inputValue(), owner.email);
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 720 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.type("a wrong one");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("UNAUTHORIZED").waitFor();
  await password.fill(owner.password);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await eventually(() => assert.doesNotMatch(page.url(), /tests\/new/));
  const { body } = await newSession(owner).then(client =>
    client.get(`/api/agents/${agent.id}/tests`).expect(200),
  );
  assert.deepEqual(
    body.items.map(({ name }: { name: string }) => name),
    ["Answers in the evening"],
  );
  assert.deepEqual(complaints, []);
});

test("a form in a dialog keeps its text while the user dismisses the question, and when signing in is limited", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/keys` });
  await page.getByRole("button", { name: "New key" }).first().click();
  const form = page.getByRole("dialog", { name: "New key" });
  await form.getByLabel("Name", { exact: true }).fill("production");
  await endSessionsDuring(page, owner, "POST", "**/keys");
  await form.getByRole("button", { name: "Create key" }).click();
  const dialog = dialogOf(page);
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await form.getByRole("alert").getByText("UNAUTHORIZED").waitFor();
  assert.equal(await form.getByLabel("Name", { exact: true }).inputValue(), "production");
  await page.route("**/api/auth/sign-in/email", route =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "40" },
      json: {
        code: "RATE_LIMITED",
        message: "Too many attempts for this account.",
        hint: "Try again in 40 seconds.",
      },
    }),
  );
  await form.getByRole("button", { name: "Create key" }).click();
  await dialog.getByLabel("Password", { exact: true }).fill(owner.password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("Try again in 40 seconds.").waitFor();
  await page.unroute("**/api/auth/sign-in/email");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("The key").waitFor();
});

test("a user who signs out with unsaved changes can stay, and save them after signing in again", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Robot" });
  const path = `/projects/${owner.projectId}/agents/${agent.id}/tests/new?template=answers`;
  const { page } = await browser.openAs(owner, { path });
  await page.getByRole("button", { name: /^Name/ }).click();
  await page.getByLabel("Name", { exact: true }).fill("Answers at night");
  await page.getByRole("button", { name: owner.email.split("@")[0]! }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  const guard = page.getByRole("alertdialog", { name: "Leave without saving?" });
  await guard.getByRole("button", { name: "Stay" }).click();
  const validation = page.waitForResponse("**/tests/validate");
  await page.getByLabel("Name", { exact: true }).fill("Answers in the morning");
  assert.equal((await validation).status(), 401);
  // Time for a dialog to open.
  await framesPass(page);
  const dialog = dialogOf(page);
  assert.equal(await dialog.count(), 0, "the editor's validation must not ask to sign in");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.getByLabel("Password", { exact: true }).fill(owner.password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Answers in the morning" }).waitFor();
});

/** Presses Escape where the focus is, this many frames after another dialog was added to the page. */
async function pressEscapeAfterOpening(page: Page, frames: number): Promise<void> {
  await page.evaluate(`{
    const dialogs = () => document.querySelectorAll("[role=dialog]").length;
    const before = dialogs();
    const press = () => {
      const key = { key: "Escape", bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
      document.documentElement.dataset.pressed = "yes";
    };
    const pressIn = frames => (frames === 0 ? press() : requestAnimationFrame(() => pressIn(frames - 1)));
    delete document.documentElement.dataset.pressed;
    const observer = new MutationObserver(() => {
      if (dialogs() === before) return;
      observer.disconnect();
      pressIn(${frames});
    });
    observer.observe(document.body, { childList: true, subtree: true });
  }`);
}

test("Escape that comes before the question has the focus does not close the form behind it", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/keys` });
  await page.getByRole("button", { name: "New key" }).first().click();
  const form = page.getByRole("dialog", { name: "New key" });
  await form.getByLabel("Name", { exact: true }).fill("production");
  await endSessions(owner);
  const dialog = dialogOf(page);
  for (const frames of [0, 1, 2, 3]) {
    await pressEscapeAfterOpening(page, frames);
    await form.getByLabel("Name", { exact: true }).press("Enter");
    await page.locator("html[data-pressed]").waitFor();
    assert.equal(await form.count(), 1, `closed after ${frames} frames`);
    // Dismissed by that, or still there.
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
    await form.getByRole("alert").getByText("UNAUTHORIZED").waitFor();
    assert.equal(await form.getByLabel("Name", { exact: true }).inputValue(), "production");
  }
});

test("signing in in one tab revives the other, and as another account asks which to use", async () => {
  const owner = await browser.service.signUp();
  const stranger = await browser.service.signUp();
  const { page, context } = await browser.openAs(owner, { path: "/settings/profile" });
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  await endSessionsDuring(page, owner, "POST", "**/api/auth/update-user");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await dialogOf(page).waitFor();

  const tab = await context.newPage();
  await tab.goto("/");
  await tab.getByLabel("Email").fill(owner.email);
  await tab.getByLabel("Password", { exact: true }).fill(owner.password);
  await tab.getByRole("button", { name: "Sign in" }).click();
  await tab.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  await dialogOf(page).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Ada" }).waitFor();

  await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  await signIn(tab, stranger);
  await tab.reload();
  const dialog = page.getByRole("dialog", { name: "Signed in as another account" });
  await dialog.getByText(`This browser is now signed in as ${stranger.email}`).waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Password", { exact: true }).fill(owner.password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Ada Lovelace" }).waitFor();

  await tab.getByRole("button", { name: `open this page as ${owner.email}` }).click();
  await tab.getByRole("button", { name: "Ada Lovelace" }).waitFor();
  await tab.close();
});

async function newSession({ email, password }: Owner) {
  const client = newClient(browser.service.url);
  await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
  return client;
}
