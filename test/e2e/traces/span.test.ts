// The span panel and the conversation view: exact and complete values, plain text, and assertions created from values.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { conversation, hostile, longReply, say, storeSpans, timed } from "./span-data.ts";

const browser = useBrowser();
let page: Page;
let complaints: string[];
/** The trace that most tests use. */
let told: string;
before(async () => {
  await browser.started;
  told = await storeSpans(browser.service, conversation);
  const viewport = { width: 1440, height: 900 };
  const window = await browser.openAs(browser.service.owner, { viewport, lasting: true });
  ({ page, complaints } = window);
  await window.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
});

async function open(
  traceId: string,
  search: Record<string, string>,
  agent = browser.service.agent,
): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 900 });
  const { projectId } = browser.service;
  const query = new URLSearchParams(search);
  await page.goto(`/projects/${projectId}/agents/${agent.id}/traces/${traceId}?${query}`);
}

const openSpan = async (traceId: string, span: string, name: string, attribute?: string) => {
  await open(traceId, { view: "spans", span, ...(attribute && { attribute }) });
  await page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
};
const attributeButton = (name: string) => page.getByRole("button", { name, exact: true });
const attributeItem = (name: string) => page.getByRole("listitem").filter({ has: attributeButton(name) });
const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
const turns = () => page.getByRole("article");
const searchOf = () => Object.fromEntries(new URL(page.url()).searchParams);

test("a conversation shows each message once, and tool calls with arguments, result, duration and failure", async () => {
  await open(told, { view: "conversation" });
  await turns().first().waitFor();
  const labels = () => turns().evaluateAll(all => all.map(one => one.getAttribute("aria-label")));
  await eventually(async () =>
    assert.deepEqual(await labels(), [
      "System",
      "User",
      "Agent",
      "Tool call search_products",
      "User",
      "Agent",
      "Tool call get_stock",
      "User",
      "Agent",
    ]),
  );
  const call = page.getByRole("article", { name: "Tool call search_products" });
  await call.getByText("490 ms").waitFor();
  await call.getByRole("tree", { name: "Arguments of search_products" }).getByText('"tent"').waitFor();
  await call.getByRole("tree", { name: "Result of search_products" }).getByText("349").waitFor();
  const broken = page.getByRole("article", { name: "Tool call get_stock" });
  await broken.getByText("Failed").waitFor();
  await broken.getByText("upstream timed out").waitFor();
  await page.getByText("Sub-agent reviews").waitFor();
  await page.getByText("image/png, 2,000 characters of data, not loaded").waitFor();
  const reasoning = page.getByText("A dog is large");
  await eventually(async () => assert.equal(await reasoning.isVisible(), false));
  await page.getByText("Reasoning, 34 characters").click();
  await reasoning.waitFor();
  await assertAccessible(page);
});

test("a long message is truncated, loaded in full on request, and always copied in full", async () => {
  await open(told, { view: "conversation" });
  const last = turns().last();
  await last.getByRole("button", { name: "Copy message of Agent" }).click();
  await page.getByText("Copied message").waitFor();
  await eventually(async () => assert.equal(await clipboard(), longReply));
  await eventually(async () => assert.ok((await last.innerText()).length < 5_000));
  await last.getByRole("button", { name: "Show all (19,600 characters)" }).click();
  await becomesTrue(page, "[...document.querySelectorAll('article')].at(-1).innerText.length > 19000");
});

test("a message links to its attribute, which is outlined, scrolled into view and announced", async () => {
  await open(told, { view: "conversation" });
  await turns()
    .last()
    .getByRole("button", { name: "Show gen_ai.output.messages of span Compose the answer" })
    .click();
  await page.getByRole("heading", { level: 2, name: "Compose the answer" }).waitFor();
  await eventually(() => {
    const { span, attribute } = searchOf();
    assert.deepEqual([span, attribute], ["compose", "gen_ai.output.messages"]);
  });
  const name = attributeButton("gen_ai.output.messages");
  await eventually(async () => assert.equal(await name.getAttribute("aria-pressed"), "true"));
  await becomesTrue(
    page,
    "document.querySelector('[aria-pressed=true].span-attribute-name').getBoundingClientRect().top < innerHeight",
  );
  await page
    .getByRole("status")
    .filter({ hasText: "Attribute gen_ai.output.messages of span Compose the answer" })
    .waitFor({ state: "attached" });
});

