// A trace in another convention: recognized with a preview, read at a click, evaluated again, and marked as read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesFocused, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { openTracePages, pathOf, span } from "../../support/trace-page.ts";

const browser = useBrowser();

const { storeSpans, newAgent, open, judged } = openTracePages(browser);

const kind = (name: string, more: Record<string, unknown>) => ({
  attributes: { "openinference.span.kind": name, ...more },
});

const spans = [
  span("LangGraph", null, [0, 900], {
    ...kind("CHAIN", {
      "input.value": '{"messages":[{"role":"user","content":"What is the weather in Paris?"}]}',
      "output.value": '{"messages":[{"role":"assistant","content":"It is rainy in Paris."}]}',
    }),
  }),
  span("ChatOpenAI", "LangGraph", [10, 400], {
    ...kind("LLM", {
      "llm.model_name": "gpt-4o-mini",
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "What is the weather in Paris?",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.content": "It is rainy in Paris.",
      "llm.token_count.prompt": 43,
      "llm.token_count.completion": 14,
      "session.id": "chat-7",
    }),
  }),
];

test("a trace says which convention it is written in, is read at a click, and shows where it was read", async () => {
  const agent = await newAgent();
  await browser.service.client.patch(`/api/agents/${agent.id}`, { conventions: [] }).expect(200);
  await makeTest(browser.service.owner, agent.id, {
    name: "Mentions rain",
    passiveBehavior: "always_run",
    assertions: [{ type: "response_regex", pattern: "rainy" }],
  });
  const id = await storeSpans(agent, spans);
  await judged(id);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByText("This trace is written in the OpenInference convention").waitFor();
  const preview = page.getByLabel("What reading it gives");
  for (const text of ["What is the weather in Paris?", "It is rainy in Paris.", "57", "gpt-4o-mini"]) {
    await preview.getByText(text, { exact: true }).waitFor();
  }
  assert.equal(await page.getByText("No user input was available").count(), 0);
  await shoot(page, "conventions-1-offer");
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByRole("heading", { level: 1, name: "What is the weather in Paris?" }).waitFor();
  await page.getByText("The agent’s conventions have changed since this evaluation.").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Read it" }).count(), 0));
  await shoot(page, "conventions-2-read");

  await page.getByRole("button", { name: "Re-evaluate" }).click();
  await eventually(async () => {
    const body = await browser.service.client.read(`/api/traces/${id}`);
    assert.deepEqual([body.run!.verdict, body.runs.length], ["passed", 2]);
  });
  await page.locator(".trace-top").getByText("Passed").waitFor();
  await page.getByRole("button", { name: "Details", expanded: false }).click();
  const details = page.getByLabel("Details", { exact: true });
  for (const text of ["gpt-4o-mini", "chat-7", "Read by OpenInference:"])
    await details.getByText(text).first().waitFor();
  await shoot(page, "conventions-3-evaluated");

  const next = await storeSpans(agent, spans, {}, crypto.randomUUID());
  assert.notEqual(next, id);
  await judged(next);
  await page.goto(pathOf(agent, next));
  await page.locator(".trace-top").getByText("Passed").waitFor();
  await page.getByRole("heading", { level: 1, name: "What is the weather in Paris?" }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Read it" }).count(), 0));
  const { runs } = await browser.service.client.read(`/api/traces/${next}`);
  assert.deepEqual(
    runs.map(({ verdict }) => verdict),
    ["passed"],
  );

  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/settings`);
  const form = page.getByRole("form", { name: "Conventions" });
  const chosen = form.getByRole("checkbox", { name: /^OpenInference/ });
  await eventually(async () => assert.equal(await chosen.isChecked(), true));
  await shoot(page, "conventions-4-settings");
  await assertReflows(page);
  await form.getByRole("checkbox", { name: /^All conventions/ }).check();
  await eventually(async () => assert.equal(await chosen.isChecked(), false));
  await form.getByRole("button", { name: "Save conventions" }).click();
  await page.getByText("Conventions saved").first().waitFor();
  const body = await browser.service.client.read(`/api/agents/${agent.id}`);
  assert.deepEqual(body.conventions, ["*"]);
  assert.deepEqual(complaints, []);
});

test("of several model calls the last one is read, and another one at a click", async () => {
  const agent = await newAgent();
  const call = (name: string, from: number, question: string, answer: string) =>
    span(name, "POST /chat", [from, from + 100], {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.input.messages": [{ role: "user", content: question }],
        "gen_ai.output.messages": [{ role: "assistant", content: answer }],
      },
    });
  const id = await storeSpans(agent, [
    span("POST /chat", null, [0, 900]),
    call("answer", 10, "Where is my parcel?", "It is in Lyon."),
    call("title", 200, "Give this conversation a title.", "Lost parcel"),
  ]);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  await page.getByRole("heading", { level: 1, name: "Give this conversation a title." }).waitFor();
  await page.getByText("2 model calls with different inputs; the last one was read").waitFor();
  await shoot(page, "several-calls-1-offer");
  await page.getByRole("button", { name: "answer", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Where is my parcel?" }).waitFor();
  await eventually(async () => assert.equal(await page.getByText("model calls with different").count(), 0));
  await shoot(page, "several-calls-2-read");
  const { readFrom } = await browser.service.client.read(`/api/agents/${agent.id}`);
  assert.deepEqual(readFrom, { spanName: "answer" });
  assert.deepEqual(complaints, []);
});

test("noise is kept, and listed only when a filter asks for it", async () => {
  const agent = await newAgent();
  await storeSpans(agent, [span("GET /healthz", null, [0, 5], { attributes: { "url.path": "/healthz" } })]);
  await storeSpans(agent, spans, {}, crypto.randomUUID());
  const { page } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/traces`);
  await page.getByText("What is the weather in Paris?").first().waitFor();
  assert.equal(await page.getByText("GET /healthz").count(), 0);
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/traces?noise=true`);
  await page.getByText("GET /healthz").first().waitFor();
  await shoot(page, "noise-shown");
  await page.getByText("GET /healthz").first().click();
  await page
    .getByText(/health check/i)
    .first()
    .waitFor();
  await shoot(page, "noise-trace");
});

test("a trace without messages names the setting that switches them on, on its page and on Get started", async () => {
  const agent = await newAgent();
  const chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 43,
  };
  const id = await storeSpans(agent, [
    span("invoke_agent", null, [0, 900], { attributes: { "gen_ai.operation.name": "invoke_agent" } }),
    span("generate_content", "invoke_agent", [10, 400], {
      attributes: { ...chat, "gcp.vertex.agent.event_id": "1" },
    }),
  ]);
  const { page, complaints } = await open();
  await page.goto(pathOf(agent, id));
  const line = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT";
  const notice = page.locator(".notice").filter({ hasText: "no user input and no reply" });
  for (const text of ["Google ADK", line]) await notice.getByText(text).waitFor();
  for (const text of ["No user input was available", "Other attribute convention"]) {
    assert.equal(await page.getByText(text).count(), 0, text);
  }
  await shoot(page, "content-1-trace");
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/start`);
  await notice.getByText(line).waitFor();
  await shoot(page, "content-2-start");
  assert.deepEqual(complaints, []);
});

