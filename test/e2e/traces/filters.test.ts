// Filters of the list of traces by tool, attribute and outcome of a test, the order of the list, and searches in spans.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest, type Owner } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { asked, conversation } from "../../support/conversation.ts";
import { eventually } from "../../support/eventually.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { keepResults, type StoredRun, storeTrace, storeTraces } from "../../support/stored-traces.ts";

const browser = useBrowser({ config: { roles: ["http"], allowPrivateTargets: ["127.0.0.1"] } });

const link = (page: Page, name: string | RegExp) => page.getByRole("table").getByRole("link", { name });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Sends a conversation that calls the tool refund_order, and returns the trace's id. */
async function sendConversation(owner: Owner, agentId: string): Promise<string> {
  const { key } = await makeKey(owner);
  const body = { platformId: agentId, spans: conversation(), metadata: { shop: { country: "FR" } } };
  return traceIdOf(await send({ url: browser.service.url, key }, { body }));
}

async function addFilter(page: Page, name: string): Promise<void> {
  await button(page, "Add filter").click();
  await button(page, name).click();
}

test("filters by outcome, tool and attribute are suggested and combined, and are in the URL", async () => {
  const owner = await browser.service.signUp();
  const { id: agentId } = await makeAgent(owner);
  const { id: testId } = await makeTest(owner, agentId, { name: "Refunds in euros" });
  const { db } = browser.service;
  for (const [userInput, outcome, version] of [
    ["failed by the test", "failed", 2],
    ["failed by another test", "passed", 1],
  ] as const) {
    const run = { state: "completed", verdict: "failed", testIds: [testId] } satisfies StoredRun;
    const traceId = await storeTrace(db, agentId, { userInput, run });
    await keepResults(db, { agentId, traceId }, [{ testId, outcome, version }]);
    await db.pool.query("insert into test_versions values ($3, $1, $2, 3, 1, 0, 0, now(), now())", [
      testId,
      version,
      agentId,
    ]);
  }
  await sendConversation(owner, agentId);
  const path = `/projects/${owner.projectId}/agents/${agentId}/traces`;
  const { page, complaints } = await browser.openAs(owner, {
    path: `${path}?verdict=failed&testId=${testId}`,
  });

  await link(page, /failed by another test/).waitFor();
  await button(page, "Replace with “Refunds in euros failed”").click();
  await link(page, /failed by another test/).waitFor({ state: "detached" });
  await link(page, /failed by the test/).waitFor();
  await becomesTrue(page, `location.search === '?testId=${testId}&testOutcome=failed'`);
  await becomesTrue(page, "document.activeElement.textContent === 'Add filter'");
  await page.reload();
  await button(page, "Test case: Refunds in euros failed").click();
  await button(page, "Passed").click();
  await link(page, /failed by another test/).waitFor();
  await button(page, "Test case: Refunds in euros passed").click();
  await assertAccessible(page);
  await page.getByLabel("Version of the test").selectOption("2 (4 results)");
  await button(page, "Apply").click();
  await page.getByRole("heading", { name: "No matching traces" }).waitFor();
  await button(page, "Test case: Refunds in euros passed, version 2").click();
  await page.getByLabel("Version of the test").selectOption("Any");
  await button(page, "Apply").click();
  await link(page, /failed by another test/).waitFor();
  await button(page, "Test case: Refunds in euros passed").click();
  await page.getByRole("button", { name: "Choose another test" }).click();
  await button(page, "Refunds in euros").click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Clear all" }).click();
  await link(page, asked).waitFor();

  await addFilter(page, "Tool");
  const tool = page.getByRole("combobox", { name: "Tool" });
  await becomesTrue(page, "document.activeElement.getAttribute('role') === 'combobox'");
  await page.keyboard.type("ref");
  await page.getByRole("option", { name: "refund_order" }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await tool.inputValue(), "refund_order"));
  await page.keyboard.press("Enter");
  await button(page, "Tool: refund_order").waitFor();
  await link(page, /failed by/)
    .first()
    .waitFor({ state: "detached" });

  await button(page, "Newest first").click();
  await page.getByRole("menuitemradio", { name: "Longest first" }).click();
  await becomesTrue(page, "location.search === '?tool=refund_order&order=longest'");
  await addFilter(page, "Attribute");
  await page.getByLabel("Key").fill("gen_ai.tool");
  await page.getByRole("option", { name: "gen_ai.tool.name" }).click();
  await page.getByLabel("Value (optional)").fill("get_order");
  await button(page, "Apply").click();
  await button(page, "Attribute: gen_ai.tool.name = get_order").waitFor();
  await page.getByText("1 trace found. Searched 1 trace.").waitFor();
  await button(page, "Newest first").click();
  await page.getByText("Searches in spans are sorted by time.").waitFor();
  await page.keyboard.press("Escape");
  await addFilter(page, "Metadata");
  await page.getByLabel("Key").fill("shop.country");
  await page.getByLabel("Value (optional)").fill("DE");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No matching traces" }).waitFor();
  await button(page, "Remove filter Metadata: shop.country = DE").click();

  // From the trace back to the list, with the filters last used.
  await link(page, asked).click();
  await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor({ state: "detached" });
  await page.locator(".trace-line").getByRole("link", { name: "Traces" }).click();
  await button(page, "Attribute: gen_ai.tool.name = get_order").waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await button(page, "Attribute: gen_ai.tool.name = get_order").click();
  await page.getByLabel("Key").waitFor();
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("a search in spans says how far it looked, and goes on only at a click", async () => {
  const owner = await browser.service.signUp();
  const { id: agentId } = await makeAgent(owner);
  const traceId = await sendConversation(owner, agentId);
  const { db } = browser.service;
  await storeTraces(db, agentId, 250);
  await db.pool.query(
    `insert into trace_batches (agent_id, trace_id, seq, span_keys, raw_length, spans)
    select t.agent_id, t.id, b.seq, b.span_keys, b.raw_length, b.spans from traces t, trace_batches b
    where t.agent_id = $1 and t.id <> $2 and b.trace_id = $2`,
    [agentId, traceId],
  );
  const { page, complaints } = await browser.openAs(owner, {
    path: `/projects/${owner.projectId}/agents/${agentId}/traces?spanName=CLASSIFY`,
  });
  // As many as fit in a page: fewer on a machine that searches less in a second.
  const status = page.getByText(/^\d+ traces found\. Searched \d+ traces, back to /);
  const counts = async () => (await status.innerText()).match(/\d+/g)!.map(Number) as [number, number];
  await status.waitFor();
  const [first, searched] = await counts();
  assert.ok(first <= 200);
  assert.equal(searched, first);
  const requests: string[] = [];
  page.on("request", request => {
    if (request.url().includes("/traces?")) requests.push(request.url());
  });
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await link(page, new RegExp(`Question ${first - 1}:`)).waitFor();
  assert.deepEqual(requests, []);
  let clicks = 0;
  for (let more = true; more; clicks++) {
    const answer = page.waitForResponse(response => response.url().includes("/traces?"));
    await button(page, "Search older traces").click();
    more = (await (await answer).json()).nextCursor !== null;
  }
  await page.getByText("251 traces found. Searched all 251 traces.").waitFor();
  assert.equal(requests.length, clicks);
  await button(page, "Search older traces").waitFor({ state: "detached" });

  // A new trace comes with the next search.
  await storeTrace(db, agentId, { userInput: "without spans" });
  await button(page, "Refresh").click();
  await status.waitFor();
  const [found, all] = await counts();
  assert.equal(found, all - 1);
  await page.goto(`/projects/${owner.projectId}/agents/${agentId}/traces?order=longest`);
  await eventually(async () => {
    const rows = await page.getByRole("row").allTextContents();
    assert.ok(rows[1]?.includes("8.") || rows[1]?.includes("9 s"), rows[1]);
  });
  assert.deepEqual(complaints, []);
});

test("a year of more than four digits is refused at its field", async () => {
  const owner = await browser.service.signUp();
  const { id: agentId } = await makeAgent(owner);
  await storeTrace(browser.service.db, agentId, { userInput: "of today" });
  const path = `/projects/${owner.projectId}/agents/${agentId}/traces`;
  const { page, complaints } = await browser.openAs(owner, { path });
  await link(page, /of today/).waitFor();
  await addFilter(page, "Received");
  const before = page.getByLabel("Before");
  await before.fill("12026-01-01T00:00");
  await button(page, "Apply").click();
  await page.locator("input[name=receivedTo]:out-of-range").waitFor();
  await before.fill("9999-12-31T00:00");
  await button(page, "Apply").click();
  await page.waitForURL(/receivedTo=9999-12-3/);
  await link(page, /of today/).waitFor();
  assert.deepEqual(complaints, []);
});

test("a range keeps its seconds, and a reversed one is refused at its field", async () => {
  const owner = await browser.service.signUp();
  const { id: agentId } = await makeAgent(owner);
  await storeTrace(browser.service.db, agentId, { userInput: "of today" });
  const base = `/projects/${owner.projectId}/agents/${agentId}/traces`;
  const times = "receivedFrom=2026-03-04T05:06:07.000Z&receivedTo=9998-03-04T05:06:08.500Z";
  const { page, complaints } = await browser.openAs(owner, { path: `${base}?${times}` });
  const find = page.locator("form.panel-form");
  const setTimes = () => {
    const { searchParams } = new URL(page.url());
    return [searchParams.get("receivedFrom"), searchParams.get("receivedTo")];
  };
  const open = async () => {
    await button(page, "Add filter").click();
    await button(page, "Received").click();
    await find.waitFor();
  };
  await open();
  await button(page, "Apply").click();
  await find.waitFor({ state: "detached" });
  assert.deepEqual(setTimes(), ["2026-03-04T05:06:07.000Z", "9998-03-04T05:06:08.500Z"]);

  await open();
  await page.getByLabel("Before").fill("2025-01-01T00:00:09");
  await button(page, "Apply").click();
  await find.getByText("Must be later than “From”.").waitFor();
  await becomesTrue(page, "document.activeElement?.name === 'receivedTo'");
  await shoot(page, "reversed-range");
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot(page, "reversed-range-narrow");
  assert.deepEqual(setTimes(), ["2026-03-04T05:06:07.000Z", "9998-03-04T05:06:08.500Z"]);
  await page.getByLabel("Before").fill("2026-03-04T23:06:09");
  await find.getByText("Must be later").waitFor({ state: "detached" });
  await button(page, "Apply").click();
  await find.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
