// A running service in which every noun of the API exists, so that generated requests reach more than 404.
import assert from "node:assert/strict";
import { type AgentServer, startAgentServer } from "../../support/agent-server.ts";
import { makeKey, type Owner } from "../../support/app.ts";
import { exportedSpan, exportOf } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { openJudgedProject, plain, semantic } from "../../support/judged-project.ts";
import { send } from "../../support/send.ts";
import { startTestService } from "../../support/service.ts";
import type { Ids } from "./openapi-ids.ts";

export type ApiData = {
  url: string;
  ids: Ids;
  /** Of fields and parameters that refer to something, by name. */
  values: Record<string, unknown[]>;
  /** The variables of schemathesis.toml. */
  variables: Record<string, string>;
  /** The log lines of errors. */
  errors(): string[];
  close(): Promise<void>;
};

export async function startWithData(): Promise<ApiData> {
  const service = await startTestService({ config: { allowPrivateTargets: ["127.0.0.0/8"] } });
  const agentServer = await startAgentServer();
  const { client } = service;
  const judged = await openJudgedProject(service);
  const { projectId, agentId } = judged;
  const owner: Owner = { ...service.owner, projectId };
  const key = await makeKey(owner);

  await client.put(`/api/agents/${agentId}/connection`, connectionTo(agentServer)).expect(200);
  const failingTest = await judged.test({ assertions: [{ ...plain, pattern: "Paris" }] });
  const otherTest = await judged.test({ assertions: [plain] });
  const test = await judged.test({
    scenario: "A customer asks where a parcel is.",
    inputs: [{ input: "Where is my parcel?" }, { input: "Where is it?" }],
    assertions: [plain, semantic],
  });
  const trace = await judged.converse();
  const otherTrace = await judged.converse("It is lost.");
  const run = (await judged.judged(trace)).runs[0]!.id as string;
  await judged.judged(otherTrace);

  const otlp = await send({ url: service.url, key: service.key }, { body: exportOf([exportedSpan()]) });
  assert.equal(otlp.status, 200);
  const label = { testId: test, checkId: semantic.id, answer: "pass" };
  const { id: labelId } = (await client.put(`/api/runs/${run}/labels`, label).expect(200)).body;

  const launched = () => completed("launches", { testIds: [test] });
  const [spareLaunch, otherLaunch, launch] = [await launched(), await launched(), await launched()];
  const backtested = () => completed("backtests", { testId: test, traces: 10 });
  const [otherBacktest, backtest] = [await backtested(), await backtested()];
  const spareKey = await makeKey(owner);
  const token = () => client.create("/api/access-tokens", { name: "CI" });
  const tokens = [await token(), await token()] as const;
  const ids: Ids = {
    projects: { id: projectId, spare: service.projectId },
    agents: { id: agentId, spare: service.agent.id },
    tests: { id: test, spare: otherTest },
    traces: { id: trace, spare: otherTrace },
    runs: { id: run },
    labels: { id: labelId },
    launches: { id: launch, spare: spareLaunch },
    backtests: { id: backtest, spare: otherBacktest },
    keys: { id: key.id, spare: spareKey.id },
    "access-tokens": { id: tokens[1].id },
  };
  const tests = [test, failingTest];
  const values = {
    ...{ testId: tests, testIds: tests, traceId: [trace], traceIds: [trace], with: [otherLaunch] },
    ...{ agentId: [agentId], agentIds: [agentId], platformId: [agentId], projectId: [projectId] },
    ...{ launchId: [launch], runIds: [run], keyId: [key.id], spanId: ["root"], checkId: [semantic.id, null] },
    // The bodies that are generated for ingestion are not compressed.
    "content-encoding": ["identity"],
  };
  const variables = {
    ONLOOKER_URL: service.url,
    ONLOOKER_SESSION: client.cookie.split("=").slice(1).join("="),
    ONLOOKER_KEY: key.key,
    ONLOOKER_TOKEN: tokens[0].token,
  };

  async function completed(noun: "launches" | "backtests", body: object): Promise<string> {
    const { id } = (await client.create(`/api/agents/${agentId}/${noun}`, body)) as { id: string };
    await eventually(async () => {
      assert.equal(((await client.read(`/api/${noun}/${id}`)) as { state: string }).state, "completed");
    });
    return id;
  }

  return {
    url: service.url,
    ids,
    values,
    variables,
    errors: () => service.logs.filter(line => JSON.parse(line).level >= 50),
    async close() {
      await service.stop();
      await agentServer.close();
    },
  };
}

function connectionTo({ url }: AgentServer): object {
  return {
    type: "http_api",
    url: `${url}/chat`,
    bodyTemplate: '{ "message": "{{input}}" }',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  };
}
