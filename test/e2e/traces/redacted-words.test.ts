// Redacted places in a browser where a text is not the trace itself: the judge's words, passages that repeat, errors of
// schemas, the palette, and tooltips, which have no chips.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { type JudgeServer, obliging, startJudgeServer } from "../../support/judge-server.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { nanos } from "../../support/trace-page.ts";

const browser = useBrowser();

let judge: JudgeServer;
before(async () => {
  judge = await startJudgeServer(
    obliging({
      label: scenario => (scenario.includes("weather") ? "no_match" : "match"),
      evidence: () => "to [email]",
      reason: "The customer wrote from [email], see [order].",
    }),
  );
});
after(() => judge.close());

const chips = (within: Page | Locator, name = "email") =>
  within.getByRole("img", { name: `Redacted: ${name}`, exact: true });

/** The same passage twice; nobody typed `[email]`, but somebody typed `[order]`. */
const reply = "I write to ann@shop.example now. Tomorrow I write to ann@shop.example again.";
const asked = "Write to ann@shop.example, please. What does [order] mean?";

async function makeTrace() {
  const owner = await browser.service.signUp();
  const { projectId, client } = owner;
  const rules = [{ name: "order", pattern: "ZQ-\\d{7}" }];
  await client.put(`/api/projects/${projectId}/privacy`, { builtIn: ["*"], rules }).expect(200);
  const { url } = judge.connection();
  const connection = { provider: "openai_compatible", url, model: "local-model", apiKey: "key" };
  await client.put(`/api/projects/${projectId}/judge`, connection).expect(200);
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const semantic = { type: "semantic", criteria: ["Says to whom it writes"] };
  const { id: testId } = await makeTest(owner, agent.id, {
    ...{ name: "Recipient", passiveBehavior: "run_when_relevant", scenario: "A letter is asked for" },
    assertions: [
      semantic,
      { type: "json_schema", target_node: "chat", field: "contact", schema: { type: "array" } },
    ],
  });
  await makeTest(owner, agent.id, {
    ...{ name: "Rain", passiveBehavior: "run_when_relevant", scenario: "Asks about the weather" },
    assertions: [semantic],
  });
  const body = canonicalBody(agent.id, {
    spans: [
      {
        ...{ span_id: "chat", parent_span_id: null, name: "chat" },
        start_time_unix_nano: nanos(0),
        end_time_unix_nano: nanos(900),
        attributes: {
          "gen_ai.prompt": asked,
          "gen_ai.response.text": reply,
          "gen_ai.conversation.id": "c-1",
          contact: JSON.stringify({ to: "ann@shop.example" }),
          number: "ZQ-8812345",
        },
      },
    ],
  });
  const sent = await send({ url: browser.service.url, key }, { body });
  assert.equal(sent.status, 201);
  const traceId = String(sent.headers["x-svc-trace-id"]);
  await eventually(async () => {
    const body = await client.read(`/api/traces/${traceId}/outline`);
    assert.equal(body.run?.state, "completed");
  });
  return { owner, agentPath: `/projects/${projectId}/agents/${agent.id}`, traceId, testId };
}

test("what the judge says marks what was redacted, and not what somebody typed", async () => {
  const { owner, agentPath, traceId, testId } = await makeTrace();
  const viewport = { width: 1440, height: 1000 };
  const path = `${agentPath}/traces/${traceId}?view=evaluation`;
  const { page, complaints } = await browser.openAs(owner, { viewport, path });
  const region = page.getByRole("region", { name: "Tests and checks" });
  const semantic = region.locator(".check", { hasText: "Semantic" });
  const schema = region.locator(".check", { hasText: "JSON schema" });
  for (const check of [semantic, schema]) {
    const head = check.locator(".check-head");
    if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
  }
  const reason = semantic.locator(".criterion p", { hasText: "The customer wrote from" });
  await reason.waitFor();
  assert.equal(await chips(reason).count(), 1);
  assert.equal(await chips(reason, "order").count(), 0);
  // The passage is in the reply twice, and was redacted both times.
  assert.equal(await chips(semantic.locator("blockquote")).count(), 1);
  // An error names types, and the value has its mark.
  assert.match(await schema.locator(".faults").innerText(), /Expected array, found object/);
  assert.equal(await chips(schema).count(), 1);
  await region.getByText("Judge’s reason").first().waitFor();
  const scenarios = region.locator("dd", { hasText: "The customer wrote from" });
  assert.equal(await chips(scenarios).count(), await scenarios.count());
  await region.getByText("Judge calls").click();
  await region.getByRole("button", { name: "Prompt and answer" }).last().click();
  const dialog = page.getByRole("dialog");
  // The question and both passages of the reply; in the answer the quotation and the reason.
  await eventually(async () =>
    assert.equal(await chips(dialog.getByRole("region", { name: "Material" })).count(), 3),
  );
  assert.ok((await chips(dialog.getByRole("region", { name: "Answer" })).count()) >= 2);
  assert.equal(await chips(dialog, "order").count(), 0);
  assert.equal(await chips(dialog.getByRole("region", { name: "Instructions" })).count(), 0);
  await shoot(page, "redacted-words-0-judge-call");
  await page.keyboard.press("Escape");
  await shoot(page, "redacted-words-1-checks");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "redacted-words-2-narrow");
  await page.setViewportSize(viewport);
  await page.goto(`${agentPath}/tests/${testId}/results`);
  await page.getByRole("row", { name: /array/ }).waitFor();
  await shoot(page, "redacted-words-3-results");
  assert.deepEqual(complaints, []);
});

test("the palette has chips, and tooltips and labels say in words what was redacted", async () => {
  const { owner, agentPath, traceId } = await makeTrace();
  const { page, complaints } = await browser.openAs(owner, { path: `${agentPath}/traces` });
  const inWords = "Write to [redacted: email], please. What does [order] mean?";
  await page.getByTitle(inWords, { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: `Select ${inWords}` }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByLabel("Search pages and actions").fill(traceId);
  const found = page.getByRole("option", { name: /Trace: Write to/ });
  await found.waitFor();
  assert.equal(await chips(found).count(), 1);
  assert.equal((await found.innerText()).trim(), "Trace: Write to [email], please. What does [order] mean?");
  await assertAccessible(page);
  await shoot(page, "redacted-words-4-palette");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: /Write to/ }).waitFor();
  await page
    .locator("h1")
    .and(page.getByTitle(inWords, { exact: true }))
    .waitFor();
  await page.goto(`${agentPath}/traces/conversation?id=c-1`);
  await page
    .locator("h1")
    .and(page.getByTitle(inWords, { exact: true }))
    .waitFor();
  assert.equal(await chips(page.locator("h1")).count(), 1);
  await page.goto(`${agentPath}/overview`);
  await page
    .locator(".overview-name")
    .and(page.getByTitle(inWords, { exact: true }))
    .first()
    .waitFor();
  assert.deepEqual(complaints, []);
});
