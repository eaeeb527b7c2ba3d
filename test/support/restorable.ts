// Fills a service before a backup, and checks after a restore that everything is there, readable and continues.
import assert from "node:assert/strict";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { makeTest, type Owner } from "./app.ts";
import { canonicalBody, canonicalSpan } from "./bodies.ts";
import { type Client, newClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type JudgeServer, obliging, refusal, startJudgeServer } from "./judge-server.ts";
import { send, traceIdOf } from "./send.ts";

const secret = "Bearer header-secret";
const judgeKey = "judge-secret";
const waitMs = 600_000;

export type Restorable = {
  /** Every trace that was acknowledged before the backup, and its bytes. */
  traces: Map<string, string>;
  /** The trace whose run waits for the judge. */
  waitingId: string;
  /** Asserts that the service at this URL has everything, and that its judge and its agent still work. */
  check(url: string): Promise<void>;
  /** Asserts that the service at this URL has everything but the stored secrets, and says so. */
  checkWithoutSecrets(url: string): Promise<void>;
  close(): Promise<void>;
};

export type Filled = { url: string; agentId: string; apiKey: string; owner: Owner };

/** Traces that are evaluated, one whose run waits for a judge that is down, and stored secrets. */
export async function fillRestorable({ url, agentId, apiKey, owner }: Filled): Promise<Restorable> {
  const agent: AgentServer = await startAgentServer();
  const judge: JudgeServer = await startJudgeServer();
  const connectionPath = `/api/agents/${agentId}/connection` as const;
  await owner.client
    .put(connectionPath, {
      type: "http_api",
      url: agent.url,
      bodyTemplate: '{"message":"{{input}}"}',
      reply: { kind: "json", pointer: "/reply" },
      headers: [{ name: "Authorization", value: secret }],
    })
    .expect(200);
  const { provider, url: judgeUrl, model } = judge.connection();
  await owner.client
    .put(`/api/projects/${owner.projectId}/judge`, { provider, url: judgeUrl, model, apiKey: judgeKey })
    .expect(200);
  await makeTest(owner, agentId, { assertions: [{ type: "semantic", criteria: "Is polite." }] });

  const sent = (key: string, at: string, text: string) => {
    const attributes = { "gen_ai.prompt": text, "gen_ai.response.text": text, big: 123456789.12345678 };
    const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
    return send({ url: at, key }, { body });
  };
  const traceIds: string[] = [];
  for (const text of ["One \u0000", "Zwei 💡", "Three ".repeat(10_000)]) {
    traceIds.push(traceIdOf(await sent(apiKey, url, text)));
  }
  const at = (base: string): Client => Object.assign(newClient(base), { cookie: owner.client.cookie });
  const runOf = async (client: Client, id: string) => (await client.read(`/api/traces/${id}`)).runs;
  const completed = (client: Client, id: string) =>
    eventually(async () => {
      const runs = await runOf(client, id);
      assert.deepEqual(
        runs.map(({ state, verdict }) => [state, verdict]),
        [["completed", "passed"]],
      );
    });
  for (const id of traceIds) await completed(owner.client, id);
  judge.script = () => refusal(503, {}, { "retry-after": String(waitMs / 1000) });
  const waitingId = traceIdOf(await sent(apiKey, url, "Four"));
  await eventually(async () => assert.ok((await runOf(owner.client, waitingId))[0]!.waiting));
  const raw = async (client: Client, id: string) =>
    JSON.stringify(await client.read(`/api/traces/${id}/raw`));
  const traces = new Map<string, string>();
  for (const id of [...traceIds, waitingId]) traces.set(id, await raw(owner.client, id));
  const callsBefore = agent.requests.length;

  const readable = async (client: Client) => {
    for (const [id, bytes] of traces) assert.equal(await raw(client, id), bytes);
    for (const id of traceIds) await completed(client, id);
  };
  return {
    traces,
    waitingId,
    async check(base) {
      const client = at(base);
      await readable(client);
      // The judge is asked with its stored key, and the run that waited ends with one result.
      judge.script = obliging();
      // Its next try may be minutes away by now; a successful test of the judge lets it come at once.
      await client.post(`/api/projects/${owner.projectId}/judge/test`).expect(200);
      await completed(client, waitingId);
      assert.equal(judge.requests.at(-1)!.headers.authorization, `Bearer ${judgeKey}`);
      await client.post(`${connectionPath}/test`, { input: "Hello" }).expect(200);
      assert.equal(agent.requests.at(-1)!.headers.authorization, secret);
      assert.equal(agent.requests.length, callsBefore + 1);
      assert.equal((await sent(apiKey, base, "Five")).status, 201);
    },
    async checkWithoutSecrets(base) {
      const client = at(base);
      await readable(client);
      const refused = await client.post(`${connectionPath}/test`, { input: "Hello" }).expect(409);
      assert.match(refused.body.message, /encrypted with another key/);
      assert.equal((await sent(apiKey, base, "Six")).status, 201);
    },
    async close() {
      await agent.close();
      await judge.close();
    },
  };
}

/** The command block of docs/backup.md that contains this text. */
export function commandsWith(page: string, text: string): string {
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  return blocks.find(block => block.includes(text)) ?? assert.fail(`no command block with ${text}`);
}
