// Opens the insights of a new agent in the browser.
import type { Page } from "playwright-core";
import { makeAgent, type Owner } from "./app.ts";
import type { TestBrowser, Window } from "./browser.ts";
import { hourMs } from "./counts.ts";

export type OpenedInsights = Window & {
  owner: Owner;
  agentId: string;
  /** The path of the agent's pages. */
  base: string;
  /** The start of the current hour. */
  now: number;
};

/** Signed in as the owner of a new agent, before its first page is opened. */
export async function openInsights(browser: TestBrowser): Promise<OpenedInsights> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Watched" });
  const window = await browser.openAs(owner);
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  return { ...window, owner, agentId: agent.id, base, now: Math.floor(Date.now() / hourMs) * hourMs };
}

export const outcomesOf = (page: Page) => page.getByRole("region", { name: "Evaluations by outcome" });

/** The query parameters of the page's URL. */
export const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
