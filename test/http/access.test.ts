// Every route of the service, from its route table, called with every identity: who is admitted, and what the others are told.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Route } from "../../src/http/frame/route-table.ts";
import { wrongPaths } from "../../src/http/ingestion/wrong-paths.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent, makeKey, makeTest, type Owner, startTestApp, type TestApp } from "../support/app.ts";
import { canonicalBody, exportedSpan, exportOf } from "../support/bodies.ts";
import type { Reply } from "../support/client.ts";
import { refusalIn } from "../support/client.ts";
import { startWholeApp } from "../support/whole-app.ts";
import { type Caller, callers } from "./access.ts";
import { type Headers, type Records, storeRecords, strangeIdentities } from "./access-records.ts";

let service: TestApp;
let owner: Owner;
let stranger: Owner;
let records: Records;
let agent: Agent;
let strangers: Record<string, Headers>;
/** Paths that exporters send to by mistake are no endpoints: 404 with a hint. */
const isEndpoint = ({ method, url }: Route) =>
  method !== "HEAD" && !(method === "POST" && wrongPaths.includes(url));
let routes: Route[];

before(async () => {
  service = await startWholeApp();
  owner = await service.verifiedAccount();
  stranger = await service.verifiedAccount();
  ({ records, agent } = await storeRecords(service, owner));
  strangers = await strangeIdentities(service, owner);
  routes = service.app.routeTable.filter(isEndpoint);
});
after(() => service.close());

const nameOf = ({ method, url }: Route) => `${method} ${url}`;
const callerOf = (route: Route) => callers.get(nameOf(route))!;
const of = (...wanted: Caller[]) => routes.filter(route => wanted.includes(callerOf(route)));
const withId = (list: Route[]) => list.filter(({ url }) => url.includes(":id"));
const nounOf = (url: string) => url.split("/")[2]!;
const bodyOf = (method: string) => (["GET", "DELETE"].includes(method) ? undefined : {});

/** The URL with this id; the trace's only span is called root, its conversation c, and a launch is compared with itself. */
function pathOf(url: string, id = records[nounOf(url)] ?? ""): string {
  const path = url.replace(":id", id).replace(":spanId", "root").replace("*", "");
  if (url === "/api/agents/:id/conversation") return `${path}?conversationId=c`;
  return url.endsWith("/compare") ? `${path}?with=${records["launches"]}` : path;
}

function call({ method, url }: Route, headers: Headers, id?: string): Promise<Reply<unknown>> {
  return service.client().request(method, pathOf(url, id), bodyOf(method), headers);
}

const internal =
  /\bat \S+:\d+|\.ts\b|node_modules|better-auth|pg_|relation "|select |insert into|duplicate key/i;

/** What the client learns, without the request's id. Nothing in it is of the service's inside. */
function told(reply: Reply<unknown>, name: string): string {
  const { status, body } = reply;
  if (status < 400) return JSON.stringify([status, body]);
  const { requestId, ...rest } = refusalIn(reply);
  assert.match(requestId, /^[0-9a-f-]{36}$/, name);
  const fields = Object.keys(rest).filter(key => !["code", "message", "hint", "issues"].includes(key));
  assert.deepEqual(fields, [], name);
  assert.doesNotMatch(JSON.stringify(rest), internal, name);
  return JSON.stringify([status, rest]);
}

test("every route has a line in the table, and every line a route", () => {
  assert.deepEqual(routes.map(nameOf).sort(), [...callers.keys()].sort());
});

test("routes of the API are 401 for everybody who is no account's user, whatever the id", async () => {
  for (const route of of("session", "session or token")) {
    const replies = Object.entries(strangers).map(async ([identity, headers]) => {
      const reply = await call(route, headers);
      const name = `${nameOf(route)} with ${identity}`;
      assert.deepEqual([reply.status, refusalIn(reply).code], [401, "UNAUTHORIZED"], name);
      told(reply, name);
    });
    await Promise.all(replies);
  }
});

