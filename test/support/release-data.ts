// What an upgrade must keep: a service is filled by its API, and what it answers then is compared with what a later version
// answers on the same database.
import assert from "node:assert/strict";
import type pg from "pg";
import { account } from "../flow/processes.ts";
import { makeTest, type Owner } from "./app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "./bodies.ts";
import { type Client, newClient } from "./client.ts";
import { eraseAll } from "./erasing.ts";
import { eventually } from "./eventually.ts";
import { startJudgeServer } from "./judge-server.ts";
import { send, traceIdOf } from "./send.ts";

export type Filled = { url: string; agentId: string; projectId: string; apiKey: string; owner: Owner };

// biome-ignore lint/suspicious/noExplicitAny: whatever a release answers.
type Json = any;

/** What a release answered, by path, and how to use it on. */
export type Recorded = {
  agentId: string;
  projectId: string;
  apiKey: string;
  answers: Record<string, Json>;
};

/** The text that was erased from the release, and the email that it redacted: neither may be in what it stored. */
const erasedText = "the erased secret word";
const email = "customer@example.com";

/**
 * Traces on both paths, merged and replaced, evaluated with and without a judge; a label, privacy rules with a redaction
 * and a pseudonym, an erasure, a saved view, conventions, a webhook and stored secrets.
 */
export async function fillRelease({ url, agentId, projectId, apiKey, owner }: Filled): Promise<void> {
  const { client } = owner;
  const judge = await startJudgeServer();
  try {
    const { provider, url: judgeUrl, model } = judge.connection();
    await client
      .put(`/api/projects/${projectId}/judge`, { provider, url: judgeUrl, model, apiKey: "judge-secret" })
      .expect(200);
    await client
      .put(`/api/projects/${projectId}/privacy`, { builtIn: ["email"], pseudonyms: ["user.id"] })
      .expect(200);
    await client.patch(`/api/agents/${agentId}`, { conventions: ["openinference"] }).expect(200);
    await client
      .put(`/api/agents/${agentId}/connection`, {
        ...{ type: "http_api", url: "http://127.0.0.1:9/", bodyTemplate: '{"message":"{{input}}"}' },
        reply: { kind: "json", pointer: "/reply" },
        headers: [{ name: "Authorization", value: "Bearer header-secret" }],
      })
      .expect(200);
    const test = await makeTest(owner, agentId, {
      name: "Is polite",
      passiveBehavior: "run_when_relevant",
      scenario: "The user asks something.",
      assertions: [
        { type: "response_regex", pattern: "tomorrow", id: "day" },
        { type: "semantic", criteria: "Is polite.", id: "polite" },
        { type: "token_limit", max_total: 100, id: "tokens" },
      ],
    });
    const to = { url, key: apiKey };
    const say = async (reply: string, more: object = {}, id?: string) => {
      const attributes = {
        ...{
          "gen_ai.system": "openai",
          "gen_ai.request.model": "gpt-5.4",
          "gen_ai.prompt": "When does it ship?",
        },
        ...{ "gen_ai.response.text": reply, "session.id": "session-1", "user.id": "user-1", ...more },
      };
      const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
      return traceIdOf(await send(to, { body, headers: id ? { "x-request-id": id } : {} }));
    };
    const passed = await say(`It ships tomorrow, ${email}.`, {
      "gen_ai.usage.input_tokens": 7,
      big: 123456789.12345678,
    });
    await say("First.", {}, "replaced");
    const others = [
      await say("I cannot say. \u0000 💡", {}, "replaced"),
      await say("Tomorrow ".repeat(5_000)),
    ];
    await say(`Here is ${erasedText}.`);
    const span = exportedSpan({ name: "answer" });
    await send(to, { path: "/public/traces", body: exportOf([span]) });
    const late = exportedSpan({ traceId: span["traceId"], parentSpanId: span["spanId"], name: "late" });
    await send(to, { path: "/public/traces", body: exportOf([late]) });
    await eventually(async () => {
      const { items } = await client.read(`/api/agents/${agentId}/traces?kind=live`);
      assert.equal(items.length, 5);
      for (const { run } of items) assert.equal(run?.state, "completed");
    });
    const [run] = (await client.read(`/api/traces/${passed}`)).runs;
    const label = { testId: test.id, checkId: "polite", answer: "fail", note: "Not to me." };
    await client.put(`/api/runs/${run!.id}/labels`, label).expect(200);
    await eraseAll({ client, projectId }, { text: erasedText });
    assert.equal(others.length, 2);
  } finally {
    await judge.close();
  }
}

