// Sets up tests of the editor: an account with an agent and traces, and a window on its test cases.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { makeAgent, makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import type { TestBrowser, Window } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

export type World = Window & {
  owner: Owner;
  agent: Agent;
  /** Of its first trace. */
  traceId: string;
  /** The URL of its test cases. */
  tests: string;
  send(spans: object[]): Promise<string>;
  open(path: string): Promise<void>;
  /** How many tests and runs are stored. */
  counts(): Promise<{ tests: number; runs: number }>;
};

/** A shop's agent that looked up an order: one tool call, a reply, two steps. */
export const orderSpans = [
  {
    span_id: "root",
    name: "POST /chat",
    start_time_unix_nano: "1000000000",
    end_time_unix_nano: "2200000000",
    attributes: {
      "http.response.status_code": 200,
      "gen_ai.usage.input_tokens": 640,
      "gen_ai.usage.output_tokens": 60,
    },
  },
  {
    span_id: "track",
    parent_span_id: "root",
    name: "execute_tool track_order",
    attributes: {
      "gen_ai.tool.name": "track_order",
      "gen_ai.tool.call.arguments": JSON.stringify({ order_id: "A-20418", express: true }),
    },
  },
  {
    span_id: "compose",
    parent_span_id: "root",
    name: "Compose the answer",
    attributes: {
      "gen_ai.request.model": "local",
      "gen_ai.prompt": "Where is my order A-20418?",
      "gen_ai.response.text": "Order A-20418 left our warehouse yesterday evening.",
      "shop.customer": '{"tier":"gold","orders":12}',
    },
  },
];

/** The agent has a connection, so that its tests can be run manually. */
export async function openWorld(browser: TestBrowser, { isCallable = true } = {}): Promise<World> {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop assistant" });
  const { key } = await makeKey(owner);
  const send = async (spans: object[]) => {
    const answer = await fetch(`${browser.service.url}/public/traces`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(canonicalBody(agent.id, { spans })),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    return answer.headers.get("x-svc-trace-id")!;
  };
  const traceId = await send(orderSpans);
  if (isCallable) await connect(owner, agent.id);
  const window = await browser.openAs(owner, { viewport: { width: 1440, height: 900 } });
  window.page.on("request", request => {
    if (request.url().endsWith("/tests/validate")) documents.set(window.page, request.postDataJSON());
  });
  const tests = `/projects/${owner.projectId}/agents/${agent.id}/tests`;
  return {
    ...window,
    owner,
    agent,
    traceId,
    tests,
    send,
    async open(path) {
      await window.page.goto(tests + path);
      await saveButton(window.page).waitFor();
    },
    async counts() {
      const { rows } = await browser.service.db.pool.query(
        `select (select count(*)::int from test_cases where agent_id = $1) as tests,
                (select count(*)::int from queue where agent_id = $1) as runs`,
        [agent.id],
      );
      return rows[0];
    },
  };
}

async function connect(owner: Owner, agentId: string): Promise<void> {
  const connection = {
    url: "https://shop.example/chat",
    bodyTemplate: '{"message": "{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    headers: [],
  };
  await owner.client.put(`/api/agents/${agentId}/connection`, connection).expect(200);
}

export const saveButton = (page: Page) => page.getByRole("button", { name: "Save", exact: true });
export const jsonOf = (page: Page) => page.getByLabel("Test case JSON");
/** The nth check, from 1. */
export const card = (page: Page, at: number) =>
  page.getByRole("listitem", { name: new RegExp(`^${at}\\. `) });

/** Opens a section of the form, such as "Scenario", if it is closed. */
export async function openSection(page: Page, title: string): Promise<void> {
  const button = foldOf(page, title);
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
}

/** The button that opens and closes a section. */
export const foldOf = (page: Page, title: string) =>
  page.getByRole("button", { name: new RegExp(`^${title}`) }).and(page.locator("[data-section]"));

/** The nth check, opened. */
export async function openCard(page: Page, at: number): Promise<Locator> {
  const button = card(page, at).locator(".editor-fold");
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
  return card(page, at);
}

/** Shows the form or the JSON. */
export async function show(page: Page, view: "Form" | "JSON"): Promise<void> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view }).click();
}

export async function addAssertion(page: Page, type: string): Promise<void> {
  await page.getByRole("button", { name: "Add check" }).click();
  await page.getByRole("button", { name: new RegExp(`^${type}`) }).click();
}

// biome-ignore lint/suspicious/noExplicitAny: the test decides what the document contains.
const documents = new WeakMap<Page, any>();

/** The document as the editor last had it validated, soon after each change. */
// biome-ignore lint/suspicious/noExplicitAny: the test decides what the document contains.
export async function documentIn(page: Page): Promise<any> {
  return await eventually(() => {
    const document = documents.get(page);
    assert.ok(document);
    return document;
  });
}
