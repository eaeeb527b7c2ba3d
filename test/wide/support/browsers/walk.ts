// Walks through the dashboard as its user: signs in, finds out why a trace failed, edits a test, creates a key, sends a
// trace, and opens pages by the palette and on a phone.
import assert from "node:assert/strict";
import { makeAgent } from "../../../support/app.ts";
import { canonicalBody } from "../../../support/bodies.ts";
import { send } from "../../../support/send.ts";
import { firstReceived, listening, panelName, startOf } from "../../../support/start-page.ts";
import type { Size } from "./driver.ts";
import type { Page } from "./page.ts";
import { button, dialog, field, heading, link, region, text, tracesTable } from "./screens.ts";
import type { WatchedAgent } from "./watched-agent.ts";

export async function signIn(page: Page, account: { email: string; password: string }): Promise<void> {
  await page.goto("/sign-in");
  await page.fill(field("Email"), account.email);
  await page.fill(field("Password"), account.password);
  await page.click(button("Sign in"));
  await page.waitFor(heading("Agents"));
}

export async function openPalette(page: Page): Promise<void> {
  await page.press("Control+k");
  await page.becomesTrue("document.activeElement?.role === 'combobox'");
}

/** Starts at the list of traces, and ends with the pages that a phone shows. */
export async function walk(page: Page, agent: WatchedAgent, phone: Size): Promise<void> {
  await findOutWhyItFailed(page);
  await editTest(page, agent);
  await createKey(page, agent);
  await receiveFirstTrace(page, agent);
  await openPalette(page);
  await page.type("settings sess");
  await page.shoot("palette");
  await page.press("Enter");
  await page.waitFor(heading("Sessions"));

  await page.resize(phone);
  for (const path of [agent.traces, agent.failedTrace, agent.tests, agent.keys]) {
    await page.goto(path);
    await page.waitFor({ role: "heading" });
    await page.becomesTrue("document.documentElement.scrollWidth <= innerWidth");
    await page.shoot(`phone-${path.split("/").at(-1)}`);
  }
}

async function findOutWhyItFailed(page: Page): Promise<void> {
  await page.waitFor(heading("Traces"));
  await page.shoot("traces");
  await page.click(link(/Where is my parcel/, tracesTable));
  await page.click(button(/http\.response\.status_code/, region("Evaluation")));
  await page.becomesTrue("location.search.includes('attribute=http.response.status_code')");
  const attribute = button("http.response.status_code", region("Span"));
  const { y } = await page.waitFor(attribute);
  assert.ok(y >= 0, "the attribute is above the window");
  await page.becomesTrue("document.querySelector('[aria-pressed=true]') !== null");
  await page.shoot("evidence");
}

async function editTest(page: Page, agent: WatchedAgent): Promise<void> {
  await page.click(link("Test cases"));
  await page.click(link("Answers with success"));
  // The list has a button “Name”, too, which sorts it.
  await page.waitFor(heading("Answers with success"));
  await page.click(button(/^Name/));
  await page.fill(field("Name"), "Answers with 201");
  await page.shoot("editor");
  await page.press("Control+s");
  await page.waitFor(heading("Answers with 201"));
  const body = await agent.service.client.read(`/api/agents/${agent.service.agent.id}/tests`);
  assert.ok(body.items.some(({ name }: { name: string }) => name === "Answers with 201"));
}

async function createKey(page: Page, agent: WatchedAgent): Promise<void> {
  await page.click(link("Keys"));
  await page.click(button("New key"));
  await page.fill(field("Name", dialog("New key")), "From this browser");
  await page.click(button("Create key"));
  await page.waitFor(button("I’ve stored it"));
  const key = await page.evaluate<string>(
    "[...document.querySelectorAll('input, textarea')].map(({ value }) => value).find(value => value.startsWith('svc_'))",
  );
  await page.shoot("key");
  await page.click(button("I’ve stored it"));
  await page.waitFor(text("From this browser"));
  const sent = await send({ ...agent.service, key }, { body: canonicalBody(agent.service.agent.id) });
  assert.equal(sent.status, 201, sent.bytes.toString());
}

async function receiveFirstTrace(page: Page, { service }: WatchedAgent): Promise<void> {
  const agent = await makeAgent(service.owner, { name: "New", otlpServiceName: crypto.randomUUID() });
  await page.goto(startOf(agent));
  const panel = region(panelName);
  await page.waitFor(text(new RegExp(listening), panel));
  assert.equal((await send(service, { body: canonicalBody(agent.id) })).status, 201);
  await page.waitFor(text(new RegExp(firstReceived), panel));
  await page.shoot("start");
}
