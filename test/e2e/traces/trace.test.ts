// The page of a trace: header, notices, views, live updates, small and huge traces.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  conversation,
  item,
  named,
  nanos,
  openTracePages,
  pathOf,
  selects,
  span,
  tree,
} from "../../support/trace-page.ts";

const browser = useBrowser();

const { store, storeSpans, newAgent, open, judged } = openTracePages(browser);

const fact = (page: Page, name: string) =>
  page
    .locator(".trace-facts > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .getByRole("definition");

type Fields = Record<string, unknown>;

test("one line has verdict, the user's words, duration, tokens and time, and Details has everything else", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "response_time", max_ms: 10_000 }],
  });
  const id = await storeSpans(agent, conversation, { metadata: { channel: "web" } }, "order-17");
  await storeSpans(agent, conversation, { metadata: { channel: "phone" } }, "order-17");
  await judged(id);
  const { page, context, complaints } = await open();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await page.goto(pathOf(agent, id));
  const title = page.getByRole("heading", { level: 1, name: "Where is my order?" });
  await title.waitFor();
  await becomesTrue(page, `document.title === 'Support · ${agent.name} · Onlooker'`);
  const header = page.locator(".trace-top");
  for (const text of ["Passed", "Failed span", "4.82 s", "876 tokens", /now|ago/]) {
    await header.getByText(text).first().waitFor();
  }
  await eventually(async () => assert.ok((await header.boundingBox())!.height < 40, "one line"));
  await header.getByRole("button", { name: "Details", expanded: false }).click();
  const facts: [string, string][] = [
    ["Root span", "Support"],
    ["Tokens", "812 in, 64 out"],
    ["Cost", "unknown cost"],
    ["HTTP status", "200"],
    ["Spans", "6"],
    ["Path", "Canonical"],
    ["Revision", "2 (replaced once)"],
    ["Trace ID", id],
    ["External ID", "order-17"],
  ];
  for (const [name, value] of facts) await fact(page, name).getByText(value).first().waitFor();
  await page.getByText("No price for small-model. Add one under Project settings, Prices.").waitFor();
  await page.getByText('"channel": "phone"').waitFor();
  await page.getByRole("button", { name: "Copy trace id" }).waitFor();
  const make = page.getByRole("link", { name: "Create test from this trace" });
  await eventually(async () =>
    assert.match((await make.getAttribute("href"))!, new RegExp(`/tests/new\\?trace=${id}$`)),
  );
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await page.getByRole("button", { name: "Copy link to this trace" }).click();
  await eventually(async () => assert.equal(await copied(), browser.origin + pathOf(agent, id)));
  await item(page, named("plan")).click();
  await page.getByRole("button", { name: "Copy link", exact: true }).click();
  await eventually(async () =>
    assert.equal(await copied(), browser.origin + pathOf(agent, id, "?span=plan")),
  );
  await page.getByRole("button", { name: /^Copy link to “/ }).click();
  await eventually(async () => assert.match(await copied(), /\?test=[\w-]+&check=[\w-]+$/));
  await page.goto(await copied());
  await page.getByRole("button", { name: "Passed Response time", expanded: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("the arrows and keys lead to the previous and next trace in the order of the list", async () => {
  const agent = await newAgent();
  const ids: string[] = [];
  for (const text of ["first", "second", "third"]) {
    ids.push(await storeSpans(agent, [span(text, null, [0, 9], { attributes: { "gen_ai.prompt": text } })]));
  }
  const { page } = await open();
  await page.goto(pathOf(agent, ids[1]!, "?view=raw"));
  const shows = async (name: string) => {
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await page.waitForURL(/view=raw/);
  };
  await page.getByRole("link", { name: "Next trace" }).click();
  await shows("first");
  await page.getByRole("button", { name: "Next trace" }).waitFor();
  await page.keyboard.press("Shift+K");
  await shows("second");
  await page.getByRole("link", { name: "Previous trace" }).focus();
  await page.keyboard.press("Enter");
  await shows("third");
  await page.keyboard.press("Shift+J");
  await shows("second");
  // Beyond the rows that the list loads first.
  const later = Array.from({ length: 201 }, () => exportedSpan({ name: "later" }));
  await store({ body: exportOf(later, agent.otlpServiceName) });
  await page.goto(pathOf(agent, ids[1]!, "?view=raw"));
  await page.getByRole("link", { name: "Next trace" }).click();
  await shows("first");
  await page.getByRole("link", { name: "Previous trace" }).waitFor();
  await page.getByRole("button", { name: "Next trace" }).waitFor();
  await page.keyboard.press("Shift+K");
  await shows("second");
});

test("messages show their Markdown, or the text as it was written, and the choice is remembered", async () => {
  const agent = await newAgent();
  const reply =
    "Send it **before noon**:\n\n- [the form](https://example.com/form)\n- <img src=x onerror=alert(1)>";
  const id = await storeSpans(agent, [
    span("chat", null, [0, 9], {
      attributes: { "gen_ai.prompt": "How do I return it?", "gen_ai.response.text": reply },
    }),
  ]);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  const conversation = page.getByRole("region", { name: "Conversation" });
  await conversation.locator("strong", { hasText: "before noon" }).waitFor();
  assert.equal(
    await conversation.getByRole("listitem").getByRole("link").getAttribute("rel"),
    "noopener noreferrer nofollow",
  );
  assert.equal(await conversation.locator("img").count(), 0);
  const raw = page.getByRole("button", { name: "Raw text", pressed: false });
  await raw.click();
  await conversation.getByText("**before noon**").waitFor();
  await page.reload();
  await conversation.getByText("**before noon**").waitFor();
  await page.getByRole("button", { name: "Raw text", pressed: true }).click();
  await conversation.locator("strong", { hasText: "before noon" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("the panes are resized by pointer and keyboard, and their widths are remembered", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  const divider = page.getByRole("separator", { name: "Resize Tree and Conversation" });
  const isAt = (percent: number) =>
    eventually(async () => assert.equal(await divider.getAttribute("aria-valuenow"), String(percent)));
  await isAt(30);
  await divider.focus();
  await page.keyboard.press("ArrowRight");
  await isAt(32);
  await page.keyboard.press("Home");
  await isAt(15);
  const pane = page.locator(".pane").first();
  const narrow = (await pane.boundingBox())!.width;
  const { x, y, width } = (await divider.boundingBox())!;
  await page.mouse.move(x + width / 2, y + 100);
  await page.mouse.down();
  await page.mouse.move(x + 300, y + 100, { steps: 4 });
  await page.mouse.up();
  await eventually(async () => assert.ok((await pane.boundingBox())!.width > narrow + 250));
  const before = await divider.getAttribute("aria-valuenow");
  await page.reload();
  await isAt(Number(before));
  await divider.dblclick();
  await isAt(30);
});

test("a trace is deleted after its name is typed, and the list is shown again", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete trace" });
  await dialog.getByLabel("Type “Support” to confirm").fill("Sup");
  await dialog.getByRole("button", { name: "Delete trace" }).click();
  await dialog.getByText("The name does not match.").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Type “Support” to confirm").fill("Support");
  await dialog.getByRole("button", { name: "Delete trace" }).click();
  await page.waitForURL(`**/agents/${agent.id}/traces`);
  await browser.service.client.get(`/api/traces/${id}`).expect(404);
});

test("every notice is shown for the traces that it is about", async () => {
  const agent = await newAgent();
  // Of another convention there is a notice if the agent does not read it.
  await browser.service.client.patch(`/api/agents/${agent.id}`, { conventions: [] }).expect(200);
  const { page } = await open();
  const cases: [spans: Fields[], text: RegExp][] = [
    [[span("a", null, [0, 9])], /No user input was available/],
    [[span("a", null, [0, 9]), span("b", "gone", [1, 2])], /1 span has a parent that is not in the trace/],
    [[span("a", "gone", [0, 9]), span("b", "gone", [1, 2])], /No root span/],
    [[span("a", "b", [0, 9]), span("b", "a", [1, 2])], /Some spans are their own ancestors/],
    [[span("a", null, null)], /No usable times/],
    [[span("a", null, null, { start_time_unix_nano: nanos(0) })], /No end time/],
    [
      [span("a", null, [0, 9], { attributes: { "openinference.span.kind": "LLM", "input.value": "Hi" } })],
      /written in the OpenInference convention/,
    ],
    [[span("a", null, [0, 9])], /Not evaluated: this agent has no test cases/],
  ];
  for (const [spans, text] of cases) {
    await page.goto(pathOf(agent, await storeSpans(agent, spans)));
    await page.getByText(text).waitFor();
    await eventually(async () => assert.equal(await tree(page).getByRole("treeitem").count(), spans.length));
  }
});

test("notices say why a trace was not evaluated, that routing was unavailable, and that an evaluation failed", async () => {
  const { owner, db } = browser.service;
  const agent = await newAgent();
  await makeTest(owner, agent.id, { name: "Off", status: "disabled" });
  const { page } = await open();
  await page.goto(pathOf(agent, await storeSpans(agent, conversation)));
  await page.getByText("Not evaluated: 1 test disabled.").waitFor();
  await makeTest(owner, agent.id);
  const relevant = { passiveBehavior: "run_when_relevant", scenario: "A refund is wanted" };
  await makeTest(owner, agent.id, { name: "Refunds", ...relevant });
  const id = await storeSpans(agent, conversation);
  await judged(id);
  await page.goto(pathOf(agent, id));
  await page.getByText("Routing unavailable: no conditional checks were evaluated.").waitFor();
  await db.pool.query("update runs set state = 'error', error = 'Its worker died.' where trace_id = $1", [
    id,
  ]);
  await page.reload();
  await page.getByText("Evaluation error. Its worker died.").waitFor();
});

test("notices say that a test or the trace has changed since the verdict, and how to evaluate again", async () => {
  const { owner } = browser.service;
  const agent = await newAgent();
  const made = await makeTest(owner, agent.id, { name: "Quick" });
  const id = await storeSpans(agent, conversation, {}, "same");
  await judged(id);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.locator("header").getByText("Failed", { exact: true }).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByText("changed since this evaluation").count(), 0),
  );
  await owner.client
    .patch(`/api/tests/${made.id}`, { assertions: [{ type: "response_time", max_ms: 9_000 }] })
    .expect(200);
  await page.reload();
  await page.getByText("A test has changed since this evaluation: “Quick”.").waitFor();
  await storeSpans(agent, [...conversation, span("more", "Support", [4_801, 4_802])], {}, "same");
  await page.getByText("The verdict is for revision 1; the trace is now at revision 2.").waitFor();
  await item(page, named("more")).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByText(/Resend the trace with a new x-request-id/).count(), 2),
  );
});

