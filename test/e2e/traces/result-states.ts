// Failed results in a browser: set to known with a note, and found by the list's filter.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { conversation } from "../../support/conversation.ts";
import { resultOf, storeJudgedRun } from "../../support/judged-runs.ts";
import { jsonOf, send } from "../../support/send.ts";
import { pathOf } from "../../support/trace-page.ts";

const browser = useBrowser();

test("a failure that is known leaves the list of open ones", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const { id } = await makeTest(owner, agent.id, { name: "Answers", passiveBehavior: "manual_only" });
  const body = canonicalBody(agent.id, { spans: conversation() });
  const traceId: string = jsonOf(await send({ url: browser.service.url, key }, { body })).traceId;
  const check = { id: "status", type: "http_status", outcome: "failed", reason: "It is 500." } as const;
  const seen = { expected: 200, actual: 500, evidence: [] };
  const results = [resultOf({ id, name: "Answers" }, [{ ...check, ...seen }])];
  await storeJudgedRun(browser.service.db, { agentId: agent.id, traceId }, { results });

  const { page, complaints } = await browser.openAs(owner, {
    path: pathOf(agent, traceId, "?view=evaluation"),
  });
  const state = page.getByRole("group", { name: "State of the failure of “Answers”" });
  await state.getByRole("button", { name: "Open", pressed: true }).waitFor();
  await state.getByRole("button", { name: "Known" }).click();
  await state.getByRole("button", { name: "Known", pressed: true }).waitFor();
  await state.getByRole("button", { name: "Add note" }).click();
  await page.getByLabel("Note", { exact: true }).last().fill("Ticket 12");
  await page.getByRole("button", { name: "Save note" }).click();
  await page.getByText("Ticket 12").first().waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  const list = `/projects/${agent.projectId}/agents/${agent.id}/traces`;
  await page.goto(`${list}?resultState=open`);
  await page.getByText("No matching traces").first().waitFor();
  await page.goto(`${list}?resultState=known`);
  await page.getByText("Failures: Known").first().waitFor();
  await page.getByText("Please refund order A-10428").first().waitFor();
  assert.deepEqual(complaints, []);
});
