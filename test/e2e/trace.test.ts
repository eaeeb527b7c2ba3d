// One trace in the dashboard: its header, what there is to know about it, its tree, its views, small and huge.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { Agent } from "../../src/model/agent.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalBody, exportedSpan, exportOf, newTraceId } from "../support/bodies.ts";
import {
  assertAccessible,
  assertReflows,
  becomesTrue,
  signIn,
  startTestBrowser,
  type TestBrowser,
  type Window,
} from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { type Sent, send } from "../support/send.ts";

let browser: TestBrowser;
before(async () => {
  browser = await startTestBrowser();
});
after(() => browser.close());

type Fields = Record<string, unknown>;
const wide = { width: 1440, height: 900 };
const begin = 1_763_600_000_000_000_000n;
const nanos = (ms: number) => String(begin + BigInt(ms) * 1_000_000n);

function span(id: string, parent: string | null, ms: [from: number, to: number] | null, more: Fields = {}) {
  return {
    span_id: id,
    parent_span_id: parent,
    name: id,
    ...(ms && { start_time_unix_nano: nanos(ms[0]), end_time_unix_nano: nanos(ms[1]) }),
    ...more,
  };
}

const asks = { "gen_ai.prompt": "Where is my order?", "gen_ai.response.text": "On its way." };
const conversation = [
  span("Support", null, [0, 4_820], { attributes: { ...asks, "http.response.status_code": 200 } }),
  span("plan", "Support", [20, 1_200], {
    attributes: {
      "gen_ai.request.model": "small-model",
      "gen_ai.usage.input_tokens": 812,
      "gen_ai.usage.output_tokens": 64,
    },
  }),
  span("find order", "plan", [100, 900], { attributes: { "gen_ai.tool.name": "find_order" } }),
  span("query", "find order", [200, 400]),
  span("carrier", "Support", [1_300, 3_000], { status: { code: 2, message: "timeout" } }),
  span("answer", "Support", [3_100, 4_800]),
];

async function store(sent: Sent): Promise<string> {
  const answer = await send(browser.service, sent);
  assert.ok(answer.status < 300, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

const storeSpans = (agent: Agent, spans: Fields[], more: Fields = {}, requestId?: string) =>
  store({
    body: canonicalBody(agent.id, { spans, ...more }),
    ...(requestId && { headers: { "x-request-id": requestId } }),
  });

const newAgent = () =>
  makeAgent(browser.service.owner, { name: "Shop", otlpServiceName: crypto.randomUUID() });

const pathOf = (agent: Agent, id: string, query = "") =>
  `/projects/${agent.projectId}/agents/${agent.id}/traces/${id}${query}`;

async function open(options: Parameters<TestBrowser["open"]>[0] = { viewport: wide }): Promise<Window> {
  const window = await browser.open(options);
  await signIn(window.page, browser.service.owner);
  return window;
}

async function judged(id: string): Promise<void> {
  await eventually(async () => {
    const { body } = await browser.service.client.get(`/api/traces/${id}/outline`).expect(200);
    assert.equal(body.run?.state, "completed");
  });
}

const tree = (page: Page) => page.getByRole("tree", { name: "Spans" });
const item = (page: Page, name: string | RegExp): Locator => tree(page).getByRole("treeitem", { name });
const selectedName = (page: Page) =>
  tree(page).locator("[aria-selected=true]").getAttribute("aria-label", { timeout: 15_000 });
const fact = (page: Page, name: string) =>
  page
    .locator(".trace-facts > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .getByRole("definition");
const named = (name: string) => new RegExp(`^${name},`);

test("the header says what the trace is, what it came to, and what can be done with it", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "response_time", max_ms: 10_000 }],
  });
  const id = await storeSpans(agent, conversation, { metadata: { channel: "web" } }, "order-17");
  await storeSpans(agent, conversation, { metadata: { channel: "phone" } }, "order-17");
  await judged(id);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("heading", { level: 1, name: "Support" }).waitFor();
  await becomesTrue(page, "document.title === 'Support · Onlooker'");
  await page.locator("header").getByText("Passed", { exact: true }).waitFor();
  await page.locator("header").getByText("1 passed").waitFor();
  await page.locator("header").getByText("Failed span").waitFor();
  const facts: [string, string | RegExp][] = [
    ["Duration", "4.82 s"],
    ["Tokens", "812 in, 64 out"],
    ["HTTP status", "200"],
    ["Spans", "6"],
    ["Came by", "Canonical"],
    ["Received", /now|ago/],
    ["Revision", "2 (replaced once)"],
    ["Trace id", id],
    ["External id", "order-17"],
  ];
  for (const [name, value] of facts) await fact(page, name).getByText(value).first().waitFor();
  await page.locator("summary").getByText("Metadata").click();
  await page.getByText('"channel": "phone"').waitFor();
  await page.getByRole("button", { name: "Copy trace id" }).waitFor();
  await assertAccessible(page);
  const make = page.getByRole("link", { name: "Make a test from this trace" });
  assert.match((await make.getAttribute("href"))!, new RegExp(`/tests/new\\?trace=${id}$`));
  assert.deepEqual(complaints, []);
});

