// What the tests of Get started share: an agent's page in a window, and what stands on it.
import type { Page } from "playwright-core";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent, type Owner } from "./app.ts";
import { signIn, type TestBrowser } from "./browser.ts";

export function openStartPages(browser: () => TestBrowser) {
  async function open(agent: Agent, owner: Owner, query = "") {
    const window = await browser().open();
    await window.context.grantPermissions(["clipboard-read", "clipboard-write"], {
      origin: browser().origin,
    });
    await signIn(window.page, owner);
    await window.page.goto(startOf(agent) + query);
    await window.page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    return window;
  }
  /** An account of its own with an agent, and the page that is open on it. */
  async function newcomer(fields: Partial<Agent> = {}, query = "") {
    const owner = await browser().service.signUp();
    const agent = await makeAgent(owner, { name: "Shop", ...fields });
    return { owner, agent, ...(await open(agent, owner, query)) };
  }
  return { open, newcomer };
}

export const startOf = ({ projectId, id }: Agent) => `/projects/${projectId}/agents/${id}/start`;

/** Where what is sent is told of. */
export const panel = (page: Page) => page.getByRole("region", { name: "4. See it here" });
export const snippet = (page: Page) => page.locator("figure pre");

export const isListening = (page: Page) =>
  panel(page).getByText("whatever is sent shows here at once").waitFor();

/** Makes a key through the page; its text. */
export async function makeKeyHere(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Make a key", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name", { exact: true }).fill("first");
  await dialog.getByRole("button", { name: "Make key" }).click();
  return page.getByLabel("The key").inputValue();
}

/** What the snippet's button copies. */
export async function copySnippet(page: Page): Promise<string> {
  await page.locator("figure").getByRole("button", { name: "Copy", exact: true }).click();
  await page.locator("figure").getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}
