// A trace and a test case full of hostile texts, on every screen: each text is shown as plain text.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { sendJson, startAgentServer } from "../../support/agent-server.ts";
import { makeAgent, makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody, exportedSpan, exportOf } from "../../support/bodies.ts";
import { assertReflows, useBrowser, type Window } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { json, send, traceIdOf } from "../../support/send.ts";
import { storeTrace } from "../../support/stored-traces.ts";

/** If any of these becomes an element, runs or is interpolated, the tests notice. */
const markup = "<img src=x onerror='alert(1)'><script>alert(2)</script><x-taken></x-taken>";
// biome-ignore lint/suspicious/noTemplateCurlyInString: it must not be interpolated.
const templates = "${7*7}{{7*7}}__proto__";
const bidi = "\u202e\u2066\u200b\u200d\ufeff";
const links = "javascript:alert(3) [a](javascript:alert(4)) ![b](http://x.test/b.png)";
const unstorable = "\u0000\ud800";

/** For names: the longest ones allowed. */
const short = (mark: string) => `${mark}${markup}${templates}${bidi}`;
const hostile = (mark: string) => `${short(mark)}${links}${unstorable} ${"W".repeat(10_000)}`;
/** Longer keys are only in the download and after “Load all”. */
const key = (mark: string) => `${short(mark)}${links}${unstorable} ${"K".repeat(600)}`;

const say = (role: string, ...parts: object[]) => ({ role, parts });
const text = (mark: string) => ({ type: "text", content: hostile(mark) });
const nanos = (ms: number) => String(1_763_700_000_000_000_000n + BigInt(ms) * 1_000_000n);
const times = (from: number, to: number) => ({
  start_time_unix_nano: nanos(from),
  end_time_unix_nano: nanos(to),
});
/** Ids are part of URLs, so they are shorter than 10,000 characters. */
const [rootId, callId, toolId, namedAsParts] = ["id-root", "id-call", "id-tool", "__proto__"].map(mark =>
  mark === "__proto__" ? mark : `${short(mark)}?a=b#c/../%2f${links}`,
) as [string, string, string, string];

const spans: object[] = [
  {
    span_id: rootId,
    parent_span_id: hostile("id-parent"),
    name: hostile("name-root"),
    ...times(0, 900),
    status: { code: 2, message: hostile("status") },
    attributes: {
      [key("key-root")]: hostile("value-root"),
      [short("key-short")]: hostile("value-short"),
      "http.response.status_code": hostile("value-http"),
    },
    events: [{ name: hostile("event"), attributes: { [key("key-event")]: hostile("value-event") } }],
  },
  {
    span_id: callId,
    parent_span_id: rootId,
    name: hostile("name-call"),
    ...times(10, 500),
    attributes: {
      "gen_ai.request.model": hostile("model"),
      "gen_ai.agent.name": hostile("agent-name"),
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.input.messages": JSON.stringify([
        say("system", text("said-system")),
        say("user", text("said-user")),
        say(hostile("role"), text("said-other")),
        say("assistant", { type: "reasoning", content: hostile("said-reasoning") }),
        say("tool", { type: "tool_call_response", id: callId, response: { [key("key-answer")]: 1 } }),
        say("user", { type: hostile("part-type"), mime_type: hostile("mime"), uri: links, content: links }),
      ]),
      "gen_ai.output.messages": JSON.stringify([say("assistant", text("said-reply"))]),
    },
  },
  {
    span_id: toolId,
    parent_span_id: rootId,
    name: hostile("name-tool"),
    ...times(510, 800),
    attributes: {
      "gen_ai.tool.name": short("tool"),
      "gen_ai.tool.call.id": hostile("tool-call-id"),
      "gen_ai.tool.call.arguments": { [short("key-argument")]: hostile("value-argument") },
      "gen_ai.tool.call.result": hostile("tool-result"),
    },
  },
  {
    span_id: namedAsParts,
    parent_span_id: rootId,
    name: "constructor",
    attributes: { toString: 1, [hostile("key")]: 1 },
  },
];

