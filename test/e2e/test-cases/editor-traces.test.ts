// Browser tests of the editor with the agent's traces: dry runs, suggestions, drafts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  addAssertion,
  card,
  documentIn,
  openSection,
  openWorld,
  orderSpans,
  saveButton,
} from "./editor-world.ts";

const browser = useBrowser();

test("a test can be written in the form, dry-run without storing anything, and saved at its own URL", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent, traceId, complaints } = world;
  await world.open("/new");
  await page.getByLabel("Name", { exact: true }).fill("Tells where the order is");
  await openSection(page, "When it runs");
  await page.getByLabel("Always run").check();
  await openSection(page, "The user says");
  await page.getByLabel("User message").fill("Where is my order?");
  await addAssertion(page, "Tool call");
  await card(page, 1).getByLabel("Tool name").fill("track_order");
  await addAssertion(page, "Response regex");
  await card(page, 2).getByLabel("Pattern").fill("refund");
  await page.getByText("Evaluates new live traces").waitFor();

  const before = await world.counts();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Failed, 2 of 2 checked").waitFor();
  await page.getByText("Not found in the reply:").waitFor();
  const checks = page.getByRole("list", { name: "Checks" }).getByRole("listitem");
  await checks.filter({ hasText: "Must be called: track_order" }).first().waitFor();
  const evidence = page.getByRole("link", { name: "Compose the answer · gen_ai.response.text" });
  const href = new URL((await evidence.getAttribute("href"))!, browser.origin);
  assert.equal(href.pathname, world.tests.replace(/tests$/, `traces/${traceId}`));
  assert.equal(href.search, "?span=compose&attribute=gen_ai.response.text");
  await assertAccessible(page);
  await card(page, 2).getByLabel("Rule").selectOption("The pattern must not match");
  await page.getByText("Outdated: the test has changed.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText("Passed, 2 of 2 checked").waitFor();
  assert.deepEqual(await world.counts(), before);

  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  await page.waitForURL(/\/tests\/[0-9a-f-]{36}$/);
  const body = await owner.client.read(`/api/agents/${agent.id}/tests`);
  await eventually(() => assert.equal(page.url().endsWith(body.items[0]!.id), true));
  assert.deepEqual(
    [body.items[0]!.name, body.items[0]!.passiveBehavior, body.items[0]!.assertions.length],
    ["Tells where the order is", "always_run", 2],
  );
  assert.equal(body.items[0]!.assertions[1]!.negate, true);
  await page.getByRole("heading", { level: 1, name: "Tells where the order is" }).waitFor();
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
  assert.equal(await page.getByText("Passed, 2 of 2 checked").count(), 1, "the dry run outlives the save");
  assert.equal(await page.getByText("Outdated: the test has changed.").count(), 0);
  await page.getByLabel("Name", { exact: true }).fill("Tells more");
  await page.getByText("Unsaved changes").waitFor();
  assert.equal(await page.getByText("Outdated: the test has changed.").count(), 0);
  await page.getByRole("link", { name: "Insights" }).click();
  await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
  await page.getByRole("button", { name: "Stay" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Tells where the order is");
  assert.deepEqual(complaints, []);
});

test("names, attributes and values are suggested from the agent's traces, hostile text included", async () => {
  const world = await openWorld(browser);
  const { page, complaints } = world;
  const hostile = '<img src=x onerror="alert(1)">\u202e';
  await world.send([
    { span_id: "1", name: hostile, attributes: { __proto__key: 1, [`${hostile}"]`]: "</script>" } },
  ]);
  await world.open("/new");
  await page.getByText("Suggestions come from the latest 2 traces").waitFor();
  await addAssertion(page, "JSON match");
  const span = card(page, 1).getByLabel("Span", { exact: true });
  await span.fill("compose");
  await page.getByRole("option", { name: /^Compose the answer/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await span.inputValue(), "Compose the answer"));
  const attribute = card(page, 1).getByLabel("Attribute", { exact: true });
  await attribute.fill("customer");
  await page.getByRole("option", { name: /^shop\.customer/ }).click();
  await card(page, 1).getByRole("button", { name: '{"tier":"gold","orders":12}' }).click();
  await eventually(async () =>
    assert.deepEqual((await documentIn(page)).assertions[0].expected_value, { tier: "gold", orders: 12 }),
  );

  await span.fill("<img");
  await page.getByRole("option").getByText(hostile).click();
  await attribute.click();
  await page.getByRole("option").filter({ hasText: '"]' }).click();
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].field, `${hostile}"]`));
  await span.fill("free text");
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].target_node, "free text"));

  await addAssertion(page, "Tool call");
  await card(page, 2).getByLabel("Tool name").click();
  await page.getByRole("option", { name: /^track_order/ }).click();
  await card(page, 2).getByRole("button", { name: 'order_id: "A-20418"' }).click();
  await card(page, 2).getByRole("button", { name: "express: true" }).click();
  await eventually(async () =>
    assert.deepEqual((await documentIn(page)).assertions[1].expected_arguments, {
      order_id: "A-20418",
      express: true,
    }),
  );
  await eventually(async () => assert.equal(await page.locator("img").count(), 0));
  assert.deepEqual(complaints, []);
});

