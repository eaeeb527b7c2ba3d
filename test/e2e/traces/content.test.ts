// Agents that store no content, or forget it: the settings, and traces that say what is missing and why.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesFocused, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { conversation, openTracePages, pathOf } from "../../support/trace-page.ts";

const browser = useBrowser();
const { storeSpans, newAgent, open, judged } = openTracePages(browser);

test("an agent is set to store no content, and its next trace shows its structure and why checks are missing", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    passiveBehavior: "always_run",
    assertions: [{ type: "response_regex", pattern: "way" }],
  });
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/settings`);
  const form = page.getByRole("form", { name: "Content" });
  await form.getByRole("radio", { name: /^Store no content/ }).check();
  await form.getByText("1 of 1 test cannot be evaluated in full").waitFor();
  await shoot(page, "content-1-settings");
  await form.getByRole("button", { name: "Save content setting" }).click();
  await page.getByText("Content setting saved").first().waitFor();
  const body = await browser.service.client.read(`/api/agents/${agent.id}`);
  assert.equal(body.content, "none");

  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/start`);
  await page.getByText("This agent stores no content").waitFor();
  await shoot(page, "content-3-start");

  const id = await storeSpans(agent, conversation);
  await judged(id);
  await page.goto(pathOf(agent, id));
  await page.getByText("Content was not stored.").waitFor();
  await page.getByText("The content of the trace was not stored, or has been forgotten.").first().waitFor();
  assert.equal(await page.getByText("On its way.").count(), 0);
  await page.getByText("Arguments and result not stored").waitFor();
  assert.equal(await page.getByText("No result recorded").count(), 0);
  await shoot(page, "content-2-trace");
  // Without a tool call, nothing of the conversation is left, and no attribute would help.
  const bare = await storeSpans(
    agent,
    conversation.filter(({ span_id }) => span_id === "Support"),
  );
  await page.goto(pathOf(agent, bare));
  await page.getByText("Messages are content, and the agent stores no content.").waitFor();
  assert.equal(await page.getByText("gen_ai.output.messages").count(), 0);
  await shoot(page, "content-5-empty");
  assert.deepEqual(complaints, []);
});

test("attributes are dropped or kept by key, and a wrong key is named at its list", async () => {
  const agent = await newAgent();
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/settings`);
  const form = page.getByRole("form", { name: "Attributes" });
  const save = () => form.getByRole("button", { name: "Save attribute settings" }).click();
  await form.getByRole("radio", { name: "Drop these" }).check();
  await save();
  await form.getByText("Enter at least one key.").waitFor();
  const drop = form.getByLabel("Keys to drop");
  await drop.fill("app.*.name\nasks");
  await save();
  await form.getByText("“app.*.name”: * is allowed only at the end.").waitFor();
  await becomesFocused(drop);
  await shoot(page, "attributes-1-error");
  await drop.fill(" gen_ai.prompt \n\nsecret.*\ngen_ai.prompt");
  await save();
  await page.getByText("Attribute settings saved").first().waitFor();
  const attributesOf = async () => (await browser.service.client.read(`/api/agents/${agent.id}`)).attributes;
  assert.deepEqual(await attributesOf(), { deny: ["gen_ai.prompt", "secret.*"], allow: null });

  await form.getByRole("radio", { name: "Keep only these" }).check();
  await form.getByText("Without a key, no attribute except service.name is stored.").waitFor();
  await form.getByLabel("Keys to keep").fill("gen_ai.*");
  await shoot(page, "attributes-2-keep");
  await save();
  const both = { deny: ["gen_ai.prompt", "secret.*"], allow: ["gen_ai.*"] };
  await eventually(async () => assert.deepEqual(await attributesOf(), both));
  await page.reload();
  await form.getByRole("radio", { name: "Keep only these", checked: true }).waitFor();
  await eventually(async () => assert.equal(await form.getByLabel("Keys to keep").inputValue(), "gen_ai.*"));
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "attributes-3-narrow");
  await page.setViewportSize({ width: 1440, height: 900 });

  const id = await storeSpans(agent, conversation);
  const body = await browser.service.client.read(`/api/traces/${id}`);
  assert.deepEqual([body.userInput, body.responseText], [null, "On its way."]);
  assert.equal(body.spans[0]!.attributes["http.response.status_code"], undefined);
  await form.getByRole("radio", { name: "Store all attributes" }).check();
  await save();
  await eventually(async () => assert.deepEqual(await attributesOf(), { deny: [], allow: null }));
  assert.deepEqual(complaints, []);
});

test("an agent is set to forget content, and a trace keeps its verdict and says when its content was dropped", async () => {
  const agent = await newAgent();
  await makeTest(browser.service.owner, agent.id, {
    passiveBehavior: "always_run",
    assertions: [
      { type: "response_regex", pattern: "way" },
      { type: "json_match", target_node: "Support", field: "gen_ai.prompt", expected_value: "other" },
    ],
  });
  const { page, complaints } = await open();
  const settings = `/projects/${agent.projectId}/agents/${agent.id}/settings`;
  await page.goto(settings);
  const form = page.getByRole("form", { name: "Content" });
  await form.getByRole("radio", { name: /^Evaluate, then forget content/ }).check();
  const time = form.getByLabel("Drop content after");
  assert.equal(await time.inputValue(), "86400");
  await time.selectOption("Custom");
  await form.getByLabel("Amount").fill("0.5");
  await form.getByLabel("Unit").selectOption("minutes");
  const save = form.getByRole("button", { name: "Save content setting" });
  await save.click();
  await form.getByText("Must be between a minute and a year: 60 to 31,536,000 seconds.").waitFor();
  await form.getByLabel("Amount").fill("90");
  await save.click();
  await page.getByText("Content setting saved").first().waitFor();
  await shoot(page, "content-3-forget");
  await page.goto(settings);
  await form.getByLabel("Amount").waitFor();
  await eventually(async () => assert.equal(await form.getByLabel("Amount").inputValue(), "90"));

  const id = await storeSpans(agent, conversation);
  await judged(id);
  await page.goto(pathOf(agent, id));
  await page.getByText("On its way.").first().waitFor();
  const { pool } = browser.service.db;
  await pool.query("update runs set finished_at = finished_at - interval '2 hours' where trace_id = $1", [
    id,
  ]);
  await pool.query("update content_deadlines set check_at = now() where subject_id = $1", [id]);
  // The open page follows.
  await page.getByText(/^Content was dropped on /).waitFor();
  await page.getByText("Failed", { exact: true }).first().waitFor();
  await page.getByText("Another value was found in “Support”.").first().waitFor();
  await page.getByText("On its way.").waitFor({ state: "hidden" });
  await page.getByText("Arguments and result dropped").waitFor();
  await shoot(page, "content-4-forgotten");
  assert.deepEqual(complaints, []);
});
