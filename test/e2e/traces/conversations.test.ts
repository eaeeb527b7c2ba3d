// Conversations in a browser: the list, one as a chat, the place of a trace in its own, and the ways between them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { openTracePages, pathOf, span } from "../../support/trace-page.ts";

const browser = useBrowser();

const { storeSpans, newAgent, open, judged } = openTracePages(browser);

const turn = (conversation: string, input: string, reply: string, at: number) => [
  span("chat", null, [at, at + 900], {
    attributes: {
      "gen_ai.conversation.id": conversation,
      "user.id": "anna@example.com",
      "gen_ai.prompt": input,
      "gen_ai.response.text": reply,
      "gen_ai.request.model": "m",
    },
  }),
  span("lookup", "chat", [at + 10, at + 400], {
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup_order" },
    status: { code: 2 },
  }),
];

const id = "order/17?&=% ü";

test("the list leads to the chat, each turn to its trace, and the trace to its neighbors, its conversation and its user", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    name: "Names the city",
    passiveBehavior: "always_run",
    assertions: [{ type: "response_regex", pattern: "Lyon" }],
  });
  const second = await storeSpans(agent, turn(id, "And when?", "**Tomorrow**, I promise.", 60_000));
  const first = await storeSpans(agent, turn(id, "Where is my parcel?", "In Lyon.", 0));
  for (const one of [first, second]) await judged(one);
  await storeTrace(browser.service.db, agent.id, {
    conversationId: "x".repeat(255),
    userInput: "w".repeat(500),
  });
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/traces`);
  await page.getByRole("link", { name: "Conversations" }).click();
  const row = page.getByRole("row", { name: /Where is my parcel/ });
  await row.getByText("1 passed, 1 failed").waitFor();
  await row.getByText("Tomorrow").waitFor();
  await shoot(page, "conversations-1-list");
  await assertAccessible(page);
  await assertReflows(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await shoot(page, "conversations-1-list-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });

  await row.getByRole("link").click();
  const turns = page.getByRole("list", { name: "Turns" }).locator(":scope > li");
  await turns.nth(1).waitFor();
  await eventually(async () =>
    assert.match((await turns.nth(0).textContent())!, /Where is my parcel\?.*In Lyon\..*Passed/s),
  );
  await eventually(async () =>
    assert.match(
      (await turns.nth(1).textContent())!,
      /And when\?.*lookup_order failed.*Tomorrow.*Failed.*Names the city/s,
    ),
  );
  await shoot(page, "conversations-2-chat");
  await assertAccessible(page);
  await assertReflows(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await shoot(page, "conversations-2-chat-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${pathOf(agent, second)}`);
  await page.getByRole("link", { name: "Turn 2 of 2" }).waitFor();
  await shoot(page, "conversations-3-trace");
  await assertAccessible(page);
  await page.getByRole("link", { name: "Previous turn" }).click();
  await page.getByRole("link", { name: "Turn 1 of 2" }).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole("link", { name: "Previous turn" }).count(), 0),
  );
  await page.getByRole("link", { name: "anna@example.com" }).click();
  await page.getByRole("button", { name: "User ID: anna@example.com", exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "List its traces" }).click();
  await page.getByRole("button", { name: `Conversation ID: ${id}`, exact: true }).waitFor();
  await page.getByRole("link", { name: "And when?" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("without conversations the list says which attributes to send, and a long one begins at the turn of its link", async () => {
  const agent = await newAgent();
  const { page } = await open();
  const path = `/projects/${agent.projectId}/agents/${agent.id}/traces`;
  await page.goto(`${path}/conversations`);
  await page.getByRole("heading", { name: "No conversations yet" }).waitFor();
  await page.goto(`${path}/conversations?kind=spoken`);
  await page.getByText("Kind: “spoken” is not a known value.", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByText("Invalid filter in the URL").waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "No conversations yet" }).waitFor();
  await page.getByText("gen_ai.conversation.id").waitFor();
  await shoot(page, "conversations-4-empty");
  const ids: string[] = [];
  for (let at = 0; at < 60; at++) {
    const receivedAt = new Date(Date.now() - 60_000 + at);
    ids.push(
      await storeTrace(browser.service.db, agent.id, {
        conversationId: "long",
        receivedAt,
        userInput: `Turn no. ${at}`,
      }),
    );
  }
  await page.goto(`${path}/conversation?id=long&turn=${ids[30]}`);
  await page.getByText("Turn no. 30").waitFor();
  assert.equal(await page.getByText("Turn no. 29").count(), 0);
  await page.getByRole("button", { name: "Show earlier turns" }).click();
  await page.getByText("Turn no. 29").waitFor();
  await page.getByRole("link", { name: "Last turns" }).click();
  await page.getByText("Turn no. 59").waitFor();
  await page.goto(`${path}/conversation?id=absent`);
  await page
    .getByRole("heading", { name: "Not found" })
    .or(page.getByRole("heading", { level: 1 }))
    .first()
    .waitFor();
});

test("a conversation opened first wraps long words and keeps the lines of plain texts", async () => {
  const agent = await newAgent();
  await storeSpans(agent, turn("long", `first line\nsecond line ${"w".repeat(3_000)}`, "Fine.", 0));
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/traces/conversation?id=long`);
  await page.locator(".chat-turn .long-text").first().waitFor();
  await becomesTrue(
    page,
    `(text => getComputedStyle(text).whiteSpaceCollapse === "preserve" && text.scrollWidth <= text.clientWidth)(
      document.querySelector(".chat-turn .long-text"))`,
  );
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("a turn says that its content was not stored, and not that the trace has none", async () => {
  const agent = await newAgent();
  await browser.service.client.patch(`/api/agents/${agent.id}`, { content: "none" }).expect(200);
  await storeSpans(agent, turn("quiet", "Where is my parcel?", "In Lyon.", 0));
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/traces/conversation?id=quiet`);
  const item = page.getByRole("list", { name: "Turns" }).locator(":scope > li");
  await item.getByText("lookup_order").waitFor();
  assert.equal(await item.getByText("Content was not stored.").count(), 2);
  assert.equal(await item.getByText(/^No (user input|reply)/).count(), 0);
  assert.deepEqual(complaints, []);
});
