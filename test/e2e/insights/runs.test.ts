// Browser tests of manual runs against a real agent: progress, turns, checks and traces.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import {
  type AgentScript,
  type AgentServer,
  sendJson,
  startAgentServer,
} from "../../support/agent-server.ts";
import { makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { assertReflows, becomesFocused, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { chooseAction, openTests, type TestsPage } from "../../support/tests-page.ts";

const browser = useBrowser({ config: { allowPrivateTargets: ["127.0.0.1"] } });
let agent: AgentServer;
before(async () => {
  agent = await startAgentServer();
});
after(() => agent.close());

const says =
  (text: string): AgentScript =>
  (_request, response) =>
    sendJson(response, { reply: text });
const helpful = says("Your parcel is in Lyon.");
const parcel = { type: "response_regex", pattern: "Lyon", description: "Names the city." };
const single = (name: string, more: object = {}) => ({
  name,
  turns: [{ input: "Where is my parcel?" }],
  assertions: [parcel],
  ...more,
});

/** The agent's test cases on their page, with a connection to the local agent that does not wait for traces. */
async function openRunnable(...tests: object[]): Promise<TestsPage> {
  const opened = await openTests(browser, ...tests);
  await connect(opened, { waitMs: 0 });
  return opened;
}

async function connect(
  { owner, agentId }: Pick<TestsPage, "owner" | "agentId">,
  more: object,
): Promise<void> {
  const connection = {
    url: `${agent.url}/chat`,
    bodyTemplate: '{"message": "{{input}}", "history": "{{history}}"}',
    reply: { kind: "json", pointer: "/reply" },
    headers: [],
    ...more,
  };
  await owner.client.put(`/api/agents/${agentId}/connection`, connection).expect(200);
}

/** Delays the next request until it is released. */
function heldBack(script: AgentScript) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  agent.script = async (request, response) => {
    arrived.resolve();
    await released.promise;
    await script(request, response);
  };
  return { arrived: arrived.promise, release: () => released.resolve() };
}

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const bar = (page: Page) => page.getByRole("progressbar", { name: "Finished test runs" });

test("all active tests run at one press, and each test run shows its turns, checks and trace", async () => {
  agent.script = helpful;
  const opened = await openRunnable(
    single("Finds the parcel"),
    single("Names the day", { assertions: [{ type: "response_regex", pattern: "Monday" }] }),
    single("Uses few tokens", { assertions: [{ type: "token_limit", max_total: 100 }] }),
    single("Asleep", { status: "disabled" }),
  );
  const { page, path, complaints } = opened;
  await page.goto(path.replace(/tests$/, "runs"));
  await page.getByRole("heading", { level: 2, name: "No runs yet" }).waitFor();
  await shoot(page, "runs-empty");
  await page.getByRole("button", { name: "Run all active" }).click();
  await heading(page, "Run of 3 tests").waitFor();
  await page.getByText("1 passed, 1 failed, 1 missing instrumentation", { exact: true }).waitFor();
  await eventually(async () => assert.equal(await bar(page).getAttribute("aria-valuenow"), "3"));
  await shoot(page, "launch");
  const row = page.getByRole("row").filter({ hasText: "Names the day" });
  await row.getByText("Failed", { exact: true }).waitFor();
  await row.getByText("First run").waitFor();
  await page.getByRole("link", { name: "Not passed" }).click();
  await page.getByRole("link", { name: "Finds the parcel" }).waitFor({ state: "detached" });
  await page.goBack();
  await page.getByRole("link", { name: "Finds the parcel" }).click();
  await heading(page, "Finds the parcel").waitFor();
  await page.getByText("Your parcel is in Lyon.").first().waitFor();
  await page.getByText("Where is my parcel?").first().waitFor();
  await page.getByText("The agent sent no trace", { exact: false }).first().waitFor();
  await page.getByRole("listitem").filter({ hasText: "Response regex" }).first().waitFor();
  await shoot(page, "run");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("link", { name: "Open trace of turn 1" }).click();
  await page.waitForURL("**/traces/**");
  await page.getByText("from the request and the reply", { exact: false }).first().waitFor();
  assert.deepEqual(complaints, []);
});

test("in forced colors the current tab and the progress bar stay visible", async () => {
  agent.script = helpful;
  const { page, path } = await openRunnable(single("Finds the parcel"));
  await page.goto(path.replace(/tests$/, "runs"));
  await page.getByRole("button", { name: "Run all active" }).click();
  await page.getByText("1 passed", { exact: true }).waitFor();
  await page.emulateMedia({ forcedColors: "active" });
  const style = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${name}")`);
  await eventually(async () =>
    assert.equal(await style(".agent-tabs [aria-current=page]", "outline-style"), "solid"),
  );
  await eventually(async () =>
    assert.equal(await style(".agent-tabs a:not([aria-current])", "outline-style"), "none"),
  );
  await eventually(async () => {
    const fill = await style(".runs-bar > [data-kind=passed]", "background-color");
    assert.notEqual(fill, await style(".runs-bar", "background-color"));
  });
});

test("a trace sent by the agent belongs to the turn and counts as a test run, not as live traffic", async () => {
  const opened = await openTests(browser, single("Finds the parcel"));
  await connect(opened, { waitMs: 20_000 });
  const { page, agentId, key, owner } = opened;
  agent.script = async ({ headers }, response) => {
    const span = canonicalSpan({ attributes: { "gen_ai.response.text": "It is in Lyon, says the trace." } });
    const body = canonicalBody(agentId, { spans: [span] });
    await send(
      { url: browser.service.url, key },
      { body, headers: { "x-request-id": String(headers["x-request-id"]) } },
    );
    sendJson(response, { reply: "It is in Lyon." });
  };
  await chooseAction(page, "Finds the parcel", "Run now");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByText("1 passed").first().waitFor();
  await page.getByRole("link", { name: "Finds the parcel" }).click();
  await page.getByText("Sent by the agent").waitFor();
  const listed = (kind: string) => owner.client.get(`/api/agents/${agentId}/traces?kind=${kind}`).expect(200);
  await eventually(async () => assert.equal((await listed("test_run")).body.items.length, 1));
  await eventually(async () => assert.equal((await listed("live")).body.items.length, 0));
});

test("a trace that comes after the wait is said on run, test run and trace, and evaluated without another call", async () => {
  const forbidden = { type: "tool_call", expected_name: "refund", negate: true };
  const opened = await openTests(browser, single("Refunds nothing", { assertions: [forbidden] }));
  await connect(opened, { waitMs: 400 });
  const { page, agentId, key, complaints } = opened;
  agent.script = helpful;
  agent.requests.length = 0;
  await chooseAction(page, "Refunds nothing", "Run now");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByText(/^\+ [\d.]+ m?s waiting for a trace$/).waitFor();
  const launchUrl = page.url();
  await page.getByRole("link", { name: "Refunds nothing" }).click();
  await page
    .getByText(/^The agent sent no trace within [\d.]+ m?s/)
    .first()
    .waitFor();
  const call = canonicalSpan({ name: "refund", attributes: { "gen_ai.tool.name": "refund" } });
  const late = canonicalBody(agentId, { spans: [call] });
  const headers = { "x-request-id": String(agent.requests[0]!.headers["x-request-id"]) };
  await send({ url: browser.service.url, key }, { body: late, headers });
  await page.getByText("The trace changed after this evaluation.").waitFor();
  await shoot(page, "trace-changed");
  await page.goto(launchUrl);
  await page.getByText("The trace of 1 test run changed after the evaluation.").waitFor();
  await shoot(page, "trace-changed-launch");
  await page.getByRole("link", { name: "Refunds nothing" }).click();
  await page.getByRole("link", { name: "Open trace" }).click();
  await page.getByText("The trace changed after its test run was evaluated.").waitFor();
  await shoot(page, "trace-changed-trace");
  await page.getByRole("button", { name: "Re-evaluate" }).click();
  await page.getByText("The trace changed after its test run was evaluated.").waitFor({ state: "detached" });
  await page.goto(launchUrl);
  await page.getByText("1 failed", { exact: true }).waitFor();
  assert.equal(agent.requests.length, 1);
  assert.deepEqual(complaints, []);
});

test("turns are shown one by one, a check names its turn, and a failed turn ends the run", async () => {
  const turns = [{ input: "Where is my parcel?" }, { input: "When will it be here?" }, { input: "Thanks" }];
  const opened = await openRunnable({
    name: "A conversation",
    passiveBehavior: "manual_only",
    turns,
    assertions: [
      { ...parcel, turn: 1 },
      { type: "response_regex", pattern: "Monday", turn: 2 },
    ],
  });
  const { page } = opened;
  agent.script = ({ body }, response) => {
    if (body.message === "Thanks") return sendJson(response, { error: "asleep" }, 500);
    return sendJson(response, { reply: body.history.length === 0 ? "It is in Lyon." : "On Monday." });
  };
  await chooseAction(page, "A conversation", "Run now");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByRole("link", { name: "A conversation" }).click();
  await page.getByRole("heading", { level: 3, name: /^Turn 3/ }).waitFor();
  await page.getByText("On Monday.").first().waitFor();
  await page.getByText("HTTP 500").waitFor();
  await page.getByText("Turn 2 · ", { exact: false }).first().waitFor();
  await shoot(page, "conversation");

  // The results quote every turn, so the test run is deleted with the trace of any of them.
  const { items } = await opened.owner.client.read(`/api/tests/${opened.made[0]!.id}/runs?kind=manual`);
  const runId = items[0]!.id;
  const run = await opened.owner.client.read(`/api/runs/${runId}`);
  await opened.owner.client.delete(`/api/traces/${run.turns![0]!.traceId}`).expect(204);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Test run not found" }).waitFor();
});

test("a failed call fails the test, and the turn shows what the agent's trace says otherwise", async () => {
  const opened = await openTests(
    browser,
    single("Never in Paris", { assertions: [{ ...parcel, negate: true }] }),
  );
  await connect(opened, { waitMs: 60_000 });
  const { page, agentId, key } = opened;
  agent.script = async ({ headers }, response) => {
    const attributes = { "gen_ai.response.text": "All is well.", "http.response.status_code": 200 };
    const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
    await send(
      { url: browser.service.url, key },
      { body, headers: { "x-request-id": String(headers["x-request-id"]) } },
    );
    sendJson(response, { error: "asleep" }, 502);
  };
  await chooseAction(page, "Never in Paris", "Run now");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByText(/^Agent error: .+ answered with status 502\.$/).waitFor();
  await page.getByRole("link", { name: "Never in Paris" }).click();
  await page.getByText("The agent’s trace differs from what Onlooker received.").waitFor();
  await page.getByText("The trace says HTTP 200; Onlooker received HTTP 502.").waitFor();
  await page.getByText("All is well.").waitFor();
  await page.getByRole("list", { name: "Checks" }).getByText("Reply received").waitFor();
  await shoot(page, "agent-error");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await shoot(page, "agent-error-narrow");
  await page.getByRole("link", { name: "Open trace" }).click();
  await page.getByText("The reply or status that Onlooker received differs from this trace.").waitFor();
  await page.getByRole("link", { name: "Compare both in the test run" }).click();
  await heading(page, "Never in Paris").waitFor();
});

test("a test run whose judge was unavailable is not fully evaluated, and is re-evaluated without another call", async t => {
  const judge = await startJudgeServer(() => refusal(401));
  t.after(() => judge.close());
  const { provider, url, model } = judge.connection();
  const polite = { type: "semantic", criteria: "The reply is polite." };
  const opened = await openRunnable(single("Polite", { assertions: [parcel, polite] }));
  const { page, owner } = opened;
  const path = `/api/projects/${owner.projectId}/judge` as const;
  await owner.client.put(path, { provider, url, model }).expect(200);
  agent.script = helpful;
  await chooseAction(page, "Polite", "Run now");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByText("1 passed; 1 not fully evaluated").first().waitFor();
  await page.getByText("Passed, not fully evaluated").first().waitFor();
  await page.getByRole("link", { name: "Open the paused judge" }).waitFor();
  await shoot(page, "not-fully-evaluated");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await shoot(page, "not-fully-evaluated-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });

  judge.script = obliging();
  await owner.client.put(path, { provider, url, model: "another" }).expect(200);
  const asked = agent.requests.length;
  await page.getByRole("link", { name: "Polite" }).click();
  await page.getByText("The judge was unavailable for some checks.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Re-evaluate" }).click();
  await page.getByText("Re-evaluating the test run").waitFor();
  await page.getByText("The judge was unavailable for some checks.").waitFor({ state: "detached" });
  await page.getByText("Passed, 2 of 2 checked").first().waitFor();
  assert.equal(agent.requests.length, asked);
  await shoot(page, "re-evaluated");
});

test("a run shows live progress and can be cancelled", async () => {
  const opened = await openRunnable(single("First"), single("Second"), single("Third"), single("Fourth"));
  const { page } = opened;
  const held = heldBack(helpful);
  await page.getByRole("button", { name: "Run all active" }).click();
  await heading(page, "Run of 4 tests").waitFor();
  await held.arrived;
  await page.getByText("4 remaining").waitFor();
  await page.getByText("Running", { exact: true }).first().waitFor();
  await shoot(page, "launch-running");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Cancel", exact: true }).press("Enter");
  await page.getByText("4 cancelled", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Not passed 4" }).waitFor();
  await becomesFocused(page.getByRole("region", { name: "Progress" }));
  held.release();
  await page.getByRole("button", { name: "Rerun all" }).waitFor();
});

test("newly failing tests are marked and can be rerun alone", async () => {
  const opened = await openRunnable(
    single("Finds the parcel"),
    single("Is polite", { assertions: [{ type: "response_regex", pattern: "." }] }),
  );
  const { page, path } = opened;
  agent.script = helpful;
  await page.getByRole("button", { name: "Run all active" }).click();
  await page.getByText("2 passed").first().waitFor();
  agent.script = says("No idea.");
  await page.getByRole("button", { name: "Rerun all" }).click();
  await page.getByText("1 passed, 1 failed", { exact: true }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "Finds the parcel" });
  await row.getByText("Broke").waitFor();
  await page.getByRole("link", { name: "Broke, fixed or flaky" }).click();
  await page.getByRole("link", { name: "Is polite" }).waitFor({ state: "detached" });
  agent.script = helpful;
  await page.getByRole("button", { name: "Rerun failed" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages and actions" }).fill("rerun failed");
  await page.getByRole("option").first().getByText("Rerun failed", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await heading(page, "Run of 1 test").waitFor();
  await page.getByText("Fixed", { exact: true }).waitFor();
  await page.getByText("Flaky", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Finds the parcel" }).click();
  await page.getByRole("heading", { level: 2, name: "Other runs of this test" }).waitFor();
  await page.goto(path.replace(/tests$/, "runs"));
  await page.getByRole("link", { name: "2 tests" }).first().waitFor();
  await shoot(page, "runs");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

test("without a connection nothing runs, and the dialog links to the connection settings", async () => {
  const { page } = await openTests(browser, single("Finds the parcel"));
  await page.getByRole("button", { name: "Run all active" }).click();
  const dialog = page.getByRole("dialog", { name: "Nothing was run" });
  await dialog.getByText("This agent has no connection yet.").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("link", { name: "Open connection settings" }).click();
  await page.waitForURL("**/settings#connection");
});

test("the runs page says what to set up before the first run", async () => {
  const { page, path, owner, agentId } = await openTests(browser);
  const runs = path.replace(/tests$/, "runs");
  await page.goto(runs);
  await page.getByRole("heading", { level: 2, name: "Nothing to run yet" }).waitFor();
  await page.getByRole("link", { name: "Create test case" }).click();
  await page.waitForURL(`**${path}`);
  await makeTest(owner, agentId, single("Finds the parcel", { status: "disabled" }));
  await page.goto(path.replace(/tests$/, "traces?kind=test_run"));
  await page.getByRole("heading", { level: 2, name: "No test runs yet" }).waitFor();
  await eventually(async () =>
    assert.equal(
      await page.getByRole("navigation", { name: "Kind of traces" }).locator("[aria-current]").count(),
      1,
    ),
  );
  await page.getByRole("link", { name: "Go to runs" }).click();
  await page.getByRole("link", { name: "Set up connection" }).click();
  await page.waitForURL("**/settings#connection");
  await page.getByRole("heading", { level: 2, name: "Connection" }).waitFor();
  await page.goto(path.replace(/tests$/, "start"));
  await page.getByRole("link", { name: "Set up the connection" }).click();
  await page.waitForURL("**/settings#connection");
  await connect({ owner, agentId }, {});
  await page.goto(runs);
  await page.getByText("No test is active.").waitFor();
  await page.getByRole("link", { name: "Choose test cases" }).waitFor();
});

test("a trace links to its test run, and a test's results link to each of its test runs", async () => {
  agent.script = helpful;
  const opened = await openRunnable(single("Finds the parcel"), single("Is quiet", { status: "disabled" }));
  const { page, path, made, owner, agentId } = opened;
  await page.goto(`${path}/${made[0]!.id}/results`);
  await page.getByRole("link", { name: "Test runs" }).click();
  await page.getByRole("heading", { level: 2, name: "No test runs yet" }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("1 passed").first().waitFor();
  await page.goto(path.replace(/tests$/, "traces?kind=test_run"));
  await page.getByRole("link", { name: /^Where is my parcel/ }).click();
  const evaluation = page.getByRole("region", { name: "Tests and checks" });
  await evaluation.getByText("About this evaluation").click();
  await evaluation.getByText("Manual run", { exact: false }).waitFor();
  // Another test is not part of this run.
  await eventually(async () => assert.equal(await evaluation.getByText("did not run").count(), 0));
  await page.getByRole("link", { name: "Open test run" }).click();
  await heading(page, "Finds the parcel").waitFor();
  const run = new URL(page.url()).pathname;
  await page.goto(`${path}/${made[0]!.id}/results?kind=manual`);
  const runs = page.getByRole("rowheader").getByRole("link");
  await runs.first().waitFor();
  await eventually(async () => assert.equal(await runs.count(), 1));
  await eventually(async () => assert.equal(await runs.getAttribute("href"), run));
  const listed = await owner.client.get(`/api/agents/${agentId}/traces?kind=test_run`).expect(200);
  assert.equal(listed.body.items[0]!.run!.launchId, run.split("/").at(-2));
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

test("a test without live evaluations shows the verdict of its last test run, for filters and sorting too", async () => {
  const opened = await openRunnable(single("By hand", { passiveBehavior: "manual_only" }), single("Never"));
  const { page, path, owner, agentId, made } = opened;
  const row = page.getByRole("row").filter({ hasText: "By hand" });
  await row.getByText("Not evaluated yet").waitFor();
  agent.script = says("I do not know.");
  await owner.client.post(`/api/agents/${agentId}/launches`, { testIds: [made[0]!.id] }).expect(201);
  await row.getByText("Failed", { exact: true }).waitFor();
  await row.getByText("Test run, ").waitFor();
  await shoot(page, "tests-manual");
  await page.goto(`${path}?last=failed&sort=last`);
  await row.waitFor();
  await eventually(async () => assert.equal(await page.getByRole("rowheader").count(), 1));
  await row.getByRole("link", { name: "Failed" }).click();
  await page.waitForURL(`**/${made[0]!.id}/results?kind=manual`);
  await page.getByRole("rowheader").getByRole("link").first().waitFor();
  await page.goto(`${path}/${made[0]!.id}/results`);
  await page.getByRole("link", { name: "View test runs" }).click();
  await page.getByRole("rowheader").getByRole("link").first().waitFor();
});

test("deleted traces and tests are marked, and the rest of the run stays", async () => {
  agent.script = helpful;
  const turns = [{ input: "Where is my parcel?" }, { input: "When will it be here?" }];
  const opened = await openRunnable(
    single("Finds the parcel"),
    single("A conversation", {
      turns,
      assertions: [
        { ...parcel, turn: 1 },
        { ...parcel, turn: 2 },
      ],
    }),
    single("Asleep", { status: "disabled" }),
    single("Still there"),
  );
  const { page, path, owner, agentId, made } = opened;
  const { client } = owner;
  const testIds = made.map(({ id }) => id);
  const { body: launch } = await client.post(`/api/agents/${agentId}/launches`, { testIds }).expect(201);
  const address = path.replace(/tests$/, `runs/${launch.id}`);
  await page.goto(address);
  await page.getByText("4 passed").first().waitFor();
  const done = await client.read(`/api/launches/${launch.id}`);
  const runOf = (name: string) => done.runs.find((run: { testName: string }) => run.testName === name);
  const conversation = await client.read(`/api/runs/${runOf("A conversation")!.id}`);
  await client.delete(`/api/traces/${runOf("Finds the parcel")!.traceId}`).expect(204);
  await client.delete(`/api/traces/${conversation.turns![0]!.traceId}`).expect(204);
  await client.delete(`/api/tests/${testIds[2]}`).expect(204);

  await page.goto(`${address}/${runOf("Finds the parcel")!.id}`);
  await page.getByRole("heading", { level: 1, name: "Test run not found" }).waitFor();
  await assertAccessible(page);
  await page.goto(`${address}/${conversation.id}`);
  await page.getByRole("heading", { level: 1, name: "Test run not found" }).waitFor();
  await page.goto(`${address}/${runOf("Asleep")!.id}`);
  await page.getByText("The test case was deleted", { exact: false }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Rerun" }).count(), 0));
  await eventually(async () =>
    assert.equal(await page.getByRole("link", { name: "Edit test case" }).count(), 0),
  );
  await page.goto(address);
  await page.getByText("2 test runs were deleted with their traces.").waitFor();
  await page.getByRole("row").filter({ hasText: "Asleep" }).getByText("Test case deleted").waitFor();
  await page.getByRole("button", { name: "Rerun all" }).click();
  await heading(page, "Run of 1 test").waitFor();

  await page.goto(address);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByLabel("Type “delete” to confirm").fill("delete");
  await shoot(page, "delete-run");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Delete run" }).click();
  await page.getByText("Run deleted").waitFor();
  await page.goBack();
  await heading(page, "Run of 1 test").waitFor();
  await client.get(`/api/launches/${launch.id}`).expect(404);
  for (const gone of [randomUUID(), `${randomUUID()}/${randomUUID()}`]) {
    await page.goto(path.replace(/tests$/, `runs/${gone}`));
    await page.getByRole("heading", { level: 1, name: /^Not found|Test run not found/ }).waitFor();
  }
});

test("deleting the connection during a run ends the waiting test runs, each with the reason and a link to fix it", async () => {
  const opened = await openRunnable(single("First"), single("Second"));
  const { page, owner, agentId } = opened;
  await connect(opened, { waitMs: 0, concurrency: 1 });
  const held = heldBack(helpful);
  await page.getByRole("button", { name: "Run all active" }).click();
  await held.arrived;
  await owner.client.delete(`/api/agents/${agentId}/connection`).expect(204);
  held.release();
  await page.getByText("1 passed, 1 error", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Second" }).click();
  await page.getByText("This agent has no connection yet.", { exact: false }).waitFor();
  await page.getByText("1 turn was not sent.").waitFor();
  await page.getByRole("link", { name: "Open connection settings" }).click();
  await page.waitForURL("**/settings#connection");
  // Until it is there, the page of the run still is, and does not ask again.
  await page.getByRole("heading", { level: 2, name: "Connection" }).waitFor();
  await connect(opened, { waitMs: 0 });
  await page.goBack();
  await page.getByText("1 turn was not sent.").waitFor();
  await page.getByRole("link", { name: "Open connection settings" }).waitFor({ state: "detached" });
});

test("runs can be browsed by keyboard, and screen readers hear of quarters, not of every test run", async () => {
  agent.script = helpful;
  const names = Array.from({ length: 8 }, (_, at) => `Test ${at + 1}`);
  const opened = await openRunnable(...names.map(name => single(name)));
  const { page, path, complaints } = opened;
  await connect(opened, { waitMs: 0, concurrency: 1 });
  const held = heldBack(helpful);
  await page.getByRole("button", { name: "Run all active" }).click();
  await heading(page, "Run of 8 tests").waitFor();
  await held.arrived;
  await page.getByText("8 remaining").waitFor();
  const news = page.getByRole("region", { name: "Progress" }).getByRole("status");
  await eventually(async () => assert.equal(await news.textContent(), ""));
  await page.evaluate(`(() => {
    const [news] = [...document.querySelectorAll("main [role=status]")].filter(one => one.closest("[aria-label=Progress]"));
    window.said = [];
    new MutationObserver(() => said.push(news.textContent)).observe(news, { childList: true, characterData: true, subtree: true });
  })()`);
  held.release();
  await page.getByText("8 passed").first().waitFor();
  await becomesTrue(page, 'said.at(-1) === "Completed: 8 passed"');
  const said = await page.evaluate<string[]>("[...new Set(said)]");
  assert.ok(
    said.slice(0, -1).every(text => /^(25|50|75)% finished$/.test(text)),
    said.join(" | "),
  );

  const focused = "document.activeElement.textContent";
  await page.keyboard.press("j");
  await becomesTrue(page, `${focused} === "Test 1"`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await becomesTrue(page, `${focused} === "Test 2"`);
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Next test run").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await heading(page, "Test 2").waitFor();
  await page.goto(path);
  await page.getByRole("heading", { level: 1, name: "Test cases" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await heading(page, "Runs").waitFor();
  await page.getByRole("link", { name: "8 tests" }).waitFor();
  await page.keyboard.press("j");
  await becomesTrue(page, `${focused} === "8 tests"`);
  await page.keyboard.press("Enter");
  await heading(page, "Run of 8 tests").waitFor();
  assert.deepEqual(complaints, []);
});

test("a test with inputs and repeats shows pass rates by input, and is compared with the run before", async () => {
  const long = `Where is parcel ${"9".repeat(400)}?`;
  const inputs = ["Where is parcel 1?", "איפה החבילה שלי?", long, "Where is parcel 4?"].map(input => ({
    input,
  }));
  const opened = await openRunnable(
    single("Finds every parcel", { inputs, repeats: 3 }),
    single("Finds the parcel"),
  );
  // One call after the other, so that replies can depend on the repeat.
  await connect(opened, { waitMs: 0, concurrency: 1 });
  const { page, path, owner, agentId, complaints } = opened;
  const answered = new Map<string, number>();
  const answers = (reply: (message: string, time: number) => string) => {
    answered.clear();
    agent.script = ({ body }, response) => {
      const time = (answered.get(body.message) ?? 0) + 1;
      answered.set(body.message, time);
      sendJson(response, { reply: reply(body.message, time) });
    };
  };
  const runAll = async () => {
    await page.goto(path.replace(/tests$/, "runs"));
    await page.getByRole("button", { name: "Run all active" }).click();
    const dialog = page.getByRole("dialog", { name: "Start 13 test runs?" });
    await dialog.getByText("Sends 13 requests to", { exact: false }).waitFor();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Start" }).click();
    await heading(page, "Run of 2 tests").waitFor();
    await eventually(async () => assert.equal(await bar(page).getAttribute("aria-valuenow"), "13"));
  };
  // One input fails always, another one once in three.
  answers((message, time) =>
    message === long || (message.includes("4") && time === 2) ? "No idea." : "It is in Lyon.",
  );
  await runAll();
  await page.getByText("9 of 13 passed").first().waitFor();
  await page.getByRole("link", { name: "Finds every parcel" }).click();
  const rows = page.getByRole("list", { name: "Runs of Finds every parcel" });
  await rows.getByRole("listitem").filter({ hasText: "Input 4" }).getByText("2 of 3 passed").waitFor();
  await rows
    .getByText("Names the city.", { exact: false })
    .or(rows.getByText("Response regex"))
    .first()
    .waitFor();
  await shoot(page, "many");
  await assertAccessible(page);
  await page.getByRole("button", { name: "What is the pass rate?" }).click();
  await page.getByText("95% interval (Wilson)", { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await shoot(page, "many-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole("navigation", { name: "Filter test runs by result" }).getByText("Failed").click();
  await rows.getByText("איפה החבילה שלי?").waitFor({ state: "detached" });
  await rows.getByRole("link", { name: "input 3, repeat 2: Failed" }).click();
  await page.getByText("Input 3 of 4, repeat 2 of 3").waitFor();
  const place = page.getByRole("navigation", { name: "Inputs and repeats" });
  await place.getByRole("link", { name: "Next input" }).click();
  await page.getByText("Input 4 of 4, repeat 2 of 3").waitFor();
  await shoot(page, "many-run");
  await assertAccessible(page);
  await place.getByRole("link", { name: "input 4, repeat 3: Passed" }).click();
  await page.getByText("Input 4 of 4, repeat 3 of 3").waitFor();

  answers(message => (message.includes("1") ? "No idea." : "It is in Lyon."));
  await runAll();
  await page.getByRole("link", { name: "Compare" }).click();
  await heading(page, "Compare runs").waitFor();
  const compared = page.getByRole("table");
  const inputRow = (text: string) => compared.getByRole("row").filter({ hasText: text });
  await inputRow("Input 1").getByText("Broke").waitFor();
  await inputRow("Input 3").getByText("Fixed").waitFor();
  await inputRow("Input 2").getByText("Same result").waitFor();
  await compared.getByText("1 broke, 1 fixed").waitFor();
  await shoot(page, "compare");
  await assertAccessible(page);
  await page.getByRole("link", { name: "Changed only" }).click();
  await inputRow("Input 2").waitFor({ state: "detached" });
  await eventually(() => assert.match(page.url(), /\/compare\?with=[\da-f-]{36}&change=changed$/));
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await shoot(page, "compare-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });
  const other = page.getByLabel("Compare with");
  await eventually(async () => assert.equal(await other.locator("option").count(), 1));
  await page.goto(page.url().replace(/with=[\da-f-]{36}/, `with=${randomUUID()}`));
  await page.getByRole("heading", { name: "Run not found" }).waitFor();

  await page.goto(path.replace(/tests$/, "runs"));
  await page.getByText("13 test runs").first().waitFor();
  await shoot(page, "many-launches");
  assert.equal((await owner.client.read(`/api/agents/${agentId}/launches`)).items.length, 2);
  assert.deepEqual(complaints, []);
});
