// Every URL of the dashboard can be opened directly, before and after signing in.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { makeTest } from "../../support/app.ts";
import { becomesTrue, signIn, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { settingsTabs } from "./settings-tabs.ts";

const browser = useBrowser();

type Screen = { path: string; title: string; heading: string };

/** The screens that need a session. */
async function memberScreens(): Promise<Screen[]> {
  const { owner, agent, key, url } = browser.service;
  const body = {
    platformId: agent.id,
    spans: [{ span_id: "1", name: "Answer a question", attributes: { "session.id": "c/1" } }],
  };
  assert.equal((await send({ url, key }, { body })).status, 201);
  const traces = await owner.client.read(`/api/agents/${agent.id}/traces`);
  const traceId: string = traces.items[0]!.id;
  const { id: testId } = await makeTest(owner, agent.id, { name: "Greets" });
  const { launchId, runId } = await launched(testId);
  const project = `/projects/${owner.projectId}`;
  const base = `${project}/agents/${agent.id}`;
  const own = (heading: string, title = heading) => ({
    title: `${title} · ${agent.name} · Onlooker`,
    heading,
  });
  const settings = settingsTabs.map(tab => ({
    path: `/settings/${tab.toLowerCase().split(" ").at(-1)}`,
    title: `${tab} · Settings · Onlooker`,
    heading: "Settings",
  }));
  return [
    ...settings,
    { path: `${project}/agents`, title: "Agents · Onlooker", heading: "Agents" },
    { path: `${project}/keys`, title: "API keys · Onlooker", heading: "API keys" },
    { path: `${project}/ingestion?time=day`, title: "Ingestion log · Onlooker", heading: "Ingestion log" },
    { path: `${project}/settings`, title: "Project settings · Onlooker", heading: "Project settings" },
    {
      path: `${project}/settings/judge`,
      title: "Judge · Project settings · Onlooker",
      heading: "Project settings",
    },
    {
      path: `${project}/settings/prices`,
      title: "Prices · Project settings · Onlooker",
      heading: "Project settings",
    },
    {
      path: `${project}/settings/privacy`,
      title: "Privacy · Project settings · Onlooker",
      heading: "Project settings",
    },
    {
      path: `${project}/settings/erasures`,
      title: "Erase data · Project settings · Onlooker",
      heading: "Project settings",
    },
    {
      path: `${project}/settings/labels`,
      title: "Labels · Project settings · Onlooker",
      heading: "Project settings",
    },
    { ...own("Overview"), path: `${base}/overview` },
    { ...own("Traces"), path: `${base}/traces?text=a+b%26c` },
    { ...own("Traces"), path: `${base}/traces/conversations?kind=live` },
    { ...own("Conversation"), path: `${base}/traces/conversation?id=c%2F1&turn=${traceId}` },
    { ...own("Answer a question"), path: `${base}/traces/${traceId}?view=spans&span=1` },
    { ...own("Test cases"), path: `${base}/tests?text=x&status=active` },
    { ...own("New test case"), path: `${base}/tests/new?view=json` },
    { ...own("Greets"), path: `${base}/tests/${testId}?view=json` },
    { ...own("Greets", "Results · Greets"), path: `${base}/tests/${testId}/results?outcome=failed` },
    { ...own("Greets", "Results · Greets"), path: `${base}/tests/${testId}/results?kind=manual` },
    { ...own("Runs"), path: `${base}/runs` },
    { ...own("Run of 1 test"), path: `${base}/runs/${launchId}?only=failing` },
    { ...own("Greets", "Test run · Greets"), path: `${base}/runs/${launchId}/${runId}` },
    { ...own("Compare runs"), path: `${base}/runs/${launchId}/compare` },
    { ...own("Insights"), path: `${base}/insights?range=7d&form=table` },
    { ...own("Get started"), path: `${base}/start?tab=python` },
    { ...own("Judge usage"), path: `${base}/judging?days=7` },
    { ...own("Agent settings"), path: `${base}/settings` },
    { path: "/no/such/page?at=all", title: "Not found · Onlooker", heading: "Not found" },
  ];
}

/** Launches one test against a URL where nothing listens. Its result does not matter here. */
async function launched(testId: string): Promise<{ launchId: string; runId: string }> {
  const { owner, agent } = browser.service;
  const connection = {
    url: "http://127.0.0.1:9/",
    bodyTemplate: '{"message": "{{input}}"}',
    reply: { kind: "text" },
  };
  await owner.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
  const made = await owner.client.post(`/api/agents/${agent.id}/launches`, { testIds: [testId] }).expect(201);
  const launch = await owner.client.read(`/api/launches/${made.body.id}`);
  return { launchId: launch.id, runId: launch.runs[0]!.id };
}

async function fillIn(page: Page): Promise<void> {
  const { email, password } = browser.service.owner;
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
}

/** Exactly one h1 and one main landmark, and the right document title. */
async function isComplete(page: Page, { path, title, heading }: Screen): Promise<void> {
  await page.getByRole("main").getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1, path));
  await eventually(async () => assert.equal(await page.getByRole("main").count(), 1, path));
  await becomesTrue(page, `document.title === ${JSON.stringify(title)}`);
}

