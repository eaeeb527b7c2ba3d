// Browser tests of what the editor asks the judge: backtests with their cost, progress, flips and versions, and what a dry
// run found that criteria rest on.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { type JudgeServer, obliging, type Script, startJudgeServer } from "../../support/judge-server.ts";
import { card, documentIn, openCard, openWorld, type World } from "./editor-world.ts";

let judge: JudgeServer;
after(() => judge.close());
const browser = useBrowser(async () => {
  judge = await startJudgeServer();
  return { config: { judge: judge.connection({ model: "local" }) } };
});
beforeEach(() => {
  judge.script = obliging();
  judge.requests.length = 0;
});

const status = (expected_status: number) => [{ id: "status", type: "http_status", expected_status }];

/** A test of its own behavior, its traces evaluated: three times 200 and once 500. */
async function openEvaluated(): Promise<World & { testId: string }> {
  const world = await openWorld(browser);
  const { owner, agent, send } = world;
  const { id: testId } = await makeTest(owner, agent.id, { name: "Answers", assertions: status(200) });
  for (const code of [200, 200, 500, 200]) {
    const attributes = { "http.response.status_code": code, "gen_ai.prompt": `Is it ${code}?` };
    await send([{ span_id: "root", name: "chat", attributes }]);
  }
  await eventually(async () => {
    const body = await owner.client.read(`/api/tests/${testId}/versions`);
    assert.equal(body.items[0]!.counts.passed + body.items[0]!.counts.failed, 4);
  });
  return { ...world, testId };
}

