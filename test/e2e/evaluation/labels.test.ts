// Labels in a browser: saying that the judge was wrong, with a note, and finding that among the disagreements.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Assertion } from "../../../src/model/test-case/assertion.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest, type Owner } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { conversation } from "../../support/conversation.ts";
import { eventually } from "../../support/eventually.ts";
import { obliging, startJudgeServer } from "../../support/judge-server.ts";
import { resultOf, semanticCheck, storeJudgedRun } from "../../support/judged-runs.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { pathOf } from "../../support/trace-page.ts";

const browser = useBrowser();

const assertion = {
  ...{ id: "reply", type: "semantic", criteria: "It names a date.", negate: false, depends_on: [] },
} as Assertion;
const met = [{ criterion: "It names a date.", verdict: "met", evidence: "", reason: "Yes." }] as const;

/** An evaluated conversation: the judge says that the check passes and that the scenario matches. */
async function evaluated(owner: Owner) {
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const { id } = await makeTest(owner, agent.id, { name: "Names dates", passiveBehavior: "manual_only" });
  const body = canonicalBody(agent.id, { spans: conversation() });
  const traceId: string = traceIdOf(await send({ url: browser.service.url, key }, { body }));
  const checks = [
    semanticCheck("reply", { criteria: [...met] }),
    semanticCheck("open", { criteria: [] }, { outcome: "skipped", skipped: "undecided", actual: null }),
  ];
  const { score: _, ...open } = checks[1]!;
  const name = "Names dates";
  const by = { model: "judge-small", promptVersion: "route-1" };
  const runId = await storeJudgedRun(
    browser.service.db,
    { agentId: agent.id, traceId },
    {
      results: [resultOf({ id, name }, [checks[0]!, open], [assertion, { ...assertion, id: "open" }])],
      tests: [{ testId: id, name, applied: true, why: "scenario_matched", reason: "It fits.", ...by }],
      routing: "ok",
    },
  );
  return { agent, testId: id, traceId, runId };
}

const judgment = (page: Page, about: RegExp) => page.getByRole("group", { name: about });
const pressed = (page: Page, about: RegExp, name: string) =>
  judgment(page, about).getByRole("button", { name, exact: true, pressed: true }).waitFor();

test("an answer that a person calls wrong is counted, explained and linked", async () => {
  const owner = await browser.service.signUp();
  const { agent, traceId } = await evaluated(owner);
  const { page, complaints } = await browser.openAs(owner, {
    path: pathOf(agent, traceId, "?view=evaluation"),
  });
  const region = page.getByRole("region", { name: "Tests and checks" });
  await region.getByRole("button", { name: "Expand all" }).click();
  const check = /“reply” of “Names dates”/;
  await judgment(page, check).getByRole("button", { name: "Wrong: it should fail" }).click();
  await pressed(page, check, "Wrong: it should fail");
  await judgment(page, check).getByRole("button", { name: "Add note" }).click();
  await page.getByLabel("Note", { exact: true }).last().fill("No date is there.");
  await page.getByRole("button", { name: "Save note" }).click();
  await region.getByText("No date is there.").waitFor();
  const undecided = /^What should the judge say about “open” of “Names dates”/;
  await judgment(page, undecided).getByRole("button", { name: "It should fail" }).click();
  await pressed(page, undecided, "It should fail");
  const scenario = /the scenario of “Names dates”/;
  await judgment(page, scenario).getByRole("button", { name: "Right" }).click();
  await pressed(page, scenario, "Right");
  await page.reload();
  await region.getByRole("button", { name: "Expand all" }).click();
  await pressed(page, check, "Wrong: it should fail");
  await assertAccessible(page);

  await page.goto(`/projects/${owner.projectId}/settings/judge`);
  await page
    .getByRole("navigation", { name: "Project settings" })
    .getByRole("link", { name: "Labels" })
    .click();
  const checks = page.getByRole("region", { name: "Semantic checks" });
  await checks.getByText("The judge agrees with people on 0 of 1 answer: 0% (95% interval 0–79%).").waitFor();
  await checks.getByText("False passes: 1 of 1 (21–100%) that should fail.").waitFor();
  await page
    .getByRole("region", { name: "Scenario matches" })
    .getByText("The judge agrees with people on 1 of 1 answer: 100% (95% interval 21–100%).")
    .waitFor();
  const matrix = checks.getByRole("table", { name: /what they should be$/ });
  const cell = matrix.getByRole("row", { name: /^Pass/ });
  await eventually(async () =>
    assert.deepEqual(await cell.getByRole("cell").allTextContents(), ["0, right", "1, wrong"]),
  );
  await checks.getByText("The judge could not decide 1 of 2 labeled checks.").waitFor();
  const open = matrix.getByRole("row", { name: /^Undecided/ });
  await eventually(async () =>
    assert.deepEqual(await open.getByRole("cell").allTextContents(), ["0, undecided", "1, undecided"]),
  );
  const wrong = page.getByRole("list", { name: "Answers that people call wrong" });
  await wrong.getByText("No date is there.").waitFor();
  await wrong.getByText("(hides a fault)").waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await checks.getByRole("table", { name: "Semantic checks by test case" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: "Names dates" }).waitFor();
  await wrong.getByRole("link").click();
  await pressed(page, check, "Wrong: it should fail");
  await judgment(page, check).getByRole("button", { name: "Remove label" }).click();
  await eventually(async () =>
    assert.equal(await judgment(page, check).getByRole("button", { name: "Remove label" }).count(), 0),
  );
  assert.deepEqual(complaints, []);
});

