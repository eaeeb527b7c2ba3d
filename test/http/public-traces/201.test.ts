// 201: a new canonical trace is stored, and the response says where.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { type Answer, jsonOf, type Sent, traceIdOf } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function created(sent: Sent): Promise<Answer> {
  const answer = await service.send(sent);
  assert.equal(answer.status, 201, answer.bytes.toString());
  assert.equal(jsonOf(answer).status, "created");
  return answer;
}

test("a body that begins with a byte order mark is stored without it, and its spans can be read", async () => {
  for (const encode of [Buffer.from, gzipSync]) {
    const body = encode(`\uFEFF${JSON.stringify(canonicalBody(service.agentId))}`);
    const headers = encode === gzipSync ? { "content-encoding": "gzip" } : {};
    const traceId = traceIdOf(await created({ headers, body }));
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.equal(trace.spans.length, 1);
  }
});

test("a new trace is returned with its location in body and header, and can be read there", async () => {
  const answer = await created({
    headers: { "x-request-id": "order-17" },
    body: canonicalBody(service.agentId),
  });
  const said = jsonOf(answer);
  assert.deepEqual(said, {
    traceId: said.traceId,
    externalId: "order-17",
    agentId: service.agentId,
    status: "created",
    evaluation: "none",
    hint: said.hint,
  });
  assert.match(said.hint, /^No test case runs automatically on this trace\. Activate a test case/);
  assert.match(said.traceId, uuid);
  assert.equal(answer.headers["x-svc-trace-id"], said.traceId);
  const trace = await service.read(`/api/traces/${traceIdOf(answer)}`);
  assert.equal(trace.externalId, "order-17");
});

test("a trace of a manual run is said to be evaluated by that run", async () => {
  await service.db.pool.query(
    "insert into expected_traces (agent_id, external_id, run_id, turn) values ($1, 'turn-1', $2, 1)",
    [service.agentId, crypto.randomUUID()],
  );
  const body = canonicalBody(service.agentId);
  const { evaluation, hint } = jsonOf(await created({ headers: { "x-request-id": "turn-1" }, body }));
  assert.equal(evaluation, "none");
  assert.match(hint, /^This trace belongs to a manual run, which evaluates it\. /);
});

for (const [what, headers] of [
  ["without x-request-id", {}],
  ["with an empty x-request-id", { "x-request-id": "" }],
] as const) {
  test(`${what} every request creates a new trace under a UUID from the service`, async () => {
    const body = canonicalBody(service.agentId);
    const answers = [await created({ headers, body }), await created({ headers, body })].map(jsonOf);
    for (const { externalId } of answers) assert.match(externalId, uuid);
    assert.equal(new Set(answers.flatMap(({ externalId, traceId }) => [externalId, traceId])).size, 4);
  });
}

test("x-request-id may be any printable ASCII up to 255 characters, and is never read from the body", async () => {
  for (const id of ["~", " inner space !\"#'%&;{}".trim(), "a".repeat(255)]) {
    const body = canonicalBody(service.agentId, {
      externalId: "other",
      traceId: "other",
      "x-request-id": "other",
    });
    assert.equal(jsonOf(await created({ headers: { "x-request-id": id }, body })).externalId, id);
  }
});

test("the same identity under two agents is two traces", async () => {
  const other = await makeAgent(service.owner);
  const headers = { "x-request-id": "shared" };
  const first = await created({ headers, body: canonicalBody(service.agentId) });
  const second = await created({ headers, body: canonicalBody(other.id) });
  assert.notEqual(jsonOf(first).traceId, jsonOf(second).traceId);
});

test("an evaluation is scheduled if a test is eligible; otherwise the response says how to get the next trace evaluated", async () => {
  const agent = await makeAgent(service.owner);
  const evaluation = async () => {
    const { evaluation, hint } = jsonOf(await created({ body: canonicalBody(agent.id) }));
    assert.equal(hint !== undefined, evaluation === "none");
    return evaluation;
  };
  await makeTest(service.owner, agent.id, { status: "disabled" });
  await makeTest(service.owner, agent.id, { passiveBehavior: "manual_only" });
  await makeTest(service.owner, agent.id, { turns: [{ input: "Hello" }, { input: "And?" }] });
  assert.equal(await evaluation(), "none");
  await makeTest(service.owner, agent.id);
  assert.equal(await evaluation(), "scheduled");
});

