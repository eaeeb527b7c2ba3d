// POST /public/logs: the same keys, limits, encodings and errors as traces, in the sender's encoding.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { makeAgent, makeKey } from "../support/app.ts";
import { bodyOfSize, encodings, exportedSpan, exportOf, newSpanId, newTraceId } from "../support/bodies.ts";
import { logsOf, questionRecord } from "../support/log-records.ts";
import { json, jsonOf, messageOf, proto, refused, type Sent, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

const path = "/public/logs";
let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  await service.client.patch(`/api/agents/${service.agent.id}`, { conventions: ["*"] }).expect(200);
});
after(() => service.stop());

const ids = () => ({ traceId: newTraceId(), spanId: newSpanId() });
const question = (content = "Hello") => questionRecord(ids(), content);
const post = (sent: Sent) => send(service, { path, ...sent });
const list = (value: unknown) => value as unknown[];
const waiting = async () =>
  (await service.db.pool.query("select count(*)::int as rows from waiting_records")).rows[0].rows as number;

for (const encoding of ["json", "protobuf"] as const) {
  const encode = encodings[encoding];
  const { type } = encode(logsOf([]));
  const saidBy = (answer: Awaited<ReturnType<typeof send>>) =>
    encoding === "json" ? jsonOf(answer) : messageOf(answer, "ExportTraceServiceResponse");

  test(`${encoding}: records are accepted plain, gzipped, in chunks and with a slash, and answered with nothing`, async () => {
    const before = await waiting();
    for (const sent of [{}, { chunked: true }, { path: `${path}/` }]) {
      const answer = await post({ ...encode(logsOf([question()])), ...sent });
      assert.deepEqual([answer.status, answer.bytes.toString()], [200, encoding === "json" ? "{}" : ""]);
      assert.equal(answer.headers["content-type"], type);
      assert.equal(answer.headers["x-svc-trace-id"], undefined);
    }
    const body = gzipSync(encode(logsOf([question()])).body);
    assert.equal((await post({ type, body, headers: { "content-encoding": "gzip" } })).status, 200);
    assert.equal(await waiting(), before + 4);
    // An export without records has nothing to store.
    assert.equal((await post(encode({ resourceLogs: [] }))).status, 200);
  });

  test(`${encoding}: what is wrong with some records is a partial success, with all of them an error`, async () => {
    const bad = { ...question(), spanId: "00ab" };
    const nameless = logsOf([question()], null)["resourceLogs"];
    const unknown = logsOf([question(), question()], "unknown_service:node")["resourceLogs"];
    const mixed = {
      resourceLogs: [...list(logsOf([bad, question()])["resourceLogs"]), ...list(nameless), ...list(unknown)],
    };
    const { partialSuccess } = saidBy(await post(encode(mixed)));
    assert.equal(partialSuccess.rejectedLogRecords ?? partialSuccess.rejectedSpans, 4);
    for (const part of [
      "OTLP_ID_INVALID: 1 log record;",
      "OTLP_SERVICE_NAME_REQUIRED: 1 log record;",
      "OTLP_PLATFORM_NOT_FOUND: 2 log records.",
    ]) {
      assert.ok(partialSuccess.errorMessage.includes(part), partialSuccess.errorMessage);
    }
    refused(await post(encode(logsOf([bad]))), 400, "OTLP_ID_INVALID");
    refused(await post(encode({ resourceLogs: nameless })), 400, "OTLP_SERVICE_NAME_REQUIRED");
    refused(await post(encode({ resourceLogs: unknown })), 404, "OTLP_PLATFORM_NOT_FOUND");
  });

  test(`${encoding}: keys, encodings, sizes and methods are checked as for traces`, async () => {
    const good = encode(logsOf([question()]));
    refused(await post({ ...good, key: null }), 401, "UNAUTHORIZED");
    refused(await post({ ...good, key: "svc_wrong" }), 401, "UNAUTHORIZED");
    const unverified = await service.signUp({ verified: false });
    const { key } = await makeKey(unverified);
    refused(await post({ ...good, key }), 403, "EMAIL_NOT_VERIFIED");
    const other = await makeAgent(service.owner);
    const narrow = await makeKey(service.owner, { access: "granular", agentIds: [other.id] });
    refused(await post({ ...good, key: narrow.key }), 403, "OTLP_PLATFORM_NOT_ALLOWED");
    refused(await post({ ...good, headers: { "content-encoding": "zstd" } }), 415, "UNSUPPORTED_MEDIA_TYPE");
    const corrupt = { ...good, headers: { "content-encoding": "gzip" } };
    refused(await post(corrupt), 400, encoding === "json" ? "VALIDATION_ERROR" : "OTLP_PROTOBUF_INVALID");
    const make = (filling: string) => encode(logsOf([question(filling)])).body;
    refused(await post({ type, body: bodyOfSize(31_457_281, make) }), 413, "PAYLOAD_TOO_LARGE");
    assert.equal((await post({ type, body: bodyOfSize(31_457_280, make) })).status, 200);
    const { status, headers } = await post({ method: "GET" });
    assert.deepEqual([status, headers.allow], [405, "POST"]);
  });
}

