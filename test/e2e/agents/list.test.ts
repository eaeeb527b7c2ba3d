// Browser tests of agents and projects: create, rename, find, delete.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, type Owner } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser, type Window } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

const browser = useBrowser();

async function open(): Promise<Window & { owner: Owner }> {
  const owner = await browser.service.signUp();
  const window = await browser.openAs(owner, { path: "/" });
  await window.page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  return { ...window, owner };
}

test("an agent's card shows its id, service name, last trace and the pass rate of its day", async () => {
  const { owner, agent, key, url } = browser.service;
  const { page, complaints } = await browser.openAs(owner, { path: "/" });
  const card = page.getByRole("article").filter({ hasText: agent.name });
  await card.getByText("None yet").waitFor();
  await card.getByText("Nothing evaluated").waitFor();
  const start = card.getByRole("link", { name: `Get started with ${agent.name}` });
  await eventually(async () =>
    assert.match((await start.getAttribute("href"))!, new RegExp(`/agents/${agent.id}/start$`)),
  );
  await fetch(`${url}/public/traces`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ platformId: agent.id, spans: [{ span_id: "1", name: "answer" }] }),
  });
  await browser.service.db.pool.query(
    "insert into agent_hours values ($1, now() - interval '2 hours', 1250, 1199, 1, 40, 7, 3, 0, 0, '{}')",
    [agent.id],
  );
  const asked: string[] = [];
  page.on("request", request => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await card.getByText("just now").waitFor();
  await card.getByText("99.9%").waitFor();
  await card.getByText("1,199 of 1,200 passed").waitFor();
  await card.getByText("7 missing instrumentation, 40 skipped").waitFor();
  await card.getByText("Routing unavailable for 3 evaluations").waitFor();
  await eventually(async () => assert.equal(await start.count(), 0));
  const ofAgents = asked.filter(path => /^\/api\/.*(?:insights|traces)/.test(path));
  assert.deepEqual(
    ofAgents,
    [`/api/projects/${owner.projectId}/insights/agents`],
    "one request for all cards",
  );
  await card.getByText(agent.id).waitFor();
  await card.getByText(agent.otlpServiceName!, { exact: true }).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("a service name that another agent has is rejected while typing", async () => {
  const { page, owner } = await open();
  await makeAgent(owner, { name: "First", otlpServiceName: "shop" });
  await page.reload();
  await page.getByRole("button", { name: "New agent" }).click();
  const dialog = page.getByRole("dialog", { name: "New agent" });
  await dialog.getByLabel("Name", { exact: true }).fill("Second");
  await dialog.getByLabel(/OTLP service name/).fill("shop");
  await dialog.getByText("Agent “First” already has this service name.").waitFor();
  await dialog.getByRole("button", { name: "Create agent" }).click();
  await eventually(async () => assert.equal(await dialog.isVisible(), true));
  await dialog.getByLabel(/OTLP service name/).fill("Shop");
  await dialog.getByLabel("Workflow").check();
  await dialog.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("navigation", { name: "Agent Second" }).waitFor();
  const body = await owner.client.read(`/api/projects/${owner.projectId}/agents`);
  assert.deepEqual([body.items[0]!.otlpServiceName, body.items[0]!.type], ["Shop", "workflow"]);
});

test("changing a service name warns of exporters that send the old one, and is saved", async () => {
  const { page, owner } = await open();
  const agent = await makeAgent(owner, { name: "Named", otlpServiceName: "old-name" });
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}/settings`);
  await page.getByLabel(/OTLP service name/).fill("new-name");
  await page.getByText("0 traces arrived by OTLP in the last 24 hours.").waitFor();
  await page.getByText("OTLP_PLATFORM_NOT_FOUND").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Agent saved").waitFor();
  const body = await owner.client.read(`/api/agents/${agent.id}`);
  assert.equal(body.otlpServiceName, "new-name");
});

test("deleting an agent asks for its name, and its URL is not found afterwards", async () => {
  const { page, owner } = await open();
  const agent = await makeAgent(owner, { name: "Doomed" });
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}/settings`);
  await page.getByRole("button", { name: "Delete agent…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel(/to confirm/).fill("Doomed");
  await dialog.getByRole("button", { name: "Delete agent" }).click();
  await page.getByRole("heading", { name: "Create your first agent" }).waitFor();
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}`);
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});

test("another account's project, an agent under the wrong project and an unknown page are not found", async () => {
  const { page, owner } = await open();
  const stranger = await browser.service.signUp();
  const { body: second } = await owner.client.post("/api/projects", { name: "Second" }).expect(201);
  const agent = await makeAgent(owner);
  for (const path of [
    `/projects/${stranger.projectId}/keys`,
    `/projects/${second.id}/agents/${agent.id}`,
    "/nowhere",
  ]) {
    await page.goto(path);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
  }
});

test("a project can be created, renamed, switched to and deleted", async () => {
  const { page, owner } = await open();
  await page.getByRole("button", { name: "Project: My project" }).click();
  await page.getByRole("menuitem", { name: "New project…" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Staging");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("button", { name: "Project: Staging" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Project settings", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Project settings" }).waitFor();
  await page.getByRole("main").getByLabel("Name", { exact: true }).fill("Testing");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Project: Testing" }).click();
  await page.getByRole("menuitemradio", { name: "My project" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("menuitemradio", { name: "My project" }).click();
  await page.waitForURL(`**/projects/${owner.projectId}/agents`);
  await page.goBack();
  await page.getByRole("button", { name: "Delete project…" }).click();
  await page
    .getByRole("alertdialog")
    .getByLabel(/to confirm/)
    .fill("Testing");
  await page.getByRole("button", { name: "Delete project", exact: true }).click();
  await page.waitForURL(`**/projects/${owner.projectId}/agents`);
  const body = await owner.client.read("/api/projects");
  assert.equal(body.items.length, 1);
});

test("with more agents than fit, the rest of the navigation stays visible", async () => {
  const { page, owner } = await open();
  await browser.service.db.pool.query(
    `insert into agents (id, project_id, name, type)
    select gen_random_uuid(), $1, 'Robot ' || n, 'http_api' from generate_series(1, 210) as n`,
    [owner.projectId],
  );
  await page.reload();
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "More agents…" }).waitFor();
  const lastInSight = `[...document.querySelectorAll("nav a")].find(link => link.textContent === "Project settings")
    .getBoundingClientRect().bottom <= innerHeight`;
  await becomesTrue(page, lastInSight);
});

test("a long agent name leaves room for all tabs", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "A rather long name ".repeat(5).trim() });
  const { page } = await browser.openAs(owner, {
    viewport: { width: 1024, height: 768 },
    path: `/projects/${owner.projectId}/agents/${agent.id}/runs`,
  });
  const tabs = page.getByRole("navigation", { name: agent.name }).locator(".tabs");
  await tabs.getByRole("link", { name: "Settings" }).waitFor();
  await eventually(async () =>
    assert.ok(
      await tabs.evaluate(row => row.scrollWidth <= row.clientWidth),
      "some of the tabs are out of sight",
    ),
  );
});
