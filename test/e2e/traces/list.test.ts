// The list of an agent's traces: filters, live updates, states, keyboard, thousands of rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { ServiceEvent } from "../../../src/model/event.ts";
import { EventPublisher } from "../../../src/store/events.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { type StoredTrace, storeRun, storeTrace, storeTraces } from "../../support/stored-traces.ts";
import {
  failed,
  traceLink as link,
  passed,
  traceRow as row,
  rowShows,
  tracesOpener,
} from "../../support/traces-page.ts";

const browser = useBrowser();

const openTraces = tracesOpener(browser);
const store = (agentId: string, trace: StoredTrace) => storeTrace(browser.service.db, agentId, trace);

/** Publishes an event as the service would. */
async function publish(event: ServiceEvent): Promise<void> {
  const events = new EventPublisher(browser.service.db);
  events.publish(event);
  await events.close();
}

async function storeAndPublish(agentId: string, trace: StoredTrace): Promise<string> {
  const traceId = await store(agentId, trace);
  await publish({ type: "trace", agentId, traceId, change: "created" });
  return traceId;
}

const isLive = (page: Page) => page.getByText("Live", { exact: true }).waitFor();

test("filters are kept in the URL, each chip removes its own filter, and Back restores them", async () => {
  const { page, complaints } = await openTraces(async agentId => {
    await store(agentId, { userInput: "slow and failed", durationMs: 9_000, run: failed });
    await store(agentId, { userInput: "quick and failed", durationMs: 20, run: failed });
    await store(agentId, { userInput: "passed", kind: "test_run", run: passed });
  });
  await link(page, /slow and failed/).waitFor();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Verdict" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Verdict" }).click();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await link(page, /passed/).waitFor({ state: "detached" });
  await eventually(() => assert.match(page.url(), /\?verdict=failed$/));

  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Duration" }).click();
  await page.getByLabel("At least (ms)").fill("1000");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Duration: at least 1,000 ms", exact: true }).waitFor();
  await link(page, /quick and failed/).waitFor({ state: "detached" });
  await link(page, /slow and failed/).waitFor();

  await page.getByRole("button", { name: "Remove filter Verdict: Failed" }).click();
  await becomesTrue(page, "!location.search.includes('verdict')");
  await becomesTrue(page, "document.activeElement.textContent === 'Add filter'");
  await page.goBack();
  await page.getByRole("button", { name: "Verdict: Failed", exact: true }).waitFor();
  await page.goBack();
  await link(page, /quick and failed/).waitFor();
  await page.goBack();
  await link(page, /passed/).waitFor();
  await eventually(() => assert.equal(new URL(page.url()).search, ""));

  await page.getByRole("link", { name: "Test runs" }).click();
  await link(page, /quick and failed/).waitFor({ state: "detached" });
  await link(page, /passed/).waitFor();
  await eventually(() => assert.match(page.url(), /\?kind=test_run$/));
  assert.deepEqual(complaints, []);
});

test("text search covers input and reply, and adds a single history entry", async () => {
  const { page } = await openTraces(async agentId => {
    await store(agentId, { userInput: "Where is my parcel?" });
    await store(agentId, { userInput: "Hello", responseText: "Your parcel is on its way." });
    await store(agentId, { userInput: "Do you sell tents?" });
  });
  await link(page, /tents/).waitFor();
  await page.getByRole("link", { name: "Live traffic" }).click();
  await becomesTrue(page, "location.search === '?kind=live'");
  await page.keyboard.press("/");
  await page.keyboard.type("par");
  await becomesTrue(page, "location.search.includes('text=par')");
  await page.keyboard.type("cel");
  await becomesTrue(page, "location.search.includes('text=parcel')");
  await page.getByText("covers names and the first 500 characters of inputs and replies").waitFor();
  await link(page, /tents/).waitFor({ state: "detached" });
  await link(page, /Where is my parcel/).waitFor();
  await link(page, /Hello/).waitFor();
  await page.keyboard.press("Escape");
  await becomesTrue(page, "document.activeElement === document.body");
  await page.goBack();
  await becomesTrue(page, "location.search === ''");
  await eventually(async () =>
    assert.equal(await page.getByLabel("Search input and reply").inputValue(), ""),
  );
});

