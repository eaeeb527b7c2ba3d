// Secrets and the content of traces and tests never appear in logs, error responses or metrics: everything private is a
// canary, goes through every kind of success and failure, and is searched for in all that the service said.
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { sendJson } from "../support/agent-server.ts";
import { makeTest, type Owner } from "../support/app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "../support/bodies.ts";
import { type Client, newClient } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { fillAccount, type Outside, startOutside } from "../support/filled-account.ts";
import { json as judgeJson } from "../support/judge-server.ts";
import { logsOf, questionRecord } from "../support/log-records.ts";
import { linkIn, type MailServer, startMailServer } from "../support/mail-server.ts";
import { json, proto, type Sent, send } from "../support/send.ts";
import { runBootstrap, type ServiceProcess, startProcess, stopProcess, stopProcesses } from "./processes.ts";

/** By what it is; the values are searched for. */
const canaries = new Map<string, string>();

/** A new canary, remembered under this name. */
function canary(name: string, value = `canary${randomBytes(9).toString("hex")}`): string {
  canaries.set(name, value);
  return value;
}

/** Everything that the service answered with a status of 400 or above, and its metrics. */
const answered: string[] = [];

let dataDir: string;
let cluster: Cluster;
let mail: MailServer;
let outside: Outside;
let service: ServiceProcess;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "onlooker-canaries-"));
  cluster = await startCluster();
  canary("database password", new URL(cluster.url).password);
  mail = await startMailServer({ name: "mailer", password: canary("mail password") });
  outside = await startOutside();
  service = await startProcess({
    DATABASE_URL: cluster.url,
    SVC_DATA_DIR: dataDir,
    SVC_SMTP_URL: mail.url,
    SVC_SECRET_KEY: canary("master key", randomBytes(32).toString("hex")),
    SVC_JUDGE_URL: outside.judge.url,
    SVC_JUDGE_MODEL: "local",
    SVC_JUDGE_API_KEY: canary("judge key of the environment"),
    SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    SVC_DEBOUNCE_MS: "0",
    SVC_JUDGE_DEADLINE_MS: "1000",
    SVC_LOG_LEVEL: "debug",
    SVC_LOG_FORMAT: "json",
  });
});
after(async () => {
  await stopProcesses();
  await outside?.close();
  await mail?.close();
  await cluster?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** A client whose error responses are searched. */
function watched(url: string): Client {
  const client = newClient(url);
  const { request } = client;
  client.request = (...args) => {
    const reply = request(...args);
    void reply.then(({ status, body, headers }) => {
      if (status >= 400) answered.push(JSON.stringify([body, [...headers]]));
    });
    return reply;
  };
  return client;
}

const sendWatched = async (key: string, sent: Sent) => {
  const answer = await send({ url: service.url, key }, sent);
  if (answer.status >= 400) answered.push(answer.statusMessage, answer.bytes.toString("latin1"));
  return answer;
};

const tokenIn = ({ source }: { source: string }) => new URL(linkIn(source)).searchParams.get("token")!;

async function signUp(): Promise<Owner> {
  const client = watched(service.url);
  const email = `${randomUUID()}@example.com`;
  const password = canary(`password of ${email}`);
  await client.post("/api/auth/sign-up/email", { email, password }).expect(200);
  const received = await eventually(() => mail.mails.find(({ to }) => to.includes(email)) ?? assert.fail());
  const token = canary(`verification token of ${email}`, tokenIn(received));
  await client.post("/api/verification/confirm", { token }).expect(200);
  await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
  canary(`session of ${email}`, decodeURIComponent(client.cookie).split("=")[1]!.split(".")[0]);
  const body = await client.read("/api/auth/get-session");
  await client.post("/api/verification/confirm", { token }); // used
  const projects = await client.get("/api/projects").expect(200);
  return { client, accountId: body!.user.id, email, password, projectId: projects.body.items[0]!.id };
}

/** Passwords, tokens and links, right and wrong. */
async function goThroughAccounts({ client, email, password }: Owner): Promise<void> {
  const stranger = watched(service.url);
  const wrong = canary("wrong password");
  await stranger.post("/api/auth/sign-in/email", { email, password: wrong }).expect(401);
  await stranger.post("/api/auth/sign-in/email", `{"email": "${email}", "password": "${wrong}`).expect(400);
  await stranger.post("/api/auth/sign-in/email", { email: wrong, password: { [wrong]: wrong } }).expect(400);
  await stranger.post("/api/auth/sign-up/email", { email, password });
  await stranger.post("/api/verification/confirm", { token: canary("wrong token") });
  await stranger.post("/api/auth/reset-password", {
    token: canary("wrong reset token"),
    newPassword: password,
  });
  await stranger.get(`/verify-email?token=${canary("token in a query")}`);
  await stranger.get(`/api/unknown/${canary("text in a path")}?token=${canary("token of an unknown path")}`);
  await stranger.post("/api/auth/request-password-reset", { email }).expect(200);
  const reset = await eventually(
    () => mail.mails.find(({ source }) => /reset-password/.test(source)) ?? assert.fail(),
  );
  const newPassword = canary("new password");
  await stranger.post("/api/auth/reset-password", {
    token: canary("reset token", tokenIn(reset)),
    newPassword,
  });
  await client.post("/api/auth/sign-in/email", { email, password: newPassword }).expect(200);
  // The mail server is unavailable.
  mail.refusing = 451;
  await stranger.post("/api/auth/request-password-reset", { email }).expect(200);
  mail.refusing = undefined;
  const { body } = await client.post("/api/access-tokens", { name: "CI" }).expect(201);
  canary("access token", body.token);
  const authorization = `Bearer ${canary("wrong access token")}`;
  await stranger.request("GET", "/api/projects", undefined, { authorization });
}

/** Traces that are accepted and rejected for every reason. */
async function goThroughIngestion({ client, projectId }: Owner, agentId: string): Promise<string> {
  const { body } = await client
    .post(`/api/projects/${projectId}/keys`, { name: "K", access: "full" })
    .expect(201);
  const key = canary("API key", body.key);
  const content = canary("content of a trace");
  const attributes = { "gen_ai.prompt": content, "gen_ai.response.text": content };
  const spans = [canonicalSpan({ name: `${content}\n\u001b[2J\u0085`, attributes })];
  const good = JSON.stringify(canonicalBody(agentId, { spans, metadata: { content } }));
  assert.equal((await sendWatched(key, { body: good })).status, 201);
  const wrong = canary("wrong API key");
  await sendWatched(wrong, { body: good });
  await sendWatched(key, { body: good, key: null, headers: { authorization: `Bearer ${wrong}` } });
  const statuses: number[] = [];
  for (const sent of [
    { body: `${good}{` },
    { body: good.slice(0, -5) },
    { body: good.replace('"span_id"', '"span_idd"') },
    { body: canonicalBody(content, { spans }) },
    { body: canonicalBody(agentId, { spans: [canonicalSpan({ attributes: content })] }) },
    { body: exportOf([exportedSpan({ name: content, traceId: content })]) },
    { body: exportOf([exportedSpan({ name: content })], "unknown-service") },
    { body: Buffer.from(content), type: proto },
    { body: Buffer.from(content), headers: { "content-encoding": "gzip" } },
    { body: gzipSync(content), headers: { "content-encoding": "gzip" } },
    { body: content, type: "text/plain" },
    { body: good, path: `/v1/traces?key=${wrong}` },
    { body: good, path: `/public/traces/${canary("content in a path")}` },
    { body: good, headers: { "x-request-id": [content, content] } },
    { body: good, method: "PUT" },
    { body: logsOf([questionRecord({ traceId: content, spanId: content }, content)]), path: "/public/logs" },
    { body: logsOf([{ eventName: { content } }]), path: "/public/logs" },
    { body: logsOf([content], "unknown-service"), path: "/public/logs" },
  ] as Sent[]) {
    const { status } = await sendWatched(key, { type: json, ...sent });
    statuses.push(status);
  }
  const rejected = statuses.filter(status => status >= 400 && status < 500);
  assert.equal(rejected.length >= statuses.length - 2, true, `${statuses}`); // OTLP accepts a part
  return key;
}

/** Judges and agents that fail, and repeat what they were sent. */
async function goThroughFailingPeers({ client }: Owner, agentId: string, key: string): Promise<void> {
  const input = canary("input of a manual run");
  const secret = canary("secret header of an agent");
  const connection = {
    type: "http_api",
    url: outside.agent.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    headers: [{ name: "Authorization", value: `Bearer ${secret}` }],
    waitMs: 0,
  };
  await client.put(`/api/agents/${agentId}/connection`, connection).expect(200);
  const test = canary("text of a test");
  const semantic = { type: "semantic", criteria: test };
  const owner = { client } as Owner;
  await makeTest(owner, agentId, { name: test, assertions: [semantic] });
  const { id } = await makeTest(owner, agentId, {
    name: `Manual ${test}`,
    passiveBehavior: "manual_only",
    turns: [{ input }],
    assertions: [semantic],
  });
  await client.post(`/api/agents/${agentId}/tests`, {
    name: test,
    assertions: [{ type: test, [test]: test }],
  });
  const repeating = (status: number) => (request: { headers: object; body: unknown }) =>
    judgeJson(status, { error: { message: JSON.stringify(request), code: test } });
  for (const [at, script] of [repeating(500), repeating(200), repeating(401)].entries()) {
    outside.judge.script = script;
    outside.agent.script = (request, response) => {
      if (at === 2) response.destroy();
      else sendJson(response, { error: JSON.stringify(request), stack: request.body }, [200, 500][at]);
    };
    const content = canary(`content judged by failing judge ${at}`);
    const attributes = { "gen_ai.prompt": content, "gen_ai.response.text": content };
    await sendWatched(key, { body: canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] }) });
    const { body } = await client.post(`/api/agents/${agentId}/launches`, { testIds: [id] }).expect(201);
    await eventually(async () => {
      const launch = await client.read(`/api/launches/${body.id}`);
      assert.equal(launch.state, "completed");
    });
    await client.post(`/api/agents/${agentId}/connection/test`, { input });
  }
}

