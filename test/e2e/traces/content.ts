// An agent that stores no content: the setting says which tests stop, and the trace says what is missing and why.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";
import { shoot } from "../../support/shoot.ts";
import { conversation, openTracePages, pathOf } from "../../support/trace-page.ts";

const browser = useBrowser();
const { storeSpans, newAgent, open, judged } = openTracePages(browser);

test("an agent is set to store no content, and its next trace shows its structure and why checks are missing", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    passiveBehavior: "always_run",
    assertions: [{ type: "response_regex", pattern: "way" }],
  });
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/settings`);
  const form = page.getByRole("form", { name: "Content" });
  await form.getByRole("radio", { name: /^Store no content/ }).check();
  await form.getByText("1 of 1 test cannot be evaluated in full").waitFor();
  await shoot(page, "content-1-settings");
  await assertAccessible(page);
  await form.getByRole("button", { name: "Save content setting" }).click();
  await page.getByText("Content setting saved").first().waitFor();
  const { body } = await browser.service.client.get(`/api/agents/${agent.id}`).expect(200);
  assert.equal(body.content, "none");

  const id = await storeSpans(agent, conversation);
  await judged(id);
  await page.goto(pathOf(agent, id));
  await page.getByText("Content was not stored.").waitFor();
  await page.getByText("The content of the trace was not stored, or has been forgotten.").first().waitFor();
  assert.equal(await page.getByText("On its way.").count(), 0);
  await shoot(page, "content-2-trace");
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});
