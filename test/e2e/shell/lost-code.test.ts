// Parts of a page whose code does not load: the service is away, or has a newer dashboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAgent, makeTest } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";

const browser = useBrowser();

test("a menu that does not load leaves what is being edited, and opens once it loads", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Robot" });
  const { id } = await makeTest(owner, agent.id, { name: "Answers" });
  const { page } = await browser.openAs(owner, {
    path: `/projects/${owner.projectId}/agents/${agent.id}/tests/${id}`,
  });
  await page.getByRole("button", { name: /^Name/ }).click();
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Answers in the evening");
  const code = "**/assets/MenuPopup*";
  await page.route(code, route => route.abort("connectionrefused"));
  const more = page.getByRole("button", { name: "More", exact: true });
  await more.click();
  await page.getByText("Part of this page did not load.").waitFor();
  assert.equal(await name.inputValue(), "Answers in the evening");
  assert.equal(await more.getAttribute("aria-expanded"), "false");
  await page.unroute(code);
  await more.click();
  await page.getByRole("menuitem").first().waitFor();
  assert.equal(await name.inputValue(), "Answers in the evening");
});