test("a project without labels says where to give them", async () => {
  const owner = await browser.service.signUp();
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/settings/labels` });
  await page.getByRole("heading", { name: "No labels yet" }).waitFor();
});

test("a judge is tried on the labels before it is switched, and the labels can be exported", async () => {
  const server = await startJudgeServer(obliging({ verdict: () => "not_met" }));
  const owner = await browser.service.signUp();
  const { agent, testId, traceId, runId } = await evaluated(owner);
  const put = (body: object) => owner.client.put(`/api/runs/${runId}/labels`, body).expect(200);
  await put({ testId, checkId: "reply", answer: "fail" });
  await put({ testId, checkId: null, answer: "match" });
  const { page, complaints } = await browser.openAs(owner, {
    path: `/projects/${owner.projectId}/settings/labels`,
  });
  const form = page.getByRole("region", { name: "Try a judge" });
  await form.getByRole("radio", { name: "OpenAI-compatible server" }).check();
  await form.getByLabel("URL").fill(server.url);
  await form.getByLabel("Model").fill("candidate");
  await form.getByRole("button", { name: "Add header" }).click();
  await form.getByLabel("Name of header 1").fill("x-portkey-provider");
  await form.getByLabel("Value of x-portkey-provider").fill("openai");
  await form.getByRole("button", { name: "Estimate cost" }).click();
  await form.getByText("The judge needs about 2 calls, ").waitFor();
  await form.getByText("At most 5 calls, if every check needs two more votes").waitFor();
  assert.equal(server.requests.length, 0, "nothing is asked for an estimate");
  await form.getByRole("button", { name: "Try on 2 labels" }).click();
  await form.getByText("Would change 1 of 2").waitFor();
  await form.getByText("1 to the person’s answer, 0 away from it.").waitFor();
  assert.ok(server.requests.every(({ headers }) => headers["x-portkey-provider"] === "openai"));
  const changed = form.getByRole("list", { name: "Answers that would change" }).getByRole("link");
  await eventually(async () =>
    assert.match((await changed.getAttribute("href"))!, new RegExp(`${agent.id}/traces/${traceId}`)),
  );
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export labels" }).click(),
  ]);
  const set = JSON.parse(await readFile(await file.path(), "utf8"));
  assert.deepEqual([set.kind, set.labels.length, file.suggestedFilename()], ["labels", 2, "labels.json"]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("link", { name: "Ingestion log" }).click();
  await page.waitForURL(/\/ingestion$/);
  assert.deepEqual(complaints, []);
  await server.close();
});

test("leaving a judge that was entered and not tried asks", async () => {
  const owner = await browser.service.signUp();
  const { testId, runId } = await evaluated(owner);
  const label = { testId, checkId: "reply", answer: "fail" };
  await owner.client.put(`/api/runs/${runId}/labels`, label).expect(200);
  const path = `/projects/${owner.projectId}/settings/labels`;
  const { page } = await browser.openAs(owner, { path });
  const form = page.getByRole("region", { name: "Try a judge" });
  const guard = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const leave = () => page.getByRole("link", { name: "Ingestion log" }).click();
  await form.getByLabel("Model").fill("candidate");
  await leave();
  await guard.getByRole("button", { name: "Stay" }).click();
  assert.equal(await form.getByLabel("Model").inputValue(), "candidate");
  await form.getByLabel("Model").fill("");
  await form.getByRole("button", { name: "Add header" }).click();
  await form.getByLabel("Name of header 1").fill("x-portkey-provider");
  await leave();
  await guard.getByRole("button", { name: "Stay" }).click();
  await form.getByRole("button", { name: "Remove x-portkey-provider" }).click();
  await leave();
  await page.waitForURL(/\/ingestion$/);
});

test("when asking the judge fails, the labels tried before stay listed", async () => {
  const server = await startJudgeServer(obliging({ verdict: () => "not_met" }));
  const owner = await browser.service.signUp();
  const { testId, runId } = await evaluated(owner);
  await owner.client
    .put(`/api/runs/${runId}/labels`, { testId, checkId: "reply", answer: "fail" })
    .expect(200);
  const { page } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/settings/labels` });
  await page.route("**/labels/try", async route => {
    const { cursor, estimate } = route.request().postDataJSON();
    if (estimate) return route.continue();
    if (cursor) return route.fulfill({ status: 502, body: "Bad gateway" });
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), nextCursor: "next" } });
  });
  const form = page.getByRole("region", { name: "Try a judge" });
  await form.getByRole("radio", { name: "OpenAI-compatible server" }).check();
  await form.getByLabel("URL").fill(server.url);
  await form.getByLabel("Model").fill("candidate");
  await form.getByRole("button", { name: "Estimate cost" }).click();
  await form.getByRole("button", { name: "Try on 1 label" }).click();
  await form.getByText("Unexpected response (status 502).").waitFor();
  await form.getByText("Would change 1 of 1").waitFor();
  await form.getByText("Not all labels were tried.").waitFor();
  await server.close();
});
