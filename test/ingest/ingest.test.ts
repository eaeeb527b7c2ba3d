// The order of the ingestion steps and how their errors are reported, with a fake database.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Preparer } from "../../src/ingest/preparer.ts";
import { type IngestDeps, type IngestRequest, ingest, type StoredTrace } from "../../src/ingest.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import type { IngestionAnswer } from "../../src/model/ingestion.ts";
import { type AdmittedKey, hashKey } from "../../src/model/key.ts";
import { Refusal } from "../../src/model/refusal.ts";
import type { Stored, TraceWrite } from "../../src/store/traces/write.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { canonicalBody, exportedSpan, exportOf } from "../support/bodies.ts";
import { json } from "../support/send.ts";
import { resourceSpans } from "../wire/make-body.ts";

const agent: Agent = {
  id: "0199a1b2-0000-7000-8000-000000000001",
  projectId: "project",
  name: "Agent",
  type: "http_api",
  otlpServiceName: "agent",
  conventions: [],
  conventionRules: [],
  readFrom: null,
  content: "keep",
  contentForgetAfterSeconds: null,
  attributes: { deny: [], allow: null },
};
const key: AdmittedKey = {
  id: "key",
  projectId: "project",
  accountId: "account",
  access: "full",
  agentIds: [],
  emailVerified: true,
  conventions: null,
  hasMoreConventions: false,
  privacyRevision: 0,
  storing: null,
  rateLimits: { key: null, project: null },
};
const preparer = new Preparer({ limits: decodeLimits });
after(() => preparer.close());

type Played = {
  admitted?: AdmittedKey | undefined;
  findKey?: IngestDeps["findKey"];
  findAgentByServiceName?: IngestDeps["findAgentByServiceName"];
  write?: (write: TraceWrite) => Promise<Stored>;
};

/** The dependencies of ingestion, and every step it took, in order. */
function play({ admitted = key, ...played }: Played = {}) {
  const steps: string[] = [];
  const told: StoredTrace[] = [];
  const writes: TraceWrite[] = [];
  const answered: IngestionAnswer[][] = [];
  const deps: IngestDeps = {
    requireRoom: async () => {},
    findKey: async hash => (hash === hashKey("right").toString("hex") ? admitted : undefined),
    findAgent: async id => (id === agent.id ? agent : undefined),
    findAgentByServiceName: async (_, name) => (name === "agent" ? agent : undefined),
    listAgentsOfKey: async () => [agent],
    findStoring: async () => ({ revision: 0, storing: null }),
    preparer,
    // The only method of the writer that ingestion calls.
    writer: {
      write: async (write: TraceWrite) => {
        steps.push("write");
        writes.push(write);
        const created: Stored = { traceId: write.traceId, state: "created", revision: 1, evaluation: "none" };
        return played.write?.(write) ?? created;
      },
    } as IngestDeps["writer"],
    onStored: trace => told.push(trace),
    onAnswered: answers => answered.push(answers),
    ...(played.findKey && { findKey: played.findKey }),
    ...(played.findAgentByServiceName && { findAgentByServiceName: played.findAgentByServiceName }),
  };
  const request = (body: unknown, more: Partial<IngestRequest> = {}): IngestRequest => ({
    key: "right",
    contentType: json,
    contentEncoding: undefined,
    id: "request-1",
    requestIds: [],
    readBody: async () => {
      steps.push("read");
      return { bytes: Buffer.from(JSON.stringify(body)), release: () => steps.push("release") };
    },
    ...more,
  });
  return { deps, request, steps, told, writes, answered };
}

const body = canonicalBody(agent.id);

test("a body releases its slot before its trace is stored, and when it is rejected", async () => {
  const good = play();
  await ingest(good.deps, good.request(body));
  assert.deepEqual(good.steps, ["read", "release", "write"]);
  const bad = play();
  await assert.rejects(ingest(bad.deps, bad.request([])), { code: "VALIDATION_ERROR" });
  assert.deepEqual(bad.steps, ["read", "release"]);
});

test("a stored trace is announced afterwards, with the identity it was stored under", async () => {
  const { deps, request, told, writes } = play();
  const outcome = await ingest(deps, request(body, { requestIds: ["order-17"] }));
  assert.equal(outcome.path === "canonical" && outcome.trace.externalId, "order-17");
  assert.deepEqual(
    told.map(({ traceId, externalId, agentId, path, spanCount }) => [
      traceId,
      externalId,
      agentId,
      path,
      spanCount,
    ]),
    [[writes[0]!.traceId, "order-17", agent.id, "canonical", 1]],
  );
});