const field = short("key-short");
const hostileTest = {
  name: short("test-name"),
  passiveBehavior: "always_run",
  scenario: hostile("scenario"),
  turns: [{ input: hostile("turn") }],
  assertions: [
    { type: "node_call", id: short("check-id").slice(0, 100), expected_name: short("step-wanted") },
    {
      type: "tool_call",
      id: "tool",
      description: short("description"),
      expected_name: short("tool"),
      expected_arguments: { [short("key-argument")]: short("argument-wanted") },
    },
    { type: "tool_call", id: "other", expected_name: short("tool-wanted") },
    { type: "response_regex", id: "regex", pattern: "reply(<img[^>]*>)" },
    { type: "json_match", id: "match", target_node: "name-root", field, expected_value: short("wanted") },
    {
      type: "json_schema",
      id: "schema",
      target_node: "name-root",
      field,
      schema: { type: "object", required: [short("key-wanted")] },
    },
    {
      type: "semantic",
      id: "semantic",
      criteria: hostile("criteria").slice(0, 5_000),
      reference: hostile("reference"),
    },
    { type: "http_status", id: "status", expected_status: 200 },
  ],
};

const browser = useBrowser({ config: { allowPrivateTargets: ["127.0.0.1"] } });
let owner: Owner;
let agent: Agent;
let traceId: string;
let testId: string;
let window: Window;
const opened: string[] = [];
before(async () => {
  await browser.started;
  owner = await browser.service.signUp();
  agent = await makeAgent(owner, { name: short("agent"), otlpServiceName: short("service-own") });
  const { key: apiKey } = await makeKey(owner, { name: short("key-name") });
  const to = { url: browser.service.url, key: apiKey };
  const made = await owner.client.post(`/api/agents/${agent.id}/tests`, hostileTest).expect(201);
  testId = made.body.id;
  const metadata = { [key("key-metadata")]: hostile("value-metadata"), __proto__: null };
  // “__proto__” must be sent as a plain key, not as a prototype.
  const body = JSON.stringify(canonicalBody(agent.id, { spans, metadata })).replace(
    '"metadata":{',
    '"metadata":{"__proto__":{"polluted":true},',
  );
  const headers = { "x-request-id": short("external").replace(/[^\x20-\x7e]/g, "") };
  traceId = traceIdOf(await send(to, { body, headers, type: json }));
  await eventually(async () => {
    const body = await owner.client.read(`/api/traces/${traceId}`);
    assert.equal(body.run!.state, "completed");
  });
  await send(to, { body: exportOf([exportedSpan()], short("service-unknown")), type: json });
  window = await browser.openAs(owner, { viewport: { width: 1440, height: 900 }, lasting: true });
  window.page.on("dialog", dialog => {
    opened.push(dialog.message());
    void dialog.dismiss();
  });
});

/** All text of the page, the values of its fields included. */
const readable = `document.title + document.body.innerText +
  [...document.querySelectorAll("input, textarea")].map(field => field.value).join(" ")`;
const madeOfText = `[...document.querySelectorAll("x-taken, img, iframe, object, embed, script:not([src]), body script,"
  + " [onerror], [onload], [onclick], a[href^='javascript' i], a[href*='://x.test']")].map(({ outerHTML }) => outerHTML.slice(0, 200))`;

/** Each text is shown literally, markup included, and none became an element, in a wide and a narrow window. */
async function assertText(page: Page, marks: string[]): Promise<void> {
  await eventually(async () => {
    const said = await page.evaluate<string>(readable);
    for (const mark of marks) assert.ok(said.includes(mark + markup), `${mark} on ${page.url()}`);
    assert.ok(!said.includes("49{{") && !said.includes("[object Object]"));
  });
  await assertHarmless(page);
}

/** The texts that reach beyond the right edge of such an element around them. */
const textsPast = (box: string) => `[...document.querySelectorAll("main ${box}")]
  .filter(box => {
    const range = document.createRange();
    range.selectNodeContents(box);
    const edge = box.getBoundingClientRect().right + 1;
    return [...range.getClientRects()].some(({ right }) => right > edge);
  })
  .map(({ textContent }) => textContent)`;

async function assertHarmless(page: Page): Promise<void> {
  const wide = page.viewportSize()!;
  await eventually(async () => assert.deepEqual(await page.evaluate(madeOfText), []));
  await page.setViewportSize({ width: 320, height: 700 });
  try {
    await page.locator("main").waitFor();
    await eventually(async () => assert.deepEqual(await page.evaluate(madeOfText), []));
    await assertReflows(page);
  } finally {
    await page.setViewportSize(wide); // restored for the next test
  }
  assert.deepEqual(opened, []);
  assert.deepEqual(window.complaints, []);
}