test("a trace is deleted once its name is typed, and the way leads back to the list", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete trace" });
  await dialog.getByLabel("Type “Support” to go on").fill("Sup");
  await dialog.getByRole("button", { name: "Delete trace" }).click();
  await dialog.getByText("This is another name.").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Type “Support” to go on").fill("Support");
  await dialog.getByRole("button", { name: "Delete trace" }).click();
  await page.waitForURL(`**/agents/${agent.id}/traces`);
  await browser.service.client.get(`/api/traces/${id}`).expect(404);
});

test("every notice says what it means for this trace and what to do", async () => {
  const agent = await newAgent();
  const { page } = await open();
  const cases: [spans: Fields[], said: RegExp][] = [
    [[span("a", null, [0, 9])], /No user input was available/],
    [[span("a", null, [0, 9]), span("b", "gone", [1, 2])], /1 span names a parent that is not in the trace/],
    [[span("a", "gone", [0, 9]), span("b", "gone", [1, 2])], /No span is the root/],
    [[span("a", "b", [0, 9]), span("b", "a", [1, 2])], /Some spans are their own ancestors/],
    [[span("a", null, null)], /No usable times/],
    [[span("a", null, null, { start_time_unix_nano: nanos(0) })], /No end time/],
    [
      [span("a", null, [0, 9], { attributes: { "openinference.span.kind": "LLM", "input.value": "Hi" } })],
      /It speaks another convention/,
    ],
    [[span("a", null, [0, 9])], /It was not evaluated: this agent has no test case/],
  ];
  for (const [spans, said] of cases) {
    await page.goto(pathOf(agent, await storeSpans(agent, spans)));
    await page.getByText(said).waitFor();
    assert.equal(await tree(page).getByRole("treeitem").count(), spans.length);
  }
  await assertAccessible(page);
});

test("why a trace was not evaluated, that routing was unavailable, and that a run broke, is told", async () => {
  const { owner, db } = browser.service;
  const agent = await newAgent();
  await makeTest(owner, agent.id, { name: "Off", status: "disabled" });
  const { page } = await open();
  await page.goto(pathOf(agent, await storeSpans(agent, conversation)));
  await page.getByText("It was not evaluated: 1 test: it is disabled.").waitFor();
  await makeTest(owner, agent.id);
  const relevant = { passiveBehavior: "run_when_relevant", scenario: "A refund is wanted" };
  await makeTest(owner, agent.id, { name: "Refunds", ...relevant });
  const id = await storeSpans(agent, conversation);
  await judged(id);
  await page.goto(pathOf(agent, id));
  await page.getByText("Routing unavailable: no conditional check was evaluated.").waitFor();
  await db.pool.query("update runs set state = 'error', error = 'Its worker died.' where trace_id = $1", [
    id,
  ]);
  await page.reload();
  await page.getByText("The evaluation broke. Its worker died.").waitFor();
});

test("that a test has changed, or the trace itself, since the verdict, is told with the way out", async () => {
  const { owner } = browser.service;
  const agent = await newAgent();
  const made = await makeTest(owner, agent.id, { name: "Quick" });
  const id = await storeSpans(agent, conversation, {}, "same");
  await judged(id);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.locator("header").getByText("1 failed").waitFor();
  assert.equal(await page.getByText("changed since this run").count(), 0);
  await owner.client
    .patch(`/api/tests/${made.id}`, { assertions: [{ type: "response_time", max_ms: 9_000 }] })
    .expect(200);
  await page.reload();
  await page.getByText("A test has changed since this run: “Quick”.").waitFor();
  await storeSpans(agent, [...conversation, span("more", "Support", [4_801, 4_802])], {}, "same");
  await page.getByText("The verdict is of revision 1, the trace is at revision 2 by now.").waitFor();
  await item(page, named("more")).waitFor();
  assert.equal(await page.getByText(/send the conversation with a new x-request-id/).count(), 2);
});

