// Every endpoint of the dashboard API (from the app's route table) is closed without a session and to other accounts.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Route } from "../../src/http/route-table.ts";
import { columnsOf } from "../../src/model/trace/columns.ts";
import { derive } from "../../src/model/trace/derive.ts";
import { saveLabel } from "../../src/store/judge/labels.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { encodeBatch } from "../../src/wire/batch.ts";
import { makeBatch, makeSpan, makeTrace } from "../model/make-trace.ts";
import { makeAgent, makeKey, makeTest, type Owner, startTestApp, type TestApp } from "../support/app.ts";
import { startWholeApp, writerLimits } from "../support/whole-app.ts";

let service: TestApp;
let owner: Owner;
let stranger: Owner;
/** One record of the owner's for every noun of the table. */
let samples: Record<string, string>;
let routes: Route[];

/** A label of a scenario match. */
async function storeLabel(agentId: string, testId: string, traceId: string, runId: string): Promise<string> {
  const label = await saveLabel(service.db, {
    ...{ agentId, testId, traceId, runId, checkId: null },
    ...{ judged: "match", answer: "match", agrees: true, note: "", question: null, createdBy: "me" },
    ...{ testVersion: 1, provider: null, model: "m", promptVersion: "1" },
  });
  return label!.id;
}

before(async () => {
  service = await startWholeApp();
  owner = await service.verifiedAccount();
  stranger = await service.signUp();
  const agent = await makeAgent(owner);
  const tests = (await makeTest(owner, agent.id)).id;
  const keys = (await makeKey(owner)).id;
  const stored = await storeTrace(agent.id, keys);
  samples = {
    projects: owner.projectId,
    agents: agent.id,
    keys,
    tests,
    ...stored,
    labels: await storeLabel(agent.id, tests, stored.traces, stored.runs),
    "access-tokens": (await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201)).body.id,
    backtests: (await owner.client.post(`/api/agents/${agent.id}/backtests`, { testId: tests }).expect(201))
      .body.id,
    launches: (await owner.client.post(`/api/agents/${agent.id}/launches`).expect(201)).body.id,
  };
  routes = service.app.routeTable.filter(({ method, url }) => url.startsWith("/api/") && method !== "HEAD");
});
after(() => service.close());

const open = new Set([
  "GET /api/openapi.json",
  "GET /api/auth/get-session",
  "POST /api/auth/sign-up/email",
  "POST /api/auth/sign-in/email",
  "POST /api/auth/request-password-reset",
  "POST /api/auth/reset-password",
  "POST /api/verification/confirm",
  "POST /api/verification/link",
]);

/** A trace whose run is scheduled: the agent has a test that always runs. */
async function storeTrace(agentId: string, keyId: string): Promise<{ traces: string; runs: string }> {
  const [traces, runs] = [randomUUID(), randomUUID()];
  const spans = [makeSpan("root")];
  await new TraceWriter(service.db, writerLimits).write({
    traceId: traces,
    runId: runs,
    keyId,
    agentId,
    externalId: "isolated",
    path: "canonical",
    spanCount: 1,
    spanKeys: Buffer.alloc(8),
    ...encodeBatch(makeBatch(spans)),
    columns: columnsOf(derive(makeTrace(spans))),
  });
  return { traces, runs };
}

/** The URL with this id; the trace's only span is called root, and a launch is compared with itself. */
const addressOf = (url: string, id: string) => {
  const path = url.replace(":id", id).replace(":spanId", "root");
  return url.endsWith("/compare") ? `${path}?with=${samples["launches"]}` : path;
};
const withId = () => routes.filter(({ url }) => url.includes(":id"));
const nounOf = (url: string) => url.split("/")[2]!;
const bodyOf = (method: string) => (method === "GET" || method === "DELETE" ? undefined : {});

test("without a session every endpoint except the public ones is 401, whatever its id", async () => {
  assert.equal(routes.length > 25, true);
  for (const { method, url } of routes) {
    const path = addressOf(url, samples[nounOf(url)] ?? "");
    const { status, body } = await service.client().request(method, path, bodyOf(method));
    const name = `${method} ${url}`;
    assert.equal(status === 401, !open.has(name), `${name} is ${status}`);
    if (status === 401) assert.equal(body.code, "UNAUTHORIZED");
  }
});

test("a record of another account, an unknown id and a malformed id are the same 404 everywhere", async () => {
  const replies = new Set<string>();
  let asked = 0;
  for (const { method, url } of withId()) {
    const sample = samples[nounOf(url)];
    assert.notEqual(sample, undefined, `add a sample of ${nounOf(url)}`);
    for (const id of [
      sample!,
      sample!.toUpperCase(),
      "7f0c1a52-94e8-4c5b-9d7e-3a1f6b2c8d40",
      "00000000-0000-0000-0000-000000000000",
      "1",
      "not-an-id",
      "null",
      "%00",
      "%ff",
      "..%2f",
      "'",
      "x".repeat(300),
    ]) {
      const { status, body } = await stranger.client.request(method, addressOf(url, id), bodyOf(method));
      assert.equal(status, 404, `${method} ${url} with ${id} is ${status}: ${JSON.stringify(body)}`);
      const { requestId, ...rest } = body;
      assert.match(requestId, /^[0-9a-f-]{36}$/);
      replies.add(JSON.stringify(rest));
      asked++;
    }
  }
  assert.equal(asked > 150, true);
  assert.equal(replies.size, 1, [...replies].join("\n"));
});

test("the owner can use each of these endpoints, and nothing of the owner's was damaged", async () => {
  const nouns = ["labels", "traces", "tests", "keys", "agents", "projects"];
  // Children are deleted before their parents.
  const rank = ({ method, url }: Route) =>
    method !== "DELETE" ? -1 : url.endsWith("/:id") ? nouns.indexOf(nounOf(url)) : -0.5;
  for (const { method, url } of withId().sort((one, other) => rank(one) - rank(other))) {
    const path = addressOf(url, samples[nounOf(url)]!);
    const { status } = await owner.client.request(method, path, bodyOf(method));
    assert.equal([200, 201, 204, 400].includes(status), true, `${method} ${url} is ${status}`);
    if (method === "GET") assert.equal(status, 200);
    if (method === "DELETE") assert.equal(status, 204);
  }
});

test("a list contains nothing of another account", async () => {
  const { body } = await stranger.client.get("/api/projects").expect(200);
  assert.deepEqual(
    body.items.map((item: { id: string }) => item.id),
    [stranger.projectId],
  );
});

test("a route without an ownership check cannot be added", async () => {
  await assert.rejects(
    startTestApp({ extend: app => void app.get("/api/secrets/:id", async () => "told") }),
    /No ownership check for \/api\/secrets\/:id/,
  );
});