test("own rules are tried on a past trace, refused with the reason at their row, and saved", async () => {
  const { client } = browser.service;
  const agent = await newAgent();
  const otherId = await storeSpans(agent, [span("step", null, [0, 10])]);
  await storeSpans(agent, [
    span("chat m", null, [0, 10], { attributes: { "app.question": "Where is it?" } }),
  ]);
  const { page, complaints } = await open();
  await page.goto(`/projects/${agent.projectId}/agents/${agent.id}/settings`);
  const section = page.getByRole("region", { name: "Own rules" });
  await section.getByRole("button", { name: "Add rule" }).click();
  await becomesFocused(section.getByLabel("Attribute, rule 1"));
  await section.getByRole("button", { name: "Save rules" }).click();
  await section.getByText("Must not be empty.").waitFor();
  await becomesFocused(section.getByLabel("Attribute, rule 1"));
  await shoot(page, "rules-1-refused");

  await section.getByLabel("Attribute, rule 1").fill("app.question");
  await section.getByLabel("Read as, rule 1").selectOption("gen_ai.prompt");
  await section.getByLabel("On spans named, rule 1").fill("chat*");
  await section.getByRole("button", { name: "Try on this trace" }).click();
  const input = section.getByRole("row", { name: /^Input/ });
  await eventually(async () =>
    assert.deepEqual(await input.getByRole("cell").allTextContents(), ["Not in this trace", "Where is it?"]),
  );
  await section.getByText("app.question found on 1 span").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await assertReflows(page);
  await shoot(page, "rules-2-tried-narrow");
  await page.setViewportSize({ width: 1280, height: 720 });
  await shoot(page, "rules-2-tried");
  await assertAccessible(page);

  // What arrives after another trace was chosen is not shown as that one's.
  const trying = section.getByRole("button", { name: "Try on this trace" });
  const held = Promise.withResolvers<void>();
  await page.route("**/api/traces/*/preview", async route => {
    await held.promise;
    await route.continue();
  });
  await trying.click();
  await section.getByLabel("Past trace").selectOption(otherId);
  await input.waitFor({ state: "detached" });
  held.resolve();
  await trying.and(page.locator(":not([aria-disabled=true])")).waitFor();
  assert.equal(await input.count(), 0);
  await page.unrouteAll();

  await section.getByRole("button", { name: "Save rules" }).click();
  await page.getByText("Rules saved").first().waitFor();
  const saved = await client.read(`/api/agents/${agent.id}`);
  assert.deepEqual(saved.conventionRules, [{ from: "app.question", to: "gen_ai.prompt", spanName: "chat*" }]);
  await section.getByRole("button", { name: "Remove rule 1" }).click();
  await becomesFocused(section.getByRole("button", { name: "Add rule" }));
  assert.deepEqual(complaints, []);
});
