// Shared by the tests of Get started: opens an agent's page and finds its parts.
import type { Page } from "playwright-core";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent, type Owner } from "./app.ts";
import { signIn, type TestBrowser } from "./browser.ts";

export function openStartPages(browser: TestBrowser) {
  async function open(agent: Agent, owner: Owner, query = "") {
    const window = await browser.open();
    await window.context.grantPermissions(["clipboard-read", "clipboard-write"], {
      origin: browser.origin,
    });
    await signIn(window.page, owner);
    await window.page.goto(startOf(agent) + query);
    await window.page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    return window;
  }
  /** An account of its own with an agent, and the page that is open on it. */
  async function newcomer(fields: Partial<Agent> = {}, query = "") {
    const owner = await browser.service.signUp();
    const agent = await makeAgent(owner, { name: "Shop", ...fields });
    return { owner, agent, ...(await open(agent, owner, query)) };
  }
  return { open, newcomer };
}

export const startOf = ({ projectId, id }: Agent) => `/projects/${projectId}/agents/${id}/start`;

/** Shows the result of the latest request. */
export const panel = (page: Page) => page.getByRole("region", { name: panelName });
export const panelName = "Latest request";
/** One of the five steps, such as "4. First test". */
export const step = (page: Page, name: string) => page.getByRole("region", { name });
export const snippet = (page: Page) => page.locator("figure pre");

export const isListening = (page: Page) => panel(page).getByText(listening).waitFor();
/** What the panel says while it hears of requests as they arrive, and once a trace arrived. */
export const listening = "requests appear here immediately";
export const firstReceived = "First trace received";

/** Creates a key on the page, with the form if the agent has one already. Returns the key. */
export async function makeKeyHere(page: Page): Promise<string> {
  const key = page.getByLabel("API key", { exact: true });
  const [quick, form] = ["Create key", "New key"].map(name =>
    page.getByRole("button", { name, exact: true }),
  );
  await quick!.or(form!).waitFor();
  if (await quick!.isVisible()) {
    await quick!.click();
    return key.inputValue();
  }
  await form!.click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name", { exact: true }).fill("first");
  await dialog.getByRole("button", { name: "Create key" }).click();
  return key.inputValue();
}

/** Copies the snippet with its button. Returns the copied text. */
export async function copySnippet(page: Page): Promise<string> {
  await page.locator("figure").getByRole("button", { name: "Copy", exact: true }).click();
  await page.locator("figure").getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}
