// Browser tests of palette, help, shortcuts, theme, settings and narrow screens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest, type Owner } from "../../support/app.ts";
import {
  assertReflows,
  becomesTrue,
  signIn,
  startTestBrowser,
  useBrowser,
  type Window,
} from "../../support/browser.ts";
import { newClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { refusal, startJudgeServer } from "../../support/judge-server.ts";
import { jsonOf, send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { settingsTabs } from "./settings-tabs.ts";

const browser = useBrowser();

async function open(): Promise<Window & { owner: Owner }> {
  const owner = await browser.service.signUp();
  const window = await browser.openAs(owner, { path: "/" });
  await window.page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  return { ...window, owner };
}

test("the palette finds a page by a few letters, by keyboard alone", async () => {
  const { page } = await open();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages and actions" }).waitFor();
  await becomesTrue(page, "document.activeElement?.role === 'combobox'");
  await page.keyboard.type("settings sess");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 2, name: "Sessions" }).waitFor();
  await eventually(async () => assert.equal(await page.title(), "Sessions · Settings · Onlooker"));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("no such thing");
  await page.getByText("No results").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox").waitFor({ state: "detached" });
});

test("keys typed while the palette loads go into its search", async () => {
  const { page } = await open();
  let load = () => {};
  const asked = new Promise<void>(resolve => {
    load = resolve;
  });
  await page.route(/\/Palette-[^/]*\.js/, async route => {
    await asked;
    await route.continue();
  });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("g k ses");
  const search = page.getByRole("combobox", { name: "Search pages and actions" });
  const loading = page.getByRole("textbox", { name: "Search pages and actions" });
  await eventually(async () => assert.equal(await loading.inputValue(), "g k ses"));
  await shoot(page, "palette-loading");
  await page.getByRole("heading", { level: 1, name: "Agents", includeHidden: true }).waitFor();
  load();
  await search.waitFor();
  await page.keyboard.type("sions");
  await eventually(async () => assert.equal(await search.inputValue(), "g k sessions"));
});

test("the palette opens tests and traces, disables a test, creates a key, and keeps the scroll position", async () => {
  const { page, owner } = await open();
  const agent = await makeAgent(owner, { name: "Robot" });
  await makeTest(owner, agent.id, { name: "Greets back" });
  const { body: created } = await owner.client
    .post(`/api/projects/${owner.projectId}/keys`, { name: "CI", access: "full" })
    .expect(201);
  const spans = [{ span_id: "1", name: "chat", attributes: { "gen_ai.prompt": "Hello there" } }];
  const body = { platformId: agent.id, spans };
  const sent = await send({ url: browser.service.url, key: created.key }, { body });
  const { traceId, externalId } = jsonOf(sent) as { traceId: string; externalId: string };
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  await page.goto(`${base}/settings`);
  await page.getByRole("heading", { level: 1, name: "Agent settings" }).waitFor();
  const search = page.getByRole("combobox", { name: "Search pages and actions" });
  const find = async (text: string, label: string) => {
    await page.keyboard.press("Control+k");
    await search.fill(text);
    await page.getByRole("option").first().getByText(label, { exact: true }).waitFor();
  };

  await find("greets", "Test: Greets back");
  await shoot(page, "palette");
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });

  await find("disable greets", "Disable test: Greets back");
  await page.keyboard.press("Enter");
  await page.getByText("“Greets back” disabled").waitFor();
  await find("activate greets", "Activate test: Greets back");
  await page.keyboard.press("Escape");
  // With spaces, from anywhere; by its external id on a page of its agent.
  await find(externalId, "Trace: Hello there");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${base}/traces/${traceId}*`);
  await page.goto("/settings/shortcuts");
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();

  // Closing returns the focus to the page without scrolling it, in a page that is as long whatever loads in it.
  await page.evaluate("document.getElementById('main').style.minHeight = '2000px'");
  await page.evaluate("document.documentElement.style.overflowAnchor = 'none'");
  await page.evaluate("document.getElementById('main').focus({ preventScroll: true })");
  const before = 200;
  // The router scrolls a page that has just rendered to its top, once, maybe in the middle of this.
  await eventually(async () => {
    await page.evaluate(`scrollTo(0, ${before})`);
    await find(traceId, "Trace: Hello there");
    await page.keyboard.press("Escape");
    await search.waitFor({ state: "detached" });
    await becomesTrue(page, "document.activeElement?.id === 'main'");
    assert.equal(await page.evaluate("scrollY"), before);
  });

  await find(`${traceId.slice(0, 8)} ${traceId.slice(9)}`, "Trace: Hello there");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${base}/traces/${traceId}*`);

  await find("create key", "Create key");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New key" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(`**/projects/${owner.projectId}/keys`);
  // The latest used command is first.
  await page.keyboard.press("Control+k");
  await page.getByRole("option").first().getByText("Create key", { exact: true }).waitFor();
});

