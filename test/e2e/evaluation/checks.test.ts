// The evaluation of a trace: every state, and every type of check with what it expected, found and looked at.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest, type Owner } from "../../support/app.ts";
import { exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import {
  assertReflows,
  becomesTrue,
  framesPass,
  type TestBrowser,
  useBrowser,
} from "../../support/browser.ts";
import { asked, conversation, failing, holding } from "../../support/conversation.ts";
import { eventually } from "../../support/eventually.ts";
import { type JudgeServer, obliging, type Reply, startJudgeServer } from "../../support/judge-server.ts";
import { send, traceIdOf } from "../../support/send.ts";

let judge: JudgeServer;
after(() => judge.close());
// The debounce is longer than any of these tests: a pending run stays pending until a test makes it due.
const browser = useBrowser(async () => {
  judge = await startJudgeServer();
  return {
    config: { judge: judge.connection({ concurrency: 8 }), debounceMs: 500_000, debounceCapMs: 900_000 },
  };
});
const judgeless = useBrowser();
beforeEach(() => {
  judge.script = obliging();
});

/** An account of its own, signed in, with one agent and a key. */
type Place = {
  browser: TestBrowser;
  page: Page;
  owner: Owner;
  agent: Agent;
  key: string;
  complaints: string[];
};

async function newPlace(on: TestBrowser = browser, otlpServiceName?: string): Promise<Place> {
  const owner = await on.service.signUp();
  const agent = await makeAgent(owner, otlpServiceName === undefined ? {} : { otlpServiceName });
  const { key } = await makeKey(owner);
  const { page, context, complaints } = await on.openAs(owner, { viewport: { width: 1440, height: 900 } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: on.origin });
  return { browser: on, page, owner, agent, key, complaints };
}

/** Sends spans. Returns the trace's id. */
async function post(
  { browser: { service }, agent, key }: Place,
  spans: unknown[] = conversation(),
): Promise<string> {
  return traceIdOf(await send({ url: service.url, key }, { body: { platformId: agent.id, spans } }));
}

/** The trace once its latest run is in this state. */
async function settled({ owner }: Place, traceId: string, state = "completed"): Promise<void> {
  await eventually(async () => {
    const body = await owner.client.read(`/api/traces/${traceId}`);
    assert.equal(body.runs[0]?.state, state);
  });
}

async function open({ page, owner, agent }: Place, traceId: string): Promise<Locator> {
  // The view is in the URL because it is a tab at some widths.
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}/traces/${traceId}?view=evaluation`);
  const region = page.getByRole("region", { name: "Tests and checks" });
  await region.waitFor();
  return region;
}

/** Sends a trace and opens its evaluation once it is evaluated. */
async function judged(place: Place, spans?: unknown[]): Promise<{ region: Locator; traceId: string }> {
  const traceId = await post(place, spans);
  await settled(place, traceId);
  return { region: await open(place, traceId), traceId };
}

/** Within this list item of the test or check. */
function checkOf(region: Locator, type: string, having: string): Locator {
  return region
    .getByRole("listitem")
    .filter({ has: region.page().getByRole("heading", { level: 4, name: type }) })
    .filter({ hasText: having })
    .last();
}

async function shows(place: Locator, ...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await place.getByText(text).first().waitFor();
}

const selectedOf = (page: Page) => {
  const { searchParams } = new URL(page.url());
  return [searchParams.get("span"), searchParams.get("attribute")];
};

test("a passed test shows what was expected and found, for every type of check", async () => {
  const place = await newPlace();
  await makeTest(place.owner, place.agent.id, { name: "Answers well", assertions: holding });
  const { region } = await judged(place);
  await shows(region, "1 of 1 test passed", /^7 of 7 checks passed · Always run/);
  await region.getByText("About this evaluation").click();
  await shows(region, /evaluated (just now|1 minute ago) in [\d.]+ m?s/);
  await region.getByRole("button", { name: "Expand all" }).click();
  await shows(checkOf(region, "HTTP status", "2xx"), "HTTP status must be 2xx.", "It was 200.");
  await shows(checkOf(region, "Response time", "5 s"), "It took 2.4 s, 48% of the limit.");
  await shows(
    checkOf(region, "Token limit", "2,000"),
    /^The trace used 955 tokens in total \(48% of the limit\)/,
  );
  await shows(checkOf(region, "Node call", "classify"), "Such a step ran once.", "classify request");
  const call = checkOf(region, "Tool call", "refund_order");
  await shows(call, "Refunds the order the customer named.", "It was called once.");
  const amount = call.getByRole("row").filter({ hasText: "amount" });
  await shows(amount, "≤ 50", "42.5", "Equal");
  const regex = checkOf(region, "Response regex", "refund of");
  await eventually(async () =>
    assert.equal(await regex.locator("mark").textContent(), "refund of 42.50 EUR"),
  );
  await shows(checkOf(region, "JSON match", "workflow.output"), "Found in “classify request”.");
  await place.page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(place.page);
  assert.deepEqual(place.complaints, []);
});

test("a failed test shows the difference, and each check links to the span it looked at", async () => {
  const place = await newPlace();
  const { page } = place;
  await makeTest(place.owner, place.agent.id, { name: "Refunds in dollars", assertions: failing });
  const { region } = await judged(place);
  await shows(region, "0 of 1 test passed");
  await shows(checkOf(region, "HTTP status", "400"), "HTTP status must be one of 400, 404.", "It was 200.");
  await shows(checkOf(region, "Response time", "1.5 s"), "It took 2.4 s, 900 ms over the limit.");
  await shows(checkOf(region, "Token limit", "500"), /\(455 over the limit\) and .*\(43 over the limit\)/);
  await shows(checkOf(region, "Node call", "clasify"), "No such step ran.", "Similar names", "Looked at");
  const call = checkOf(region, "Tool call", "called: refund_order");
  await shows(call.getByRole("row").filter({ hasText: "currency" }), '"USD"', '"EUR"', "Different");
  await shows(call.getByRole("row").filter({ hasText: "reason" }), "present", "nothing", "Missing");
  await shows(call.getByRole("row").filter({ hasText: "order_id" }), "Equal");
  await shows(
    checkOf(region, "Tool call", "called: refundOrder"),
    "Similar names",
    "Tools called",
    "get_order",
  );
  const negated = checkOf(region, "Response regex", "must not match refund");
  await shows(negated, "The reply must not match refund, ignoring case.", "Found in the reply:");
  await shows(checkOf(region, "Response regex", "sorry"), /^Your refund of 42\.50 EUR/);
  const schema = checkOf(region, "JSON schema", "workflow.output");
  await shows(schema.getByRole("list", { name: "Errors" }), "priority", /Must be at most 5\./, /language/);
  await shows(checkOf(region, "JSON match", "escalate"), "Spans searched");
  await assertAccessible(page);

  const chip = call.getByRole("button", { name: "refund · gen_ai.tool.call.arguments" });
  await eventually(async () => assert.equal(await chip.getAttribute("aria-pressed"), "false"));
  await chip.click();
  await call.getByRole("button", { name: "refund · gen_ai.tool.call.arguments", pressed: true }).waitFor();
  await eventually(() => assert.deepEqual(selectedOf(page), ["refund", "gen_ai.tool.call.arguments"]));
  await checkOf(region, "Response time", "1.5 s").getByRole("button", { name: "shop conversation" }).click();
  await eventually(() => assert.deepEqual(selectedOf(page), ["root", null]));
  await page.goBack();
  await call.getByRole("button", { name: "refund · gen_ai.tool.call.arguments", pressed: true }).waitFor();

  const waiting = checkOf(region, "Response regex", "Depends on");
  await waiting.getByRole("link", { name: "Tool call “refund”" }).click();
  await becomesTrue(page, "document.activeElement.textContent.includes('Tool call')");
  await eventually(() => assert.equal(new URL(page.url()).searchParams.get("check"), "refund"));

  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  assert.deepEqual(place.complaints, []);
});

test("a call without arguments is shown as such, and a value with a list “searched” as a value", async () => {
  const place = await newPlace();
  const root = { span_id: "1", name: "chat" };
  const order = { searched: ["a shop"], faults: ["scratched"] };
  const spans = [
    { ...root, attributes: { order } },
    { span_id: "2", parent_span_id: "1", name: "call refund", attributes: { "gen_ai.tool.name": "refund" } },
  ];
  const field = { target_node: "chat", field: "order" };
  await makeTest(place.owner, place.agent.id, {
    assertions: [
      { type: "tool_call", expected_name: "refund", expected_arguments: { amount: 5 } },
      { type: "json_match", ...field, expected_value: 1 },
      { type: "json_schema", ...field, schema: { type: "object" } },
    ],
  });
  const { region } = await judged(place, spans);
  await region.getByRole("button", { name: "Expand all" }).click();
  const call = checkOf(region, "Tool call", "refund");
  await shows(call.getByRole("row").filter({ hasText: "amount" }), "no arguments recorded", "Missing");
  await shows(checkOf(region, "JSON match", "order"), "In “chat” it is", /scratched/);
  await shows(checkOf(region, "JSON schema", "order"), "A value matches.", /scratched/);
  assert.equal(await region.getByText("Spans searched").count(), 0);
  assert.equal(await region.getByRole("list", { name: "Errors" }).count(), 0);
  await assertAccessible(place.page);
  assert.deepEqual(place.complaints, []);
});

test("failures come first, and n and p move between failed checks", async () => {
  const place = await newPlace();
  const { page, owner, agent } = place;
  await makeTest(owner, agent.id, { name: "Passes", assertions: holding });
  await makeTest(owner, agent.id, {
    name: "Misses",
    assertions: [{ type: "token_limit", max_reasoning: 1 }],
  });
  const { id: failsId } = await makeTest(owner, agent.id, {
    name: "Fails",
    assertions: [
      { id: "fine", type: "http_status", expected_status: 200 },
      { id: "slow", type: "response_time", max_ms: 1 },
      { id: "dear", type: "token_limit", max_total: 1 },
    ],
  });
  await makeTest(owner, agent.id, { name: "Is off", status: "disabled" });
  await makeTest(owner, agent.id, { name: "By hand", passiveBehavior: "manual_only" });
  await makeTest(owner, agent.id, { name: "Many turns", turns: [{ input: "a" }, { input: "b" }] });
  const { region } = await judged(place);
  const names = region.getByRole("list", { name: "Tests that ran" }).getByRole("heading", { level: 3 });
  await eventually(async () =>
    assert.deepEqual(await names.allTextContents(), ["Fails", "Misses", "Passes"]),
  );
  await shows(region, "1 of 2 tests passed, 1 missing instrumentation");
  const others = region.getByRole("region", { name: "did not run" });
  await shows(
    others,
    "3 tests did not run",
    "It is disabled.",
    "It is limited to manual runs.",
    /does not have exactly one turn/,
  );

  const checks = region.getByRole("list", { name: "Checks of Fails" });
  const headings = () => checks.getByRole("heading", { level: 4 }).allTextContents();
  await eventually(async () =>
    assert.deepEqual(await headings(), ["FailedResponse time", "FailedToken limit", "PassedHTTP status"]),
  );
  // What failed comes first: rule, finding and evidence are above the fold.
  const first = checks.getByRole("listitem").first();
  for (const text of ["Must take at most 1 ms.", /^It took 2\.4 s/, "shop conversation"]) {
    const box = (await first.getByText(text).first().boundingBox())!;
    assert.ok(box.y + box.height < 900, `${text} is at ${box.y}`);
  }
  const focused = (text: string) =>
    becomesTrue(page, `document.activeElement.textContent === ${JSON.stringify(text)}`);
  await page.keyboard.press("n");
  await focused("FailedResponse time");
  await page.keyboard.press("n");
  await focused("FailedToken limit");
  await page.keyboard.press("n");
  await focused("FailedResponse time");
  await page.keyboard.press("p");
  await focused("FailedToken limit");
  await eventually(() => assert.equal(new URL(page.url()).searchParams.get("test"), failsId));

  // As if the user moved on at once: the focus does not come back.
  const before = page.url();
  await page.evaluate(
    `addEventListener("focusin", () => document.querySelector("#main").focus(), { once: true })`,
  );
  await page.keyboard.press("n");
  await eventually(() => assert.notEqual(page.url(), before));
  await framesPass(page);
  await becomesTrue(page, "document.activeElement.id === 'main'");
  await page.keyboard.press("p");
  await focused("FailedToken limit");

  await region.getByRole("button", { name: "Collapse all" }).click();
  await checks.waitFor({ state: "detached" });
  await region.getByRole("button", { name: "Next failed check" }).click();
  await focused("FailedResponse time");
  await region.getByRole("button", { name: "Hide passed" }).click();
  await region.getByText("1 passed check hidden.").waitFor();
  await eventually(async () =>
    assert.deepEqual(await headings(), ["FailedResponse time", "FailedToken limit"]),
  );
  await eventually(async () => assert.equal(await region.getByRole("link", { name: "Passes" }).count(), 0));
  await page.reload();
  await region.getByText("1 passed check hidden.").waitFor();
});

test("the test in the URL is expanded, and its name links to its page", async () => {
  const place = await newPlace();
  const { page, owner, agent } = place;
  const { id } = await makeTest(owner, agent.id, { name: "Answers well", assertions: holding });
  await makeTest(owner, agent.id, { name: "Answers quickly" });
  const { region } = await judged(place);
  await eventually(async () =>
    assert.equal(await region.getByRole("list", { name: "Checks of Answers well" }).count(), 0),
  );
  await page.goto(`${page.url()}&test=${id}`);
  await region.getByRole("list", { name: "Checks of Answers well" }).waitFor();
  await region.getByRole("button", { name: "Checks of “Answers well”", expanded: true }).click();
  await region.getByRole("list", { name: "Checks of Answers well" }).waitFor({ state: "detached" });
  const link = region.getByRole("link", { name: "Answers well" });
  await eventually(async () =>
    assert.equal(
      await link.getAttribute("href"),
      `/projects/${owner.projectId}/agents/${agent.id}/tests/${id}`,
    ),
  );
});

test("a semantic check shows the score, its threshold and the judge's reason", async () => {
  judge.script = obliging({ verdict: criterion => (criterion.includes("warm") ? "met" : "not_met") });
  const place = await newPlace();
  await makeTest(place.owner, place.agent.id, {
    name: "Sounds right",
    assertions: [
      { id: "warm", type: "semantic", criteria: "The reply is warm." },
      { id: "sorry", type: "semantic", criteria: "The reply apologises.", threshold: 0.8 },
      { id: "odd", type: "semantic", criteria: "Anything.", threshold: 7 },
    ],
  });
  const { region } = await judged(place);
  await region.getByRole("button", { name: "Expand all" }).click();
  const warm = checkOf(region, "Semantic", "The reply is warm.");
  await shows(
    warm,
    "The judge must score the reply at least 0.7.",
    "The score is 1 of 1.",
    "As scripted.",
    "local-model",
    "161 in, 23 out",
  );
  await shows(checkOf(region, "Semantic", "apologises"), /at least 0\.8\./, "The score is 0 of 1.");
  await shows(
    checkOf(region, "Semantic", "Anything."),
    /threshold is not a number from 0 to 1/,
    /Set the threshold/,
  );
});

test("a scenario that did not match shows the input it was matched with", async () => {
  judge.script = obliging({ label: scenario => (scenario.includes("parcel") ? "no_match" : "match") });
  const place = await newPlace();
  const conditional = { passiveBehavior: "run_when_relevant" };
  await makeTest(place.owner, place.agent.id, {
    name: "Parcels",
    scenario: "Where is a parcel?",
    ...conditional,
  });
  await makeTest(place.owner, place.agent.id, { name: "Refunds", scenario: "A refund.", ...conditional });
  const { region } = await judged(place);
  await region.getByRole("button", { name: "Expand all" }).click();
  const parcels = region.getByRole("listitem").filter({ hasText: "Parcels" });
  await shows(
    parcels,
    "Skipped",
    /The user’s input does not match the scenario/,
    "as scripted",
    "Where is a parcel?",
    asked,
  );
  const refunds = region.getByRole("listitem").filter({ hasText: "A refund." });
  await shows(refunds.last(), /The user’s input matches the scenario/, asked);
  await region.getByText("About this evaluation").click();
  await shows(region, /^Scenarios matched:/);
});

test("without user input the conditional tests are listed with the reason that they did not run", async () => {
  const place = await newPlace();
  const scenario = { passiveBehavior: "run_when_relevant", scenario: "A refund." };
  await makeTest(place.owner, place.agent.id, { name: "Refunds", ...scenario });
  await makeTest(place.owner, place.agent.id);
  const { region } = await judged(place, [{ span_id: "root", name: "shop conversation" }]);
  await region.getByText("About this evaluation").click();
  await shows(region, "No user input", "1 test did not run", /has no user input/, "none in this trace");
});

test("missing instrumentation names the attribute, where it was looked for, and the lines that add it", async () => {
  const place = await newPlace();
  const { page } = place;
  await makeTest(place.owner, place.agent.id, {
    name: "Is instrumented",
    assertions: [
      { id: "tokens", type: "token_limit", max_input: 10, max_reasoning: 10 },
      { id: "status", type: "http_status", expected_status: 200 },
      { id: "time", type: "response_time", max_ms: 10 },
      { id: "step", type: "node_call", expected_name: "classify" },
      { id: "says", type: "response_regex", pattern: "x" },
    ],
  });
  const { region } = await judged(place, [{ span_id: "root", name: "shop conversation" }]);
  await shows(region, "1 missing instrumentation");
  const tokens = checkOf(region, "Token limit", "max");
  const limit = checkOf(region, "Token limit", "reasoning");
  await eventually(async () => assert.equal(await tokens.count(), 0));
  await shows(limit, "On the root span, then on every other span of the trace.");
  await limit
    .getByRole("button", { name: "shop conversation · gen_ai.usage.input_tokens missing" })
    .waitFor();
  await limit.getByRole("button", { name: "Python" }).click();
  await shows(limit, /span\.set_attribute\("gen_ai\.usage\.input_tokens", usage\.prompt_tokens\)/);
  await limit.getByRole("button", { name: "JavaScript" }).click();
  await limit.getByRole("button", { name: "Copy", exact: true }).click();
  await limit.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  assert.match(
    copied,
    /span\?\.setAttribute\("gen_ai\.usage\.reasoning\.output_tokens", usage\.reasoning_tokens\);$/,
  );
  await shows(checkOf(region, "HTTP status", "200"), /"http.response.status_code": 200/);
  await shows(checkOf(region, "Response time", "10 ms"), /end_time_unix_nano/);
  await shows(checkOf(region, "Node call", "classify"), /the trace has only its root/);
  await shows(checkOf(region, "Response regex", "must match"), /"gen_ai.response.text"/);
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
});

test("without a judge semantic checks are skipped and routing is unavailable, and the page says how to add a judge", async () => {
  const place = await newPlace(judgeless);
  await makeTest(place.owner, place.agent.id, {
    name: "Sounds right",
    assertions: [
      { type: "semantic", criteria: "The reply is warm." },
      { type: "http_status", expected_status: 200 },
    ],
  });
  const scenario = { passiveBehavior: "run_when_relevant", scenario: "A refund." };
  await makeTest(place.owner, place.agent.id, { name: "Refunds", ...scenario });
  const { region } = await judged(place);
  await region.getByText("About this evaluation").click();
  await shows(region, "Routing unavailable", "1 of 1 test passed", /Skipped checks/);
  await region.getByRole("button", { name: "Expand all" }).click();
  await shows(
    checkOf(region, "Semantic", "warm"),
    /No judge is configured/,
    "Set up a judge",
    "The reply is warm.",
  );
  const others = region.getByRole("region", { name: "did not run" });
  await shows(others, "Refunds", /routing was unavailable/, "A refund.", asked);
});

test("a test that is newer than the evaluation says so", async () => {
  const place = await newPlace();
  await makeTest(place.owner, place.agent.id, { name: "Early", assertions: holding });
  const { region } = await judged(place);
  await makeTest(place.owner, place.agent.id, { name: "Late", assertions: holding });
  await place.page.reload();
  const others = region.getByRole("region", { name: "1 test did not run" });
  await shows(others, "Late", "It was created or changed after this evaluation.");
});

test("a pending evaluation counts down, and its verdict is announced when it arrives", async () => {
  const service = `pending-${newTraceId()}`;
  const place = await newPlace(browser, service);
  const { page } = place;
  await makeTest(place.owner, place.agent.id, {
    name: "Answers quickly",
    assertions: [{ type: "response_time", max_ms: 1 }],
  });
  const traceId = await exported(place, service, newTraceId());
  const region = await open(place, traceId);
  await shows(
    region,
    "Pending",
    /The evaluation starts in \d+ min\./,
    /waits for more spans/,
    "The evaluation is pending.",
  );
  await assertAccessible(page);
  await dueNow(place, traceId);
  await eventually(async () => {
    const said = await region.getByRole("status").allTextContents();
    assert.match(said.join(" "), /Evaluated: Failed\. Tests: 1 failed\./);
  });
  await shows(region, "0 of 1 test passed");
});

test("a run is shown as running while the judge is asked", async () => {
  let answer: (reply: Reply) => void = () => {};
  judge.script = () => new Promise(resolve => (answer = resolve));
  const place = await newPlace();
  await makeTest(place.owner, place.agent.id, {
    assertions: [{ type: "semantic", criteria: "It is warm." }],
  });
  const before = judge.requests.length;
  const traceId = await post(place);
  await judge.arrived(before + 1);
  const region = await open(place, traceId);
  await shows(region, "Running", /Evaluating this trace since/);
  const request = judge.requests.at(-1)!;
  judge.script = obliging();
  answer(await judge.script(request, 0));
  await shows(region, "1 of 1 test passed");
});

test("a run whose workers crashed is an error, with its reason and what to do", async () => {
  const service = `error-${newTraceId()}`;
  const place = await newPlace(browser, service);
  await makeTest(place.owner, place.agent.id);
  const traceId = await exported(place, service, newTraceId());
  await place.browser.service.db.pool.query(
    `update queue set state = 'running', attempts = 3, started_at = now(), lease_until = now() - interval '1 s'
      where trace_id = $1`,
    [traceId],
  );
  await settled(place, traceId, "error");
  const region = await open(place, traceId);
  await shows(region, "Error", "The worker crashed 3 times while evaluating this run.");
  await region.getByRole("button", { name: "Copy run ID" }).waitFor();
  await region.getByRole("button", { name: "Re-evaluate" }).waitFor();
});

test("a trace that was not evaluated says why, and what to do", async () => {
  const place = await newPlace();
  const { page, owner, agent } = place;
  const traceId = await post(place);
  const region = await open(place, traceId);
  await shows(region, "Not evaluated", "The agent has no test cases, so the trace was not evaluated.");
  const write = region.getByRole("link", { name: "Create a test case from this trace" });
  const tests = `/projects/${owner.projectId}/agents/${agent.id}/tests`;
  await eventually(async () =>
    assert.equal(await write.getAttribute("href"), `${tests}/new?trace=${traceId}`),
  );
  await makeTest(owner, agent.id, { name: "Is off", status: "disabled" });
  await page.reload();
  await shows(region, /Of the agent’s test cases, 1 is disabled\./);
  await eventually(async () =>
    assert.equal(
      await region.getByRole("link", { name: "Activate a test case" }).getAttribute("href"),
      tests,
    ),
  );
  await makeTest(owner, agent.id, { name: "Is on" });
  await page.reload();
  await shows(region, "One does now.");
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  await region.getByRole("button", { name: "Check this trace" }).click();
  await region.getByText("Re-evaluated on request").waitFor({ state: "attached" });
});

test("a test that changed or was deleted since the run is shown as it was evaluated", async () => {
  const place = await newPlace();
  const { page, owner, agent } = place;
  const changed = await makeTest(owner, agent.id, {
    name: "Changes",
    assertions: [{ type: "response_time", max_ms: 1 }],
  });
  const gone = await makeTest(owner, agent.id, {
    name: "Goes",
    assertions: [{ type: "response_time", max_ms: 2 }],
  });
  await makeTest(owner, agent.id, { name: "Stays", assertions: [{ type: "response_time", max_ms: 3 }] });
  const traceId = await post(place);
  await settled(place, traceId);
  await owner.client.patch(`/api/tests/${changed.id}`, { threshold: 0.9, scenario: "New." }).expect(200);
  await owner.client.delete(`/api/tests/${gone.id}`).expect(204);
  const region = await open(place, traceId);
  await shows(
    region,
    /The test changed since this run: its scenario, its threshold\./,
    "The test was deleted since this run.",
  );
  await eventually(async () =>
    assert.equal(
      await region.getByText("changed since", { exact: false }).filter({ hasText: "Stays" }).count(),
      0,
    ),
  );
  await eventually(async () => assert.equal(await region.getByRole("link", { name: "Goes" }).count(), 0));
  await region.getByRole("button", { name: "Show the test as it was" }).first().click();
  const dialog = page.getByRole("dialog");
  await shows(dialog, /"max_ms": [12]/);
  await assertAccessible(page);
});

test("a menu switches between several runs, and tests stay collapsed when another verdict arrives", async () => {
  const service = `runs-${newTraceId()}`;
  const place = await newPlace(browser, service);
  const { page } = place;
  await makeTest(place.owner, place.agent.id, {
    name: "Has steps",
    assertions: [{ type: "node_call", expected_name: "second" }],
  });
  const id = newTraceId();
  const traceId = await exported(place, service, id, "first");
  await dueNow(place, traceId);
  await settled(place, traceId);
  const region = await open(place, traceId);
  const fold = region.getByRole("button", { name: "Checks of “Has steps”" });
  await fold.click();
  await region.getByRole("button", { name: "Checks of “Has steps”", expanded: false }).waitFor();
  await exported(place, service, id, "second");
  await shows(
    region,
    /There is another run: pending\./,
    /revision 1 was evaluated, it is now at revision\s+2/,
  );
  await dueNow(place, traceId);
  await shows(region, "1 of 1 test passed");
  await region.getByRole("button", { name: "Checks of “Has steps”", expanded: false }).waitFor();
  await region.getByRole("button", { name: /^Run of/ }).click();
  await page.getByRole("menuitemradio", { name: /revision 1 · / }).click();
  await shows(region, /There is a later run: completed\./);
  await shows(region, "0 of 1 test passed");
  await eventually(() => assert.notEqual(new URL(page.url()).searchParams.get("run"), null));
});

test("hostile texts are shown as plain text", async () => {
  const place = await newPlace();
  const { page } = place;
  const evil = `<img src=x onerror="document.title='owned'"> \u202e ${"W".repeat(300)} [a](javascript:alert(1)) 😀`;
  await makeTest(place.owner, place.agent.id, {
    name: `Test ${evil}`.slice(0, 200),
    assertions: [
      {
        id: `a b "${evil}`.slice(0, 100),
        type: "response_regex",
        pattern: "nothing like it",
        description: evil,
      },
      { id: "b", type: "tool_call", expected_name: evil, expected_arguments: { [evil]: evil } },
      { id: "c", type: "json_match", target_node: "step", field: "k", expected_value: { [evil]: [evil] } },
      {
        id: "d",
        type: "tool_call",
        expected_name: "tool",
        expected_arguments: { [evil]: evil, list: [1, { a: 2 }] },
      },
    ],
  });
  const { region } = await judged(place, [
    { span_id: "root", name: evil, attributes: { "gen_ai.response.text": evil } },
    { span_id: evil, parent_span_id: "root", name: `step ${evil}`, attributes: { k: evil } },
    {
      span_id: "t",
      parent_span_id: "root",
      name: evil,
      attributes: { "gen_ai.tool.name": "tool", "gen_ai.tool.call.arguments": evil },
    },
  ]);
  await region.getByRole("button", { name: "Expand all" }).click();
  await shows(region, /<img src=x onerror=/);
  await eventually(async () => assert.equal(await page.locator("main img").count(), 0));
  await region
    .getByRole("button", { name: /^step <img/ })
    .first()
    .click();
  await eventually(() => assert.deepEqual(selectedOf(page), [evil, "k"]));
  await region.getByRole("button", { name: "Next failed check" }).click();
  await becomesTrue(page, "document.activeElement.textContent.startsWith('Failed')");
  await eventually(async () => assert.notEqual(await page.title(), "owned"));
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  assert.deepEqual(place.complaints, []);
});

/** Exports one more span of the trace. Returns the trace's id. */
async function exported(place: Place, service: string, traceId: string, name = "answer"): Promise<string> {
  const to = { url: place.browser.service.url, key: place.key };
  const span = exportedSpan({
    traceId,
    name,
    startTimeUnixNano: "1000000000",
    endTimeUnixNano: "1900000000",
  });
  const root = exportedSpan({ traceId, name: "root", spanId: "00000000000000aa" });
  const { headers } = await send(to, { body: exportOf([root, span], service) });
  return String(headers["x-svc-trace-id"]);
}

/** Makes the pending run due immediately; the worker finds it when it looks next. */
async function dueNow({ browser: { service } }: Place, traceId: string): Promise<void> {
  await service.db.pool.query("update queue set due_at = now() where trace_id = $1 and state = 'pending'", [
    traceId,
  ]);
}