test("traces can be filtered by test case and check type", async () => {
  const { page, complaints } = await openTraces(async (agentId, owner) => {
    const { id } = await makeTest(owner, agentId, { name: "Answers politely" });
    await store(agentId, { userInput: "judged by it", run: { ...passed, testIds: [id] } });
    await store(agentId, { userInput: "judged by another", run: passed });
  });
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Test case" }).click();
  await page.getByRole("button", { name: "Answers politely" }).click();
  await page.getByRole("button", { name: "Any outcome" }).click();
  await page.getByRole("button", { name: "Test case: Answers politely", exact: true }).waitFor();
  await link(page, /judged by another/).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear all" }).click();
  await link(page, /judged by another/).waitFor();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Check type" }).click();
  await page.getByRole("button", { name: "Response time" }).click();
  await link(page, /judged by another/).waitFor({ state: "detached" });
  await link(page, /judged by it/).waitFor();
  assert.deepEqual(complaints, []);
});

test("new traces appear at the top, wait behind a pill when scrolled down, and are held back while paused", async () => {
  const { page, agent, complaints } = await openTraces(agentId =>
    storeTraces(browser.service.db, agentId, 300),
  );
  await isLive(page);
  await storeAndPublish(agent.id, { userInput: "the first new one" });
  await link(page, /the first new one/).waitFor();

  await page.mouse.wheel(0, 6_200);
  await link(page, /Question 110:/).waitFor();
  // Hovering waits for the end of the scrolling.
  await link(page, /Question 110:/).hover({ trial: true });
  const seen = await link(page, /Question 110:/).boundingBox();
  await storeAndPublish(agent.id, { userInput: "the second new one" });
  await storeAndPublish(agent.id, { userInput: "the third new one" });
  const pill = page.getByRole("button", { name: /^2 new/ });
  await pill.waitFor();
  await assertAccessible(page);
  await eventually(async () =>
    assert.deepEqual(await link(page, /Question 110:/).boundingBox(), seen, "nothing moved"),
  );
  await pill.click();
  await link(page, /the third new one/).waitFor();
  await link(page, /the second new one/).waitFor();
  await becomesTrue(page, "scrollY === 0");
  await pill.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await storeAndPublish(agent.id, { userInput: "while paused" });
  const asked: string[] = [];
  page.on("request", request => {
    if (request.url().includes("/traces?")) asked.push(request.url());
  });
  await publish({ type: "refresh", agentId: agent.id });
  await page.getByRole("button", { name: "Resume" }).click();
  await link(page, /while paused/).waitFor();
  assert.equal(asked.length, 1, "one look says it all");
  assert.deepEqual(complaints, []);
});

test("when more traces arrived than one page holds, the pill says so and reloads the list", async () => {
  const { page, agent } = await openTraces(agentId => storeTraces(browser.service.db, agentId, 250));
  await isLive(page);
  await link(page, /Question 1:/).waitFor();
  await page.mouse.wheel(0, 5_000);
  await link(page, /Question 90:/).waitFor();
  for (let number = 1; number <= 130; number++) await store(agent.id, { userInput: `burst ${number}.` });
  await publish({ type: "refresh", agentId: agent.id });
  await page.getByRole("button", { name: /^100\+ new/ }).click();
  await link(page, /burst 130\./).waitFor();
  for (const text of [/burst 30\./, /burst 1\./, /Question 1:/, /Question 250:/]) {
    await eventually(async () => {
      // Starts at the top again if a slow page scrolled past the row.
      const isAtEnd = await page.evaluate(
        "scrollY + innerHeight > document.documentElement.scrollHeight - 2",
      );
      await page.mouse.wheel(0, isAtEnd ? -100_000 : 600);
      assert.ok(await link(page, text).count());
    });
  }
});