test("among hundreds of agents the palette lists the exact name first", async () => {
  const { page, owner } = await open();
  const numbers = Array.from({ length: 205 }, (_, at) => at + 1);
  for (const number of numbers) await makeAgent(owner, { name: `Robot ${number}` });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  await page.keyboard.press("Control+k");
  const search = page.getByRole("combobox", { name: "Search pages and actions" });
  await search.fill("robot 3 traces");
  await page.getByRole("option").first().getByText("Robot 3: traces").waitFor();
  await search.press("Enter");
  await page.getByRole("navigation", { name: "Agent Robot 3", exact: true }).waitFor();
});

test("? lists the shortcuts, g k opens the keys, and single keys can be switched off", async () => {
  const { page } = await open();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Go to keys").waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  await page.goto("/settings/shortcuts");
  await page.getByLabel("Off").check();
  await page.getByRole("heading", { level: 1, name: "Settings" }).click();
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to…" }).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole("dialog", { name: "Keyboard shortcuts" }).count(), 0),
  );
  // The help lists only the shortcuts that work now.
  await page.keyboard.type("keyboard shortcuts");
  await page.keyboard.press("Enter");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Open command palette").waitFor();
  assert.equal(await help.getByText("Go to keys").count(), 0);
});

test("a page whose stylesheet did not load says so, and Retry loads both once the service is back", async () => {
  const { page } = await open();
  // As if the service went away: nothing that is not loaded yet arrives.
  await page.route("**", route => route.abort());
  await page.getByRole("link", { name: "Ingestion log" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("This page could not be loaded.").waitFor();
  const retry = page.getByRole("button", { name: "Retry" });
  await retry.click();
  await alert.waitFor();
  await page.unroute("**");
  await retry.click();
  await page.getByRole("heading", { level: 1, name: "Ingestion log" }).waitFor();
  await becomesTrue(page, "[...document.styleSheets].some(({ href }) => href.includes('Ingestion'))");
});

test("the theme is saved and applied before the first paint", async () => {
  const { page } = await open();
  await page.goto("/settings/appearance");
  await page.getByLabel("Dark").check();
  await page.locator("html[data-theme=dark]").waitFor();
  await page.route("**/assets/index-*.js", route => route.abort());
  await page.reload({ waitUntil: "commit" });
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
  await page.unroute("**/assets/index-*.js");
  await page.reload();
  await page.getByLabel("System").check();
});

test("name and password can be changed in the profile, and a wrong password is reported", async () => {
  const { page, owner } = await open();
  await page.goto("/settings/profile");
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Ada" }).waitFor();
  await page.getByLabel("Current password", { exact: true }).fill("a wrong one");
  await page.getByLabel("New password", { exact: true }).fill("another long one");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Current password", { exact: true }).fill(owner.password);
  await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("1 access token still works.").waitFor();
  await page.getByLabel("Current password", { exact: true }).fill("another long one");
  await page.getByLabel("New password", { exact: true }).fill("yet another one");
  await page.getByLabel("Also revoke all access tokens").check();
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed. All other sessions have ended.", { exact: true }).waitFor();
  const client = newClient(browser.service.url);
  await client
    .post("/api/auth/sign-in/email", { email: owner.email, password: "yet another one" })
    .expect(200);
  assert.deepEqual((await client.read("/api/access-tokens")).items, []);
});

test("sessions are listed and can be ended one by one", async () => {
  const { page, owner } = await open();
  await page.goto("/settings/sessions");
  await page.getByText("This session").waitFor();
  await page.getByRole("button", { name: /^End session:/ }).click();
  await page.getByRole("button", { name: /^End session:/ }).waitFor({ state: "detached" });
  await owner.client.get("/api/projects").expect(401);
});

test("without a judge the settings explain the effect and which variables to set", async () => {
  const { page } = await open();
  await page.goto("/settings/judge");
  await page.getByText("No judge configured.").waitFor();
  const variables = await page.getByLabel("Judge environment variables").inputValue();
  assert.match(variables, /^SVC_JUDGE_URL=.*\nSVC_JUDGE_MODEL=.*\nSVC_JUDGE_API_KEY=/);
  await eventually(async () =>
    assert.equal(await page.getByRole("button", { name: "Test connection" }).count(), 0),
  );
  await page.getByRole("link", { name: "Retention" }).click();
  await page.getByRole("heading", { level: 2, name: "Retention" }).waitFor();
  const log = page.getByRole("listitem").filter({ hasText: "Ingestion log" }).filter({ hasText: "7 days" });
  await log.waitFor();
});

test("the judge is shown without its key, and a connection test shows result, duration and errors", async () => {
  const judge = await startJudgeServer();
  const apiKey = "sk-never-to-be-shown";
  const asked = judge.connection({ model: "local-7b", apiKey });
  const judged = await startTestBrowser({ config: { roles: ["http"], judge: asked } });
  try {
    const { page, complaints } = await judged.openAs(judged.service.owner, { path: "/settings/judge" });
    await page.getByText(new URL(judge.url).host, { exact: true }).waitFor();
    await page.getByText("local-7b", { exact: true }).waitFor();
    const button = page.getByRole("button", { name: "Test connection" });
    await button.click();
    await page.getByText("The judge works.").waitFor();
    await page.getByText(/^\s*Took [\d.]+ m?s\.$/).waitFor();
    judge.script = () => refusal(401);
    await button.click();
    await page.getByText(/rejected the API key \(401\)/).waitFor();
    assert.equal((await page.content()).includes(apiKey), false);
    await page.route("**/api/judge/test", route =>
      route.fulfill({ status: 429, json: { code: "RATE_LIMITED", message: "Already.", requestId: "r-1" } }),
    );
    await button.click();
    await page.getByRole("alert").getByText("RATE_LIMITED").waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await judged.close();
    await judge.close();
  }
});

test("signing out clears cached data, and the account can be deleted", async () => {
  const { page, owner } = await open();
  await page.getByRole("button", { name: owner.email.split("@")[0]! }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto("/");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await signIn(page, owner);
  await page.goto("/settings/profile");
  await page.getByRole("button", { name: "Delete account…" }).click();
  await page.getByRole("alertdialog").getByLabel("Password", { exact: true }).fill(owner.password);
  await assertAccessible(page);
  await page.getByRole("button", { name: "Delete account", exact: true }).click();
  await page.getByRole("heading", { name: "Create account" }).waitFor();
  await owner.client.post("/api/auth/sign-in/email", owner).expect(401);
});

test("at 320 pixels every page reflows, and the navigation drawer closes after navigating", async () => {
  const owner = await browser.service.signUp({ verified: false });
  const { page, complaints } = await browser.open({ viewport: { width: 320, height: 640 } });
  for (const path of [
    "/sign-in",
    "/sign-up",
    "/forgot-password",
    "/reset-password?token=x",
    "/verify-email",
  ]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertReflows(page);
  }
  await signIn(page, owner);
  await page.goto("/");
  await page.getByRole("button", { name: "Navigation" }).click();
  await page.getByRole("dialog", { name: "Navigation" }).getByRole("link", { name: "Keys" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("dialog", { name: "Navigation" }).getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  await page.getByRole("dialog", { name: "Navigation" }).waitFor({ state: "detached" });
  const base = `/projects/${owner.projectId}`;
  for (const path of [`${base}/agents`, `${base}/keys`, `${base}/settings`]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertReflows(page);
  }
  await page.goto("/settings");
  for (const tab of settingsTabs) {
    await page.getByRole("main").getByRole("link", { name: tab, exact: true }).click();
    await becomesTrue(page, `document.title.startsWith(${JSON.stringify(`${tab} · Settings`)})`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertReflows(page);
    await assertAccessible(page);
  }
  assert.deepEqual(complaints, []);
});