test("a trace without messages names the missing attributes and shows how to add them", async () => {
  const spans = [
    timed("root", null, [0, 5], { name: "POST /chat", attributes: { "n8n.node.name": "AI Agent" } }),
  ];
  const agent = await makeAgent(browser.service.owner, { conventions: [] });
  await open(await storeSpans({ ...browser.service, agent }, spans), { view: "conversation" }, agent);
  await page.getByRole("heading", { name: "No messages in this trace" }).waitFor();
  await page.getByText("Other attribute convention (n8n).").waitFor();
  await page.getByRole("button", { name: "Python" }).click();
  await page.getByText("set_attributes").waitFor();
  await page.getByRole("link", { name: "View spans" }).click();
  await page.waitForURL(/view=spans/);
});

test("a very long conversation shows its beginning and end, and the rest on request", async () => {
  const history = Array.from({ length: 120 }, (_, at) =>
    say(at % 2 ? "assistant" : "user", `message ${at}.`),
  );
  const spans = [
    timed("chat", null, [0, 5], { name: "chat", attributes: { "gen_ai.input.messages": history } }),
  ];
  await open(await storeSpans(browser.service, spans), { view: "conversation" });
  await page.getByText("message 0.").waitFor();
  await page.getByText("message 119.").waitFor();
  await eventually(async () => assert.equal(await turns().count(), 50));
  await page.getByRole("button", { name: "Show 50 of 70 hidden messages" }).click();
  await page.getByText("message 60.").waitFor();
  await page.getByRole("button", { name: "Show 20 of 20 hidden messages" }).click();
  await page.getByText("message 80.").waitFor();
  await eventually(async () => assert.equal(await turns().count(), 120));
});

test("an attribute can be selected by keyboard and is kept in the URL", async () => {
  await openSpan(told, "plan", "Plan the answer");
  const button = attributeButton("gen_ai.request.model");
  await eventually(async () => assert.equal(await button.getAttribute("aria-pressed"), "false"));
  await button.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/attribute=gen_ai\.request\.model/);
  await becomesTrue(page, "document.activeElement.getAttribute('aria-pressed') === 'true'");
  await page.reload();
  await attributeButton("gen_ai.request.model").waitFor();
  await eventually(async () =>
    assert.equal(await attributeButton("gen_ai.request.model").getAttribute("aria-pressed"), "true"),
  );
});

test("a selected attribute that is not on the span is reported as missing", async () => {
  await openSpan(told, "plan", "Plan the answer", "gen_ai.response.text");
  await page.getByText("gen_ai.response.text is not on this span.").waitFor();
  await assertAccessible(page);
});

test("a span shows its times, parent, events and status", async () => {
  await openSpan(told, "broken", "execute_tool get_stock");
  await page.getByText("upstream timed out").first().waitFor();
  await page.getByText("200 ms").first().waitFor();
  await page.getByText("+2.9").first().waitFor();
  await page.getByRole("button", { name: "invoke_agent shop", exact: true }).click();
  await page.getByRole("heading", { level: 2, name: "invoke_agent shop" }).waitFor();
  await openSpan(told, "plan", "Plan the answer");
  await page.getByRole("heading", { level: 3, name: "Events 1" }).waitFor();
  await page.getByText("+300 ms").waitFor();
  await page.getByRole("tree", { name: "first token" }).getByText('"small"').waitFor();
});

test("a span of an SDK shows what the SDK dropped, its trace state and its flags", async () => {
  const sent = { droppedAttributesCount: 3, droppedLinksCount: 1, traceState: "vendor=1", flags: 257 };
  const events = [{ name: "chunk", timeUnixNano: "0", attributes: [], droppedAttributesCount: 1200 }];
  const spanId = "00f067aa0ba902b7";
  const span = exportedSpan({ spanId, name: "limited", attributes: [], events, ...sent });
  const body = exportOf([span]) as { resourceSpans: { schemaUrl?: string }[] };
  body.resourceSpans[0]!.schemaUrl = "https://opentelemetry.io/schemas/1.41.0";
  const answer = await send(browser.service, encodings.protobuf(body));
  await openSpan(String(answer.headers["x-svc-trace-id"]), spanId, "limited");
  await page
    .getByText("The SDK dropped 3 attributes and 1 link of this span and 1,200 attributes of its events")
    .waitFor();
  await page.getByText("1,200 attributes dropped", { exact: true }).waitFor();
  await page.locator("summary", { hasText: "Context" }).click();
  const context = page.getByRole("tree", { name: "Context" });
  await context.getByText("vendor=1").waitFor();
  await context.getByText("schemas/1.41.0").waitFor();
});

