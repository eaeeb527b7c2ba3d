// The list of traces in a browser: opens it on stored traces, and finds its rows.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent, type Owner } from "./app.ts";
import type { TestBrowser } from "./browser.ts";
import { eventually } from "./eventually.ts";

export type OpenedTraces = { page: Page; owner: Owner; agent: Agent; path: string; complaints: string[] };

type Prepare = (agentId: string, owner: Owner) => Promise<unknown>;
type OpenOptions = { query?: string; viewport?: { width: number; height: number } };

/** Opens the list of a new account's agent, after `prepare` has stored its traces. */
export function tracesOpener(browser: TestBrowser) {
  return async (
    prepare: Prepare = async () => {},
    { query = "", ...window }: OpenOptions = {},
  ): Promise<OpenedTraces> => {
    const owner = await browser.service.signUp();
    const agent = await makeAgent(owner);
    await prepare(agent.id, owner);
    const { page, complaints } = await browser.openAs(owner, window);
    const path = `/projects/${owner.projectId}/agents/${agent.id}/traces`;
    await page.goto(path + query);
    await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor();
    return { page, owner, agent, path, complaints };
  };
}

export const traceLink = (page: Page, name: string | RegExp) =>
  page.getByRole("table").getByRole("link", { name });
export const traceRow = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** Waits until the row that contains `text` contains all `words`. */
export async function rowShows(page: Page, text: string, ...words: string[]): Promise<void> {
  await eventually(async () => {
    const shown = (await traceRow(page, text).textContent()) ?? "";
    for (const word of words) assert.ok(shown.includes(word), `“${shown}” does not contain “${word}”`);
  });
}

export const passed = { state: "completed", verdict: "passed", counts: { passed: 1 } } as const;
export const failed = {
  state: "completed",
  verdict: "failed",
  counts: { passed: 3, failed: 1, skipped: 1 },
} as const;
