// Privacy rules in a browser: switched on, they redact the next trace, and what they redacted is told from what was typed like it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { nanos } from "../../support/trace-page.ts";

const browser = useBrowser();

const asked = "Is ⟦email⟧ what I typed, or **ann@shop.example**? My order is ZQ-8812345.";
const answered = `I wrote to ann@shop.example.\n\n${"Your parcel is on its way. ".repeat(40)}`;
const messages = (role: string, content: string) =>
  JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
const span = (id: string, parent: string | null, from: number, more: object) => ({
  span_id: id,
  parent_span_id: parent,
  name: id,
  start_time_unix_nano: nanos(from),
  end_time_unix_nano: nanos(from + 900),
  ...more,
});
const spans = [
  span("chat", null, 0, {
    attributes: {
      "gen_ai.request.model": "small-model",
      "gen_ai.input.messages": messages("user", asked),
      "gen_ai.output.messages": messages("assistant", answered),
      "user.id": "ann@shop.example",
      "gen_ai.conversation.id": "c-1",
      note: { list: ["⟦email⟧", "ann@shop.example"], unchanged: "none" },
    },
  }),
  span("mail", "chat", 100, {
    attributes: {
      "gen_ai.tool.name": "send_mail",
      "gen_ai.tool.call.arguments": JSON.stringify({ to: "ann@shop.example", about: "⟦email⟧" }),
    },
    status: { code: 2, message: "No mailbox for ann@shop.example, said ⟦email⟧" },
    events: [{ name: "exception", attributes: { "exception.message": "ann@shop.example is unknown" } }],
  }),
];

const chips = (page: Page, name = "Redacted: email") => page.getByRole("img", { name, exact: true });

