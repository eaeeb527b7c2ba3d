// Browser test without a mouse: from signing in to a test case that is dry-run, saved and disabled.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { makeTest } from "../../support/app.ts";
import { becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";

const browser = useBrowser({ config: { debounceMs: 50 } });

/** The accessible text of the focused element, as far as its own markup has one. */
const focus = `(() => {
  const { activeElement: at } = document;
  if (!at || at === document.body) return "nothing";
  const labels = [...(at.labels ?? [])].map(label => label.textContent);
  return [at.ariaLabel, ...labels, at.textContent].filter(Boolean).join(" ").trim();
})()`;

/** Presses Tab until the element has the focus, up to this many times. */
async function tabTo(page: Page, words: RegExp, steps = 60): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < steps; step++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate<string>(focus);
    if (words.test(at)) return;
    passed.push(at.slice(0, 40));
  }
  assert.fail(`Tab did not come to ${words} past ${passed.join(" | ")}`);
}

/** Waits until another page has focused its content. */
async function arrives(page: Page, heading: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await becomesTrue(page, "document.activeElement.id === 'main'");
}

/** Presses these keys one after the other. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

async function storeFailedTrace(): Promise<void> {
  const { owner, agent, key, url } = browser.service;
  await makeTest(owner, agent.id, {
    name: "Ends well",
    passiveBehavior: "always_run",
    assertions: [{ type: "http_status", expected_status: 200 }],
  });
  const spans = [
    { span_id: "1", name: "POST /chat", attributes: { "http.response.status_code": 500 } },
    {
      span_id: "2",
      parent_span_id: "1",
      name: "Compose the answer",
      attributes: { "gen_ai.prompt": "Are you open?", "gen_ai.response.text": "We are." },
    },
  ];
  assert.equal((await send({ url, key }, { body: { platformId: agent.id, spans } })).status, 201);
  await eventually(async () => {
    const body = await owner.client.read(`/api/agents/${agent.id}/traces`);
    assert.equal(body.items[0]!.run?.state, "completed");
  });
}

test("by keyboard alone a user signs in, finds out why a trace failed, and creates, dry-runs and disables a test case", async () => {
  const { owner, agent } = browser.service;
  await storeFailedTrace();
  const { page, complaints } = await browser.open({ viewport: { width: 1440, height: 900 } });
  const { keyboard } = page;
  await page.goto("/sign-in");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await becomesTrue(page, "document.activeElement.name === 'email'");
  await keyboard.type(owner.email);
  await press(page, "Tab");
  await keyboard.type(owner.password);
  await press(page, "Enter");
  await arrives(page, "Agents");

  await tabTo(page, new RegExp(`^${agent.name}$`));
  await press(page, "Enter");
  await arrives(page, "Overview");
  await press(page, "g");
  await press(page, "t");
  await arrives(page, "Traces");
  await page.getByRole("table", { name: "Traces" }).getByText("Failed").first().waitFor();
  await press(page, "j");
  await becomesTrue(page, "document.activeElement.closest('[role=row]') !== null");
  await press(page, "Enter");
  await arrives(page, "Are you open?");

  await page.getByText("Ends well").first().waitFor();
  await press(page, "n");
  await becomesTrue(page, "document.activeElement.textContent === 'FailedHTTP status'");
  await tabTo(page, /^POST \/chat · http\.response\.status_code/, 10);
  await press(page, "Enter");
  await becomesTrue(page, "document.activeElement.getAttribute('aria-pressed') === 'true'");
  await page.waitForURL(/attribute=http\.response\.status_code/);

  await tabTo(page, /^Create assertion/);
  await press(page, "Enter");
  const dialog = page.getByRole("dialog", { name: "Create assertion" });
  await dialog.getByText("It passes on this trace, unless the value is what failed").waitFor();
  await tabTo(page, /^Open in editor$/);
  await press(page, "Enter");
  await page.getByRole("heading", { level: 1, name: "New test case" }).waitFor();
  await becomesTrue(page, "document.activeElement.closest('form[aria-label=Form]') !== null");

  await press(page, "Control+Enter");
  await page.getByRole("heading", { level: 2, name: "Dry run" }).waitFor();
  await page.locator(".editor-news").getByText("Passed").first().waitFor();
  await tabTo(page, /^Name/, 200);
  await press(page, "Enter");
  await becomesTrue(page, "document.activeElement.ariaExpanded === 'true'");
  await press(page, "Tab", "Control+a");
  await keyboard.type("Steps as they were");
  await press(page, "Control+s");
  await page.getByRole("heading", { level: 1, name: "Steps as they were" }).waitFor();
  await becomesTrue(page, `${focus} !== "nothing"`);

  const stored = async () => {
    const body = await owner.client.read(`/api/agents/${agent.id}/tests`);
    return Object.fromEntries((body.items as TestCase[]).map(({ name, status }) => [name, status]));
  };
  await eventually(async () =>
    assert.deepEqual(await stored(), { "Ends well": "active", "Steps as they were": "active" }),
  );
  await tabTo(page, /^Test cases$/, 200);
  await press(page, "Enter");
  await arrives(page, "Test cases");
  await page.getByRole("link", { name: "Ends well" }).waitFor();
  await page.getByRole("link", { name: "Steps as they were" }).waitFor();
  await press(page, "j", "j", "x");
  await becomesTrue(page, "document.activeElement.textContent === 'Ends well'");
  await tabTo(page, /^Actions for Ends well$/);
  await press(page, "Enter");
  await page.getByRole("menuitem", { name: "Disable" }).waitFor();
  for (let down = 0; !/^Disable$/.test(await page.evaluate<string>(focus)); down++) {
    assert.ok(down < 6, "the menu has no Disable");
    await press(page, "ArrowDown");
  }
  await press(page, "Enter");
  await eventually(async () =>
    assert.deepEqual(await stored(), { "Ends well": "disabled", "Steps as they were": "active" }),
  );
  await page.getByRole("menu").waitFor({ state: "detached" });
  await becomesTrue(page, `${focus} === "Actions for Ends well"`);
  assert.deepEqual(complaints, []);
});