/** Faults of the service: a database that refuses every row, and one that is gone. */
async function goThroughFaults({ client, projectId }: Owner, agentId: string, key: string): Promise<void> {
  const content = canary("content during a fault");
  const attributes = { "gen_ai.response.text": content };
  const trace = () =>
    sendWatched(key, { body: canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] }) });
  const db = new pg.Client({ connectionString: cluster.url });
  await db.connect();
  for (const table of ["traces", "test_cases", "keys", "runs", "sessions", "run_turns"]) {
    await db.query(`alter table ${table} add constraint refuses_all check (false) not valid`);
  }
  assert.equal((await trace()).status >= 500, true);
  const document = {
    name: content,
    turns: [{ input: content }],
    assertions: [{ type: "semantic", criteria: content }],
    passiveBehavior: "always_run",
  };
  await client.post(`/api/agents/${agentId}/tests`, document).expect(500);
  await client.post(`/api/projects/${projectId}/keys`, { name: content, access: "full" }).expect(500);
  const password = canary("password during a fault");
  await watched(service.url).post("/api/auth/sign-up/email", {
    email: `${randomUUID()}@example.com`,
    password,
  });
  for (const table of ["traces", "test_cases", "keys", "runs", "sessions", "run_turns"]) {
    await db.query(`alter table ${table} drop constraint refuses_all`);
  }
  await db.end();
  await cluster.crash();
  const answers = await Promise.all([
    trace(),
    client.post(`/api/agents/${agentId}/tests`, document),
    client.post("/api/auth/sign-in/email", { email: "a@example.com", password }),
  ]);
  for (const { status } of answers) assert.equal(status >= 500, true);
  await cluster.resume();
  await eventually(async () => assert.equal((await trace()).status, 201));
}

