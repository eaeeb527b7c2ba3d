// Back after something was deleted on its own page: the page before it, not one that says that it was not found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAgent, makeTest } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";

const browser = useBrowser();

for (const [noun, pathIn] of [
  ["trace", (agent: string, { trace }: Ids) => `${agent}/traces/${trace}`],
  ["test case", (agent: string, { test }: Ids) => `${agent}/tests/${test}`],
  ["agent", (agent: string) => `${agent}/settings`],
  ["project", (_agent: string, { project }: Ids) => `${project}/settings`],
] as const) {
  test(`Back skips the page of a deleted ${noun}`, async () => {
    const { service } = browser;
    const owner = await service.signUp();
    const project = `/projects/${owner.projectId}`;
    const agent = await makeAgent(owner);
    await owner.client.post(`/api/agents/${agent.id}/sample-trace`, {});
    const traces = await owner.client.read(`/api/agents/${agent.id}/traces`);
    const ids = { project, trace: traces.items[0]!.id, test: (await makeTest(owner, agent.id)).id };
    const before = "/settings/profile";
    const { page } = await browser.openAs(owner, { path: before });
    const path = pathIn(`${project}/agents/${agent.id}`, ids);
    await page.goto(path);
    if (noun === "test case") {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
    } else await page.getByRole("button", { name: /^Delete/ }).click();
    const dialog = page.getByRole("alertdialog", { name: `Delete ${noun}` });
    const [, name] = /“(.*)”/.exec(await dialog.locator("label").innerText())!;
    await dialog.getByRole("textbox").fill(name!);
    await dialog.getByRole("button", { name: `Delete ${noun}` }).click();
    await page.waitForURL(url => url.pathname !== path);
    await page.goBack();
    await page.waitForURL(`**${before}`);
    assert.equal(await page.getByText("Not found").count(), 0);
  });
}

type Ids = { project: string; trace: string; test: string };