for (const type of [
  "application/json; charset=utf-8",
  "Application/JSON",
  "application/json;charset=UTF-8;profile=x",
  "application/json ;",
]) {
  test(`Content-Type ${type} is JSON`, async () => {
    await created({ type, body: canonicalBody(service.agentId) });
  });
}

for (const encoding of ["identity", "Identity", "", "gzip", "GZIP", " gzip "]) {
  test(`Content-Encoding "${encoding}" is accepted`, async () => {
    const plain = Buffer.from(JSON.stringify(canonicalBody(service.agentId)));
    const body = /gzip/i.test(encoding) ? gzipSync(plain) : plain;
    await created({ headers: { "content-encoding": encoding }, body });
    await created({ headers: { "content-encoding": encoding }, body, chunked: true });
  });
}

test("gzip in several members is one body", async () => {
  const text = JSON.stringify(canonicalBody(service.agentId));
  const body = Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))]);
  await created({ headers: { "content-encoding": "gzip" }, body });
});

test("the path may have a trailing slash or a query", async () => {
  await created({ path: "/public/traces/", body: canonicalBody(service.agentId) });
  await created({ path: "/public/traces?from=ci", body: canonicalBody(service.agentId) });
});

test("the trace context of the request itself is ignored", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const answer = await created({
    headers: { traceparent, tracestate: "a=b" },
    body: canonicalBody(service.agentId),
  });
  const body = await service.read(`/api/traces/${traceIdOf(answer)}`);
  assert.equal(JSON.stringify(body).includes("0af7651916cd43dd8448eb211c80319c"), false);
  assert.equal(body.spans[0]!.parent_span_id, null);
});

test("unknown fields are ignored, and null counts as absent", async () => {
  await created({
    body: canonicalBody(service.agentId, {
      resourceSpans: null,
      metadata: null,
      extra: [1],
      spans: [
        canonicalSpan({
          parent_span_id: null,
          attributes: null,
          status: null,
          events: null,
          start_time_unix_nano: null,
          end_time_unix_nano: null,
          kind: "extra",
        }),
      ],
    }),
  });
});

type Access = "full" | "one" | "two" | "two, one of them deleted";

/** What each kind of key accepts. 400.test.ts has what it rejects. */
const accepted: [key: Access, hint: string, body: (ids: { own: string; other: string }) => object][] = [
  ["full", "platformId", ({ own }) => ({ platformId: own })],
  ["full", "metadata.svc.platform_id, nested", ({ own }) => ({ metadata: { svc: { platform_id: own } } })],
  ["full", "metadata.svc.platform_id, dotted", ({ own }) => ({ metadata: { "svc.platform_id": own } })],
  ["full", "metadata.platformId", ({ own }) => ({ metadata: { platformId: own } })],
  ["full", "an id in upper case", ({ own }) => ({ platformId: own.toUpperCase() })],
  ["full", "null before the present one", ({ own }) => ({ platformId: null, metadata: { platformId: own } })],
  [
    "full",
    "platformId before metadata",
    ({ own, other }) => ({
      platformId: own,
      metadata: { svc: { platform_id: other }, platformId: other },
    }),
  ],
  [
    "full",
    "metadata.svc.platform_id before metadata.platformId",
    ({ own, other }) => ({ metadata: { platformId: other, svc: { platform_id: own } } }),
  ],
  ["one", "none", () => ({})],
  ["one", "its own agent", ({ own }) => ({ platformId: own })],
  ["one", "an empty id", () => ({ platformId: "" })],
  ["one", "a malformed id", () => ({ platformId: "support" })],
  ["one", "a number", () => ({ metadata: { platformId: 17 } })],
  ["two", "the second agent", ({ own }) => ({ platformId: own })],
  ["two, one of them deleted", "none, as one is left", () => ({})],
];

for (const [access, hint, fields] of accepted) {
  test(`a key for ${access} accepts the agent from this hint: ${hint}`, async () => {
    const { owner } = service;
    const own = await makeAgent(owner);
    const other = await makeAgent(owner);
    const agentIds = access === "one" ? [own.id] : [other.id, own.id];
    const { key } = await makeKey(owner, access === "full" ? {} : { access: "granular", agentIds });
    if (access === "two, one of them deleted")
      await owner.client.delete(`/api/agents/${other.id}`).expect(204);
    const body = { spans: [canonicalSpan()], ...fields({ own: own.id, other: other.id }) };
    assert.equal(jsonOf(await created({ key, body })).agentId, own.id);
  });
}