test("routes that ask for no identity answer every identity the same", async () => {
  const changing = ["GET /metrics", "GET /*"];
  for (const route of of("anybody")) {
    const expected = told(await call(route, {}), nameOf(route));
    assert.doesNotMatch(expected, /^\[(?:401|403|5..),/, nameOf(route));
    if (changing.includes(nameOf(route))) continue;
    for (const [identity, headers] of Object.entries(strangers)) {
      const name = `${nameOf(route)} with ${identity}`;
      assert.equal(told(await call(route, headers), name), expected, name);
    }
  }
});

test("an access token is 403 where only a session may, also for a record of its own account", async () => {
  const { body } = await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const headers = { authorization: `Bearer ${body.token}` };
  for (const route of of("session")) {
    const reply = await call(route, headers);
    assert.deepEqual([reply.status, refusalIn(reply).code], [403, "FORBIDDEN"], nameOf(route));
    told(reply, nameOf(route));
  }
});

test("an access token is admitted where the table says so", async () => {
  const { body } = await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  for (const route of of("session or token").filter(({ url }) => url !== "/api/events")) {
    const { status } = await call(route, { authorization: `Bearer ${body.token}` });
    assert.ok([200, 201, 400].includes(status), `${nameOf(route)} is ${status}`);
  }
});

const idsOfNothing = [
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
];

test("a record of another account, an unknown id and a malformed id are the same 404 everywhere", async () => {
  const { body } = await stranger.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const session = { cookie: stranger.client.cookie };
  const token = { authorization: `Bearer ${body.token}` };
  const replies = new Set<string>();
  for (const route of withId(of("session", "session or token"))) {
    const own = records[nounOf(route.url)];
    assert.notEqual(own, undefined, `add a record of ${nounOf(route.url)}`);
    const ids = [
      own!,
      own!.toUpperCase(),
      ...(route.method === "GET" ? idsOfNothing : idsOfNothing.slice(0, 4)),
    ];
    const asked = ids.map(async id => {
      const name = `${nameOf(route)} with ${id}`;
      replies.add(told(await call(route, session, id), name));
      if (callerOf(route) === "session or token") replies.add(told(await call(route, token, id), name));
    });
    await Promise.all(asked);
  }
  assert.deepEqual([...replies], ['[404,{"code":"NOT_FOUND","message":"Not found."}]']);
});

test("a reference to another account's record, in a body or a query, is answered like one to nothing", async () => {
  const own = await makeAgent(stranger);
  const agents = `/api/agents/${own.id}` as const;
  const projects = `/api/projects/${stranger.projectId}` as const;
  await makeTest(stranger, own.id);
  const launch = (await stranger.client.post(`${agents}/launches`).expect(201)).body.id;
  type Reference = [
    noun: string,
    method: string,
    path: (id: string) => string,
    body?: (id: string) => object,
  ];
  const references: Reference[] = [
    ["agents", "POST", () => `${projects}/keys`, id => ({ name: "k", access: "granular", agentIds: [id] })],
    ["tests", "POST", () => `${agents}/backtests`, testId => ({ testId })],
    ["tests", "POST", () => `${agents}/backtests/estimate`, testId => ({ testId })],
    ["tests", "POST", () => `${agents}/launches`, id => ({ testIds: [id] })],
    ["tests", "POST", () => `${agents}/launches/estimate`, id => ({ testIds: [id] })],
    ["tests", "POST", () => `${agents}/tests/status`, id => ({ testIds: [id], status: "disabled" })],
    ["traces", "POST", () => `${agents}/tests/trace-inputs`, id => ({ traceIds: [id] })],
    ["traces", "POST", () => `${agents}/tests/dry-run`, traceId => ({ test: { name: "t" }, traceId })],
    ["launches", "POST", () => `${agents}/judge-again`, launchId => ({ launchId })],
    ["tests", "GET", id => `${agents}/traces?testId=${id}`],
    ["traces", "GET", id => `${agents}/conversation?conversationId=c&traceId=${id}`],
    ["tests", "GET", id => `${agents}/insights?by=test&testId=${id}`],
    ["tests", "GET", id => `${projects}/labels?testId=${id}`],
    ["agents", "GET", id => `${projects}/labels?agentId=${id}`],
    ["agents", "GET", id => `${projects}/agreement?agentId=${id}`],
    ["keys", "GET", id => `${projects}/ingestion?keyId=${id}`],
    ["launches", "GET", id => `/api/launches/${launch}/compare?with=${id}`],
    ["tests", "GET", id => `/api/launches/${launch}/runs?testId=${id}`],
    ["agents", "GET", id => `/api/events?agentId=${id}`],
    ["projects", "GET", id => `/api/events?projectId=${id}`],
  ];
  for (const [noun, method, path, body] of references) {
    const ask = async (id: string) => {
      const reply = await stranger.client.request(method, path(id), body?.(id));
      return told(reply, `${method} ${path(id)}`).replaceAll(id, "<id>");
    };
    const foreign = await ask(records[noun]!);
    assert.equal(foreign, await ask(randomUUID()), `${method} ${path("…")}`);
  }
});

test("/public/traces takes a key that is valid now, of this project and this agent, and nothing else", async () => {
  const send = (headers: Headers, body: object) =>
    service.client().request("POST", "/public/traces", body, headers);
  const canonical = canonicalBody(agent.id);
  const otlp = () => exportOf([exportedSpan()], agent.otlpServiceName);
  const { body } = await owner.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const { "a valid key in x-api-key": _, ...none } = strangers;
  const [expired, revoked] = [await makeKey(owner), await makeKey(owner)];
  await service.db.pool.query("update keys set expires_at = now() - interval '1 second' where id = $1", [
    expired.id,
  ]);
  await owner.client.delete(`/api/keys/${revoked.id}`).expect(204);
  const refused: Record<string, Headers> = {
    ...none,
    "a session": { cookie: owner.client.cookie },
    "an access token": { authorization: `Bearer ${body.token}` },
    "an access token as key": { "x-api-key": body.token },
    "an expired key": { "x-api-key": expired.key },
    "a revoked key": { "x-api-key": revoked.key },
  };
  for (const [identity, headers] of Object.entries(refused)) {
    for (const sent of [canonical, otlp()]) {
      const reply = await send(headers, sent);
      assert.deepEqual([reply.status, refusalIn(reply).code], [401, "UNAUTHORIZED"], identity);
      told(reply, identity);
    }
  }

  const other = await makeAgent(owner, { otlpServiceName: "other" });
  const { key: elsewhere } = await makeKey(stranger);
  const { key: ofOther } = await makeKey(owner, { access: "granular", agentIds: [other.id] });
  const { key: unverified } = await makeKey(await service.signUp());
  const nothing = { platformId: randomUUID(), spans: [{ span_id: "1", name: "answer" }] };
  const unknown = exportOf([exportedSpan()], "nobody's");
  const answer = async (key: string, sent: object) => {
    const reply = await send({ "x-api-key": key }, sent);
    told(reply, "a key");
    return { ...reply, text: told(reply, "a key").replaceAll("nobody's", agent.otlpServiceName!) };
  };
  assert.equal(refusalIn(await answer(unverified, canonical)).code, "EMAIL_NOT_VERIFIED");
  const missing = await answer(elsewhere, nothing);
  assert.equal(refusalIn(missing).code, "CUSTOM_API_PLATFORM_NOT_FOUND");
  assert.equal((await answer(elsewhere, canonical)).text, missing.text);
  assert.equal((await answer(ofOther, canonical)).text, (await answer(ofOther, nothing)).text);
  const unnamed = await answer(elsewhere, unknown);
  assert.deepEqual([unnamed.status, refusalIn(unnamed).code], [404, "OTLP_PLATFORM_NOT_FOUND"]);
  assert.equal((await answer(elsewhere, otlp())).text, unnamed.text);
  assert.equal(refusalIn(await answer(ofOther, otlp())).code, "OTLP_PLATFORM_NOT_ALLOWED");
  const { key } = await makeKey(owner);
  assert.equal((await answer(key, canonical)).status, 201);
  assert.equal((await answer(key, otlp())).status, 200);
});

test("the owner can use each of these endpoints, and nothing of the owner's was damaged", async () => {
  const nouns = ["labels", "traces", "tests", "keys", "agents", "projects"];
  // Children are deleted before their parents.
  const rank = ({ method, url }: Route) =>
    method !== "DELETE" ? -1 : url.endsWith("/:id") ? nouns.indexOf(nounOf(url)) : -0.5;
  for (const route of withId(routes).sort((one, other) => rank(one) - rank(other))) {
    const { status } = await call(route, { cookie: owner.client.cookie });
    const expected = { GET: [200], DELETE: [204] }[route.method] ?? [200, 201, 204, 400];
    assert.ok(expected.includes(status), `${nameOf(route)} is ${status}`);
  }
});

test("a list contains nothing of another account", async () => {
  const body = await stranger.client.read("/api/projects");
  assert.deepEqual(
    body.items.map((item: { id: string }) => item.id),
    [stranger.projectId],
  );
});

test("a route without an ownership check, or that does not say who may call it, cannot be added", async () => {
  const config = { access: "session" } as const;
  await assert.rejects(
    startTestApp({ extend: app => void app.get("/api/secrets/:id", { config }, async () => "told") }),
    /No ownership check for \/api\/secrets\/:id/,
  );
  await assert.rejects(
    startTestApp({ extend: app => void app.get("/secrets", async () => "told") }),
    /No access for \/secrets/,
  );
});
