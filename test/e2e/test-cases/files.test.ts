// Browser tests of exporting and importing test cases.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { templates } from "../../../web/templates.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { chooseAction, draft, listTests, openTests, statusCheck } from "../../support/tests-page.ts";

const browser = useBrowser();

test("exported test cases can be imported elsewhere unchanged, in the same order", async () => {
  const from = await openTests(
    browser,
    { name: "<b>Bold</b> “quoted”", assertions: [statusCheck], threshold: "unusable" },
    { name: "Draft", ...draft },
    ...templates.map(({ document }) => document),
  );
  const { page } = from;
  await page.getByRole("checkbox", { name: "Select all" }).check();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as JSON" }).click();
  const file = await (await download).path();
  assert.equal((await download).suggestedFilename(), "test-cases.json");
  assert.equal(JSON.parse(await readFile(file, "utf8")).length, templates.length + 2);

  const other = await makeAgent(from.owner, { name: "Other" });
  await page.goto(`/projects/${from.owner.projectId}/agents/${other.id}/tests`);
  await page.getByRole("button", { name: "Import…" }).click();
  const dialog = page.getByRole("dialog", { name: "Import test cases" });
  await dialog.getByLabel("File").setInputFiles(file);
  const names = dialog.getByRole("list", { name: "In this file" }).getByRole("listitem");
  await names.first().waitFor();
  const before = await listTests(from);
  await eventually(async () =>
    assert.deepEqual(
      await names.allTextContents(),
      before.map(({ name }) => name),
    ),
  );
  await assertAccessible(page);
  await dialog.getByRole("button", { name: `Import ${before.length} test cases` }).click();
  await page.getByText(`Imported ${before.length} test cases`).waitFor();
  await page.getByText(`${before.length} tests`, { exact: true }).waitFor();
  const documents = (tests: ListedTest[]) => tests.map(({ id: _, agentId: __, ...document }) => document);
  await eventually(async () =>
    assert.deepEqual(documents(await listTests({ ...from, agentId: other.id })), documents(before)),
  );

  const one = page.waitForEvent("download");
  await chooseAction(page, "Draft", "Export as JSON");
  assert.equal((await one).suggestedFilename(), "draft.json");
  assert.equal(JSON.parse(await readFile(await (await one).path(), "utf8")).name, "Draft");
});

test("a file with an invalid test case imports nothing and names each error", async () => {
  const opened = await openTests(browser, { name: "Known" });
  const { page, agentId } = opened;
  await page.getByRole("button", { name: "Import…" }).click();
  const dialog = page.getByRole("dialog", { name: "Import test cases" });
  const choose = (content: string) =>
    dialog
      .getByLabel("File")
      .setInputFiles({ name: "a.json", mimeType: "application/json", buffer: Buffer.from(content) });
  await choose("{");
  await dialog.getByText("This file is not JSON.").waitFor();
  await choose("[]");
  await dialog.getByText("This file contains an empty list.").waitFor();
  const valid = { name: "Known", status: "disabled" };
  const wrong = { name: "Wrong", status: "disabled", surprise: 1, assertions: [{ type: "magic" }] };
  await choose(JSON.stringify([valid, wrong, "text"]));
  const alert = dialog.getByRole("alert");
  await alert.getByText("2 of 3 test cases are invalid. Nothing was imported.").waitFor();
  for (const text of ["2. Wrong", "surprise: Unknown field", "assertions[0].type:", "3. (no name)"]) {
    await alert.getByText(text).waitFor();
  }
  await assertAccessible(page);
  await eventually(async () => assert.equal((await listTests(opened)).length, 1));

  // The second test case created, which is the first in the file, is rejected once.
  let posts = 0;
  await page.route(`**/api/agents/${agentId}/tests`, (route, request) =>
    request.method() === "POST" && ++posts === 2
      ? route.fulfill({ status: 503, json: { code: "UNAVAILABLE", message: "Not now." } })
      : route.continue(),
  );
  await choose(
    JSON.stringify([
      valid,
      {
        name: "Active one",
        assertions: [statusCheck],
        turns: [{ input: "a" }],
        passiveBehavior: "always_run",
      },
    ]),
  );
  await dialog.getByText("1 test case has the name of an existing test, which is kept.").waitFor();
  await dialog.getByLabel(/Import all as disabled/).check();
  await dialog.getByRole("button", { name: "Import 2 test cases" }).click();
  await alert.getByText("Imported 1 of 2 test cases, then stopped at “Known”:").waitFor();
  await dialog.getByRole("button", { name: "Retry the remaining 1" }).click();
  await page.getByText("Imported 2 test cases").waitFor();
  await eventually(async () =>
    assert.deepEqual(
      (await listTests(opened)).map(({ name, status }) => [name, status]),
      [
        ["Known", "disabled"],
        ["Active one", "disabled"],
        ["Known", "active"],
      ],
    ),
  );
});