test("spans that arrive while the page is open appear in it, and then the verdict, with the selection kept", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "http_status", expected_status: 200 }],
  });
  const traceId = newTraceId();
  const first = exportedSpan({ traceId, name: "first" });
  const export1 = { body: exportOf([first], agent.otlpServiceName) };
  const id = await store(export1);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByText("More spans may be arriving.").waitFor();
  await page.locator("header").getByText("Pending").waitFor();
  await item(page, named("first")).click();
  await page.waitForURL(/span=/);
  const second = exportedSpan({ traceId, name: "second", parentSpanId: first["spanId"] });
  await store({ body: exportOf([second], agent.otlpServiceName) });
  await item(page, named("second")).waitFor();
  await fact(page, "Revision").getByText("2 (merged once)").waitFor();
  await page.locator("header").getByText("Missing instrumentation").first().waitFor();
  await page.getByText("More spans may be arriving.").waitFor({ state: "detached" });
  assert.match((await selectedName(page))!, /^first,/);
});

test("a trace that is deleted elsewhere says so", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("plan")).waitFor();
  await browser.service.client.delete(`/api/traces/${id}`).expect(204);
  await page.getByRole("heading", { name: "This trace was deleted" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Back to traces" }).click();
  await page.waitForURL(`**/agents/${agent.id}/traces`);
});

test("the tree is walked, folded and unfolded by arrows, and the address follows", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("Support")).waitFor();
  await tree(page).focus();
  const press = async (key: string, name: string) => {
    await page.keyboard.press(key);
    await eventually(async () => assert.match((await selectedName(page))!, named(name)));
  };
  await press("ArrowDown", "Support");
  await press("ArrowDown", "plan");
  await press("ArrowRight", "find order");
  await press("k", "plan");
  await press("j", "find order");
  await page.keyboard.press("ArrowLeft");
  await item(page, named("query")).waitFor({ state: "detached" });
  await press("ArrowLeft", "plan");
  await press("End", "answer");
  await press("Home", "Support");
  await page.waitForURL(/span=Support/);
  await assertAccessible(page);
  await page.goto(pathOf(agent, id, "?span=query"));
  await eventually(async () => assert.match((await selectedName(page))!, /^query,/));
  await page.getByRole("button", { name: "Fold all", exact: true }).click();
  await item(page, named("plan")).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Unfold all" }).click();
  await item(page, named("query")).waitFor();
});

test("[ and ] go through the spans that failed or that a check points to, and ? lists them", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "tool_call", expected_name: "find_order" }],
  });
  const id = await storeSpans(agent, conversation);
  await judged(id);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, /^find order, Tool find_order, Passed: 1 check/).waitFor();
  await item(page, /^carrier, Step, Failed,/).waitFor();
  const press = async (key: string, name: string) => {
    await page.keyboard.press(key);
    await eventually(async () => assert.match((await selectedName(page))!, named(name)));
  };
  await press("]", "find order");
  await press("]", "carrier");
  await press("[", "find order");
  await press("[", "carrier");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Next span that failed or that a check points to").waitFor();
  await help.getByText("Search the spans").waitFor();
  await help.getByText("View the raw JSON").waitFor();
});

test("a search shows what it finds with what that hangs from, and lives in the address", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("answer")).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("FIND_order");
  await item(page, named("answer")).waitFor({ state: "detached" });
  assert.equal(await tree(page).getByRole("treeitem").count(), 3);
  await page.getByText("1 of 6").waitFor();
  await page.waitForURL(/find=FIND_order/);
  await page.reload();
  await page.getByText("1 of 6").waitFor();
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText("No span’s name or id holds “nothing like it”.").waitFor();
  await assertAccessible(page);
  await page.getByRole("searchbox").press("Escape");
  await item(page, named("answer")).waitFor();
});

test("a chosen span and view are steps that Back takes back; a link leads to its span", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("plan")).click();
  await page.waitForURL(/span=plan/);
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await item(page, named("answer")).click();
  await page.waitForURL(/span=answer/);
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Raw JSON" }).click();
  await page.getByRole("region", { name: "Raw JSON" }).waitFor();
  await page.goBack();
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  assert.match((await selectedName(page))!, /^answer,/);
  await page.goBack();
  await eventually(async () => assert.match((await selectedName(page))!, /^plan,/));
  await page.goBack();
  await page.getByRole("region", { name: "Conversation" }).waitFor();
  assert.equal(await tree(page).locator("[aria-selected=true]").count(), 0);
  await page.goto(pathOf(agent, id, "?span=nobody"));
  await page.getByRole("heading", { name: "This span is not in the trace" }).waitFor();
});