test("other content types, traces and invalid bodies are refused", async () => {
  refused(await post({ type: "text/plain", body: "{}" }), 415, "UNSUPPORTED_MEDIA_TYPE");
  refused(await post({ body: "{" }), 400, "VALIDATION_ERROR");
  const { hint } = refused(await post({ body: exportOf([exportedSpan()]) }), 400, "VALIDATION_ERROR");
  assert.match(String(hint), /\/public\/traces/);
  const traces = encodings.protobuf(exportOf([exportedSpan()]));
  refused(await post(traces), 400, "OTLP_PROTOBUF_INVALID");
});

test("a revoked key stores nothing, and a request counts as a use of its key", async () => {
  const { id, key } = await makeKey(service.owner);
  assert.equal((await post({ key, body: logsOf([question()]) })).status, 200);
  await service.client.delete(`/api/keys/${id}`).expect(204);
  refused(await post({ key, body: logsOf([question()]) }), 401, "UNAUTHORIZED");
});

const mutated = fc
  .tuple(fc.constantFrom("json" as const, "protobuf" as const), fc.array(fc.tuple(fc.nat(), fc.nat(255))))
  .map(([encoding, changes]) => {
    const { type, body } = encodings[encoding](logsOf([question(), question()]));
    const bytes = Buffer.from(body);
    for (const [at, byte] of changes.slice(0, 4)) bytes[at % bytes.length] = byte;
    return { type, body: bytes };
  });
const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: "binary" }));
const strange = fc
  .record({ traceId: anything, spanId: anything, eventName: anything, body: anything, attributes: anything })
  .map(one => ({
    type: json,
    body: Buffer.from(JSON.stringify(logsOf([one, { ...question(), body: one.body }]))),
  }));
const bytes = fc.uint8Array({ maxLength: 500 }).map(array => ({ type: proto, body: Buffer.from(array) }));

test("whatever bytes arrive, the answer is documented and the service keeps running", async () => {
  const documented = new Set([200, 400, 404, 413]);
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, strange, bytes), async sent => {
      const answer = await post(sent);
      assert.ok(documented.has(answer.status), `${answer.status} ${answer.bytes}`);
      assert.equal(answer.headers["content-type"], sent.type);
    }),
    { numRuns: 300 },
  );
  assert.equal((await post({ body: logsOf([question()]) })).status, 200);
});

test("a large export is prepared on a thread, with the same result", async () => {
  const about = ids();
  const records = Array.from({ length: 3_000 }, (_, at) =>
    questionRecord(about, `Question ${at}`, String(at + 1)),
  );
  const bad = { ...question(), spanId: "00ab" };
  const { partialSuccess } = jsonOf(await post({ body: logsOf([...records, bad]) }));
  assert.equal(partialSuccess.rejectedLogRecords, 1);
  const { rows } = await service.db.pool.query(
    "select length(record_keys) / 8 as records from waiting_records where otlp_trace_id = $1",
    [about.traceId],
  );
  assert.deepEqual(rows, [{ records: 3_000 }]);
});