test("a test is drafted from a trace, and an assertion from a value is drafted only once", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent, traceId } = world;
  await world.open(`/new?trace=${traceId}`);
  await eventually(async () => {
    const drafted = await documentIn(page);
    assert.equal(drafted.turns[0].input, "Where is my order A-20418?");
    assert.ok(drafted.assertions.some((one: { type: string }) => one.type === "tool_call"));
  });
  await page.getByText("Evaluates new live traces once saved: every one, with").waitFor();

  const [root, ...others] = orderSpans;
  const failed = await world.send([{ ...root, status: { code: 2 } }, ...others.slice(0, 1)]);
  await world.open(`/new?trace=${failed}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("This trace fails it, as it should.").waitFor();

  const { id } = await makeTest(owner, agent.id);
  const place = new URLSearchParams({
    trace: traceId,
    span: "compose",
    attribute: "shop.customer",
    path: '["tier"]',
  });
  await world.open(`/${id}?${place}`);
  await card(page, 2).getByText("Added from trace").waitFor();
  await becomesTrue(page, "document.activeElement.closest('li')?.innerText.includes('Added from trace')");
  await eventually(async () =>
    assert.deepEqual((await documentIn(page)).assertions[1].schema.properties, { tier: { const: "gold" } }),
  );
  await page.waitForURL(url => url.search === `?trace=${traceId}`);
  await becomesTrue(page, "document.activeElement.getBoundingClientRect().bottom <= innerHeight");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("A value matches.").waitFor();
  await page.getByText("Unsaved changes").waitFor();
  page.once("dialog", dialog => void dialog.accept());
  await page.reload();
  await saveButton(page).waitFor();
  await eventually(async () => assert.equal((await documentIn(page)).assertions.length, 1));
});

test("an assertion from a value in a new test is the only one there", async () => {
  const world = await openWorld(browser);
  const { page, traceId } = world;
  await world.open(`/new?trace=${traceId}&span=compose&attribute=shop.customer`);
  await card(page, 1).getByText("Added from trace").waitFor();
  await eventually(async () => {
    const { turns, assertions } = await documentIn(page);
    assert.deepEqual([turns[0].input, assertions.length], ["Where is my order A-20418?", 1]);
  });
});

test("a tool call of a trace becomes a test that it must not be called", async () => {
  const world = await openWorld(browser, { isCallable: false });
  const { page, owner, agent, traceId, tests, complaints } = world;
  await page.goto(tests.replace(/tests$/, `traces/${traceId}`));
  await page.getByRole("link", { name: "Forbid this call: track_order" }).click();
  await card(page, 1).getByText("Must not be called: track_order.").waitFor();
  await page.waitForURL(url => url.pathname.endsWith("/tests/new") && url.search === `?trace=${traceId}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("This trace fails it, as it should.").waitFor();
  await openSection(page, "When it runs");
  await page.getByLabel("Run when relevant").check();
  await page.getByRole("link", { name: "Connect a judge" }).waitFor();
  await saveButton(page).click();
  await page.getByText("Saved. It never runs on new traces, because no judge is configured.").waitFor();
  await page.getByRole("button", { name: "Always run" }).click();
  await page.getByText("Unsaved changes").waitFor();
  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/agents/${agent.id}/tests`);
  const { name, status, passiveBehavior, assertions } = body.items[0]!;
  assert.deepEqual(
    [name, status, passiveBehavior, assertions.map((one: { negate: boolean }) => one.negate)],
    ["Does not call track_order", "active", "always_run", [true]],
  );
  assert.deepEqual(complaints, []);
});

test("a trace in the URL that was deleted is told, and a dry run takes the latest one", async () => {
  const { page, owner, open, traceId, send } = await openWorld(browser);
  const latest = await send(orderSpans);
  await owner.client.delete(`/api/traces/${traceId}`).expect(204);
  await open(`/new?trace=${traceId}`);
  await page.getByText("was deleted or belongs to another agent. Nothing was drafted.").waitFor();
  await page.getByText("was deleted or belongs to another agent. The latest one is used.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Looks the order up");
  await openSection(page, "The user says");
  await page.getByLabel("User message").fill("Where is my order?");
  await addAssertion(page, "Tool call");
  await card(page, 1).getByLabel("Tool name").fill("track_order");
  const [sent] = await Promise.all([
    page.waitForRequest("**/tests/dry-run"),
    page.getByRole("button", { name: "Run", exact: true }).click(),
  ]);
  assert.equal(sent.postDataJSON().traceId, latest);
  await page.getByText("Passed, 1 of 1 checked").waitFor();
});

test("a missing value is reported and leaves the test unchanged", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent, traceId } = world;
  const { id } = await makeTest(owner, agent.id);
  await world.open(`/${id}?trace=${traceId}&span=compose&attribute=gone`);
  await page.getByRole("alert").getByText("The span has no such value.").waitFor();
  await eventually(async () => assert.equal((await documentIn(page)).assertions.length, 1));
});

test("a dry run reports why it failed, and uses the chosen trace", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const [root, ...others] = orderSpans;
  const slow = await world.send([
    { ...root, name: "A slow one", end_time_unix_nano: "9000000000" },
    ...others,
  ]);
  const { id } = await makeTest(owner, agent.id, { assertions: [{ type: "response_time", max_ms: 2000 }] });
  await world.open(`/${id}?trace=${world.traceId}`);
  await page.route("**/tests/dry-run", route =>
    route.fulfill({
      status: 429,
      json: { code: "RATE_LIMITED", message: "At most 2 dry-runs at once; wait for one to end." },
    }),
  );
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("alert").getByText("At most 2 dry-runs at once").waitFor();
  await page.unroute("**/tests/dry-run");
  await page.getByLabel("Also check whether the scenario matches").check();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Passed, 1 of 1 checked").waitFor();
  await page.getByText("Would apply.").waitFor();

  await page.getByRole("button", { name: "Choose trace" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose trace" });
  await dialog.getByLabel("Search").fill("slow");
  await eventually(async () => assert.equal(await dialog.getByRole("listitem").count(), 1));
  await assertAccessible(page);
  await dialog.getByRole("button", { name: /A slow one/ }).click();
  await page.waitForURL(url => url.searchParams.get("trace") === slow);
  await page.getByText("This result is for another trace.").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Failed, 1 of 1 checked").waitFor();

  await addAssertion(page, "Response regex");
  await card(page, 2).getByLabel("Pattern").fill("(");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Fix these first:").waitFor();
});
