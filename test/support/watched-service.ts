// A process of the service with a judge, an agent, mailboxes and a webhook around it, and a search in all that it stores,
// shows, logs and sends.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { bootstrapped, signedIn, startProcess, stopProcesses } from "../flow/processes.ts";
import { openLiveEvents } from "../wide/support/live-events.ts";
import { sendJson, startAgentServer } from "./agent-server.ts";
import { makeAgent, makeKey, makeTest } from "./app.ts";
import { encodings, newSpanId, newTraceId } from "./bodies.ts";
import { canonicalWith, exportedWith, recordsWith, staying } from "./canaries.ts";
import { eventually } from "./eventually.ts";
import { everythingShown } from "./everything-shown.ts";
import { startJudgeServer } from "./judge-server.ts";
import { everyValue, filesWith, withDecoded } from "./leftovers.ts";
import { alertsIn, decoded, startMailServer } from "./mail-server.ts";
import { freshDatabase } from "./postgres.ts";
import { type Sent, send } from "./send.ts";
import { startWebhookReceiver } from "./webhook-receiver.ts";

export type Made = {
  projectId: string;
  agentId: string;
  key: string;
  service: string;
  testIds: string[];
  launched: string[];
  /** External IDs of traces that differ from another one in their IDs only: their rows are searched, their pages not read. */
  alike: string[];
};

/** How many live traces `sendEverything` makes. */
const liveTraces = 8;

export type Watched = Awaited<ReturnType<typeof startWatched>>;

