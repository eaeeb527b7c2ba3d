// Browser tests of the test case editor: form, JSON, validation, saving, unsaved changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesTrue, framesPass, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  addAssertion,
  card,
  documentIn,
  foldOf,
  jsonOf,
  openCard,
  openSection,
  openWorld,
  saveButton,
  show,
} from "./editor-world.ts";

const browser = useBrowser();

test("form and JSON edit one document; invalid JSON shows its position and leaves the form unchanged", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const assertions = [{ type: "semantic", criteria: "Is kind." }];
  const { id } = await makeTest(owner, agent.id, { assertions });
  await world.open(`/${id}`);
  const json = jsonOf(page);
  await openSection(page, "Name");
  await page.getByLabel("Name", { exact: true }).fill("Renamed in the form");
  await show(page, "JSON");
  const written = JSON.parse(await json.inputValue());
  assert.equal(written.name, "Renamed in the form");
  const renamed = { ...written, name: "Renamed in JSON", threshold: 0.9 };
  await json.fill(JSON.stringify(renamed));
  await page.getByRole("button", { name: "Format" }).click();
  await eventually(async () => assert.equal(await json.inputValue(), JSON.stringify(renamed, null, 2)));
  await show(page, "Form");
  await becomesTrue(page, "document.querySelector('[data-path=name]').value === 'Renamed in JSON'");
  await page.getByText("Strict: small flaws fail.").waitFor();
  await show(page, "JSON");

  await json.fill('{\n  "name": "Broken",\n  "turns": [,]\n}');
  await page.getByText("Line 3, column 13: Expected a value.").waitFor();
  await assertAccessible(page);
  await show(page, "Form");
  await page.getByText("the form shows the last valid version").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Renamed in JSON"),
  );
  await page.keyboard.press("Control+s");
  await becomesTrue(page, "document.activeElement.getAttribute('aria-label') === 'Test case JSON'");
  await page.getByRole("button", { name: "Restore last valid version" }).click();
  await eventually(async () => assert.equal(await json.inputValue(), JSON.stringify(renamed, null, 2)));
  await page.keyboard.press("Control+s");
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual([body.name, body.threshold], ["Renamed in JSON", 0.9]);
});

test("Tab moves the focus out of the JSON", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new?view=json");
  await jsonOf(page).focus();
  const before = await jsonOf(page).inputValue();
  await page.keyboard.press("Tab");
  await becomesTrue(page, "document.activeElement.tagName !== 'TEXTAREA'");
  await eventually(async () => assert.equal(await jsonOf(page).inputValue(), before));
});

test("errors of a pattern and a schema appear at their fields and link to the JSON", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new");
  await addAssertion(page, "Response regex");
  const pattern = card(page, 1).getByLabel("Pattern");
  await pattern.fill("(?=order)");
  await card(page, 1).getByText("Look-around is not supported").waitFor();
  // Until the service has answered about the new text, nothing is said of it.
  await page.route("**/tests/validate", () => {});
  await pattern.press("End");
  await pattern.press("x");
  await card(page, 1).getByText("Look-around is not supported").waitFor({ state: "detached" });
  await page.unroute("**/tests/validate");
  await pattern.fill("(?=order)");
  await card(page, 1).getByText("Look-around is not supported").waitFor();
  await eventually(async () => assert.equal(await pattern.getAttribute("aria-invalid"), "true"));
  await eventually(async () => {
    const described = (await pattern.getAttribute("aria-describedby"))?.split(" ")[0];
    assert.match(await page.locator(`[id="${described}"]`).innerText(), /Look-around/);
  });

  await addAssertion(page, "JSON schema");
  const schema = card(page, 2).getByLabel("JSON schema", { exact: true });
  await schema.fill('{"type": "objekt"');
  await card(page, 2).getByText("Invalid JSON, line 1, column 18").waitFor();
  await saveButton(page).click();
  await becomesTrue(page, "document.activeElement.hasAttribute('data-unread')");
  await schema.fill('{"properties": {"id": {"type": "objekt"}}}');
  await card(page, 2).getByText("properties.id.type: Must be one of array").waitFor();
  await show(page, "JSON");
  await page.getByRole("button", { name: "assertions[0].pattern" }).click();
  const selected =
    "document.activeElement.value?.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)";
  await eventually(async () => assert.equal(await page.evaluate(selected), '"(?=order)"'));
});

