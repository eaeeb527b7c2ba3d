// Failed results in a browser: set to known with a note, which is not lost, and found by the list's filter.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { conversation } from "../../support/conversation.ts";
import { resultOf, storeJudgedRun } from "../../support/judged-runs.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { pathOf } from "../../support/trace-page.ts";

const browser = useBrowser();

/** An evaluated trace with a failed result, opened at its evaluation. */
async function openFailed() {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const { id } = await makeTest(owner, agent.id, { name: "Answers", passiveBehavior: "manual_only" });
  const body = canonicalBody(agent.id, { spans: conversation() });
  const traceId: string = traceIdOf(await send({ url: browser.service.url, key }, { body }));
  const check = { id: "status", type: "http_status", outcome: "failed", reason: "It is 500." } as const;
  const seen = { reasonCode: "http_status" as const, expected: 200, actual: 500, evidence: [] };
  const results = [resultOf({ id, name: "Answers" }, [{ ...check, ...seen }])];
  await storeJudgedRun(browser.service.db, { agentId: agent.id, traceId }, { results });

  const window = await browser.openAs(owner, { path: pathOf(agent, traceId, "?view=evaluation") });
  const state = window.page.getByRole("group", { name: "State of the failure of “Answers”" });
  return { ...window, agent, state };
}

test("a failure that is known leaves the list of open ones", async () => {
  const { page, agent, state, complaints } = await openFailed();
  await state.getByRole("button", { name: "Open", pressed: true }).waitFor();
  await state.getByRole("button", { name: "Known" }).click();
  await state.getByRole("button", { name: "Known", pressed: true }).waitFor();
  await state.getByRole("button", { name: "Add note" }).click();
  await page.getByLabel("Note", { exact: true }).last().fill("Ticket 12");
  await page.getByRole("button", { name: "Save note" }).click();
  await page.getByText("Ticket 12").first().waitFor();
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

test("a note that is being written stays open, and leaving it asks", async () => {
  const { page, state, complaints } = await openFailed();
  const guard = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const add = state.getByRole("button", { name: "Add note" });
  const note = page.getByRole("dialog", { name: "Note" }).getByLabel("Note", { exact: true });
  const heading = page.getByRole("heading", { level: 1 });
  const leave = () => page.getByRole("link", { name: "Ingestion log" }).click();
  await add.click();
  await note.waitFor();
  await heading.click();
  await note.waitFor({ state: "detached" });

  await add.click();
  await note.fill("Half written");
  const panel = 'document.querySelector(".menu")';
  await becomesTrue(page, `${panel}.scrollWidth <= ${panel}.clientWidth`);
  await shoot(page, "note");
  await heading.click();
  await leave();
  await guard.waitFor();
  await assertAccessible(page);
  await shoot(page, "unsaved-note");
  await page.keyboard.press("Escape");
  await guard.waitFor({ state: "detached" });
  assert.equal(await note.inputValue(), "Half written");
  await note.press("Escape");
  await note.waitFor({ state: "detached" });

  await page.setViewportSize({ width: 320, height: 800 });
  await add.click();
  assert.equal(await note.inputValue(), "");
  await note.fill("Half written");
  await assertReflows(page);
  await shoot(page, "note-320");
  await page.getByRole("button", { name: "Cancel" }).click();
  await note.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1280, height: 720 });
  await leave();
  await page.waitForURL(/\/ingestion$/);
  assert.deepEqual(complaints, []);
});