test("a changed test shows which verdicts flip, each with its trace, and its results by version", async () => {
  const { page, owner, complaints, open, testId, tests } = await openEvaluated();
  await owner.client.patch(`/api/tests/${testId}`, { assertions: status(500) }).expect(200);
  await open(`/${testId}`);
  const panel = page.getByRole("region", { name: "Backtest" });
  await panel.getByRole("button", { name: "Backtest", exact: true }).click();
  await panel.getByText("Completed").waitFor();
  await panel.getByText("4 of 4 verdicts flip.").waitFor();
  await panel.getByText("Version 2").waitFor();
  const filters = panel.getByRole("navigation", { name: "Filter traces by verdict" });
  await eventually(async () =>
    assert.deepEqual(await filters.getByRole("link").allTextContents(), [
      "Passed → Failed 3",
      "Failed → Passed 1",
      "New: Failed 1",
    ]),
  );
  await filters.getByRole("link", { name: /^Failed → Passed/ }).click();
  const rows = panel.getByRole("list", { name: "Traces: Failed → Passed" }).getByRole("listitem");
  await rows.first().waitFor();
  await eventually(async () =>
    assert.match(await rows.first().innerText(), /Failed[\s\S]*Passed[\s\S]*Is it 500\?/),
  );
  await page.reload();
  await rows.first().waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await page.getByRole("link", { name: "Dry run" }).click();
  await rows.first().waitFor();
  await assertReflows(page);
  await assertAccessible(page);
  await rows.getByRole("link", { name: "Trace of “Is it 500?”" }).click();
  await page.waitForURL(/\/traces\//);

  await page.goto(`${tests}/${testId}/results`);
  const versions = page.getByRole("region", { name: "Results by version" });
  await versions.getByText("3 passed, 1 failed").waitFor();
  await assertReflows(page);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("the judge is asked only after its cost was confirmed; a reload keeps the progress, and it can be cancelled", async () => {
  const { page, owner, open, agent, send } = await openWorld(browser);
  for (const input of ["One", "Two"]) {
    const attributes = { "gen_ai.prompt": input, "gen_ai.response.text": `About ${input}.` };
    await send([{ span_id: "root", name: "chat", attributes }]);
  }
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const slow: Script = async (request, index) => {
    await answered;
    return obliging()(request, index);
  };
  judge.script = slow;
  const { id } = await makeTest(owner, agent.id, {
    status: "disabled",
    assertions: [{ type: "semantic", criteria: "Answers." }],
  });
  await open(`/${id}`);
  const panel = page.getByRole("region", { name: "Backtest" });
  await panel.getByLabel("Latest traces").selectOption("50");
  await panel.getByRole("button", { name: "Backtest", exact: true }).click();
  await panel.getByText("3 traces. The judge needs about 3 calls").waitFor();
  assert.equal(judge.requests.length, 0, "nothing is asked for an estimate");
  await panel.getByRole("button", { name: "Run with judge" }).click();
  await panel.getByRole("progressbar", { name: "Traces tried" }).waitFor();
  await page.reload();
  await panel.getByText("0 of 3 traces").waitFor();
  await assertAccessible(page);
  await open("/new");
  await panel.getByText("A backtest of “Answers quickly” is running: 0 of 3.").waitFor();
  await open(`/${id}`);
  await panel.getByRole("button", { name: "Cancel backtest" }).click();
  await panel.getByText("Cancelled").waitFor();
  answer();

  await panel.getByRole("button", { name: "Backtest", exact: true }).click();
  await panel.getByRole("button", { name: "Run with judge" }).click();
  await panel.getByRole("link", { name: "New: Passed 3" }).waitFor();
  const body = await owner.client.read(`/api/tests/${id}/runs`);
  assert.deepEqual(body.items, [], "nothing of it is an evaluation");
  await panel.getByRole("button", { name: "Delete backtest" }).click();
  const question = page.getByRole("alertdialog", { name: "Delete backtest" });
  await question.getByRole("button", { name: "Delete backtest" }).click();
  await panel.getByText("Cancelled").waitFor();
});

test("a backtest tries as many traces as its estimate; another one that cannot be cancelled says why", async () => {
  const { page, owner, open, agent } = await openWorld(browser);
  const assertions = [{ type: "semantic", criteria: "Answers." }];
  const { id } = await makeTest(owner, agent.id, { assertions });
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  judge.script = async (request, index) => {
    await answered;
    return obliging()(request, index);
  };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/backtests/estimate", async route => {
    await released;
    await route.continue();
  });
  await page.route("**/backtests/*/cancel", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Internal error." } }),
  );
  await open(`/${id}`);
  const panel = page.getByRole("region", { name: "Backtest" });
  await panel.getByLabel("Latest traces").selectOption("50");
  await panel.getByRole("button", { name: "Backtest", exact: true }).click();
  await panel.getByLabel("Latest traces").selectOption("1000");
  release();
  const started = page.waitForRequest(
    request => request.method() === "POST" && request.url().endsWith("/backtests"),
  );
  await panel.getByRole("button", { name: "Run with judge" }).click();
  assert.equal((await started).postDataJSON().traces, 50);
  await panel.getByRole("progressbar", { name: "Traces tried" }).waitFor();
  await open("/new");
  await panel.getByRole("button", { name: "Cancel it" }).click();
  await panel.getByText("Internal error.").waitFor();
  answer();
});

test("a new test without traces says what is missing", async () => {
  const { page, owner, open, traceId } = await openWorld(browser);
  await owner.client.delete(`/api/traces/${traceId}`).expect(204);
  await open("/new?template=fast");
  const panel = page.getByRole("region", { name: "Backtest" });
  await panel.getByRole("button", { name: "Backtest", exact: true }).click();
  await panel.getByText("This agent has no live traces yet").waitFor();
});

test("a dry run shows what the judge found that a criterion is shown by, and another choice overrides it", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const assertions = [{ id: "a", type: "semantic", criteria: "Names no price." }];
  const { id } = await makeTest(owner, agent.id, { name: "Prices", assertions });
  judge.script = obliging({ evidence: () => "", restsOn: () => "absence" });
  await world.open(`/${id}`);
  await openCard(page, 1);
  const shownBy = card(page, 1).getByLabel("Shown by (optional)");
  await shownBy.getByText("Let the judge decide").waitFor({ state: "attached" });
  await page
    .getByRole("region", { name: "Dry run" })
    .getByRole("button", { name: "Run", exact: true })
    .click();
  await shownBy.getByText("Judge: something that is absent").waitFor({ state: "attached" });
  await eventually(async () => assert.equal(await shownBy.inputValue(), ""));
  await shownBy.selectOption("One passage");
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].rests_on, "passage"));
});