for (const isCallable of [true, false]) {
  const what = isCallable ? "with a connection" : "without a connection";
  test(`opening a new test of an agent ${what} sends no request that fails`, async () => {
    const world = await openWorld(browser, { isCallable });
    const { page } = world;
    const failed: string[] = [];
    page.on("response", response => {
      if (response.status() >= 400) failed.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    await world.open("/new");
    await page.getByText("Cannot be saved yet: fields are empty or invalid.").waitFor();
    await page.waitForLoadState("networkidle");
    assert.deepEqual(failed, []);
    const validated = page.waitForResponse("**/tests/validate");
    await openSection(page, "Name");
    await page.getByLabel("Name", { exact: true }).fill("Answers");
    await validated;
  });
}

test("saving an invalid test lists every error and focuses the first field", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new");
  await page.getByText("Cannot be saved yet: fields are empty or invalid.").waitFor();
  assert.equal(await page.getByText("Must not be blank.").count(), 0, "not shown until the field is due");
  await saveButton(page).click();
  await page.getByRole("alert").getByRole("button", { name: "name" }).waitFor();
  await becomesTrue(page, "document.activeElement.dataset.path === 'name'");
  await page.getByRole("alert").getByRole("button", { name: "turns[0].input" }).click();
  await becomesTrue(page, "document.activeElement.dataset.path === 'turns[0].input'");
  assert.deepEqual(await world.counts(), { tests: 0, runs: 0 });
});

test("leaving an empty field by a click on a button shows its error after the click", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new");
  const validated = page.waitForResponse(
    response =>
      response.url().endsWith("/tests/validate") && response.request().postDataJSON().assertions.length === 1,
  );
  await addAssertion(page, "Node call");
  await card(page, 1).getByLabel("Step name").focus();
  await validated;
  const add = page.getByRole("button", { name: "Add check" });
  await add.scrollIntoViewIfNeeded();
  await add.hover();
  await page.mouse.down();
  // Frames in which the error would be shown, and the button would move down from under the pointer.
  await framesPass(page);
  await page.mouse.up();
  await page.getByRole("button", { name: /^JSON schema/ }).click();
  await card(page, 2).getByLabel("JSON schema", { exact: true }).waitFor();
  await card(page, 1).getByText("Must not be empty.").waitFor();
});

test("a template fills a new test", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new?template=answers");
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].type, "response_regex"));
  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  assert.equal((await world.counts()).tests, 1);
});

test("leaving unsaved changes asks for confirmation, and Stay keeps them", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  await world.open(`/${id}`);
  await page.getByRole("link", { name: "Insights" }).click();
  await page.waitForURL(/\/insights$/);
  await page.goBack();
  await openSection(page, "Name");
  await page.getByLabel("Name", { exact: true }).fill("Half written");
  await page.getByRole("link", { name: "Insights" }).click();
  const guard = page.getByRole("alertdialog", { name: "Leave without saving?" });
  await guard.waitFor();
  await guard.getByRole("button", { name: "Stay" }).click();
  await guard.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Half written"),
  );
  const asked = page.waitForEvent("dialog");
  void page.evaluate("location.reload()").catch(() => {});
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  await page.getByRole("link", { name: "Insights" }).click();
  await guard.getByRole("button", { name: "Leave" }).click();
  await page.waitForURL(/\/insights$/);
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.equal(body.name, "Answers quickly");
});

