// The first minutes: from signing up to a first verdict, with few clicks and little typing, and without the docs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { runInShell } from "../../support/shell.ts";
import { step } from "../../support/start-page.ts";

const browser = useBrowser();

/** What the page itself sees of the user. Events made by scripts are not counted. */
const counting = `
  const counts = JSON.parse(sessionStorage.getItem("counts") ?? '{"clicks":0,"fields":[],"copies":0}');
  const keep = () => sessionStorage.setItem("counts", JSON.stringify(counts));
  addEventListener("click", event => event.isTrusted && (counts.clicks++, keep()), true);
  addEventListener("input", ({ isTrusted, target }) => {
    const field = location.pathname + " " + target.name;
    if (isTrusted && !counts.fields.includes(field)) (counts.fields.push(field), keep());
  }, true);
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = text => (counts.copies++, keep(), write(text));
`;

type Counts = { clicks: number; fields: string[]; copies: number };

test("from sign-up to a first verdict: at most 8 clicks, 4 typed fields and 1 copied command", async () => {
  const { page, context } = await browser.open();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await page.addInitScript(counting);
  const type = async (field: Locator, text: string) => {
    await field.focus();
    await page.keyboard.type(text);
  };
  await page.goto("/sign-up");
  await type(page.getByLabel("Email"), "minutes@example.com");
  await type(page.getByLabel("Password", { exact: true }), "correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();

  await page.getByRole("heading", { name: "What Onlooker does" }).waitFor();
  await looksRightNarrow(page);
  await page.getByRole("link", { name: "Verify email" }).click();
  await page.getByRole("button", { name: "Confirm email" }).click();
  await page.getByRole("link", { name: "Go to the dashboard" }).click();

  await type(page.getByLabel("Name", { exact: true }), "Shop");
  await page.getByRole("button", { name: "Create agent" }).click();
  await step(page, "2. API key").getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("API key", { exact: true }).waitFor();
  await page.locator("figure").getByRole("button", { name: "Copy", exact: true }).click();
  await page.locator("figure").getByRole("button", { name: "Copied" }).waitFor();
  const command = await page.evaluate<string>("navigator.clipboard.readText()");
  assert.match(await runInShell(command), /^HTTP\/1.1 201 /);
  await step(page, "4. First test").getByRole("button", { name: "Create test" }).click();
  const verdict = step(page, "5. First verdict");
  await verdict.getByText("Run the command of step 3 again").waitFor();
  assert.match(await runInShell(command), /^HTTP\/1.1 201 /);
  await verdict.getByText("Passed").waitFor();

  const { clicks, fields, copies } = JSON.parse(
    await page.evaluate<string>("sessionStorage.getItem('counts')"),
  ) as Counts;
  assert.ok(clicks > 0 && clicks <= 8, `${clicks} clicks`);
  assert.ok(fields.length > 0 && fields.length <= 4, fields.join(", "));
  assert.equal(copies, 1);
  await looksRightNarrow(page);
});

async function looksRightNarrow(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 720 });
}
