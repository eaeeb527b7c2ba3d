// One record of an account for every noun of the API, and every identity that somebody may call it with.
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeKey as textOfKey } from "../../src/model/key.ts";
import { columnsOf } from "../../src/reading/derived/columns.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { saveLabel } from "../../src/store/judge/labels.ts";
import { newId } from "../../src/store/new-id.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { encodeBatch } from "../../src/wire/batch.ts";
import { makeBatch, makeSpan, makeTrace } from "../model/make-trace.ts";
import { makeAgent, makeKey, makeTest, type Owner, type TestApp } from "../support/app.ts";
import { writerLimits } from "../support/whole-app.ts";

/** An id by noun, as in `/api/<noun>/:id`. */
export type Records = Record<string, string>;

export async function storeRecords(
  service: TestApp,
  owner: Owner,
): Promise<{ records: Records; agent: Agent }> {
  const agent = await makeAgent(owner, { otlpServiceName: "shop" });
  const tests = (await makeTest(owner, agent.id)).id;
  const keys = (await makeKey(owner)).id;
  await owner.client.put(`/api/agents/${agent.id}/webhook`, { url: "https://example.com/hook" }).expect(200);
  const stored = await storeTrace(service, agent.id, keys);
  const made = async (path: string, body?: object) =>
    ((await owner.client.create(path, body)) as { id: string }).id;
  const view = { name: "Failed", search: { verdict: "failed" } };
  const { body } = await owner.client.post(`/api/agents/${agent.id}/trace-views`, view).expect(200);
  const records = {
    projects: owner.projectId,
    agents: agent.id,
    keys,
    tests,
    ...stored,
    labels: await storeLabel(service, agent.id, tests, stored),
    "trace-views": body.id as string,
    "access-tokens": await made("/api/access-tokens", { name: "CI" }),
    backtests: await made(`/api/agents/${agent.id}/backtests`, { testId: tests }),
    erasures: await storeErasure(service, owner.projectId),
    launches: await made(`/api/agents/${agent.id}/launches`),
  };
  return { records, agent };
}

/** A trace whose run is scheduled: the agent has a test that always runs. */
async function storeTrace({ db }: TestApp, agentId: string, keyId: string) {
  const [traces, runs] = [newId(), newId()];
  const spans = [makeSpan("root", { attributes: { "session.id": "c" } })];
  await new TraceWriter(db, writerLimits).write({
    traceId: traces,
    runId: runs,
    keyId,
    agentId,
    externalId: "isolated",
    path: "canonical",
    spanCount: 1,
    spanKeys: Buffer.alloc(8),
    ...encodeBatch(makeBatch(spans)),
    columns: columnsOf(derive(makeTrace(spans)), []),
  });
  return { traces, runs };
}

async function storeErasure({ db }: TestApp, projectId: string): Promise<string> {
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into erasures (id, project_id, criterion, dry_run, state, step, traces)
     values (gen_random_uuid(), $1, 'text', false, 'done', 'copies', 0) returning id`,
    [projectId],
  );
  return rows[0]!.id;
}

/** A label of a scenario match. */
async function storeLabel(
  { db }: TestApp,
  agentId: string,
  testId: string,
  { traces: traceId, runs: runId }: { traces: string; runs: string },
): Promise<string> {
  const label = await saveLabel(db, {
    ...{ agentId, testId, traceId, runId, checkId: null },
    ...{ judged: "match", answer: "match", agrees: true, note: "", question: null, createdBy: "me" },
    ...{ testVersion: 1, provider: null, model: "m", promptVersion: "1" },
  });
  return label!.id;
}

export type Headers = Record<string, string>;

/** Identities that are no account's, or no longer: by name, the headers of a request. */
export async function strangeIdentities(service: TestApp, owner: Owner): Promise<Record<string, Headers>> {
  const { db } = service;
  const session = async () => {
    const client = service.client();
    const { email, password } = owner;
    await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
    return client;
  };
  const expired = await session();
  const { body } = await expired.get("/api/auth/get-session").expect(200);
  await db.pool.query("update sessions set expires_at = now() - interval '1 second' where token = $1", [
    body!.session.token,
  ]);
  const ended = await session();
  const { cookie } = ended;
  await ended.post("/api/auth/sign-out").expect(200);
  const token = async () => (await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201)).body;
  const [revoked, old] = [await token(), await token()];
  await owner.client.delete(`/api/access-tokens/${revoked.id}`).expect(204);
  await db.pool.query("update access_tokens set expires_at = now() - interval '1 second' where id = $1", [
    old.id,
  ]);
  const { key } = await makeKey(owner);
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  return {
    "no identity": {},
    "a cookie of no session": { cookie: "svc.session_token=forged.c2lnbmF0dXJl" },
    "an expired session": { cookie: expired.cookie },
    "a session that was ended": { cookie },
    "a valid key in x-api-key": { "x-api-key": key },
    "a valid key as Bearer": bearer(key),
    "a token that never was": bearer(textOfKey().replace("svc_", "svcp_")),
    "a revoked token": bearer(revoked.token),
    "an expired token": bearer(old.token),
  };
}