test("a version that someone else saved in the meantime is not overwritten without confirmation", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  const nameNow = async () => (await owner.client.read(`/api/tests/${id}`)).name;
  await world.open(`/${id}`);
  await openSection(page, "Name");
  await owner.client.patch(`/api/tests/${id}`, { name: "Theirs" }).expect(200);
  await page.getByLabel("Name", { exact: true }).fill("Mine");
  await saveButton(page).click();
  const conflict = page.getByRole("alertdialog", { name: "Test case changed" });
  await conflict.getByText("Changed: name.", { exact: false }).waitFor();
  await assertAccessible(page);
  await eventually(async () => assert.equal(await nameNow(), "Theirs"));
  await conflict.getByRole("button", { name: "Load their version" }).click();
  await eventually(async () =>
    assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Theirs"),
  );
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();

  await owner.client.patch(`/api/tests/${id}`, { name: "Theirs again" }).expect(200);
  await page.getByLabel("Name", { exact: true }).fill("Mine again");
  await saveButton(page).click();
  await conflict.getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  await eventually(async () => assert.equal(await nameNow(), "Mine again"));

  await owner.client.delete(`/api/tests/${id}`).expect(204);
  await page.getByLabel("Name", { exact: true }).fill("Rescued");
  await saveButton(page).click();
  await page.getByRole("button", { name: "Save as new test case" }).click();
  await page.waitForURL(url => !url.pathname.endsWith(id));
  await page.getByRole("heading", { level: 1, name: "Rescued" }).waitFor();
});

test("a status that is changed while the test is being saved follows it, and is no conflict", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**/api/tests/${id}`, async route => {
    if (route.request().method() !== "PUT") return route.continue();
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  await world.open(`/${id}`);
  await openSection(page, "Name");
  await page.getByLabel("Name", { exact: true }).fill("Slow");
  const stored = page.waitForRequest(request => request.method() === "PUT");
  await saveButton(page).click();
  await stored;
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  release();
  await page.getByText("Test case disabled").waitFor();
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual([body.name, body.status], ["Slow", "disabled"]);
  await page.getByLabel("Name", { exact: true }).fill("Slow again");
  await saveButton(page).click();
  await page.getByRole("heading", { level: 1, name: "Slow again" }).waitFor();
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
});

test("a second turn shows that the test runs manually only", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  await world.open(`/${id}`);
  await page.getByText("Evaluates new live traces").waitFor();
  await openSection(page, "The user says");
  await page.getByRole("button", { name: "Add another turn" }).click();
  await page.getByLabel("User message, turn 2").fill("And then?");
  await page.getByText("Tests with several turns can only be run manually. They do not").first().waitFor();
  await page.getByText("Manual runs only, because it does not have exactly one turn.").waitFor();
  await page.getByRole("button", { name: "Remove turn 2" }).click();
  await page.getByText("Evaluates new live traces").waitFor();
});

test("assertions can be moved, duplicated and removed, and removal can be undone", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const assertions = [
    { id: "fast", type: "response_time", max_ms: 1000 },
    { id: "ok", type: "http_status", expected_status: [200, 201], depends_on: "fast" },
  ];
  const { id } = await makeTest(owner, agent.id, { assertions });
  const ids = async () => (await documentIn(page)).assertions.map((one: { id: string }) => one.id);
  await world.open(`/${id}`);
  await page.getByRole("button", { name: "Move 2. HTTP status up" }).focus();
  await page.keyboard.press("Enter");
  await eventually(async () => assert.deepEqual(await ids(), ["ok", "fast"]));
  await becomesTrue(page, "document.activeElement.getAttribute('aria-label') === 'Move 1. HTTP status up'");
  await page.getByRole("button", { name: "Duplicate 1. HTTP status" }).click();
  await eventually(async () => assert.deepEqual(await ids(), ["ok", "a1", "fast"]));
  await page.getByRole("button", { name: "Remove 3. Response time" }).click();
  await eventually(async () => assert.deepEqual(await ids(), ["ok", "a1"]));
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => assert.deepEqual(await ids(), ["ok", "a1", "fast"]));

  const first = await openCard(page, 1);
  await eventually(async () =>
    assert.equal(await first.getByLabel("Status", { exact: true }).inputValue(), "200, 201"),
  );
  await first.getByLabel("Status", { exact: true }).fill("2xx");
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].expected_status, "2xx"));
  await (await openCard(page, 3)).getByText("ID fast").click();
  await card(page, 3).getByLabel("ok", { exact: true }).check();
  await card(page, 3).getByText("Circular dependency").waitFor();
});

test("a test can be disabled, duplicated and deleted in the editor", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  await world.open(`/${id}`);
  const more = page.getByRole("button", { name: "More" });
  await more.click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("Disabled: does not run on live traffic.").waitFor();
  assert.equal((await owner.client.get(`/api/tests/${id}`)).body.status, "disabled");
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
  await more.click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("heading", { level: 1, name: "Answers quickly (copy)" }).waitFor();
  await more.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByLabel(/^Type “/).fill("Answers quickly (copy)");
  await page.getByRole("button", { name: "Delete test case" }).click();
  await page.waitForURL(/\/tests$/);
  assert.equal((await world.counts()).tests, 1);
});

test("the copy of a test, and its run, do not open once the user has left the page", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id);
  const connection = {
    type: "http_api",
    method: "POST",
    url: "https://agent.example/",
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "text" },
    headers: [],
    waitMs: 1_000,
    concurrency: 1,
  };
  await owner.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
  const list = page.getByRole("heading", { level: 1, name: "Test cases" });
  /** Leaves the page between a request and its answer. */
  const leaveDuring = async (url: string, press: () => Promise<void>) => {
    const sent = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    await page.route(url, async request => {
      if (request.request().method() !== "POST") return request.continue();
      sent.resolve();
      await left.promise;
      await request.continue();
    });
    await world.open(`/${id}`);
    await press();
    await sent.promise;
    await page.getByRole("link", { name: "Test cases", exact: true }).first().click();
    await list.waitFor();
    left.resolve();
  };
  await leaveDuring("**/api/agents/*/tests", async () => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
  });
  await page.getByText("Created “Answers quickly (copy)” (disabled)").waitFor();
  await page.getByRole("link", { name: "Answers quickly (copy)" }).first().waitFor();
  await leaveDuring("**/api/agents/*/launches", () => page.getByRole("button", { name: "Run now" }).click());
  await page.getByText("Run started").waitFor();
  assert.match(page.url(), /\/tests$/);
  await list.waitFor();
});

test("a test can be created by keyboard alone", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { keyboard } = page;
  await world.open("/new");
  await page.getByLabel("Name", { exact: true }).focus();
  await keyboard.type("By keyboard");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await keyboard.press("Tab");
  await keyboard.press("ArrowUp");
  await page.getByRole("button", { name: /^The user says/ }).focus();
  await keyboard.press("Enter");
  await page.getByLabel("User message").focus();
  await keyboard.type("Hello");
  await page.getByRole("button", { name: "Add check" }).focus();
  await keyboard.press("Enter");
  const type = page.getByRole("button", { name: /^Response time/ });
  await type.focus();
  await keyboard.press("Escape");
  await becomesTrue(page, "document.activeElement.textContent === 'Add check'");
  await keyboard.press("Enter");
  await type.focus();
  await keyboard.press("Enter");
  await becomesTrue(page, "document.activeElement.dataset.path === 'assertions[0].max_ms'");
  await keyboard.press("Control+a");
  await keyboard.type("1500");
  await keyboard.press("Control+s");
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/agents/${agent.id}/tests`);
  const { name, passiveBehavior, assertions } = body.items[0]!;
  assert.deepEqual([name, passiveBehavior], ["By keyboard", "always_run"]);
  assert.deepEqual(assertions[0], { ...assertions[0], max_ms: 1500 });
});