const here = (rest: string) => `/projects/${owner.projectId}/agents/${agent.id}${rest}`;
const trace = (search: Record<string, string> = {}) =>
  here(`/traces/${traceId}?${new URLSearchParams(search)}`);

test("hostile texts are plain text in the list of traces, its search and the palette", async () => {
  const { page } = window;
  // Names are shown where they differ.
  const other = await storeTrace(browser.service.db, agent.id, { name: "POST /chat" });
  await page.goto(here("/traces"));
  await assertText(page, ["agent", "name-root", "said-user"]);
  await owner.client.delete(`/api/traces/${other}`).expect(204);
  await page.goto(here(`/traces?${new URLSearchParams({ text: short("said-user"), testId })}`));
  await assertText(page, ["said-user"]);
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("dialog", { name: "Go to…" }).waitFor();
  await assertText(page, ["agent"]);
});

test("hostile texts are plain text in a trace's header, tree, conversation, raw JSON and delete dialog", async () => {
  const { page } = window;
  await page.goto(trace({ view: "conversation" }));
  await page.getByRole("button", { name: "Details" }).click();
  for (const summary of await page.locator(".conversation summary").all()) await summary.click();
  const said = ["said-system", "said-user", "said-other", "said-reasoning", "said-reply"];
  await assertText(page, ["name-root", "name-call", "name-tool", "external", "tool", ...said]);
  await assertText(page, ["key-metadata", "value-metadata"]);
  await eventually(async () => assert.equal(await page.evaluate("({}).polluted"), undefined));
  await page.goto(trace({ view: "raw" }));
  await assertText(page, ["value-root", "said-user"]);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog").waitFor();
  await assertHarmless(page);
  await page.goto(trace({ find: short("name-tool") }));
  await assertText(page, ["name-tool"]);
});

test("hostile texts are plain text in each span's attributes, events and status", async () => {
  const { page } = window;
  const shown: [string, string[]][] = [
    [rootId, ["name-root", "key-root", "value-root", "value-short", "status", "event", "value-event"]],
    [callId, ["name-call", "model", "agent-name"]],
    [toolId, ["name-tool", "tool", "tool-call-id", "tool-result"]],
  ];
  for (const [span, marks] of shown) {
    await page.goto(trace({ span }));
    await page.getByRole("region", { name: "Span", exact: true }).waitFor();
    await assertText(page, marks);
  }
  await page.goto(trace({ span: rootId, attribute: field }));
  await page.locator("[data-selected]").getByRole("button", { name: "Create assertion" }).first().click();
  await page.getByRole("dialog").waitFor();
  await assertHarmless(page);
  await page.goto(trace({ span: namedAsParts, attribute: "toString" }));
  await page.locator("[data-selected]").getByRole("button", { name: "toString", exact: true }).waitFor();
  await assertHarmless(page);
  for (const span of [short("nobody"), "constructor"]) {
    await page.goto(trace({ span, attribute: short("nothing") }));
    await page.getByRole("heading", { name: "This span is not in the trace" }).waitFor();
    await assertHarmless(page);
  }
});

test("hostile texts are plain text in an evaluation with every check expanded", async () => {
  const { page } = window;
  await page.goto(trace({ view: "evaluation", test: testId }));
  await page.getByRole("button", { name: "Expand all" }).click();
  await assertText(page, ["test-name", "step-wanted", "tool-wanted", "description", "argument-wanted"]);
  await assertText(page, ["criteria", "key-short", "wanted"]);
});

test("hostile texts are plain text in test cases and their results", async () => {
  const { page } = window;
  await page.goto(here("/tests"));
  await assertText(page, ["test-name", "agent"]);
  await page
    .getByRole("button", { name: /^Actions/ })
    .first()
    .click();
  await page.getByRole("menu").waitFor();
  await assertHarmless(page);
  await page.goto(here(`/tests/${testId}/results`));
  await assertText(page, ["test-name"]);
});