test("a trace's verdict appears in its row when its run completes", async () => {
  const { page, owner, agent, complaints } = await openTraces((agentId, owner) => makeTest(owner, agentId));
  await page.getByRole("heading", { name: "No traces yet" }).waitFor();
  await page.getByText("Listening").waitFor();
  await isLive(page);
  const { key } = await makeKey(owner);
  const begun = 1_700_000_000_000_000_000n;
  const span = canonicalSpan({
    start_time_unix_nano: String(begun),
    end_time_unix_nano: String(begun + 250_000_000n),
    attributes: { "gen_ai.prompt": "Is it quick?" },
  });
  await send({ url: browser.service.url, key }, { body: canonicalBody(agent.id, { spans: [span] }) });
  await rowShows(page, "Is it quick?", "Passed", "1 of 1 test passed", "250 ms");
  assert.deepEqual(complaints, []);
});

test("a row far down the list updates in place and disappears when its trace is deleted", async () => {
  const { page, agent } = await openTraces(async agentId => {
    await store(agentId, {
      userInput: "the oldest",
      receivedAt: new Date(Date.now() - 3_600_000),
      run: { state: "pending", dueAt: new Date(Date.now() + 3_600_000) },
    });
    await storeTraces(browser.service.db, agentId, 250);
  });
  await isLive(page);
  await eventually(async () => {
    await page.mouse.wheel(0, 2_000);
    assert.ok(await link(page, /the oldest/).count());
  });
  await rowShows(page, "the oldest", "Pending");
  const { rows } = await browser.service.db.pool.query<{ id: string; trace_id: string }>(
    "delete from queue where agent_id = $1 and state = 'pending' returning id, trace_id",
    [agent.id],
  );
  const { id: runId, trace_id: traceId } = rows[0]!;
  await storeRun(browser.service.db, { agentId: agent.id, traceId }, failed);
  await publish({ type: "run", agentId: agent.id, traceId, runId, state: "completed", verdict: "failed" });
  await rowShows(page, "the oldest", "Failed", "3 of 4 tests passed");
  await publish({ type: "trace", agentId: agent.id, traceId, change: "deleted" });
  await link(page, /the oldest/).waitFor({ state: "detached" });
});

test("every state is shown in words: a pending trace counts down, and one that was not evaluated says why", async () => {
  const { page, complaints } = await openTraces(async agentId => {
    const soon = new Date(Date.now() + 3_600_000);
    await store(agentId, { userInput: "a pending one", run: { state: "pending", dueAt: soon } });
    await store(agentId, { userInput: "a running one", run: { state: "running" } });
    await store(agentId, {
      userInput: "a broken one",
      run: { state: "error", error: "It ended its worker." },
    });
    await store(agentId, { userInput: "without a run" });
    await store(agentId, { userInput: "a failed one", run: failed, failed: true, httpStatus: 503 });
    await store(agentId, {
      userInput: "an uninstrumented one",
      run: {
        state: "completed",
        verdict: "missing_instrumentation",
        counts: { passed: 2, missing_instrumentation: 1 },
      },
    });
    await store(agentId, {
      userInput: "an unrouted one",
      run: { ...passed, routing: "unavailable" },
    });
    await store(agentId, {
      userInput: "unrouted alone",
      run: { state: "completed", routing: "unavailable" },
    });
    await store(agentId, {
      userInput: null,
      name: "silent",
      run: { state: "completed", routing: "no_user_input" },
    });
    await store(agentId, { userInput: "sent again", path: "canonical", revision: 2 });
    await store(agentId, { userInput: "in batches", path: "otlp", revision: 4 });
    await store(agentId, { userInput: "by hand", kind: "test_run", run: passed });
  });
  await rowShows(page, "a pending one", "Pending", "in 60 min");
  await rowShows(page, "a running one", "Running");
  await rowShows(page, "a broken one", "Error", "It ended its worker.");
  await rowShows(page, "without a run", "Not evaluated", "no eligible test");
  await rowShows(
    page,
    "a failed one",
    "Failed",
    "3 of 4 tests passed",
    "3 passed, 1 failed, 1 skipped",
    "Failed span",
    "503",
  );
  await rowShows(page, "an uninstrumented one", "Missing instrumentation", "1 test");
  await rowShows(page, "an unrouted one", "Passed", "1 of 1 test passed", "Routing unavailable");
  await rowShows(page, "unrouted alone", "Completed", "Routing unavailable");
  await rowShows(page, "silent", "Completed", "no user input");
  await rowShows(page, "sent again", "Replaced");
  await rowShows(page, "in batches", "Merged");
  await rowShows(page, "by hand", "Test run");
  await page.setViewportSize({ width: 900, height: 800 });
  assert.deepEqual(complaints, []);
});

