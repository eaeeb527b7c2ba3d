// An account in which everything that stores text was used, each kind of text with a word of its own to search for.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type AgentServer, sendJson, startAgentServer } from "./agent-server.ts";
import { makeAgent, makeTest, type Owner } from "./app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "./bodies.ts";
import { eventually } from "./eventually.ts";
import { type JudgeServer, obliging, startJudgeServer } from "./judge-server.ts";
import { send, traceIdOf } from "./send.ts";
import type { TestService } from "./service.ts";

/** The words: in what traces and replies contain, in test cases, in names and settings, and about the account itself. */
export type Words = Record<"content" | "test" | "setting" | "account", string>;

export type Outside = { agent: AgentServer; judge: JudgeServer; close(): Promise<void> };

export async function startOutside(): Promise<Outside> {
  const agent = await startAgentServer();
  const judge = await startJudgeServer();
  return {
    agent,
    judge,
    async close() {
      await agent.close();
      await judge.close();
    },
  };
}

export type FilledAccount = {
  owner: Owner;
  words: Words;
  projectId: string;
  agentId: string;
  testIds: string[];
  launchId: string;
  /** The ids of all traces of the agent, those of test runs too. */
  traceIds(): Promise<string[]>;
};

const word = (kind: string) => `${kind}x${randomBytes(6).toString("hex")}`;
const mentionsParcel = { id: "plain", type: "response_regex", pattern: "parcel" };

