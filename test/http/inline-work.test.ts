// The costliest bodies of each size, sent to every route of the route table: none is parsed, checked or compiled on the thread
// that answers requests beyond what takes a few milliseconds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBytesMax } from "../../src/http/frame/bodies.ts";
import { type Work, workChannel } from "../../src/model/work.ts";
import { makeAgent, makeKey, type Owner, startTestApp, type TestApp } from "../support/app.ts";
import { startWholeApp } from "../support/whole-app.ts";
import { type Headers, type Records, storeRecords } from "./access-records.ts";

let service: TestApp;
let owner: Owner;
let unverified: Owner;
let records: Records;
let key: string;

const done: Work[] = [];
const listener = (work: unknown) => void done.push(work as Work);

before(async () => {
  service = await startWholeApp();
  owner = await service.verifiedAccount();
  unverified = await service.signUp();
  ({ records } = await storeRecords(service, owner));
  ({ key } = await makeKey(owner));
  workChannel.subscribe(listener);
});
after(async () => {
  workChannel.unsubscribe(listener);
  await service.close();
});

/** Fills a body of about so many bytes. */
const fillings: Record<string, (bytes: number) => string> = {
  "nested lists": bytes => `[${Array(Math.floor(bytes / 200)).fill("[".repeat(99) + "]".repeat(99))}]`,
  "empty objects": bytes => `[${Array(Math.floor(bytes / 3)).fill("{}")}]`,
  "short keys": bytes => `{${Array.from({ length: Math.floor(bytes / 11) }, (_, at) => `"${at}":0`)}}`,
  "a text of one character": bytes => `"${"[".repeat(bytes - 2)}"`,
};
const sizes = [60_000, 300_000];

/** A trace, and what every other route refuses. */
const bodyOf = (value: string) => `{"spans":[{"span_id":"a","name":"n","attributes":{"a":${value}}}]}`;

test("no route does more work on a body than takes a few milliseconds, for any sender", async () => {
  const callers: Record<string, Headers> = {
    nobody: {},
    unverified: { cookie: unverified.client.cookie },
    verified: { cookie: owner.client.cookie },
    key: { "x-api-key": key },
  };
  const send = async ({ method, url }: { method: string; url: string }, body: string, what: string) => {
    const path = url.replace(":id", records[nounOf(url)] ?? "").replace(":spanId", "root");
    for (const [caller, headers] of Object.entries(callers)) {
      const isPublic = url.startsWith("/public/");
      if (isPublic !== (caller === "key")) continue;
      const sent = { ...headers, "content-type": "application/json" };
      const reply = await service.client().request(method, path, body, sent);
      assert.ok(reply.status !== 500, `${method} ${url}: ${JSON.stringify(reply.body)}`);
      const max = isPublic ? 262_144 : caller === "nobody" ? openBytesMax : 65_536;
      const elementsMax = isPublic ? 20_000 : 5_000;
      const beyond = done.splice(0).filter(work => work.bytes > max || work.elements > elementsMax);
      assert.deepEqual(beyond, [], `${what} to ${method} ${url} by ${caller}`);
    }
  };
  const routes = service.app.routeTable.filter(({ url }) => !url.endsWith("/sign-out"));
  const changing = routes.filter(({ method }) => /^(POST|PUT|PATCH)$/.test(method));
  for (const [name, fill] of Object.entries(fillings)) {
    for (const bytes of sizes) {
      for (const route of changing) await send(route, bodyOf(fill(bytes)), `${name}, ${bytes} bytes`);
    }
  }
  // Last, and what owns others after them: a record is deleted in spite of such a body.
  const deleting = routes
    .filter(({ method }) => method === "DELETE")
    .sort((one, other) => owning.indexOf(nounOf(one.url)) - owning.indexOf(nounOf(other.url)));
  assert.ok(deleting.length > 5);
  for (const route of deleting)
    await send(route, bodyOf(fillings["empty objects"]!(60_000)), "empty objects");
});