test("the keyboard moves between rows and opens one, and Back returns to the same row and scroll position", async () => {
  const { page, complaints } = await openTraces(agentId => storeTraces(browser.service.db, agentId, 400));
  await link(page, /Question 1:/).waitFor();
  const isAt = (number: number) =>
    becomesTrue(page, `document.activeElement.textContent.includes("Question ${number}:")`);
  await page.keyboard.press("j");
  await isAt(1);
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowDown");
  await isAt(3);
  await page.keyboard.press("k");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await isAt(1);
  for (let number = 2; number <= 60; number++) await page.keyboard.press("j");
  await isAt(60);
  await becomesTrue(page, "scrollY > 500");
  // Hovering waits for the end of the scrolling.
  await link(page, /Question 60:/).hover({ trial: true });
  const place = await page.evaluate("scrollY");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}$/);
  await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor({ state: "detached" });
  await page.goBack();
  await isAt(60);
  await becomesTrue(page, `Math.abs(scrollY - ${place}) < 2`);
  await page.keyboard.press("j");
  await isAt(61);
  await page.keyboard.press("Escape");
  await becomesTrue(page, "document.activeElement === document.body");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Next trace").waitFor();
  assert.deepEqual(complaints, []);
});

test("a click anywhere in a row opens its trace, in a new tab with the modifier key", async () => {
  const { page, path } = await openTraces(agentId => store(agentId, { userInput: "open me" }));
  const href = await link(page, /open me/).getAttribute("href");
  assert.match(href!, new RegExp(`^${path}/[0-9a-f-]{36}$`));
  const opened = page.context().waitForEvent("page");
  await page
    .getByRole("table")
    .locator("time")
    .click({ modifiers: ["ControlOrMeta"] });
  await eventually(async () => assert.equal(new URL((await opened).url()).pathname, href));
  await eventually(() => assert.ok(page.url().endsWith("/traces")));
  await page.getByRole("table").locator("time").click();
  await becomesTrue(page, `location.pathname === '${href}'`);
});

test("thousands of rows load while scrolling, with few in the DOM at any time", async () => {
  const { page, complaints } = await openTraces(agentId => storeTraces(browser.service.db, agentId, 3_000));
  await link(page, /Question 1:/).waitFor();
  let most = 0;
  await eventually(async () => {
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    most = Math.max(most, await page.evaluate<number>("document.querySelectorAll('*').length"));
    assert.ok(await link(page, /Question 3000:/).count());
  });
  await page.getByText("3,000 traces").waitFor();
  assert.ok(most < 1_500, `${most} nodes`);
  await eventually(async () =>
    assert.equal(await page.getByRole("table").getAttribute("aria-rowcount"), "3001"),
  );
  await eventually(async () =>
    assert.equal(await row(page, "Question 3000:").getAttribute("aria-rowindex"), "3001"),
  );
  await page.keyboard.press("Home");
  await page.evaluate("scrollTo(0, 0)");
  await link(page, /Question 1:/).waitFor();
  assert.deepEqual(complaints, []);
});