export async function startWatched() {
  const dataDir = await mkdtemp(join(tmpdir(), "onlooker-canaries-"));
  const database = await freshDatabase();
  const judge = await startJudgeServer();
  const agentServer = await startAgentServer();
  const mail = await startMailServer();
  const webhook = await startWebhookReceiver();
  const env = {
    DATABASE_URL: database.url,
    SVC_DATA_DIR: dataDir,
    SVC_SMTP_URL: mail.url,
    SVC_JUDGE_URL: judge.url,
    SVC_JUDGE_MODEL: "local",
    SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    SVC_DEBOUNCE_MS: "50",
    SVC_DEBOUNCE_CAP_MS: "200",
    SVC_LOG_LEVEL: "debug",
  };
  const service = await startProcess(env);
  const owner = await signedIn(service, await bootstrapped(env));
  const { client } = owner;
  const events = await openLiveEvents(service.url, client.cookie);

  /** A project with these settings, an agent that reads log records, tests of every kind of check, and a connection. */
  async function makeProject(privacy: object, agentSettings: object = {}): Promise<Made> {
    const { id: projectId } = await client.create("/api/projects", { name: "Private" });
    await client.put(`/api/projects/${projectId}/privacy`, privacy).expect(200);
    const made = { ...owner, projectId };
    const name = `private-${projectId.slice(-6)}`;
    const { id: agentId } = await makeAgent(made, { otlpServiceName: name });
    await client.patch(`/api/agents/${agentId}`, { conventions: ["*"], ...agentSettings }).expect(200);
    const { key } = await makeKey(made);
    const regex = (pattern: string, more: object = {}) => ({ type: "response_regex", pattern, ...more });
    const live = await makeTest(made, agentId, {
      name: "Live",
      passiveBehavior: "always_run",
      assertions: [
        regex("^never$"),
        regex("example", { negate: true }),
        { type: "semantic", criteria: [`Says what to do in ${projectId}`] },
        { type: "tool_call", expected_name: "lookup", expected_arguments: { query: "nothing" } },
        {
          type: "json_match",
          target_node: "look up",
          field: "gen_ai.tool.call.arguments",
          expected_value: 1,
        },
        {
          type: "json_schema",
          target_node: "look up",
          field: "gen_ai.tool.call.arguments",
          schema: { type: "object", required: ["missing"] },
        },
        { type: "http_status", expected_status: 200 },
      ],
    });
    // Checks of the other are skipped where something is redacted, and then it alerts nobody.
    await makeTest(made, agentId, {
      name: "Status",
      passiveBehavior: "always_run",
      assertions: [{ type: "http_status", expected_status: 418 }],
    });
    const routed = await makeTest(made, agentId, {
      name: "Routed",
      passiveBehavior: "run_when_relevant",
      scenario: `The user asks for something in ${projectId}`,
      assertions: [{ type: "semantic", criteria: [`Replies in ${projectId}`] }],
    });
    const assertions = [regex("^never$"), { type: "semantic", criteria: [`Replies in ${projectId}`] }];
    const manual = { passiveBehavior: "manual_only", assertions };
    const talks = await makeTest(made, agentId, {
      ...manual,
      name: "Talks",
      turns: [{ input: "One" }, { input: "Two" }],
    });
    const fails = await makeTest(made, agentId, { ...manual, name: "Fails", turns: [{ input: "Fail" }] });
    const connection = {
      type: "http_api",
      url: agentServer.url,
      bodyTemplate: '{"message":"{{input}}","before":"{{history}}"}',
      reply: { kind: "json", pointer: "/reply" },
      waitMs: 0,
    };
    await client.put(`/api/agents/${agentId}/connection`, connection).expect(200);
    const hook = await client.put(`/api/agents/${agentId}/webhook`, { url: webhook.url }).expect(200);
    webhook.secret = hook.body.secret!;
    return {
      projectId,
      agentId,
      key,
      service: name,
      testIds: [live.id, routed.id],
      launched: [talks.id, fails.id],
      alike: [],
    };
  }

  /** Sends the text in every field of everything that is received, and waits until all of it is evaluated. */
  async function sendEverything(made: Made, text: string, whileWaiting: () => Promise<void>): Promise<void> {
    const accepted = async (sent: Sent) => {
      const answer = await send({ url: service.url, key: made.key }, sent);
      assert.ok(answer.status < 300, answer.bytes.toString());
      return answer;
    };
    const again = [`2 ${staying.request}`, `3 ${staying.request}`];
    made.alike.push(...again);
    for (const request of [staying.request, ...again]) {
      await accepted({ body: canonicalWith(made.agentId, text), headers: { "x-request-id": request } });
    }
    const about = () => ({ traceId: newTraceId(), spanId: newSpanId(), service: made.service });
    for (const encode of Object.values(encodings)) {
      const waiting = about();
      await accepted({ path: "/public/logs", body: recordsWith(text, waiting, 1_000) });
      await whileWaiting();
      await accepted(encode(exportedWith(text, waiting)));
      await accepted({ path: "/public/logs", body: recordsWith(text, waiting, 5_000) });
    }
    // Several traces of one request, which share their resource.
    const sharing = [about(), about(), about()];
    made.alike.push(...sharing.slice(1).map(({ traceId }) => traceId));
    const many = sharing.map(one => exportedWith(text, one));
    const [first] = many;
    const scopes = many.flatMap(one => one.resourceSpans[0]!.scopeSpans);
    const padding = { key: "padding", value: { stringValue: `${text} ${"x".repeat(20_000)}` } };
    const resource = { attributes: [...first!.resourceSpans[0]!.resource.attributes, padding] };
    await accepted({ body: { resourceSpans: [{ resource, scopeSpans: scopes }] } });

    agentServer.script = ({ body }, response) => {
      const isFailing = body.message === "Fail";
      sendJson(
        response,
        isFailing ? { error: text } : { reply: `${text} ${body.message}` },
        isFailing ? 500 : 200,
      );
    };
    const launch = await client.create(`/api/agents/${made.agentId}/launches`, { testIds: made.launched });
    await eventually(async () =>
      assert.equal((await client.read(`/api/launches/${launch.id}`)).state, "completed"),
    );
    await eventually(async () => {
      const { items } = await client.read(`/api/agents/${made.agentId}/traces?kind=live&limit=50`);
      assert.equal(items.length, liveTraces);
      for (const { run } of items) assert.equal(run?.state, "completed");
    });
  }

  /** Tells about the failing tests, by email and webhook. */
  async function alert(): Promise<void> {
    const before = [alertsIn(mail).length, webhook.received.length] as const;
    const db = new pg.Client({ connectionString: database.url });
    await db.connect();
    await eventually(async () => {
      await db.query("update alert_schedules set due_at = now() where due_at is not null");
      assert.ok(alertsIn(mail).length > before[0]);
      assert.ok(webhook.received.length > before[1]);
    });
    await db.end();
  }

  /** Where any of the texts is, in whatever is stored, shown, logged and sent; and what is shown, as one text. */
  async function leaksOf(
    texts: string[],
    made: Made,
  ): Promise<{ leaks: string[]; shown: Map<string, string> }> {
    const leaks = new Set<string>();
    const search = (where: string, text: string) => {
      const revealed = withDecoded(text);
      for (const one of texts) if (revealed.includes(one)) leaks.add(`${where}: ${one}`);
    };
    const shown = await everythingShown(owner.client, made);
    for (const { column, text } of await everyValue(database.url)) {
      search(column, text);
    }
    for (const [path, text] of shown) search(path.replaceAll(/[0-9a-f-]{36}/g, "…"), text);
    for (const line of service.logs) search("log", line);
    for (const { source } of mail.mails) search("mail", decoded(source));
    for (const { body } of webhook.received) search("webhook", body);
    search("events", events.received());
    search("metrics", String(await client.read("/metrics")));
    for (const { body } of judge.requests) search("judge", JSON.stringify(body));
    for (const text of texts) for (const path of filesWith(dataDir, text)) leaks.add(`${path}: ${text}`);
    return { leaks: [...leaks].sort(), shown };
  }

  async function close(): Promise<void> {
    events.close();
    await stopProcesses();
    for (const server of [judge, agentServer, mail, webhook]) await server.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }

  return {
    owner,
    judge,
    databaseUrl: database.url,
    makeProject,
    sendEverything,
    alert,
    leaksOf,
    close,
  };
}