test("a failed span shows the error of its exception, and a model's call why it stopped", async () => {
  const spanId = "00f067aa0ba902b8";
  const text = (stringValue: string) => ({ stringValue });
  const attributes = [
    { key: "gen_ai.request.model", value: text("m") },
    { key: "gen_ai.response.finish_reasons", value: { arrayValue: { values: [text("max_tokens")] } } },
  ];
  const exception = [{ key: "exception.message", value: text("quota exceeded") }];
  const events = [{ name: "exception", timeUnixNano: "0", attributes: exception }];
  const span = exportedSpan({ spanId, name: "chat m", attributes, events, status: { code: 2 } });
  const answer = await send(browser.service, encodings.protobuf(exportOf([span])));
  await openSpan(String(answer.headers["x-svc-trace-id"]), spanId, "chat m");
  await page.locator(".span-top .span-message").getByText("quota exceeded").waitFor();
  await page.locator(".span-top").getByText("Cut off at the token limit").waitFor();
  await page.locator(".span-top").getByText("max_tokens").waitFor();
  await shoot(page, "span-cut-off");
});

test("attributes can be searched by name and value", async () => {
  await openSpan(told, "plan", "Plan the answer");
  await page.getByLabel("Search attributes").fill("mistral");
  await page.getByText("1 of 10").waitFor();
  await attributeButton("gen_ai.request.model").waitFor();
  await eventually(async () => assert.equal(await attributeButton("app.flags").count(), 0));
  await page.getByLabel("Search attributes").fill("flags");
  await attributeButton("app.flags").waitFor();
});

test("large integers keep every digit in the tree, in its search and when copied", async () => {
  await openSpan(told, "plan", "Plan the answer", "llm.raw");
  const item = attributeItem("llm.raw");
  await item.getByRole("treeitem").filter({ hasText: "9007199254740993" }).click();
  await item.getByRole("button", { name: "Copy value" }).click();
  await page.getByText("Copied value").waitFor();
  await eventually(async () => assert.equal(await clipboard(), "9007199254740993"));
  await item.getByRole("button", { name: "Copy path" }).click();
  await page.getByText("Copied path").waitFor();
  await eventually(async () => assert.equal(await clipboard(), "llm.raw.id"));
  await item.getByRole("button", { name: "Show as text" }).click();
  await item.getByText('{"id":9007199254740993').waitFor();
});

test("a JSON tree collapses by keyboard, and its search finds collapsed values", async () => {
  const value = { first: 1, list: Array.from({ length: 500 }, (_, at) => ({ at, name: `item ${at}` })) };
  const spans = [
    timed("a", null, [0, 5], { name: "big", attributes: { value, text: '{"inner":{"key":"x"}}' } }),
  ];
  await openSpan(await storeSpans(browser.service, spans), "a", "big");
  const tree = page.getByRole("tree", { name: "value" });
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowDown");
  await becomesTrue(page, "document.activeElement.textContent.startsWith('list:')");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: /^Show 200 more of/ }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await becomesTrue(page, "document.activeElement.getAttribute('aria-expanded') === 'false'");
  await page.getByLabel("Find in value").fill("item 499");
  await page.getByText("1 found").waitFor();
  await tree.getByText('"item 499"').waitFor();
  await eventually(async () => assert.equal(await tree.getByRole("treeitem").count(), 3));
  await page.getByRole("tree", { name: "text" }).getByText("inner:").waitFor();
});

test("a text of 5 MB is loaded in full on request, and only its visible part is in the DOM", async () => {
  const text = `${"The quick brown fox jumps over the lazy dog.\n".repeat(110_000)}the end`;
  const spans = [timed("a", null, [0, 5], { name: "huge", attributes: { blob: text } })];
  await openSpan(await storeSpans(browser.service, spans), "a", "huge");
  const characters = text.length.toLocaleString("en");
  await page.getByRole("button", { name: `Show all (${characters} characters)` }).click();
  const whole = page.getByRole("group", { name: "blob" });
  await whole.waitFor();
  await eventually(async () => assert.ok((await whole.innerText()).length < 60_000));
  await page.getByLabel("Find in blob").fill("the end");
  await page.getByText("1 result. Press Enter to jump.").waitFor();
  await page.keyboard.press("Enter");
  await whole.getByText("the end").waitFor();
  await eventually(async () => assert.ok((await whole.innerText()).length < 60_000));
  await assertAccessible(page);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download blob" }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), "blob.txt");
  assert.equal(await readFile(await saved.path(), "utf8"), text);
});

