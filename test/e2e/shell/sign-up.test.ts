// From sign-up over email verification to a working key, and signing in again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { signInByForm, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

const browser = useBrowser();

const password = "correct horse battery";

/** The link in the latest email to `email`. Without a mail server, links are logged. */
async function linkTo(email: string, path: string): Promise<string> {
  return eventually(async () => {
    const lines = browser.service.logs.filter(line => line.includes(email) && line.includes(path));
    const link = lines.at(-1)?.match(/http:\/\/[^\s"\\]+/)?.[0];
    assert.ok(link, `no email to ${email}`);
    return link;
  });
}

async function signUp(page: Page, email: string): Promise<void> {
  await page.goto("/sign-up");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
}

test("a new user signs up, verifies the email, creates an agent and a key, and sends a trace with it", async () => {
  const { page, context, complaints } = await browser.open();
  await signUp(page, "new@example.com");
  const banner = page.getByRole("region", { name: "Email verification" });
  await banner.getByText("new@example.com").waitFor();
  await banner.getByText("agents, judges and webhooks cannot be called").waitFor();
  await banner.getByText(/Resend in \d+ s/).waitFor();
  await banner.getByRole("button", { name: "I’ve verified my email" }).click();
  await banner.getByText("Not verified yet.").waitFor();

  await page.getByLabel("Name", { exact: true }).fill("Shop assistant");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  const agentId = new URL(page.url()).pathname.split("/").at(-2);

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("production");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("The key").inputValue();
  const send = () =>
    fetch(`${browser.service.url}/public/traces`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ platformId: agentId, spans: [{ span_id: "1", name: "answer" }] }),
    });
  assert.equal((await send()).status, 403);

  const mail = await context.newPage();
  await mail.goto(await linkTo("new@example.com", "/verify-email"));
  await mail.getByRole("heading", { name: "Confirm your email" }).waitFor();
  await mail.getByRole("button", { name: "Confirm email" }).click();
  await mail.getByRole("heading", { name: "Email verified" }).waitFor();
  assert.equal((await send()).status, 201);

  await page.getByRole("button", { name: "I’ve stored it" }).click();
  await banner.getByRole("button", { name: "I’ve verified my email" }).click();
  await banner.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("opening a verification link changes nothing, and a used or invalid link says so", async () => {
  const { page } = await browser.open();
  await signUp(page, "opens@example.com");
  const link = await linkTo("opens@example.com", "/verify-email");
  const { page: other } = await browser.open();
  await other.goto(link);
  await other.getByRole("button", { name: "Confirm email" }).waitFor();
  await page.reload();
  await page.getByRole("region", { name: "Email verification" }).waitFor();
  await other.getByRole("button", { name: "Confirm email" }).click();
  await other.getByRole("heading", { name: "Email verified" }).waitFor();
  await other.goto(link);
  await other.getByRole("heading", { name: "Link already used" }).waitFor();
  await assertAccessible(other);
  await other.goto("/verify-email?token=unknown");
  await other.getByRole("heading", { name: "Invalid link" }).waitFor();
  await assertAccessible(other);
});

test("signing in continues to the requested page, but never to another site", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.open();
  const deep = `/projects/${owner.projectId}/keys?from=mail`;
  await page.goto(deep);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  await eventually(() => assert.equal(page.url(), browser.origin + deep));
  for (const next of ["//evil.example/", "https://evil.example/", "/\\evil.example/"]) {
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
    await eventually(() => assert.equal(new URL(page.url()).origin, browser.origin));
  }
});

test("when the session ends, the user signs in and returns to the same page", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.openAs(owner, { path: "/" });
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  await browser.service.db.pool.query("delete from sessions where account_id = $1", [owner.accountId]);
  // A background request of the page may notice it before this; the result is the same.
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await eventually(() => assert.match(new URL(page.url()).searchParams.get("next")!, /^\/projects\//));
});

test("a wrong password and an email that is already registered are reported on the form", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.open();
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Sign in" }).click();
  await eventually(async () =>
    assert.equal(await page.getByLabel("Email").getAttribute("aria-invalid"), "true"),
  );
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill("wrong one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("UNAUTHORIZED").waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Create account" }).waitFor();
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("An account with this email already exists.").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByLabel("Email").getAttribute("aria-invalid"), "true"),
  );
  await assertAccessible(page);
});

test("a forgotten password is reset through the emailed link", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.open();
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  // The form before this one has an email field, too.
  await page.getByRole("heading", { name: "Reset your password" }).waitFor();
  await page.getByLabel("Email").fill(owner.email);
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("its reset link is in the service’s log and outbox folder").waitFor();
  await assertAccessible(page);
  await page.goto(await linkTo(owner.email, "/reset-password"));
  await page.getByLabel("New password", { exact: true }).fill("another long one");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByRole("heading", { name: "Password changed" }).waitFor();
  await signInByForm(page, { email: owner.email, password: "another long one" });
});

test("without a mail server, the link is shown on this machine, and through a proxy only where to find it", async () => {
  const owner = await browser.service.signUp({ verified: false });
  const { page } = await browser.openAs(owner, { path: "/" });
  const banner = page.getByRole("region", { name: "Email verification" });
  await banner.getByRole("link", { name: "Verify email" }).waitFor();
  await page.setExtraHTTPHeaders({ "x-forwarded-for": "203.0.113.7" });
  await page.reload();
  await banner.getByText("is in the service’s log and outbox folder").waitFor();
  await page.goto("/verify-email");
  await page.getByText("is in the service’s log and outbox folder").waitFor();
  assert.equal(await page.getByRole("link", { name: "Verify email" }).count(), 0);
  await page.setExtraHTTPHeaders({});
});