test("hostile texts are plain text in the test editor, its completions and its dry-run", async () => {
  const { page } = window;
  await page.goto(here(`/tests/${testId}?view=json`));
  await page.getByLabel("Test case JSON").waitFor();
  await assertHarmless(page);
  await page.goto(here(`/tests/${testId}`));
  const marks = ["test-name", "scenario", "step-wanted", "criteria", "tool-wanted"];
  await assertText(page, marks);
  const closed = page.locator(".editor-fold[aria-expanded=false]");
  while ((await closed.count()) > 0) await closed.first().click();
  await assertText(page, marks);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText(/Failed, \d of \d checked/).waitFor();
  await assertHarmless(page);
  await page.getByLabel("Tool name").first().click();
  await page
    .getByRole("option")
    .filter({ hasText: short("tool") })
    .first()
    .waitFor();
  await assertHarmless(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Choose trace" }).click();
  await page.getByRole("dialog", { name: "Choose trace" }).getByText("said-user").first().waitFor();
  await assertHarmless(page);
  await page.goto(here(`/tests/new?${new URLSearchParams({ trace: traceId })}`));
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await assertHarmless(page);
});

test("long names without a break stay inside of their table cell or pane", async () => {
  const unbroken = "Averyveryverylongname".repeat(9);
  const other = await browser.service.signUp();
  const { id } = await makeAgent(other, { name: unbroken.slice(0, 100) });
  const { key } = await makeKey(other, { name: unbroken.slice(0, 100) });
  const spans = [
    { span_id: "1", name: unbroken },
    { span_id: "2", parent_span_id: "1", name: `Child of ${unbroken}` },
  ];
  const sent = await send({ url: browser.service.url, key }, { body: canonicalBody(id, { spans }) });
  const { page } = await browser.openAs(other, { path: `/projects/${other.projectId}/ingestion` });
  await page
    .getByRole("cell")
    .filter({ hasText: unbroken.slice(0, 100) })
    .first()
    .waitFor();
  await eventually(async () => assert.deepEqual(await page.evaluate(textsPast("td")), []));
  await page.setViewportSize({ width: 320, height: 700 });
  const here = `/projects/${other.projectId}/agents/${id}/traces/${traceIdOf(sent)}`;
  await page.goto(`${here}?view=spans&span=2`);
  await page
    .getByRole("region", { name: "Span", exact: true })
    .getByRole("button", { name: unbroken })
    .waitFor();
  await eventually(async () => assert.deepEqual(await page.evaluate(textsPast("dd")), []));
});

test("hostile texts are plain text in runs, their results and their traces", async () => {
  const { page } = window;
  const server = await startAgentServer((_request, response) =>
    sendJson(response, { reply: hostile("answer") }),
  );
  try {
    const connection = {
      url: `${server.url}/chat`,
      bodyTemplate: '{"message": "{{input}}"}',
      reply: { kind: "json", pointer: "/reply" },
      waitMs: 0,
    };
    await owner.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
    const body = { testIds: [testId] };
    const made = await owner.client.post(`/api/agents/${agent.id}/launches`, body).expect(201);
    const launch = await eventually(async () => {
      const body = await owner.client.read(`/api/launches/${made.body.id}`);
      assert.equal(body.state, "completed");
      return body;
    });
    await page.goto(here("/runs"));
    await page.getByRole("link", { name: "1 test" }).waitFor();
    await assertText(page, ["agent"]);
    await page.goto(here(`/runs/${launch.id}`));
    await assertText(page, ["test-name"]);
    await page.goto(here(`/runs/${launch.id}/${launch.runs[0]!.id}`));
    await page.getByRole("list", { name: "Checks" }).waitFor();
    await assertText(page, ["test-name", "turn", "answer", "step-wanted", "tool-wanted", "criteria"]);
    await page.goto(here(`/tests/${testId}/results?kind=manual`));
    await page.getByRole("rowheader").getByRole("link").waitFor();
    await assertText(page, ["test-name"]);
    await page.goto(here(`/traces/${launch.runs[0]!.traceId}?view=conversation`));
    await assertText(page, ["turn", "answer"]);
  } finally {
    await server.close();
  }
});

test("hostile texts are plain text in insights, agents, settings, Get started, API keys and the ingestion log", async () => {
  const { page } = window;
  const project = `/projects/${owner.projectId}`;
  const screens: [path: string, marks: string[]][] = [
    [here("/insights?by=test"), ["test-name"]],
    [here(`/insights?by=check&testId=${testId}`), ["agent"]],
    [here(`/insights?by=test&testId=${testId}`), ["test-name"]],
    [here("/start"), ["service-own"]],
    [here("/settings"), ["agent", "service-own"]],
    [`${project}/agents`, ["agent", "service-own"]],
    [`${project}/keys`, ["key-name"]],
    [`${project}/ingestion`, ["service-unknown"]],
  ];
  for (const [path, marks] of screens) {
    await page.goto(path);
    await assertText(page, marks);
  }
});