test("text from a trace is never interpreted as markup", async () => {
  await openSpan(told, "plan", "Plan the answer", "app.note");
  await eventually(async () => {
    const shown = await attributeItem("app.note").innerText();
    assert.ok(shown.includes(hostile.slice(0, 50)), shown);
  });
  await eventually(async () =>
    assert.equal(await page.locator("main img, main a[href^='javascript']").count(), 0),
  );
  const spans = [
    timed("a", null, [0, 5], {
      name: hostile.replace("\u0000", ""),
      attributes: {
        "gen_ai.input.messages": [say(hostile, hostile, { type: "image", url: "javascript:alert(1)" })],
        "gen_ai.tool.name": hostile,
        [hostile]: hostile,
        constructor: "c",
      },
    }),
  ];
  const id = await storeSpans(browser.service, spans);
  await open(id, { view: "conversation" });
  await turns().first().waitFor();
  await eventually(async () =>
    assert.equal(await page.locator("main img, main a[href^='javascript']").count(), 0),
  );
  await open(id, { view: "spans", span: "a" });
  await attributeButton("constructor").waitFor();
  await eventually(async () =>
    assert.equal(await page.locator("main img, main a[href^='javascript']").count(), 0),
  );
  await eventually(async () => assert.notEqual(await page.title(), "taken"));
});

test("an assertion created from a value is described and opened in the editor of the chosen test", async () => {
  const { service } = browser;
  const { id } = await makeTest(service.owner, service.agent.id, { name: "Searches before it answers" });
  await openSpan(told, "tool", "execute_tool search_products");
  await page.getByRole("button", { name: "Create assertion from gen_ai.tool.call.arguments" }).click();
  const dialog = page.getByRole("dialog", { name: "Create assertion" });
  await dialog.getByText("Must be called: search_products with").waitFor();
  await dialog.getByLabel("Must not be called").check();
  await dialog.getByText("Must not be called: search_products with").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Searches before it answers").check();
  await dialog.getByRole("button", { name: "Open in editor" }).click();
  await page.waitForURL(new RegExp(`/tests/${id}`));
  await page.getByRole("listitem", { name: "2. Tool call" }).waitFor();
  await eventually(() => assert.deepEqual(searchOf(), { trace: told }));
  await page.getByText("Must not be called: search_products with").waitFor();
});

test("an assertion can be created from a part of a value, and from the span itself", async () => {
  await openSpan(told, "tool", "execute_tool search_products");
  const item = attributeItem("gen_ai.tool.call.arguments");
  await item.getByRole("treeitem").filter({ hasText: "tent" }).click();
  await item.getByRole("button", { name: "Create assertion", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Create assertion" });
  await dialog.getByText("gen_ai.tool.call.arguments.query").waitFor();
  await dialog.getByRole("button", { name: "Open in editor" }).click();
  await page.waitForURL(/\/tests\/new/);
  await eventually(() =>
    assert.deepEqual(searchOf(), {
      trace: told,
      span: "tool",
      attribute: "gen_ai.tool.call.arguments",
      path: '["query"]',
    }),
  );
  await openSpan(told, "plan", "Plan the answer");
  await page.getByRole("button", { name: "Create assertion", exact: true }).first().click();
  await dialog.getByText("Must run: a step with Plan the answer in its name.").waitFor();
  await dialog.getByRole("button", { name: "Open in editor" }).click();
  await page.waitForURL(/\/tests\/new/);
  await eventually(() => assert.deepEqual(searchOf(), { trace: told, span: "plan" }));
});

test("a value for which no assertion can be created says so", async () => {
  const spans = [timed("a", null, [0, 5], { name: "long", attributes: { "app.text": "x".repeat(70_000) } })];
  const id = await storeSpans(browser.service, spans);
  await page.route("**/draft-assertion", route =>
    route.fulfill({
      status: 400,
      json: { code: "VALIDATION_ERROR", message: "No assertion fits this value." },
    }),
  );
  await openSpan(id, "a", "long");
  await page.getByRole("button", { name: "Create assertion from app.text" }).click();
  await page.getByRole("alert").getByText("No assertion fits this value.").waitFor();
  await page.unroute("**/draft-assertion");
});

test("the panel and the conversation fit a window of 320 pixels, in both themes", async () => {
  await openSpan(told, "plan", "Plan the answer", "gen_ai.input.messages");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await open(told, { view: "conversation" });
  await turns().first().waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

test("the browser logged no errors", () => assert.deepEqual(complaints, []));
