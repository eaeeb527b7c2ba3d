// Whatever bytes arrive, the endpoint answers with a documented status and keeps running.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { json, jsonOf, messageOf, proto, refused, type Sent, send } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { fixture } from "../../wire/make-body.ts";

let service: TestService;
let key: string;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  // Nothing but the bytes themselves may stop a body from being stored.
  for (const otlpServiceName of ["my.service", "ai-sdk-v7-agent", "edge-agent"]) {
    await makeAgent(service.owner, { otlpServiceName });
  }
  ({ key } = await makeKey(service.owner, { access: "granular", agentIds: [service.agent.id] }));
});
after(() => service.stop());

const documented = new Set([200, 201, 400, 403, 404, 413]);

/** The response has a documented status and the sender's encoding, and is not a 500. */
async function answeredAsDocumented(sent: Sent): Promise<void> {
  const answer = await send(service, sent);
  const said = answer.bytes.toString();
  assert.ok(documented.has(answer.status), `${answer.status} ${said}`);
  if (answer.status >= 400) {
    const code = /[A-Z]+_[A-Z_]+/.exec(said)![0];
    refused(answer, answer.status, code as Parameters<typeof refused>[2]);
  } else if (sent.type === proto) messageOf(answer, "ExportTraceServiceResponse");
  else jsonOf(answer);
}

type Body = { type: string; body: Buffer };

const seeds: (() => Body)[] = [
  () => ({ type: json, body: fixture("01-otel-proto-example-trace.json") }),
  () => ({ type: json, body: fixture("05-java-all-anyvalue-kinds.json") }),
  () => ({ type: json, body: fixture("14-js-edge-values.json") }),
  () => ({ type: proto, body: fixture("11-vercel-ai-v7-otel-tool-loop.pb") }),
  () => encodings.json(exportOf([exportedSpan()])),
  () => encodings.protobuf(exportOf([exportedSpan(), exportedSpan()])),
  () => ({ type: json, body: Buffer.from(JSON.stringify(canonicalBody(service.agent.id))) }),
];

/** A whole body, or one with a few of its bytes changed, cut off or doubled. */
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(255), fc.constantFrom("change", "cut", "double")), {
      maxLength: 4,
    }),
  )
  .map(([make, changes]): Body => {
    const { type, body } = make();
    const mutate = (bytes: Buffer, [place, byte, how]: (typeof changes)[number]) => {
      const at = place % bytes.length;
      if (how === "cut") return bytes.subarray(0, at + 1);
      if (how === "double") return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at >> 1)]);
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)]);
    };
    return { type, body: changes.reduce(mutate, body) };
  });

// Any text, including U+0000 and lone surrogates.
const text = fc.string({ unit: fc.nat(0xffff).map(code => String.fromCharCode(code)), minLength: 1 });
const attribute = fc.constantFrom(
  "gen_ai.input.messages",
  "gen_ai.response.text",
  "gen_ai.usage.input_tokens",
  "http.response.status_code",
  "__proto__",
);
const time = fc.bigInt(0n, 2n ** 64n - 1n).map(String);
const span = fc.record(
  {
    span_id: text,
    name: text,
    parent_span_id: text,
    attributes: fc.dictionary(fc.oneof(attribute, text), fc.oneof(fc.jsonValue(), text)),
    start_time_unix_nano: time,
    end_time_unix_nano: time,
    status: fc.record({ code: fc.integer(), message: text }, { requiredKeys: [] }),
    events: fc.array(fc.jsonValue()),
  },
  { requiredKeys: ["span_id", "name"] },
);
const envelope = fc.record({
  resource: fc.jsonValue(),
  scopeSpans: fc.array(fc.record({ spans: fc.array(fc.jsonValue()) })),
});
const jsonLike = fc
  .oneof(
    fc.record({ spans: fc.array(span), metadata: fc.dictionary(text, fc.jsonValue()) }),
    fc.record({ spans: fc.jsonValue(), metadata: fc.jsonValue(), platformId: fc.jsonValue() }),
    fc.record({ resourceSpans: fc.oneof(fc.jsonValue(), fc.array(envelope)) }),
  )
  .map((value): Body => ({ type: json, body: Buffer.from(JSON.stringify(value)) }));

const bytes = fc.record({
  type: fc.constantFrom(json, proto),
  body: fc.uint8Array({ maxLength: 2_000 }).map(array => Buffer.from(array)),
});
const request = fc.record({
  sent: fc.oneof(bytes, mutated, mutated, jsonLike, jsonLike),
  gzip: fc.constantFrom("no", "no", "packed", "packed", "only announced"),
  everyAgent: fc.boolean(),
  chunked: fc.boolean(),
  id: fc.option(fc.string({ maxLength: 20 }), { freq: 1 }),
});

test("any bytes with any headers get a documented answer, and the service keeps running", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async requests => {
      await Promise.all(
        requests.map(({ sent: { type, body }, everyAgent, gzip, chunked, id }) =>
          answeredAsDocumented({
            key: everyAgent ? service.key : key,
            type,
            chunked,
            body: gzip === "packed" ? gzipSync(body) : body,
            headers: {
              ...(gzip !== "no" && { "content-encoding": "gzip" }),
              ...(id !== null && { "x-request-id": id }),
            },
          }),
        ),
      );
    }),
    { numRuns: 150 },
  );
  assert.equal((await send(service, { body: canonicalBody(service.agent.id) })).status, 201);
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  assert.deepEqual(
    service.logs.filter(line => /"level":[56]0/.test(line)),
    [],
  );
});

test("everything that was stored can be listed and read", async () => {
  let cursor = "";
  do {
    const body = await service.client.read(`/api/agents/${service.agent.id}/traces?limit=200${cursor}`);
    for (const { id } of body.items) await service.client.get(`/api/traces/${id}`).expect(200);
    cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
  } while (cursor);
});