test("below 1280 pixels the views are tabs kept in the URL, and nothing overflows at 320", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, {
    name: "A name-that-is-one-long-word-without-a-break-in-it".repeat(3),
  });
  await page.setViewportSize({ width: 320, height: 640 });
  await world.open(`/${id}`);
  await addAssertion(page, "JSON schema");
  await assertReflows(page);
  await page.getByRole("link", { name: "JSON", exact: true }).click();
  await jsonOf(page).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("form", { name: "Form" }).count(), 0));
  await eventually(async () =>
    assert.equal(
      await page.locator("nav[aria-label=Views] [aria-current=page]").allInnerTexts().then(String),
      "JSON",
    ),
  );
  await assertReflows(page);
  await page.getByRole("link", { name: "Dry run", exact: true }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Fix these first:").waitFor();
  await page.waitForURL(/view=try/);
  await assertReflows(page);
  await page.getByRole("button", { name: "assertions[1].field" }).click();
  await becomesTrue(page, "document.activeElement.dataset.path === 'assertions[1].field'");
});

test("a test of another agent, or an unknown one, is not found", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await page.goto(`${world.tests}/${crypto.randomUUID()}`);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  await assertAccessible(page);
});

test("a test of an agent without a connection asks for no message, and is saved with one", async () => {
  const world = await openWorld(browser, { isCallable: false });
  const { page, owner, agent, complaints } = world;
  await world.open("/new");
  await page.getByText("This agent has no connection").waitFor();
  assert.equal(await foldOf(page, "The user says").count(), 0);
  await page.getByLabel("Name", { exact: true }).fill("Answers");
  await page.getByRole("button", { name: "Always run" }).click();
  await addAssertion(page, "HTTP status");
  await page.getByText("Evaluates new live traces once saved").waitFor();
  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/agents/${agent.id}/tests`);
  assert.deepEqual(body.items[0]!.turns, [{ input: "Answers" }]);
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
  await openSection(page, "When it runs");
  await page.getByLabel("Manual runs only").check();
  await foldOf(page, "The user says").waitFor();
  assert.deepEqual(complaints, []);
});

test("sections and checks are one line each, and those with an error open when saving is tried", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, {
    scenario: "The user asks for a refund.",
    assertions: [
      {
        type: "tool_call",
        expected_name: "apply_discount",
        expected_arguments: { percent: { $gt: 20 } },
        negate: true,
      },
      { type: "semantic", criteria: ["Is kind.", "Names the day."], depends_on: "a1" },
      { type: "response_time", max_ms: 2_000 },
    ],
  });
  await world.open(`/${id}`);
  const sentence = (at: number) => card(page, at).locator(".editor-sentence");
  await eventually(async () =>
    assert.deepEqual(await Promise.all([1, 2, 3].map(at => sentence(at).innerText())), [
      "Must not be called: apply_discount with percent > 20.",
      "The judge must score the reply at least 0.7. Is kind. Names the day. Only if a1 passes.",
      "Must take at most 2 s.",
    ]),
  );
  await page.getByRole("button", { name: "Scenario The user asks for a refund." }).waitFor();
  await page.getByLabel("Status", { exact: true }).selectOption("Disabled");
  await page.getByText("Disabled: does not run on live traffic.").waitFor();
  await page.getByLabel("Status", { exact: true }).selectOption("Active");

  await (await openCard(page, 3)).getByLabel("Max milliseconds").fill("");
  await openSection(page, "Name");
  await page.getByLabel("Name", { exact: true }).fill("");
  await card(page, 3).locator(".editor-fold").click();
  await foldOf(page, "Name").click();
  await page.getByRole("button", { name: /^Checks/ }).click();
  await page.getByRole("button", { name: /^Checks 3 This field is required/ }).waitFor();
  await saveButton(page).click();
  await becomesTrue(page, "document.activeElement.dataset.path === 'name'");
  await card(page, 3).getByText("This field is required.").waitFor();
  await page.getByRole("alert").getByRole("button", { name: "assertions[2].max_ms" }).click();
  await becomesTrue(page, "document.activeElement.dataset.path === 'assertions[2].max_ms'");
});

test("a status changed in the palette shows in the editor, which keeps what was typed", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, { name: "Greets back" });
  await world.open(`/${id}`);
  await openSection(page, "Name");
  await page.getByLabel("Name", { exact: true }).fill("Greets politely");
  const status = page.getByLabel("Status", { exact: true });
  const choose = async (text: string, label: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search pages and actions" }).fill(text);
    await page.getByRole("option").first().getByText(label, { exact: true }).waitFor();
    await page.keyboard.press("Enter");
  };
  await choose("disable greets", "Disable test: Greets back");
  await page.getByText("“Greets back” disabled").waitFor();
  await eventually(async () => assert.equal(await status.inputValue(), "disabled"));
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Greets politely");

  await show(page, "JSON");
  await jsonOf(page).fill("{");
  await choose("activate greets", "Activate test: Greets back");
  await page.getByText("“Greets back” activated").waitFor();
  await eventually(async () => assert.equal(await status.inputValue(), "active"));
  assert.equal(await jsonOf(page).inputValue(), "{");
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual([body.name, body.status], ["Greets back", "active"]);
});
