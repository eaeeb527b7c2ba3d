// Every address of the dashboard, opened on its own: signing in leads back to it, and each is a whole page.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { makeTest } from "../support/app.ts";
import { becomesTrue, startTestBrowser, type TestBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { send } from "../support/send.ts";

let browser: TestBrowser;
before(async () => {
  browser = await startTestBrowser();
});
after(() => browser.close());

type Address = { path: string; title: string; heading: string };

/** Those for whoever is signed in. */
async function addresses(): Promise<Address[]> {
  const { owner, agent, key, url } = browser.service;
  const body = { platformId: agent.id, spans: [{ span_id: "1", name: "Answer a question" }] };
  assert.equal((await send({ url, key }, { body })).status, 201);
  const { body: traces } = await owner.client.get(`/api/agents/${agent.id}/traces`).expect(200);
  const traceId: string = traces.items[0].id;
  const { id: testId } = await makeTest(owner, agent.id, { name: "Greets" });
  const { launchId, runId } = await launched(testId);
  const project = `/projects/${owner.projectId}`;
  const base = `${project}/agents/${agent.id}`;
  const own = (heading: string, title = heading) => ({
    title: `${title} · ${agent.name} · Onlooker`,
    heading,
  });
  const tabs = ["Profile", "Sessions", "Access tokens", "Judge", "Retention", "Appearance", "Shortcuts"];
  const settings = tabs.map(tab => ({
    path: `/settings/${tab.toLowerCase().split(" ").at(-1)}`,
    title: `${tab} · Settings · Onlooker`,
    heading: "Settings",
  }));
  return [
    ...settings,
    { path: `${project}/agents`, title: "Agents · Onlooker", heading: "Agents" },
    { path: `${project}/keys`, title: "Keys · Onlooker", heading: "Keys" },
    { path: `${project}/ingestion?time=day`, title: "Ingestion log · Onlooker", heading: "Ingestion log" },
    { path: `${project}/settings`, title: "Project · Onlooker", heading: "Project" },
    { path: `${project}/settings/judge`, title: "Judge · Project · Onlooker", heading: "Project" },
    { path: `${project}/settings/prices`, title: "Prices · Project · Onlooker", heading: "Project" },
    { ...own("Traces"), path: `${base}/traces?text=a+b%26c` },
    { ...own("Answer a question"), path: `${base}/traces/${traceId}?view=spans&span=1` },
    { ...own("Test cases"), path: `${base}/tests?text=x&status=active` },
    { ...own("New test case"), path: `${base}/tests/new?view=json` },
    { ...own("Greets"), path: `${base}/tests/${testId}?view=json` },
    { ...own("Greets", "Results · Greets"), path: `${base}/tests/${testId}/results?outcome=failed` },
    { ...own("Greets", "Results · Greets"), path: `${base}/tests/${testId}/results?kind=manual` },
    { ...own("Runs"), path: `${base}/runs` },
    { ...own("Run of 1 test"), path: `${base}/runs/${launchId}?only=failing` },
    { ...own("Greets", "Run · Greets"), path: `${base}/runs/${launchId}/${runId}` },
    { ...own("Insights"), path: `${base}/insights?range=7d&form=table` },
    { ...own("Get started"), path: `${base}/start?tab=python` },
    { ...own("Judging"), path: `${base}/judging?days=7` },
    { ...own("Agent settings"), path: `${base}/settings` },
    { path: "/no/such/page?at=all", title: "Not found · Onlooker", heading: "There is nothing here" },
  ];
}

/** Of one test, by an address where nobody listens: how it comes out is no matter here. */
async function launched(testId: string): Promise<{ launchId: string; runId: string }> {
  const { owner, agent } = browser.service;
  const connection = {
    url: "http://127.0.0.1:9/",
    bodyTemplate: '{"message": "{{input}}"}',
    reply: { kind: "text" },
  };
  await owner.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
  const made = await owner.client.post(`/api/agents/${agent.id}/launches`, { testIds: [testId] }).expect(201);
  const { body: launch } = await owner.client.get(`/api/launches/${made.body.id}`).expect(200);
  return { launchId: launch.id, runId: launch.runs[0].id };
}

async function fillIn(page: Page): Promise<void> {
  const { email, password } = browser.service.owner;
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
}

/** One heading of the first level, in the one main landmark, and the browser's title. */
async function isWhole(page: Page, { path, title, heading }: Address): Promise<void> {
  await page.getByRole("main").getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1, path));
  await eventually(async () => assert.equal(await page.getByRole("main").count(), 1, path));
  await becomesTrue(page, `document.title === ${JSON.stringify(title)}`);
}

