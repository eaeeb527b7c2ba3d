// Selecting traces in the list: re-evaluating, adding to a test, exporting and deleting many at once.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Download, Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { storeTrace } from "../../support/stored-traces.ts";

const browser = useBrowser();

const box = (page: Page, words: string) => page.getByRole("checkbox", { name: `Select ${words}` });
const bar = (page: Page) => page.getByRole("region", { name: "Actions for the selected traces" });

async function exported(page: Page, format: string): Promise<string[]> {
  const downloaded = page.waitForEvent("download");
  await bar(page).getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: format }).click();
  const file: Download = await downloaded;
  return (await readFile((await file.path())!, "utf8")).trimEnd().split(/\r?\n/);
}

test("selected traces are exported, added to a test, re-evaluated with what is refused, and deleted", async () => {
  const { service } = browser;
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  const always = { passiveBehavior: "always_run", assertions: [{ type: "response_regex", pattern: "Sure" }] };
  const { id: testId } = await makeTest(owner, agent.id, { name: "Answers", ...always });
  const { key } = await makeKey(owner);
  for (const word of ["first", "second", "third", "fourth"]) {
    const attributes = { "gen_ai.prompt": `${word} question`, "gen_ai.response.text": "Sure." };
    const body = canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] });
    const traceId = traceIdOf(await send({ url: service.url, key }, { body }));
    await eventually(async () =>
      assert.equal((await owner.client.get(`/api/traces/${traceId}`)).body.run?.state, "completed"),
    );
  }
  await storeTrace(service.db, agent.id, { userInput: "never evaluated" });
  const { page, complaints } = await browser.openAs(owner, {
    path: `/projects/${owner.projectId}/agents/${agent.id}/traces`,
  });

  await box(page, "fourth question").check();
  await box(page, "second question").click({ modifiers: ["Shift"] });
  await bar(page).getByText("3 traces selected").waitFor();
  const csv = await exported(page, "CSV");
  assert.deepEqual([csv.length, csv[1]!.includes("fourth question")], [4, true]);
  await page.getByText("Exported 3 traces").waitFor();
  const lines = await exported(page, "JSON lines");
  assert.deepEqual(
    lines.map(line => JSON.parse(line).userInput),
    ["fourth question", "third question", "second question"],
  );

  await bar(page).getByRole("button", { name: "Add to test…" }).click();
  await page.getByLabel("Test case").selectOption("Answers");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Add inputs" }).click();
  await page.getByText("Added 3 inputs to “Answers”.").waitFor();
  const { inputs, draftedFrom } = (await owner.client.get(`/api/tests/${testId}`)).body;
  assert.deepEqual([inputs!.length, draftedFrom!.length], [3, 3]);
  await owner.client.patch(`/api/tests/${testId}`, { status: "disabled" }).expect(200);

  await box(page, "never evaluated").check();
  await bar(page).getByRole("button", { name: "Re-evaluate" }).click();
  const refused = page.getByRole("dialog", { name: "1 trace not re-evaluated" });
  await refused.getByText("No test has evaluated this trace, and no active test does now.").waitFor();
  await refused.getByRole("link", { name: "never evaluated" }).waitFor();
  await page.getByText("Re-evaluating 3 traces").waitFor();
  await assertAccessible(page);
  await refused.getByRole("button", { name: "Close", exact: true }).last().click();

  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await bar(page).getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete 4 traces" });
  await dialog.getByLabel("Type “4” to confirm").fill("3");
  await dialog.getByRole("button", { name: "Delete 4 traces" }).click();
  await dialog.getByText("The name does not match.").waitFor();
  await dialog.getByLabel("Type “4” to confirm").fill("4");
  await dialog.getByRole("button", { name: "Delete 4 traces" }).click();
  await page.getByText("4 traces deleted").waitFor();
  await bar(page).waitFor({ state: "detached" });
  await page.getByText("1 trace", { exact: true }).waitFor();
  await box(page, "first question").waitFor();
  assert.equal((await owner.client.get(`/api/agents/${agent.id}/traces`)).body.items.length, 1);

  // The row that the keyboard is on is selected by x.
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await bar(page).getByText("1 trace selected").waitFor();
  await page.getByRole("checkbox", { name: "Select all loaded traces" }).uncheck();
  await bar(page).waitFor({ state: "detached" });
  await becomesTrue(page, "location.pathname.endsWith('/traces')");
  assert.deepEqual(complaints, []);
});
