// Shared by the tests of a trace's page: stores a conversation, opens its page and finds its tree.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent } from "./app.ts";
import { canonicalBody } from "./bodies.ts";
import type { TestBrowser, Window } from "./browser.ts";
import { eventually } from "./eventually.ts";
import { type Sent, send } from "./send.ts";

type Fields = Record<string, unknown>;

const begin = 1_763_600_000_000_000_000n;

/** A timestamp `ms` after the start of the trace. */
export const nanos = (ms: number) => String(begin + BigInt(ms) * 1_000_000n);

/** A canonical span whose name is its id; without times if `ms` is null. */
export function span(
  id: string,
  parent: string | null,
  ms: [from: number, to: number] | null,
  more: Fields = {},
) {
  return {
    span_id: id,
    parent_span_id: parent,
    name: id,
    ...(ms && { start_time_unix_nano: nanos(ms[0]), end_time_unix_nano: nanos(ms[1]) }),
    ...more,
  };
}

const asks = { "gen_ai.prompt": "Where is my order?", "gen_ai.response.text": "On its way." };

/** Six spans: of an agent, models, a tool and a step; one of them failed. */
export const conversation = [
  span("Support", null, [0, 4_820], { attributes: { ...asks, "http.response.status_code": 200 } }),
  span("plan", "Support", [20, 1_200], {
    attributes: {
      "gen_ai.request.model": "small-model",
      "gen_ai.usage.input_tokens": 812,
      "gen_ai.usage.output_tokens": 64,
    },
  }),
  span("find order", "plan", [100, 900], { attributes: { "gen_ai.tool.name": "find_order" } }),
  span("query", "find order", [200, 400]),
  span("carrier", "Support", [1_300, 3_000], { status: { code: 2, message: "timeout" } }),
  span("answer", "Support", [3_100, 4_800]),
];

export function openTracePages(browser: TestBrowser) {
  async function store(sent: Sent): Promise<string> {
    const answer = await send(browser.service, sent);
    assert.ok(answer.status < 300, answer.bytes.toString());
    return String(answer.headers["x-svc-trace-id"]);
  }
  return {
    store,
    storeSpans: (agent: Agent, spans: Fields[], more: Fields = {}, requestId?: string) =>
      store({
        body: canonicalBody(agent.id, { spans, ...more }),
        ...(requestId && { headers: { "x-request-id": requestId } }),
      }),
    /** With its own OTLP service name. */
    newAgent: () => makeAgent(browser.service.owner, { name: "Shop", otlpServiceName: crypto.randomUUID() }),
    /** A window of the owner. */
    async open(viewport = { width: 1440, height: 900 }): Promise<Window> {
      const window = await browser.openAs(browser.service.owner, { viewport });
      return window;
    },
    judged: (id: string) =>
      eventually(async () => {
        const body = await browser.service.client.read(`/api/traces/${id}/outline`);
        assert.equal(body.run?.state, "completed");
      }),
  };
}

export const pathOf = (agent: Agent, id: string, query = "") =>
  `/projects/${agent.projectId}/agents/${agent.id}/traces/${id}${query}`;

export const tree = (page: Page): Locator => page.getByRole("tree", { name: "Spans" });
export const item = (page: Page, name: string | RegExp): Locator =>
  tree(page).getByRole("treeitem", { name });

/** The label of a row starts with its span's name. */
export const named = (name: string) => new RegExp(`^${name},`);

/** Waits until the selected row is this span's. */
export const selects = (page: Page, name: string) =>
  tree(page)
    .locator("[aria-selected=true]")
    .and(item(page, named(name)))
    .waitFor();
