// Two processes on one database are one service: neither loses, duplicates or accepts what the other rejects.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import type { Database } from "../../src/store/db.ts";
import { makeAgent, makeKey, type Owner } from "../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  exportedSpan,
  exportOf,
  newSpanId,
  newTraceId,
} from "../support/bodies.ts";
import { newClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { logsOf, questionRecord } from "../support/log-records.ts";
import { freshDatabase, openFresh } from "../support/postgres.ts";
import { send } from "../support/send.ts";
import { keepAliveClient } from "./keep-alive.ts";
import {
  type Bootstrapped,
  bootstrapped,
  type ServiceProcess,
  signedIn,
  startProcess,
  stopProcesses,
} from "./processes.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let made: Bootstrapped;
let nodes: [ServiceProcess, ServiceProcess];
let owner: Owner;
let db: Database;

before(async () => {
  database = await freshDatabase();
  const env = { DATABASE_URL: database.url };
  made = await bootstrapped(env);
  nodes = await Promise.all([startProcess(env), startProcess(env)]);
  owner = await signedIn(nodes[0], made);
  db = openFresh(database.url, 2);
});
after(async () => {
  await stopProcesses();
  await db.close();
  await database.drop();
});

const at = (index: number, key = made.apiKey) => ({ url: nodes[index % 2]!.url, key });

suite("two processes", () => {
  test("accept nothing with a revoked key, even over connections that were already open", async () => {
    const { id, key } = await makeKey(owner);
    const clients = nodes.flatMap(({ url }) => Array.from({ length: 10 }, () => keepAliveClient(url, key)));
    const body = Buffer.from(JSON.stringify(canonicalBody(made.agentId)));
    let revoked = false;
    const seen = { before: 0, after: 0, accepted: 0 };
    const load = clients.map(async client => {
      for (let rest = 25; rest > 0; ) {
        // Read before it is sent: a request in flight when the revocation was answered may end either way.
        const late = revoked;
        const status = await client.post(body);
        if (!late) seen.before += status === 201 ? 1 : 0;
        else {
          rest--;
          seen.after++;
          if (status !== 401) seen.accepted++;
        }
      }
      client.close();
    });
    await eventually(() => assert.ok(seen.before > 100));
    await owner.client.delete(`/api/keys/${id}`).expect(204);
    revoked = true;
    await Promise.all(load);
    assert.deepEqual({ after: seen.after, accepted: seen.accepted }, { after: 500, accepted: 0 });
  });

  test("stop accepting traces for a deleted agent at the same time", async () => {
    const agent = await makeAgent(owner, { otlpServiceName: "short-lived" });
    for (const index of [0, 1]) {
      const answer = await send(at(index), { body: exportOf([exportedSpan()], "short-lived") });
      assert.equal(answer.status, 200);
    }
    await owner.client.delete(`/api/agents/${agent.id}`).expect(204);
    for (const index of [0, 1]) {
      const answer = await send(at(index), { body: exportOf([exportedSpan()], "short-lived") });
      assert.equal(answer.status, 404);
    }
  });

  test("store nothing by former privacy rules or settings of an agent once either change is answered", async () => {
    const { client } = owner;
    for (const [round, change] of [{ attributes: { deny: ["app.denied"] } }, { content: "none" }].entries()) {
      const { body: project } = await client.post("/api/projects", { name: "Changing" }).expect(201);
      const name = `changing-${round}`;
      const agent = await makeAgent({ ...owner, projectId: project.id }, { otlpServiceName: name });
      await client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
      const { key } = await makeKey({ ...owner, projectId: project.id });
      const stream = streamTo(agent.id, name, key);
      await stream.sentMore(20);
      const other = Object.assign(newClient(nodes[1].url), { cookie: client.cookie });
      const [redacting, leavingOut] = await Promise.all([
        client
          .put(`/api/projects/${project.id}/privacy`, { builtIn: ["*"] })
          .expect(200)
          .then(() => storedMarks(agent.id)),
        other
          .patch(`/api/agents/${agent.id}`, change)
          .expect(200)
          .then(() => storedMarks(agent.id)),
      ]);
      await stream.sentMore(40);
      await stream.end();
      const end = await storedMarks(agent.id);
      assert.ok(redacting.emails.size > 5 && leavingOut.denied.size > 5);
      assert.deepEqual([...end.emails.difference(redacting.emails)], [], JSON.stringify(change));
      assert.deepEqual([...end.denied.difference(leavingOut.denied)], [], JSON.stringify(change));
    }
  });
});

/** Sends traces by both paths, batches of the same traces and log records to both processes, each with a number of its own. */
function streamTo(agentId: string, name: string, key: string) {
  let [sent, count, stopped] = [0, 0, false];
  const text = (stringValue: string) => ({ stringValue });
  async function sendOne(index: number, about: { traceId: string; spanId: string }): Promise<void> {
    const number = ++count;
    const [email, denied] = [`mark${number}@example.com`, `denied${number}x`];
    const attributes = { "gen_ai.response.text": email, "app.denied": denied };
    const listed = Object.entries(attributes).map(([key, value]) => ({ key, value: text(value) }));
    const sending = [
      { body: canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] }) },
      { body: exportOf([exportedSpan({ ...about, spanId: newSpanId(), attributes: listed })], name) },
      {
        path: "/public/logs",
        body: logsOf([{ ...questionRecord(about, email, String(number)), attributes: listed }], name),
      },
    ][number % 3]!;
    const { status, bytes } = await send(at(index, key), sending);
    assert.ok(status < 300, `${status} ${bytes}`);
    sent++;
  }
  const senders = [0, 1, 2, 3, 4, 5].map(async index => {
    const about = { traceId: newTraceId(), spanId: newSpanId() };
    await send(at(index, key), { body: exportOf([exportedSpan(about)], name) });
    while (!stopped) await sendOne(index, about);
  });
  const all = Promise.all(senders);
  return {
    async sentMore(more: number): Promise<void> {
      const from = sent;
      await Promise.race([all, eventually(() => assert.ok(sent >= from + more))]);
    },
    async end(): Promise<void> {
      stopped = true;
      await all;
    },
  };
}

/** The numbers of what is stored of the agent as it was sent: of emails, and of the attribute that is denied. */
async function storedMarks(agentId: string): Promise<{ emails: Set<string>; denied: Set<string> }> {
  const { rows } = await db.pool.query<{ bytes: Buffer }>(
    `select b.spans as bytes from traces t join trace_batches b on b.agent_id = t.agent_id and b.trace_id = t.id where t.agent_id = $1
     union all select records from waiting_records where agent_id = $1`,
    [agentId],
  );
  const texts = rows.map(({ bytes }) => zstdDecompressSync(bytes).toString());
  const found = (pattern: RegExp) => new Set(texts.flatMap(text => text.match(pattern) ?? []));
  return { emails: found(/mark\d+@example/g), denied: found(/denied\d+x/g) };
}
