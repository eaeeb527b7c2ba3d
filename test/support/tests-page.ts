// The page of an agent's test cases in a real browser: opening, reading and using it.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { makeAgent, makeKey, makeTest, type Owner } from "./app.ts";
import { canonicalBody, canonicalSpan } from "./bodies.ts";
import type { TestBrowser, Window } from "./browser.ts";
import { eventually } from "./eventually.ts";
import { send, traceIdOf } from "./send.ts";

export type TestsPage = Window & {
  browser: TestBrowser;
  owner: Owner;
  agentId: string;
  /** Of the page. */
  path: string;
  /** The text of a key that can write to the agent. */
  key: string;
  made: { id: string; name: string }[];
};

/** A new owner's agent with these test cases, created in this order, and the page that lists them. */
export async function openTests(browser: TestBrowser, ...tests: object[]): Promise<TestsPage> {
  const owner = await browser.service.signUp();
  const { id: agentId } = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const made: TestsPage["made"] = [];
  for (const fields of tests) made.push(await makeTest(owner, agentId, fields));
  const window = await browser.openAs(owner);
  const path = `/projects/${owner.projectId}/agents/${agentId}/tests`;
  await window.page.goto(path);
  await window.page.getByRole("heading", { level: 1, name: "Test cases" }).waitFor();
  return { ...window, browser, owner, agentId, path, key, made };
}

/** Sends a trace with these attributes and waits until it is evaluated. Returns its id. */
export async function judge(
  { browser, owner, agentId, key }: TestsPage,
  attributes: object,
): Promise<string> {
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
  const traceId = traceIdOf(await send({ url: browser.service.url, key }, { body }));
  await eventually(async () => {
    const trace = await owner.client.read(`/api/traces/${traceId}`);
    assert.equal(trace.run!.state, "completed");
  });
  return traceId;
}

/** As the API returns them, newest first. */
export async function listTests({ owner, agentId }: Pick<TestsPage, "owner" | "agentId">) {
  return (await owner.client.read(`/api/agents/${agentId}/tests?limit=200`)).items;
}

export function rowOf(page: Page, name: string): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
}

/** Uses the menu of the test's row. */
export async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Waits until these are shown in this order. */
export async function assertNames(page: Page, names: string[]): Promise<void> {
  await eventually(async () => {
    assert.deepEqual(await page.getByRole("rowheader").getByRole("link").allTextContents(), names);
  });
}

export const statusCheck = { type: "http_status", expected_status: "2xx" };
export const ok = { "http.response.status_code": 200 };
export const broken = { "http.response.status_code": 500 };
/** What a test case that cannot be active may lack. */
export const draft = { status: "disabled", assertions: [], turns: [] };