test("a request that a fault ends is logged once, and one whose key cannot be looked up is not", async () => {
  const ends = async (played: Played) => {
    const { deps, request, answered } = play(played);
    await ingest(deps, request(body)).catch(() => {});
    return answered.map(answers => answers.map(({ code, serviceName, spans }) => [code, serviceName, spans]));
  };
  assert.deepEqual(await ends({ write: failing(away) }), [[["UNAVAILABLE", null, 0]]]);
  assert.deepEqual(await ends({ write: failing(bug) }), [[["INTERNAL", null, 0]]]);
  assert.deepEqual(await ends({ findKey: failing(away) }), []);
});

const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const bug = new TypeError("undefined is not a function");
const several = exportOf([exportedSpan(), exportedSpan()], "agent");
const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};
let calls = 0;
const everySecond = (error: Error) => async (): Promise<never> => {
  if (calls++ % 2 === 0) throw new Refusal("PAYLOAD_TOO_LARGE");
  throw error;
};

for (const [where, played, sent] of [
  ["looking up the key", (error: Error) => ({ findKey: failing(error) }), body],
  ["looking up the agent", (error: Error) => ({ findAgentByServiceName: failing(error) }), several],
  ["storing a canonical trace", (error: Error) => ({ write: failing(error) }), body],
  ["storing one of two OTLP traces", (error: Error) => ({ write: everySecond(error) }), several],
] as const) {
  test(`a database that is down while ${where} is UNAVAILABLE with a Retry-After, and a bug stays a bug`, async () => {
    const passing = play(played(away));
    const unavailable = await ingest(passing.deps, passing.request(sent)).catch((error: unknown) => error);
    assert.ok(unavailable instanceof Refusal);
    assert.equal(unavailable.code, "UNAVAILABLE");
    assert.ok([2, 3].includes(unavailable.retryAfterSeconds!));
    const broken = play(played(bug));
    await assert.rejects(ingest(broken.deps, broken.request(sent)), bug);
  });
}

test("a key revoked while its OTLP traces are being stored is UNAUTHORIZED for the whole request", async () => {
  const { deps, request } = play({ write: failing(new Refusal("UNAUTHORIZED")) });
  await assert.rejects(ingest(deps, request(several)), { code: "UNAUTHORIZED" });
});

test("a request with many traces leaves turns to others: only a part of them waits for the writer at a time", async () => {
  let waitingNow = 0;
  let most = 0;
  const { deps, request, writes } = play({
    write: async ({ traceId }) => {
      most = Math.max(most, ++waitingNow);
      await new Promise(resolve => setImmediate(resolve));
      waitingNow--;
      return { traceId, state: "created", revision: 1, evaluation: "none" };
    },
  });
  const outcome = await ingest(
    deps,
    request(
      exportOf(
        Array.from({ length: 1_000 }, () => exportedSpan()),
        "agent",
      ),
    ),
  );
  assert.equal(writes.length, 1_000);
  assert.ok(most <= 256, `${most} traces waited`);
  assert.ok(outcome.path === "otlp");
  assert.deepEqual(
    outcome.stored.map(({ traceId }) => traceId),
    writes.map(({ traceId }) => traceId),
  );
});

test("after a transient error no further trace of the request is stored", async () => {
  const { deps, request, writes } = play({ write: failing(away) });
  const many = exportOf(
    Array.from({ length: 1_000 }, () => exportedSpan()),
    "agent",
  );
  await assert.rejects(ingest(deps, request(many)), { code: "UNAVAILABLE" });
  assert.ok(writes.length <= 256, `${writes.length} traces`);
});

test("a shared resource has one id for an agent and another for every other agent", async () => {
  const long = { key: "long", value: { stringValue: "x".repeat(10_000) } };
  const sharing = exportOf([]);
  sharing["resourceSpans"] = ["agent", "other"].map(name =>
    resourceSpans(name, [exportedSpan(), exportedSpan(), exportedSpan()], [long]),
  );
  const { deps, request, writes } = play({
    findAgentByServiceName: async (_, name) => (name === "agent" ? agent : { ...agent, id: "other" }),
  });
  await ingest(deps, request(sharing));
  const ids = writes.map(({ resource }) => resource!.id);
  assert.ok(ids.every(id => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)));
  assert.deepEqual(ids, [ids[0], ids[0], ids[0], ids[3], ids[3], ids[3]]);
  assert.notEqual(ids[0], ids[3]);
});