test("no secret and no content is in the log, in error responses or in metrics, whatever fails", async () => {
  const filled = await fillAccount({ url: service.url, signUp }, outside);
  for (const kind of ["content", "test"] as const) canary(`${kind} of an account`, filled.words[kind]);
  canary("secrets of connections", filled.words.setting);
  await goThroughAccounts(filled.owner);
  const owner = await signUp();
  const agent = await owner.client.post(`/api/projects/${owner.projectId}/agents`, {
    name: "Agent",
    type: "http_api",
  });
  const key = await goThroughIngestion(owner, agent.body.id);
  await goThroughFailingPeers(owner, agent.body.id, key);
  await goThroughFaults(owner, agent.body.id, key);
  answered.push(String(await watched(service.url).read("/metrics")));
  assert.equal(await stopProcess(service), 0);

  // Warnings of Node itself are text, on standard error.
  const own = service.logs.filter(line => !/^\(node:|^\(Use `node/.test(line));
  const lines = own.map(line => JSON.parse(line));
  assert.equal(
    lines.some(({ level }) => level >= 50),
    true,
    "faults were logged",
  );
  assert.equal(answered.length > 40, true, `${answered.length} error responses`);
  const leaks = [...canaries].flatMap(([name, value]) =>
    [...service.logs, ...answered]
      .filter(text => text.includes(value))
      .map(text => `${name}: ${text.slice(0, 2_000)}`),
  );
  assert.deepEqual(leaks, []);
});

test("a start that fails names the variable and never repeats a secret", async () => {
  const secret = "canaryxsecretxvalue";
  const wrong: Record<string, string>[] = [
    { DATABASE_URL: `postgrs://user:${secret}@localhost/db` },
    { DATABASE_URL: `postgres://user:${secret}@127.0.0.1:1/db` },
    { SVC_SMTP_URL: `smpt://user:${secret}@localhost` },
    { SVC_SECRET_KEY: secret },
    { SVC_JUDGE_URL: `https://user:${secret}@localhost/v1`, SVC_JUDGE_MODEL: "m" },
    {
      SVC_JUDGE_URL: "https://localhost/v1",
      SVC_JUDGE_MODEL: "m",
      SVC_JUDGE_API_KEY: `${secret} with space`,
    },
  ];
  for (const env of wrong) {
    const { stdout, stderr, code } = await runBootstrap(["--email", "a@example.com", "--password", secret], {
      SVC_DATA_DIR: dataDir,
      ...env,
    });
    assert.notEqual(code, 0);
    assert.equal(`${stdout}${stderr}`.includes(secret), false, stderr);
  }
});