/** Without a session, and with nothing to go back to but an empty page. */
async function openSignedOut(page: Page, path: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto("about:blank");
  await page.goto(path);
}

test("every URL asks a signed-out user to sign in, and shows a signed-in user its screen", async () => {
  const { page, complaints } = await browser.open();
  const screens = await memberScreens();
  for (const { path } of screens) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await eventually(() => assert.equal(new URL(page.url()).searchParams.get("next"), path));
  }
  await signIn(page, browser.service.owner);
  for (const screen of screens) {
    await page.goto(screen.path);
    await isComplete(page, screen);
    await eventually(() => assert.equal(page.url(), browser.origin + screen.path));
    assert.deepEqual(complaints, [], screen.path);
  }
});

test("signing in returns to the requested URL, query string included, and Back skips the form", async () => {
  const { owner, agent } = browser.service;
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  const { page } = await browser.open();
  for (const path of [`${base}/traces?text=a+b%26c`, "/no/such/page?at=all#below", "/settings/tokens"]) {
    await openSignedOut(page, path);
    await fillIn(page);
    await page.waitForURL(browser.origin + path);
    await page.goBack();
    await becomesTrue(page, "location.href === 'about:blank'");
  }
});

test("the screens for signed-out users and the links of emails are complete pages", async () => {
  const screens: Screen[] = [
    { path: "/sign-in", title: "Sign in · Onlooker", heading: "Sign in" },
    { path: "/sign-up", title: "Create account · Onlooker", heading: "Create account" },
    { path: "/forgot-password", title: "Reset your password · Onlooker", heading: "Reset your password" },
    {
      path: "/reset-password?token=x",
      title: "Choose a new password · Onlooker",
      heading: "Choose a new password",
    },
    {
      path: "/verify-email?token=x",
      title: "Invalid link · Onlooker",
      heading: "Invalid link",
    },
    {
      path: "/alerts/off?token=x",
      title: "Turn off email alerts · Onlooker",
      heading: "Turn off email alerts",
    },
  ];
  const { page, complaints } = await browser.open();
  for (const screen of screens) {
    await page.goto(screen.path);
    await isComplete(page, screen);
    assert.deepEqual(complaints, [], screen.path);
  }
});

test("short URLs redirect to their screen", async () => {
  const { owner, agent } = browser.service;
  const { page } = await browser.open();
  await page.goto("/settings");
  await fillIn(page);
  await page.waitForURL("**/settings/profile");
  for (const [short, whole] of [
    ["/", `/projects/${owner.projectId}/agents`],
    [`/projects/${owner.projectId}`, `/projects/${owner.projectId}/agents`],
    [
      `/projects/${owner.projectId}/agents/${agent.id}`,
      `/projects/${owner.projectId}/agents/${agent.id}/overview`,
    ],
  ] as const) {
    await page.goto(short);
    await page.waitForURL(browser.origin + whole);
  }
});

test("links to what is deleted say that it was not found", async () => {
  const { owner, agent } = browser.service;
  const { id } = await makeTest(owner, agent.id, { name: "Short-lived" });
  await owner.client.delete(`/api/tests/${id}`).expect(204);
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  const { page } = await browser.openAs(owner);
  for (const path of [`tests/${id}`, `tests/${id}/results`, `traces/${id}`, `runs/${id}`]) {
    await page.goto(`${base}/${path}`);
    await isComplete(page, {
      path,
      heading: "Not found",
      title: `Not found · ${agent.name} · Onlooker`,
    });
  }
});

test("every route of the router is listed in this test", async () => {
  const folder = join(import.meta.dirname, "../../../web/routes");
  const files = await readdir(folder);
  const sources = await Promise.all(files.map(file => readFile(join(folder, file), "utf8")));
  const pages = sources.join("").match(/lazyRouteComponent\(/g)!.length;
  // The layouts of settings and of an agent have no URL of their own.
  const frames = 2;
  const outside = 6;
  const unknown = 1;
  assert.equal(
    (await memberScreens()).length - unknown + outside,
    pages - frames + 2,
    "a test's page has two, and so have its results",
  );
});