test("the raw JSON of a small trace is shown and its file holds every span", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id, "?view=raw"));
  await page.getByText('"span_id": "find order"').waitFor();
  await assertAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `trace-${id}.json`);
  const file = JSON.parse(await readFile(await download.path(), "utf8"));
  assert.deepEqual(
    file.spans.map((one: { name: string }) => one.name),
    conversation.map(({ name }) => name),
  );
});

test("10,000 spans are there with few elements, walked to their end and searched", async () => {
  const agent = await newAgent();
  const spans = Array.from({ length: 10_000 }, (_, at) =>
    span(`step ${at}`, at === 0 ? null : `step ${Math.floor((at - 1) / 8)}`, [at, at + 500]),
  );
  const id = await storeSpans(agent, spans);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("step 0")).waitFor();
  await tree(page).focus();
  await page.keyboard.press("End");
  await eventually(async () => assert.match((await selectedName(page))!, /^step \d+,/));
  const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
  assert.ok(elements < 1_500, `${elements}`);
  await page.goto(pathOf(agent, id, "?span=step+9999"));
  await eventually(async () => assert.match((await selectedName(page))!, /^step 9999,/));
  await page.getByRole("searchbox").fill("step 9998");
  await page.getByText("1 of 10,000").waitFor();
  await page.goto(pathOf(agent, id, "?view=raw"));
  await page.getByText("It is too long to be shown at once").waitFor();
  assert.deepEqual(complaints, []);
});

test("5,000 levels overflow nothing, and the text stays in sight", async () => {
  const agent = await newAgent();
  const spans = Array.from({ length: 5_000 }, (_, at) =>
    span(`level ${at}`, at === 0 ? null : `level ${at - 1}`, [at, 10_000 - at]),
  );
  const id = await storeSpans(agent, spans);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id, "?span=level+4999"));
  const deepest = item(page, named("level 4999"));
  await deepest.waitFor();
  assert.equal(await deepest.getAttribute("aria-level"), "5000");
  const box = (await deepest.locator(".tree-text").boundingBox())!;
  assert.ok(box.width > 30, `${box.width}`);
  await page.getByRole("button", { name: "Fold all", exact: true }).click();
  await item(page, named("level 1")).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("a trace of 30 MB opens, shows its spans, and offers the file instead of all its text", async () => {
  const agent = await newAgent();
  const attributes = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`part.${at}`, "w".repeat(3_000_000)]),
  );
  const id = await storeSpans(agent, [
    span("heavy", null, [0, 100], { attributes }),
    span("light", "heavy", [1, 2]),
  ]);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("light")).click();
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Raw JSON" }).click();
  await page.getByText("It is too long to be shown at once").waitFor();
  await page.getByRole("link", { name: "Download" }).waitFor();
});

test("hostile names are shown as text, and what is not told has a word", async () => {
  const agent = await newAgent();
  const hostile = '<img src=x onerror="document.title=1">\u202e\u0000\n';
  const id = await storeSpans(agent, [
    span("root", null, null, { name: hostile }),
    span("../..", "root", null, { name: "x".repeat(5_000) }),
    span("a?b#c&d=é", "root", null, { name: "[]()" }),
  ]);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("heading", { level: 1 }).getByText("<img src=x").waitFor();
  await item(page, /^\[\]\(\),/).click();
  await page.waitForURL(/span=/);
  await page.reload();
  await eventually(async () => assert.match((await selectedName(page))!, /^\[\]\(\), Step, no duration$/));
  await fact(page, "Duration").getByText("not told").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByLabel("Type “delete” to go on").waitFor();
  await page.keyboard.press("Escape");
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("two panes, one, and 320 pixels hold every view", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id);
  const id = await storeSpans(agent, conversation, { metadata: { note: "n".repeat(200) } });
  await judged(id);
  const { page, complaints } = await open({ viewport: { width: 1000, height: 800 } });
  const views = page.getByRole("navigation", { name: "Views" });
  await page.goto(pathOf(agent, id, "?span=plan"));
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await tree(page).waitFor();
  await views.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("region", { name: "Conversation" }).waitFor();
  await page.getByRole("region", { name: "Evaluation" }).waitFor();
  await views.getByRole("link", { name: "Evaluation" }).click();
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.getByRole("region", { name: "Span", exact: true }).waitFor({ state: "detached" });
  for (const view of ["Conversation", "Spans", "Evaluation", "Raw JSON"]) {
    await views.getByRole("link", { name: view }).click();
    await page.getByRole("region", { name: view === "Spans" ? "Tree" : view }).waitFor();
    await assertReflows(page);
    await assertAccessible(page);
  }
  assert.deepEqual(complaints, []);
});