/** As in another tab. The form is not used for this: it bounds how often anybody signs in. */
async function signInElsewhere(context: BrowserContext): Promise<void> {
  const [name = "", value = ""] = browser.service.owner.client.cookie.split(/=(.*)/s);
  await context.addCookies([{ name, value, url: browser.origin }]);
}

test("every address asks whoever is signed out to sign in, and is there afterwards with all of its search", async () => {
  for (const address of await addresses()) {
    const { page, context, complaints } = await browser.open();
    await page.goto(address.path);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await signInElsewhere(context);
    await page.reload();
    await isWhole(page, address);
    await eventually(() => assert.equal(page.url(), browser.origin + address.path));
    await page.goBack();
    await becomesTrue(page, "location.href === 'about:blank'");
    assert.deepEqual(complaints, [], address.path);
    await context.close();
  }
});

test("the form leads on to where somebody was, search and all, and Back leads past it", async () => {
  const { owner, agent } = browser.service;
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  for (const path of [`${base}/traces?text=a+b%26c`, "/no/such/page?at=all#below", "/settings/tokens"]) {
    const { page, context } = await browser.open();
    await page.goto(path);
    await fillIn(page);
    await page.waitForURL(browser.origin + path);
    await page.goBack();
    await becomesTrue(page, "location.href === 'about:blank'");
    await context.close();
  }
});

test("the addresses for whoever is signed out, and those of mails, are whole pages", async () => {
  const lone: Address[] = [
    { path: "/sign-in", title: "Sign in · Onlooker", heading: "Sign in" },
    { path: "/sign-up", title: "Make an account · Onlooker", heading: "Make an account" },
    { path: "/forgot-password", title: "Forgotten password · Onlooker", heading: "Forgotten password" },
    {
      path: "/reset-password?token=x",
      title: "Choose a new password · Onlooker",
      heading: "Choose a new password",
    },
    {
      path: "/verify-email?token=x",
      title: "This link is not known · Onlooker",
      heading: "This link is not known",
    },
  ];
  for (const address of lone) {
    const { page, context, complaints } = await browser.open();
    await page.goto(address.path);
    await isWhole(page, address);
    assert.deepEqual(complaints, [], address.path);
    await context.close();
  }
});

test("shortened addresses lead to the page that they mean", async () => {
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
      `/projects/${owner.projectId}/agents/${agent.id}/traces`,
    ],
  ] as const) {
    await page.goto(short);
    await page.waitForURL(browser.origin + whole);
  }
});

test("no address of the router is left out here", async () => {
  const folder = join(import.meta.dirname, "../../web/routes");
  const files = await readdir(folder);
  const sources = await Promise.all(files.map(file => readFile(join(folder, file), "utf8")));
  const pages = sources.join("").match(/lazyRouteComponent\(/g)!.length;
  // The frames of the settings and of an agent are no addresses of their own.
  const frames = 2;
  const outside = 5;
  const unknown = 1;
  await eventually(async () =>
    assert.equal(
      (await addresses()).length - unknown + outside,
      pages - frames + 2,
      "a test's page has two, and so have its results",
    ),
  );
});