/** Nouns that own others. */
const owning = ["traces", "launches", "tests", "agents", "projects"];
const nounOf = (url: string) => url.split("/")[2]!;

test("a route without a session cannot be registered with larger bodies", async () => {
  const extend = (app: TestApp["app"]) => {
    app.post("/api/auth/large", { config: { access: "open" }, bodyLimit: openBytesMax + 1 }, async () => "");
  };
  await assert.rejects(startTestApp({ extend }), /needs no session/);
});

test("a body that an open route refuses counts toward its limit by address", async () => {
  const limited = await startTestApp({ limitAccounts: true });
  try {
    const refused = () => limited.client().post("/api/verification/confirm", { token: "?".repeat(9_000) });
    const statuses: number[] = [];
    for (let sent = 0; sent < 61; sent++) statuses.push((await refused()).status);
    assert.deepEqual([statuses[59], statuses[60]], [413, 429]);
    const { status } = await limited.client().post("/api/verification/confirm", { token: "unknown" });
    assert.equal(status, 429);
  } finally {
    await limited.close();
  }
});

test("larger bodies are read once the email is verified, and so many a minute", async () => {
  const body = { name: "x".repeat(70_000) };
  const post = (from: Owner) => from.client.post(`/api/projects/${from.projectId}/agents`, body);
  await post(unverified).expect(413);
  const sender = await service.verifiedAccount();
  const statuses: number[] = [];
  for (let sent = 0; sent < 61; sent++) statuses.push((await post(sender)).status);
  assert.deepEqual([statuses[59], statuses[60]], [400, 429]);
});

test("patterns, schemas and rules that a tenant wrote are compiled on no thread that answers requests", async () => {
  const author = await service.verifiedAccount();
  const agent = await makeAgent(author);
  done.length = 0;
  const unique = "written once [a-z]";
  const assertions = [
    { type: "response_regex", pattern: unique },
    { type: "json_schema", target_node: "n", field: "f", schema: { properties: { a: { pattern: unique } } } },
    { type: "tool_call", expected_name: "t", expected_arguments: { a: { $regex: unique } } },
  ];
  const draft = { name: "Patterns", status: "disabled", assertions };
  const validate = () => author.client.post(`/api/agents/${agent.id}/tests/validate`, draft).expect(200);
  const { body } = await author.client.post(`/api/agents/${agent.id}/tests`, draft).expect(201);
  await validate();
  await author.client.patch(`/api/tests/${body.id}`, { assertions }).expect(200);
  await author.client.put(`/api/tests/${body.id}`, draft).expect(200);
  const rules = [{ name: "own", pattern: unique }];
  await author.client.put(`/api/projects/${author.projectId}/privacy`, { rules }).expect(200);
  await validate();
  const invalid = { rules: [{ name: "own", pattern: `(${unique}` }] };
  await author.client.post(`/api/projects/${author.projectId}/privacy/preview`, invalid).expect(400);
  assert.deepEqual(
    done.filter(({ what }) => what === "pattern"),
    [],
  );
});

test("a trace of many or deeply nested values, or of a project with rules of its own, is prepared on a thread", async () => {
  const sender = await service.verifiedAccount();
  const agent = await makeAgent(sender);
  const sent = { "x-api-key": (await makeKey(sender)).key, "content-type": "application/json" };
  const preparedInline = async (value: string) => {
    done.length = 0;
    const body = `{"platformId":"${agent.id}",${bodyOf(value).slice(1)}`;
    await service.client().request("POST", "/public/traces", body, sent);
    return done.filter(({ what }) => what !== "body").length;
  };
  assert.equal(await preparedInline('"short"'), 1);
  assert.equal(await preparedInline(`${"[".repeat(99)}${"]".repeat(99)}`), 0);
  assert.equal(await preparedInline(fillings["empty objects"]!(100_000)), 0);
  const rules = [{ name: "own", pattern: "a[^b]*b|a" }];
  await sender.client.put(`/api/projects/${sender.projectId}/privacy`, { rules }).expect(200);
  assert.equal(await preparedInline('"short"'), 0);
});