/** `service` may be a process of its own. */
export async function fillAccount(
  service: Pick<TestService, "url" | "signUp">,
  { agent, judge }: Outside,
): Promise<FilledAccount> {
  judge.script = obliging();
  const owner = await service.signUp();
  const { client } = owner;
  const words: Words = {
    content: word("content"),
    test: word("test"),
    setting: word("setting"),
    account: owner.email.slice(0, owner.email.indexOf("@")),
  };
  const { content, test, setting } = words;
  // Longer than what a turn's document keeps.
  agent.script = ({ body }, response) =>
    sendJson(response, { reply: `${content}: ${body.message}. ${"Indeed. ".repeat(20_000)}` });

  await client.post("/api/auth/update-user", { name: `Owner ${words.account}` }).expect(200);
  await client.create("/api/access-tokens", { name: `Token ${setting}` });
  const { id: projectId } = await client.create("/api/projects", { name: `Project ${setting}` });
  const made = { ...owner, projectId };
  const { id: agentId } = await makeAgent(made, { name: `Agent ${setting}`, otlpServiceName: setting });
  const { key } = await client.create(`/api/projects/${projectId}/keys`, {
    name: `Key ${setting}`,
    access: "full",
  });
  const view = { name: `View ${setting}`, search: { text: setting } };
  await client.post(`/api/agents/${agentId}/trace-views`, view).expect(200);
  const { url, model } = judge.connection();
  const judgeConnection = { provider: "openai_compatible", url, model, apiKey: `key-${setting}` };
  await client.put(`/api/projects/${projectId}/judge`, judgeConnection).expect(200);
  const price = { model: `model-${setting}`, validFrom: "2026-01-01", inputUsd: 1, outputUsd: 1 };
  await client.put(`/api/projects/${projectId}/judge/prices`, { prices: [price] }).expect(200);
  await client
    .put(`/api/agents/${agentId}/connection`, {
      type: "http_api",
      url: `${agent.url}/${setting}`,
      bodyTemplate: '{"message":"{{input}}","before":"{{history}}"}',
      reply: { kind: "json", pointer: "/reply" },
      headers: [{ name: "Authorization", value: `Bearer ${setting}` }],
      waitMs: 0,
    })
    .expect(200);

  // Test cases: one that every trace passes, one by its scenario that fails, and two for manual runs.
  const criteria = `Mentions ${test}`;
  const semantic = { id: "judged", type: "semantic", criteria, reference: `Like ${test}` };
  const passing = await makeTest(made, agentId, {
    name: `Passes ${test}`,
    turns: [{ input: `Where is ${test}?` }],
    assertions: [mentionsParcel, semantic],
  });
  const failing = await makeTest(made, agentId, {
    name: `Fails ${test}`,
    passiveBehavior: "run_when_relevant",
    scenario: `The user asks about ${test}`,
    assertions: [{ id: "never", type: "response_regex", pattern: "parcel", negate: true }],
  });
  const asked = await makeTest(made, agentId, {
    name: `Asks ${test}`,
    passiveBehavior: "manual_only",
    turns: [{ input: "in place of the inputs" }],
    inputs: [{ input: `First ${test}` }, { input: `Second ${test}` }],
    assertions: [semantic],
  });
  const conversation = await makeTest(made, agentId, {
    name: `Talks ${test}`,
    passiveBehavior: "manual_only",
    turns: [{ input: `Hello ${test}` }, { input: `Goodbye ${test}` }],
    assertions: [semantic],
  });

  // Live traces by both paths: two of one request share a resource.
  const reply = `The parcel of ${content} is in Lyon. ${"It arrives on Tuesday. ".repeat(20)}`;
  const attributes = { "gen_ai.prompt": `Where is ${content}?`, "gen_ai.response.text": reply };
  const spans = [
    canonicalSpan({ attributes: { ...attributes, "http.response.status_code": 200 } }),
    {
      span_id: "tool",
      parent_span_id: "root",
      name: `tool ${content}`,
      attributes: { [content]: content, "gen_ai.tool.name": `find ${content}` },
    },
  ];
  const to = { url: service.url, key };
  const body = canonicalBody(agentId, { spans, metadata: { note: content } });
  const traceId = traceIdOf(await send(to, { body, headers: { "x-request-id": `request-${content}` } }));
  const spanOf = (name: string) => exportedSpan({ name, parentSpanId: "" });
  const shared = exportOf([spanOf(`one ${content}`), spanOf("other"), spanOf("third")], setting);
  shared.resourceSpans[0]!.resource.attributes.push({
    key: "text",
    value: { stringValue: content.repeat(200) },
  });
  assert.equal((await send(to, { body: shared })).status, 200);
  await eventually(async () => {
    const { items } = await client.read(`/api/projects/${projectId}/ingestion`);
    assert.ok(items.some(({ serviceName }) => serviceName === setting));
  });

  const traceIds = async () => {
    const lists = await Promise.all(
      ["live", "test_run"].map(kind => client.read(`/api/agents/${agentId}/traces?kind=${kind}`)),
    );
    return lists.flatMap(({ items }) => items.map(({ id }) => id as string));
  };
  const evaluated = () =>
    eventually(async () => {
      const traces = await Promise.all((await traceIds()).map(id => client.read(`/api/traces/${id}`)));
      assert.equal(traces.length >= 4, true);
      for (const { runs } of traces) assert.equal(runs[0]?.state, "completed");
      return traces;
    });
  await evaluated();

  // What people add to results, and what is tried.
  const { runs } = await client.read(`/api/traces/${traceId}`);
  const label = { testId: passing.id, checkId: "judged", answer: "fail", note: `Not ${content}` };
  await client.put(`/api/runs/${runs[0]!.id}/labels`, label).expect(200);
  const state = { testId: failing.id, state: "known", note: `Known: ${content}` };
  await client.put(`/api/traces/${traceId}/result-states`, state).expect(200);
  const draft = {
    name: `Draft ${test}`,
    turns: [{ input: `Draft ${test}` }],
    assertions: [{ ...semantic, criteria: `Tried ${test}` }],
  };
  await client.post(`/api/agents/${agentId}/tests/dry-run`, { test: draft, traceId }).expect(200);
  const scenario = `Tried ${test}`;
  await client
    .post(`/api/agents/${agentId}/tests/try-scenario`, { scenario, count: 10, estimate: false })
    .expect(200);
  await client.post(`/api/projects/${projectId}/labels/try`, {}).expect(200);
  const backtest = await client.create(`/api/agents/${agentId}/backtests`, { testId: failing.id });
  await eventually(async () =>
    assert.equal((await client.read(`/api/backtests/${backtest.id}`)).state, "completed"),
  );

  const testIds = [asked.id, conversation.id];
  const launch = await client.create(`/api/agents/${agentId}/launches`, { testIds });
  await eventually(async () =>
    assert.equal((await client.read(`/api/launches/${launch.id}`)).state, "completed"),
  );
  await client.read(`/api/agents/${agentId}/vocabulary`);
  return {
    ...{ owner, words, projectId, agentId, launchId: launch.id, traceIds },
    testIds: [passing.id, failing.id, ...testIds],
  };
}
