// The span tree: keyboard navigation, folding and search, with many and deep spans.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  conversation,
  item,
  named,
  openTracePages,
  pathOf,
  selects,
  span,
  tree,
} from "../../support/trace-page.ts";

const browser = useBrowser();

const { storeSpans, newAgent, open, judged } = openTracePages(browser);

test("arrow keys move in the tree, collapse and expand it, and the URL follows", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("Support")).waitFor();
  await tree(page).focus();
  const press = async (key: string, name: string) => {
    await page.keyboard.press(key);
    await selects(page, name);
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
  await page.goto(pathOf(agent, id, "?span=query"));
  await selects(page, "query");
  await page.getByRole("button", { name: "Collapse tree" }).click();
  await item(page, named("plan")).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Expand tree" }).click();
  await item(page, named("query")).waitFor();
});

test("rows name kind, tokens and duration, and a closed parent shows the worst of what is in it", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    assertions: [{ type: "tool_call", expected_name: "find_order", negate: true }],
  });
  const http = { "http.request.method": "GET" };
  const docs = { "openinference.span.kind": "RETRIEVER" };
  const id = await storeSpans(agent, [
    ...conversation,
    span("docs", "answer", [3_200, 3_300], { attributes: docs }),
    span("call", "answer", [3_400, 3_500], { attributes: http, status: { code: 2 } }),
  ]);
  await judged(id);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, /^plan, Model small-model, 812 in, 64 out tokens, 1\.18 s$/).waitFor();
  await item(page, /^docs, Retrieval,/).waitFor();
  await item(page, /^call, HTTP, Failed,/).waitFor();
  await item(page, /^find order, Tool find_order, Failed: 1 check/).waitFor();
  await item(page, named("answer")).locator(".tree-fold").click();
  await item(page, /^answer, Step, A span in it failed,/).waitFor();
  await item(page, named("plan")).locator(".tree-fold").click();
  await item(page, /^plan, Model small-model, Failed: 1 check,/).waitFor();
});

test("the column titles of a narrow tree do not overlap", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, [span("Support", null, [0, 93_000])]);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("Support")).waitFor();
  const boxes: { left: number; right: number }[] = await page.evaluate(`
    [...document.querySelectorAll(".tree-head span:not(:has(span))")].flatMap(title => {
      const text = document.createRange();
      text.selectNodeContents(title);
      const { left, right } = text.getBoundingClientRect();
      return right > left ? [{ left, right }] : [];
    })
  `);
  assert.ok(boxes.length >= 2, `${boxes.length} titles`);
  boxes.slice(1).forEach(({ left }, at) => {
    assert.ok(left >= boxes[at]!.right, `title ${at + 2} starts at ${left}, before ${boxes[at]!.right}`);
  });
});

test("a long duration does not cover what is before it in a narrow tree", async () => {
  const agent = await newAgent();
  const name = "a step with a name that fills its column, however wide that is";
  const id = await storeSpans(agent, [span(name, null, [0, 13_530_000])]);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named(name)).getByText("3 h 45 min").waitFor();
  const [end, start] = (await page.evaluate(`[
    Math.max(...[...document.querySelectorAll(".tree-row > :is(.tree-name, .tree-tokens)")].map(
      cell => cell.getBoundingClientRect().right,
    )),
    document.querySelector(".tree-row .tree-duration").getBoundingClientRect().left,
  ]`)) as [number, number];
  assert.ok(end <= start, `what is before the duration ends at ${end}, it starts at ${start}`);
});

test("[ and ] move between failed and checked spans, and ? lists these keys", async () => {
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
    await selects(page, name);
  };
  await press("]", "find order");
  await press("]", "carrier");
  await press("[", "find order");
  await press("[", "carrier");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Next failed or checked span").waitFor();
  await help.getByText("Search spans").waitFor();
  await help.getByText("Show raw JSON").waitFor();
});

test("a search shows matching spans with their ancestors, and is kept in the URL", async () => {
  const agent = await newAgent();
  const id = await storeSpans(agent, conversation);
  const { page } = await open();
  await page.goto(pathOf(agent, id));
  await item(page, named("answer")).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("FIND_order");
  await item(page, named("answer")).waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await tree(page).getByRole("treeitem").count(), 3));
  await page.getByText("1 of 6").waitFor();
  await page.waitForURL(/find=FIND_order/);
  await page.reload();
  await page.getByText("1 of 6").waitFor();
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText("No spans match “nothing like it”").waitFor();
  await assertAccessible(page);
  await page.getByRole("searchbox").press("Escape");
  await item(page, named("answer")).waitFor();
});

test("a tree of 10,000 spans has few DOM nodes, and can be walked to its end and searched", async () => {
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
  await selects(page, "step \\d+");
  const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
  assert.ok(elements < 1_500, `${elements}`);
  await page.goto(pathOf(agent, id, "?span=step+9999"));
  await selects(page, "step 9999");
  await page.getByRole("searchbox").fill("step 9998");
  await page.getByText("1 of 10,000").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(pathOf(agent, id, "?view=spans"));
  await item(page, named("step 0")).waitFor();
  const { height } = (await tree(page).boundingBox())!;
  assert.ok(height > 100 && height < 600, `${height}`);
  const stacked = await page.evaluate<number>("document.querySelectorAll('*').length");
  assert.ok(stacked < 1_500, `${stacked}`);
  await page.setViewportSize({ width: 1280, height: 620 });
  await eventually(async () => {
    const panes = (await page.locator(".trace-panes").boundingBox())!;
    assert.ok(panes.height >= 440, `${panes.height}`);
  });
  await page.goto(pathOf(agent, id, "?view=raw"));
  await page.getByText(/^Only the first [\d,]+ kB are shown/).waitFor();
  assert.deepEqual(complaints, []);
});

test("a tree of 5,000 levels does not overflow, and its names stay visible", async () => {
  const agent = await newAgent();
  const spans = Array.from({ length: 5_000 }, (_, at) =>
    span(`level ${at}`, at === 0 ? null : `level ${at - 1}`, [at, 10_000 - at]),
  );
  const id = await storeSpans(agent, spans);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id, "?span=level+4999"));
  const deepest = item(page, named("level 4999"));
  await deepest.waitFor();
  await eventually(async () => assert.equal(await deepest.getAttribute("aria-level"), "5000"));
  await eventually(async () => {
    const box = (await deepest.locator(".tree-text").boundingBox())!;
    assert.ok(box.width > 30, `${box.width}`);
  });
  await page.getByRole("button", { name: "Collapse tree" }).click();
  await item(page, named("level 1")).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
