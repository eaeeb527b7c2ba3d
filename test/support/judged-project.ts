// A project with its own judge in the whole service, so one test's faults never reach another's test.

import assert from "node:assert/strict";
import type { JudgeCall } from "../../src/http/judge/schemas.ts";
import type { RunDetail } from "../../src/http/traces/run-schemas.ts";
import type { TraceDetail } from "../../src/http/traces/schemas.ts";
import type { JudgeProvider } from "../../src/model/judge/call.ts";
import { makeAgent, makeKey, makeTest } from "./app.ts";
import { canonicalBody, canonicalSpan } from "./bodies.ts";
import { eventually } from "./eventually.ts";
import { type JudgeServer, type Script, startJudgeServer } from "./judge-server.ts";
import { send, traceIdOf } from "./send.ts";
import type { TestService } from "./service.ts";

/** A model of each provider that supports every answer format. */
export const modelOf: Record<JudgeProvider, string> = {
  openai: "gpt-5.4",
  anthropic: "claude-sonnet-4-6",
  google: "gemini-2.5-flash",
  openai_compatible: "local-model",
};

export type JudgedProject = {
  server: JudgeServer;
  projectId: string;
  agentId: string;
  /** Creates a test of the agent, by the fields of `makeTest`. */
  test(fields?: object): Promise<string>;
  /** Sends one conversation. Returns the trace's id. */
  converse(reply?: string, input?: string | null): Promise<string>;
  /** Sends a trace of these spans. Returns its id. */
  receive(spans: object[]): Promise<string>;
  /** Saves the project's judge, with these changes. */
  connect(changes?: object): Promise<void>;
  /** Tests the connection to its judge, which answers normally. */
  testConnection(): Promise<void>;
  trace(traceId: string): Promise<TraceDetail>;
  /** The trace once its newest run is completed, after this many in all. */
  judged(traceId: string, runs?: number): Promise<TraceDetail>;
  /** The trace once its newest run waits for the judge. */
  waiting(traceId: string): Promise<TraceDetail>;
  /** The calls of the trace's runs, oldest run first. */
  calls(traceId: string): Promise<JudgeCall[]>;
};

export type JudgedProjectOptions = {
  provider?: JudgeProvider;
  script?: Script;
  apiKey?: string;
};

/** What the conversation is about by default. */
export const userInput = "Where is my parcel?";
export const said = "Your parcel is in Lyon and arrives on Tuesday.";

/** Its judge's server is closed with the service. */
export async function openJudgedProject(
  service: TestService,
  { provider = "openai_compatible", script, apiKey = "key-1" }: JudgedProjectOptions = {},
): Promise<JudgedProject> {
  const { client } = service;
  const server = await startJudgeServer(script);
  service.closing.push(() => server.close());
  const { id: projectId } = (await client.post("/api/projects", { name: "Judged" }).expect(201)).body;
  const owner = { ...service.owner, projectId };
  const [agent, { key }] = await Promise.all([makeAgent(owner), makeKey(owner)]);
  const { url } = server.connection({ provider });

  const project: JudgedProject = {
    server,
    projectId,
    agentId: agent.id,
    test: async fields => (await makeTest(owner, agent.id, fields)).id,
    async converse(reply = said, input = userInput) {
      const attributes = {
        "gen_ai.response.text": reply,
        ...(input === null ? {} : { "gen_ai.prompt": input }),
      };
      return project.receive([canonicalSpan({ attributes })]);
    },
    async receive(spans) {
      const body = canonicalBody(agent.id, { spans });
      const answer = await send({ url: service.url, key }, { body });
      assert.ok(answer.status < 300, answer.bytes.toString());
      return traceIdOf(answer);
    },
    async connect(changes = {}) {
      const document = { provider, url, model: modelOf[provider], apiKey, ...changes };
      await client.put(`/api/projects/${projectId}/judge`, document).expect(200);
    },
    async testConnection() {
      const { body } = await client.post(`/api/projects/${projectId}/judge/test`, {}).expect(200);
      assert.deepEqual([body.mode !== null, body.fault], [true, null]);
    },
    trace: traceId => client.read(`/api/traces/${traceId}`),
    judged: (traceId, runs = 1) =>
      eventually(async () => {
        const trace = await project.trace(traceId);
        assert.deepEqual(
          trace.runs.map(run => run.state),
          Array(runs).fill("completed"),
        );
        return trace;
      }),
    waiting: traceId =>
      eventually(async () => {
        const trace = await project.trace(traceId);
        assert.ok(trace.runs[0]!.waiting);
        return trace;
      }),
    async calls(traceId) {
      const { runs } = await project.trace(traceId);
      const lists = await Promise.all(runs.map(run => client.read(`/api/runs/${run.id}/calls`)));
      return lists.reverse().flatMap(list => list.items);
    },
  };
  await project.connect();
  return project;
}

/** Each check of a run's first result: its id, and why it was skipped, or its outcome. */
export function checksOf(run: Pick<RunDetail, "results"> | undefined): [string, string][] {
  return run!.results[0]!.checks.map(({ id, skipped, outcome }) => [id, skipped ?? outcome]);
}

/** A check that needs no judge, and one that does. */
export const plain = { id: "plain", type: "response_regex", pattern: "Lyon" };
export const semantic = { id: "judged", type: "semantic", criteria: "Says where the parcel is." };