/** What the service answers to its owner about everything. `before`: what it answered before, whose time range is read again. */
export async function readRelease(
  client: Client,
  { agentId, projectId }: { agentId: string; projectId: string },
  before: Record<string, Json> = {},
): Promise<Record<string, Json>> {
  const answers: Record<string, Json> = {};
  const read = async (path: string) => {
    const { from, to, interval } = before[path] ?? {};
    const range = from && to ? `?from=${from}&to=${to}&interval=${interval}` : "";
    answers[path] = await client.read(path + range);
    return answers[path];
  };
  await read("/api/projects");
  await read(`/api/projects/${projectId}/privacy`);
  await read(`/api/projects/${projectId}/judge`);
  await read(`/api/projects/${projectId}/keys`);
  await read(`/api/projects/${projectId}/labels`);
  await read(`/api/projects/${projectId}/erasures`);
  await read(`/api/projects/${projectId}/agreement`);
  await read(`/api/agents/${agentId}`);
  await read(`/api/agents/${agentId}/connection`);
  await read(`/api/agents/${agentId}/conversations`);
  await read(`/api/agents/${agentId}/insights`);
  for (const { id } of (await read(`/api/agents/${agentId}/tests`)).items) {
    await read(`/api/tests/${id}`);
    await read(`/api/tests/${id}/runs`);
  }
  const { items } = await read(`/api/agents/${agentId}/traces?kind=live`);
  for (const { id } of items) {
    const { runs } = await read(`/api/traces/${id}`);
    for (const path of ["raw", "outline", "conversation"]) await read(`/api/traces/${id}/${path}`);
    for (const run of runs) {
      await read(`/api/runs/${run.id}`);
      await read(`/api/runs/${run.id}/calls`);
      await read(`/api/runs/${run.id}/labels`);
    }
  }
  return answers;
}

/** Changes with the time that it is read; where a list stopped looking is not what it found. */
const volatile = new Set([
  "nextCursor",
  "lastUsedAt",
  "lastCallAt",
  "lastTraceAt",
  "today",
  "from",
  "to",
  "points",
]);

/** Asserts that a later version on the same database answers all of it, and goes on: `owner` may still sign in and send. */
export async function checkUpgrade(url: string, recorded: Recorded): Promise<void> {
  const client = newClient(url);
  await client
    .post("/api/auth/sign-in/email", { email: account.email, password: account.password })
    .expect(200);
  const now = await readRelease(client, recorded, recorded.answers);
  for (const [path, before] of Object.entries(recorded.answers)) assertKept(now[path], before, path);
  const text = JSON.stringify(now);
  for (const gone of [erasedText, email]) assert.equal(text.includes(gone), false, gone);

  const attributes = {
    "gen_ai.prompt": "When?",
    "gen_ai.response.text": `It ships tomorrow, ${email}.`,
    "user.id": "user-1",
  };
  const body = canonicalBody(recorded.agentId, { spans: [canonicalSpan({ attributes })] });
  const sent = await send({ url, key: recorded.apiKey }, { body });
  assert.equal(sent.status, 201);
  const traceId = traceIdOf(sent);
  const trace = await eventually(async () => {
    const body = await client.read(`/api/traces/${traceId}`);
    assert.equal(body.runs[0]?.state, "completed");
    return body;
  });
  assert.equal(trace.responseText, "It ships tomorrow, ⟦email⟧.");
  // The pseudonym is the one that the release made: its key was kept.
  const earlier = Object.entries(recorded.answers).find(
    ([path]) => /^\/api\/traces\/[\w-]+$/.test(path) && recorded.answers[path].userId,
  );
  assert.equal(trace.userId, earlier![1].userId);
}

/** Whatever was answered is still answered; a later version may add fields. */
function assertKept(now: Json, before: Json, path: string): void {
  if (Array.isArray(before)) {
    assert.equal(now?.length, before.length, path);
    for (const [at, item] of before.entries()) assertKept(now[at], item, `${path}[${at}]`);
  } else if (before !== null && typeof before === "object") {
    for (const [name, value] of Object.entries(before)) {
      if (!volatile.has(name)) assertKept(now?.[name], value, `${path}.${name}`);
    }
  } else assert.deepEqual(now, before, path);
}

/** By table. */
export async function countRows(client: pg.Client): Promise<Record<string, number>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    // Dry runs are deleted after an hour.
    const kept = name === "erasures" ? " where not dry_run" : "";
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from public."${name}"${kept}`,
    );
    counts[name] = rows[0]!.count;
  }
  return counts;
}