test("spans that arrive while the page is open appear, then the verdict, and the selection is kept", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "http_status", expected_status: 200 }],
  });
  const traceId = newTraceId();
  const first = exportedSpan({ traceId, name: "first" });
  const export1 = { body: exportOf([first], agent.otlpServiceName) };
  const id = await store(export1);
  // Due in the far future, so that the page is seen pending first; the next batch resets the due time.
  await browser.service.db.pool.query(
    "update queue set due_at = now() + interval '1 hour' where trace_id = $1",
    [id],
  );
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByText("More spans may arrive.").waitFor();
  await page.locator("header").getByText("Pending").waitFor();
  await item(page, named("first")).click();
  await page.waitForURL(/span=/);
  const second = exportedSpan({ traceId, name: "second", parentSpanId: first["spanId"] });
  await store({ body: exportOf([second], agent.otlpServiceName) });
  await item(page, named("second")).waitFor();
  await page.getByRole("button", { name: "Details" }).click();
  await fact(page, "Revision").getByText("2 (merged once)").waitFor();
  await page.locator("header").getByText("Missing instrumentation").first().waitFor();
  await page.getByText("More spans may arrive.").waitFor({ state: "detached" });
  await selects(page, "first");
});

test("the page says so when its trace is deleted elsewhere", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("plan")).waitFor();
  await browser.service.client.delete(`/api/traces/${id}`).expect(204);
  await page.getByRole("heading", { name: "This trace was deleted" }).waitFor();
  await page.getByRole("link", { name: "Back to traces" }).click();
  await page.waitForURL(`**/agents/${agent.id}/traces`);
});

