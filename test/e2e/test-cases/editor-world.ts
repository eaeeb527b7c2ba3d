// Sets up tests of the editor: an account with an agent and traces, and a window on its test cases.
import type { Page } from "playwright-core";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { makeAgent, makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import type { TestBrowser, Window } from "../../support/browser.ts";

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

export async function openWorld(browser: TestBrowser): Promise<World> {
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
  const window = await browser.openAs(owner, { viewport: { width: 1440, height: 900 } });
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
                (select count(*)::int from runs where agent_id = $1) as runs`,
        [agent.id],
      );
      return rows[0];
    },
  };
}

export const saveButton = (page: Page) => page.getByRole("button", { name: "Save", exact: true });
export const jsonOf = (page: Page) => page.getByLabel("Test case JSON");
/** The nth assertion, from 1. */
export const card = (page: Page, at: number) =>
  page.getByRole("listitem", { name: new RegExp(`^${at}\\. `) });

export async function addAssertion(page: Page, type: string): Promise<void> {
  await page.getByRole("button", { name: "Add assertion" }).click();
  await page.getByRole("button", { name: new RegExp(`^${type}`) }).click();
}

/** The document as the JSON editor shows it. */
// biome-ignore lint/suspicious/noExplicitAny: the test decides what the document contains.
export async function documentIn(page: Page): Promise<any> {
  return JSON.parse(await jsonOf(page).inputValue());
}
