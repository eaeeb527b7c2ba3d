// A service with an agent that has enough of everything: test cases and traces for pages of lists, and a large trace.
import assert from "node:assert/strict";
import { makeTest } from "../../../support/app.ts";
import { canonicalBody } from "../../../support/bodies.ts";
import { eventually } from "../../../support/eventually.ts";
import { send, traceIdOf } from "../../../support/send.ts";
import { startTestService, type TestService } from "../../../support/service.ts";
import { storeTrace } from "../../../support/stored-traces.ts";
import { conversation, pathOf, span } from "../../../support/trace-page.ts";

export type WatchedAgent = {
  service: TestService;
  /** Where the dashboard is. */
  origin: string;
  /** Paths of its pages. */
  traces: string;
  tests: string;
  keys: string;
  /** A failed trace of six spans, and one of 1,500. */
  failedTrace: string;
  largeTrace: string;
};

const question = "Where is my parcel?";

export async function startWatchedAgent(): Promise<WatchedAgent> {
  const service = await startTestService({ config: { debounceMs: 50 } });
  const { owner, agent, db } = service;
  for (let count = 1; count <= 40; count++)
    await makeTest(owner, agent.id, { name: `Draft ${count}`, status: "disabled" });
  await makeTest(owner, agent.id, {
    name: "Answers with success",
    assertions: [{ type: "http_status", expected_status: 201 }],
  });
  for (let count = 1; count <= 80; count++)
    await storeTrace(db, agent.id, {
      userInput: `Question ${count}`,
      receivedAt: new Date(Date.now() - count * 1_000),
    });
  const store = async (spans: object[]) => {
    const answer = await send(service, { body: canonicalBody(agent.id, { spans }) });
    const id = String(traceIdOf(answer));
    await eventually(async () => {
      const body = await owner.client.read(`/api/traces/${id}/outline`);
      assert.equal(body.run?.state, "completed");
    });
    return pathOf(agent, id);
  };
  const steps = Array.from({ length: 1_500 }, (_, at) => span(`step ${at}`, "root", [at, at + 1]));
  const largeTrace = await store([span("root", null, [0, 1_500]), ...steps]);
  const [root, ...others] = conversation;
  const asked = {
    ...root,
    attributes: { ...(root as { attributes?: object }).attributes, "gen_ai.prompt": question },
  };
  const failedTrace = await store([asked, ...others]);
  const agentPath = `/projects/${agent.projectId}/agents/${agent.id}`;
  return {
    service,
    origin: `http://localhost:${new URL(service.url).port}`,
    traces: `${agentPath}/traces`,
    tests: `${agentPath}/tests`,
    keys: `/projects/${agent.projectId}/keys`,
    failedTrace,
    largeTrace,
  };
}