test("hostile texts are shown as plain text", async () => {
  const hostile = {
    markup: "<img src=x onerror=alert(1)><script>alert(2)</script>",
    override: "\u202Egnirts desrever",
    endless: "W".repeat(500),
  };
  const { page, complaints } = await openTraces(async agentId => {
    for (const text of Object.values(hostile)) {
      await store(agentId, { name: text, userInput: text, externalId: text.slice(0, 255) });
    }
  });
  page.on("dialog", () => assert.fail("a script ran"));
  await link(page, hostile.markup).first().waitFor();
  await eventually(async () => assert.equal(await page.getByRole("table").locator("img, script").count(), 0));
  await page.getByRole("button", { name: "Display" }).click();
  await page.getByRole("checkbox", { name: "External ID" }).check();
  await page.getByRole("columnheader", { name: "External ID" }).waitFor();
  await eventually(async () => {
    for (const one of await page.getByRole("row").all()) {
      const { height } = (await one.boundingBox())!;
      assert.ok(height <= 57, `a row is ${height} high`);
    }
  });
  await assertReflows(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("an empty result and an invalid filter in the URL both offer to clear the filters", async () => {
  const { page, path } = await openTraces(agentId => store(agentId, { userInput: "the only one" }), {
    query: "?text=something+else",
  });
  await page.getByRole("heading", { name: "No matching traces" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await link(page, /the only one/).waitFor();
  await page.goto(`${path}?verdict=splendid`);
  await page.getByText("Verdict: “splendid” is not a known value.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await link(page, /the only one/).waitFor();
  await page.goto(`${path}?receivedFrom=2026-03-04T00:00:00Z&receivedTo=2026-03-03T00:00:00Z`);
  await page.getByText("Received: “Before” must be later than “From”.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await link(page, /the only one/).waitFor();
  await page.getByRole("link", { name: "Test runs" }).click();
  await page.getByRole("heading", { name: "No test runs yet" }).waitFor();
  await page.getByRole("link", { name: "Show all traces" }).click();
  await link(page, /the only one/).waitFor();
});

test("a list that fails to load shows code and request id, and Retry loads it", async () => {
  const { page } = await openTraces(agentId => store(agentId, { userInput: "there again" }));
  const requestId = "0b5f3f39-9c0d-4f8a-8b51-000000000000";
  await page.route("**/api/agents/*/traces?*", route =>
    route.fulfill({ status: 500, json: { code: "INTERNAL", message: "Something went wrong.", requestId } }),
  );
  await page.reload();
  await page.getByRole("alert").getByText(requestId).waitFor();
  await page.unroute("**/api/agents/*/traces?*");
  await page.getByRole("button", { name: "Retry" }).click();
  await link(page, /there again/).waitFor();
});

test("without an event stream the list shows Reconnecting and polls, and later is live again", async () => {
  const { page, agent } = await openTraces(agentId => store(agentId, { userInput: "there" }));
  await page.route("**/api/events*", route => route.abort());
  await page.reload();
  await page.getByText("Reconnecting", { exact: true }).waitFor();
  await link(page, /there/).waitFor();
  await store(agent.id, { userInput: "came meanwhile" });
  await link(page, /came meanwhile/).waitFor();
  await page.unroute("**/api/events*");
  await isLive(page);
});

test("on a narrow screen every row is a card, and nothing is cut off", async () => {
  const { page, path, complaints } = await openTraces(
    async agentId => {
      await store(agentId, { userInput: "a failed one", failed: true, revision: 2, run: failed });
      await storeTraces(browser.service.db, agentId, 60);
    },
    { viewport: { width: 320, height: 640 } },
  );
  await link(page, /a failed one/).waitFor();
  await rowShows(page, "a failed one", "Failed", "3 of 4 tests passed");
  await assertReflows(page);
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("button", { name: "Received" }).click();
  await page.getByRole("button", { name: "Last hour" }).waitFor();
  await assertReflows(page);
  await page.getByRole("button", { name: "Last hour" }).click();
  await page.getByRole("button", { name: "Clear all" }).waitFor();
  await assertReflows(page);
  await page.goto(`${path}?kind=test_run`);
  await page.getByRole("heading", { name: "No test runs yet" }).waitFor();
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});
