// The insights of a new agent in the browser, for tests of what they show.
import type { Page } from "playwright-core";
import { makeAgent, type Owner } from "./app.ts";
import type { TestBrowser, Window } from "./browser.ts";
import { hourMs } from "./counts.ts";

export type OpenedInsights = Window & {
  owner: Owner;
  agentId: string;
  /** The address of the agent's pages. */
  base: string;
  /** The beginning of the present hour. */
  now: number;
};

/** Signed in as the owner of an agent that has judged nothing, on no page of it yet. */
export async function openInsights(browser: TestBrowser): Promise<OpenedInsights> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Watched" });
  const window = await browser.openAs(owner);
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  return { ...window, owner, agentId: agent.id, base, now: Math.floor(Date.now() / hourMs) * hourMs };
}

export const outcomesOf = (page: Page) => page.getByRole("region", { name: "Runs by outcome" });

/** What the page's address asks for. */
export const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