test("choosing a span or a view adds a history entry, and a link opens its span", async () => {
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
  await selects(page, "answer");
  await page.goBack();
  await selects(page, "plan");
  await page.goBack();
  await page.getByRole("region", { name: "Conversation" }).waitFor();
  await eventually(async () => assert.equal(await tree(page).locator("[aria-selected=true]").count(), 0));
  await page.goto(pathOf(agent, id, "?span=nobody"));
  await page.getByRole("heading", { name: "This span is not in the trace" }).waitFor();
});

test("the raw JSON of a small trace is shown, and its download contains every span", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id, "?view=raw"));
  await page.getByText('"span_id": "find order"').waitFor();
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

test("a trace of 30 MB opens, shows its spans, and offers a download instead of its full JSON", async () => {
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
  await page.getByText(/^Only the first [\d,]+ kB are shown/).waitFor({ timeout: 60_000 });
  await page.getByRole("link", { name: "Download" }).waitFor();
});

test("hostile names are shown as text, and missing values are named as such", async () => {
  const agent = await newAgent();
  const hostile = '<img src=x onerror="document.title=1">\u202e\u0000\n';
  const id = await storeSpans(agent, [
    span("root", null, null, { name: hostile }),
    span("../../..", "root", null, { name: "x".repeat(5_000) }),
    span("a?b#c&d=é", "root", null, { name: "[]()" }),
  ]);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("heading", { level: 1 }).getByText("<img src=x").waitFor();
  await item(page, /^\[\]\(\),/).click();
  await page.waitForURL(/span=/);
  await page.reload();
  await tree(page).locator("[aria-selected=true]").and(item(page, "[](), Step, no duration")).waitFor();
  await page.getByRole("button", { name: "Details" }).click();
  await fact(page, "Duration").getByText("not available").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByLabel("Type “delete” to confirm").waitFor();
  await page.keyboard.press("Escape");
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("every view works with two panes, with one, and at 320 pixels", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id);
  const id = await storeSpans(agent, conversation, { metadata: { note: "n".repeat(200) } });
  await judged(id);
  const { page, complaints } = await open({ width: 1000, height: 800 });
  const views = page.getByRole("navigation", { name: "Views" });
  await page.goto(pathOf(agent, id, "?span=plan"));
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await tree(page).waitFor();
  await views.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("region", { name: "Conversation" }).waitFor();
  await page.getByRole("region", { name: "Evaluation" }).waitFor();
  await views.getByRole("link", { name: "Evaluation" }).click();
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
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

test("in a narrow window evidence opens its attribute, outlined and in view, and Back returns to the check", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "response_regex", pattern: "never said" }],
  });
  const id = await storeSpans(agent, conversation);
  await judged(id);
  const { page, complaints } = await open({ width: 390, height: 700 });
  await page.goto(pathOf(agent, id, "?view=evaluation"));
  const chip = page.getByRole("button", { name: "Support · gen_ai.response.text" });
  const outlined = page.locator(".span-attribute[data-selected]");
  for (let times = 1; times <= 2; times++) {
    await chip.click();
    await page.getByRole("region", { name: "Span", exact: true }).waitFor();
    await outlined.getByText("On its way.").waitFor();
    await becomesTrue(
      page,
      `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
        document.querySelector(".span-attribute[data-selected]").getBoundingClientRect())`,
    );
    await page.goBack();
    await outlined.waitFor({ state: "detached" });
    await becomesTrue(
      page,
      `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
        document.querySelector(".evaluation .chip").getBoundingClientRect())`,
    );
  }
  assert.deepEqual(complaints, []);
});

test("the link back to the list keeps its last filters, or shows all traces after opening a trace by URL", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  const back = page.locator("header").getByRole("link", { name: "Traces", exact: true });
  await page.goto(`${pathOf(agent, "").slice(0, -1)}?failed=true&text=order`);
  await page.getByRole("link", { name: /Where is my order/ }).click();
  await back.click();
  await page.waitForURL(/traces\?text=order&failed=true|traces\?failed=true&text=order/);
  await page.goto(pathOf(agent, id));
  await back.click();
  await page.waitForURL(`**/agents/${agent.id}/traces`);
});