test("a trace that arrives after rules are on shows what they redacted, and which check this skipped", async () => {
  const owner = await browser.service.signUp();
  const { projectId } = owner;
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  await makeTest(owner, agent.id, {
    name: "No addresses",
    passiveBehavior: "always_run",
    assertions: [
      { type: "response_regex", pattern: "@", negate: true },
      { type: "response_regex", pattern: "parcel" },
    ],
  });
  const viewport = { width: 1440, height: 1000 };
  const { page, complaints } = await browser.openAs(owner, {
    viewport,
    path: `/projects/${projectId}/settings/privacy`,
  });
  const redaction = page.getByRole("region", { name: "Redaction" });
  await redaction.getByLabel("All built-in rules").check();
  await redaction.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Name, rule 1").fill("order");
  await page.getByLabel("Pattern, rule 1").fill("ZQ-\\d{7}");
  await page.getByRole("button", { name: "Save privacy settings" }).click();
  await page.getByText("Privacy settings saved").first().waitFor();

  const metadata = { contact: "ann@shop.example", typed: "⟦email⟧" };
  const body = canonicalBody(agent.id, { spans, metadata });
  const sent = await send({ url: browser.service.url, key }, { body });
  assert.equal(sent.status, 201);
  const id = String(sent.headers["x-svc-trace-id"]);
  await eventually(async () => {
    const body = await owner.client.read(`/api/traces/${id}/outline`);
    assert.equal(body.run?.state, "completed");
  });

  const path = `/projects/${projectId}/agents/${agent.id}/traces/${id}`;
  await page.goto(`${path}?view=conversation`);
  const question = page.getByRole("article", { name: "User" });
  await chips(page, "Redacted: order").first().waitFor();
  await page.getByText("Skipped").first().waitFor();
  await page
    .getByText(/redact/i)
    .first()
    .waitFor();
  // One of the two is what the user typed.
  await eventually(async () =>
    assert.equal(await question.getByRole("img", { name: "Redacted: email" }).count(), 1),
  );
  assert.equal(
    (await question.locator("p").last().innerText()).trim(),
    "Is [email] what I typed, or ⟦email⟧? My order is ⟦order⟧.",
  );
  const call = page.getByRole("article", { name: "Tool call send_mail" });
  await eventually(async () =>
    assert.equal(await call.getByRole("img", { name: "Redacted: email" }).count(), 2),
  );
  // What the second check found, with a redacted place before the match.
  await page
    .getByRole("button", { name: /Passed/ })
    .last()
    .click();
  const passage = page.locator(".passage", { has: page.locator("mark") });
  await passage.waitFor();
  await eventually(async () =>
    assert.equal(await passage.getByRole("img", { name: "Redacted: email" }).count(), 1),
  );
  await shoot(page, "redaction-1-conversation");

  await page.goto(`${path}?view=spans&span=mail`);
  await page.getByRole("heading", { level: 2, name: "mail" }).waitFor();
  await page.getByText("exception", { exact: true }).first().waitFor();
  await page.locator("summary").filter({ hasText: "Metadata" }).click();
  const panel = page.locator(".span-panel");
  // The status, the arguments, the event and the metadata.
  await eventually(async () => assert.equal(await chips(page).and(panel.locator("*")).count(), 4));
  await shoot(page, "redaction-2-span");
  await page.goto(`${path}?view=spans&span=chat&attribute=note`);
  await page.getByRole("treeitem").first().waitFor();
  await page.getByRole("button", { name: "Details" }).click();
  await page
    .getByText("Redacted: pseudonym of an ID")
    .or(chips(page, "Redacted: pseudonym of an ID"))
    .first()
    .waitFor();
  await assertAccessible(page);
  await shoot(page, "redaction-3-attributes");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${path}?view=conversation`);
  await chips(page, "Redacted: order").first().waitFor();
  await assertReflows(page);
  await shoot(page, "redaction-4-narrow");

  // A trace in which nothing was redacted is not in the list that Insights lead to.
  const plain = canonicalBody(agent.id, { spans: [span("plain", null, 0, { attributes: {} })] });
  assert.equal((await send({ url: browser.service.url, key }, { body: plain })).status, 201);
  const agentPath = `/projects/${projectId}/agents/${agent.id}`;
  const mark = page.getByRole("img", { name: "Redacted: email, order, pseudonym", exact: true });
  await page.goto(`${agentPath}/traces`);
  await page.getByRole("row", { name: /plain/ }).waitFor();
  await mark.waitFor();
  // Of the input, what the user typed is no chip.
  const input = page.locator(".trace-input", { hasText: "what I typed" });
  await eventually(async () => assert.equal(await chips(page).and(input.locator("*")).count(), 1));
  assert.equal(
    (await input.innerText()).trim(),
    "Is [email] what I typed, or **⟦email⟧**? My order is ⟦order⟧.",
  );
  await assertReflows(page);
  await shoot(page, "redaction-5-list-narrow");
  await page.goto(`${agentPath}/traces/conversations`);
  const conversation = page.getByRole("row", { name: /c-1/ });
  await conversation.waitFor();
  // One in the input, one in the reply.
  await eventually(async () => assert.equal(await chips(page).and(conversation.locator("*")).count(), 2));
  await assertReflows(page);
  await shoot(page, "redaction-7-conversations-narrow");
  await page.setViewportSize(viewport);
  await shoot(page, "redaction-8-conversations");
  await page.goto(`${agentPath}/overview`);
  const slow = page.getByRole("link", { name: /what I typed/ });
  await slow.waitFor();
  await eventually(async () => assert.equal(await chips(page).and(slow.locator("*")).count(), 1));
  await shoot(page, "redaction-9-overview");
  await page.goto(`${agentPath}/insights?by=redaction`);
  await page.getByRole("link", { name: "email", exact: true }).click();
  await page.getByText("Redacted: email", { exact: true }).first().waitFor();
  await mark.waitFor();
  await eventually(async () => assert.equal(await page.getByRole("row", { name: /plain/ }).count(), 0));
  await shoot(page, "redaction-6-list");
  assert.deepEqual(complaints, []);
});
