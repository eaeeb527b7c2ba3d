// 413: bodies up to 30 MB pass on every path, and those with too many values are rejected without blocking others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  bodyOfSize,
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newTraceId,
} from "../../support/bodies.ts";
import { json, jsonOf, messageOf, proto, refused, type Sent, send } from "../../support/send.ts";
import { serviceName, startTestService } from "../../support/service.ts";
import { world } from "../../support/world.ts";
import { field } from "../../wire/encode-otlp.ts";
import { resourceSpans } from "../../wire/make-body.ts";

const service = world({ roles: ["http"] });

const bytesMax = 31_457_280;
const smallBounds = {
  requestSpansMax: 100,
  requestTracesMax: 50,
  requestElementsMax: 100_000,
  nestingMax: 200,
  bodyBytesMax: bytesMax,
  traceSpansMax: 5,
  traceBytesMax: 5_000,
};
const tooLarge = async (sent: Sent) => refused(await service.send(sent), 413, "PAYLOAD_TOO_LARGE");

const paths: Record<string, { type: string; status: number; make: (filling: string) => Buffer }> = {
  canonical: {
    type: json,
    status: 201,
    make: filling => {
      const spans = [canonicalSpan({ attributes: { filling } })];
      return Buffer.from(JSON.stringify(canonicalBody(service.agentId, { spans })));
    },
  },
  "OTLP JSON": {
    type: json,
    status: 200,
    make: filling => encodings.json(exportOf([filled(filling)])).body,
  },
  "OTLP protobuf": {
    type: proto,
    status: 200,
    make: filling => encodings.protobuf(exportOf([filled(filling)])).body,
  },
};

function filled(stringValue: string): object {
  return exportedSpan({ attributes: [{ key: "filling", value: { stringValue } }] });
}

for (const [path, { type, status, make }] of Object.entries(paths)) {
  test(`${path}: exactly 31,457,280 bytes pass and one more is 413, plain, in chunks and under gzip`, async () => {
    for (const [bytes, expected] of [
      [bytesMax, status],
      [bytesMax + 1, 413],
    ] as const) {
      const body = bodyOfSize(bytes, make);
      const packed = { body: gzipSync(body, { level: 1 }), headers: { "content-encoding": "gzip" } };
      for (const sent of [{ body }, { body, chunked: true }, packed, { ...packed, chunked: true }]) {
        const answer = await service.send({ type, ...sent });
        assert.equal(answer.status, expected, answer.bytes.toString());
        if (expected === 413) refused(answer, 413, "PAYLOAD_TOO_LARGE");
      }
    }
  });
}

test("a gzip bomb is 413, decompressed only up to the limit", async () => {
  // 1 GB in 1 MB: ten members of 100 MB each.
  const member = gzipSync(Buffer.alloc(100_000_000));
  const body = Buffer.concat(Array(10).fill(member));
  const headers = { "content-encoding": "gzip" };
  await tooLarge({ headers, body });
  await tooLarge({ headers, body, type: proto });
});

test("a declared length above the limit is 413 before the body is sent, without a 100 Continue", async () => {
  for (const [length, encoding] of [
    [bytesMax + 1, "identity"],
    [10 * bytesMax, "gzip"],
  ] as const) {
    const outgoing = request(`${service.url}/public/traces`, {
      method: "POST",
      agent: false,
      headers: {
        "x-api-key": service.key,
        "content-type": json,
        "content-length": length,
        "content-encoding": encoding,
        expect: "100-continue",
      },
    });
    outgoing.on("continue", () => assert.fail("was told to go on"));
    outgoing.flushHeaders();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    outgoing.destroy();
  }
});

test("the size is checked before the body and its agent", async () => {
  await tooLarge({ body: Buffer.alloc(bytesMax + 1, "{") });
  await tooLarge({ body: Buffer.alloc(bytesMax + 1, "{"), chunked: true });
  await tooLarge({ type: proto, body: Buffer.alloc(bytesMax + 1, "{"), chunked: true });
});

test("100,000 spans in one request pass and one more is 413, on every path", async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ span_id: String(at), name: "n" }));
  const spans = many(100_001);
  await tooLarge({ body: canonicalBody(service.agentId, { spans }) });
  const answer = await service.send({ body: canonicalBody(service.agentId, { spans: spans.slice(1) }) });
  assert.equal(answer.status, 201);
  const exported = exportedSpan();
  await tooLarge(encodings.json(exportOf(Array(100_001).fill(exported))));
  await tooLarge(encodings.protobuf(exportOf(Array(100_001).fill(exported))));
});

const tiny: [what: string, make: () => Pick<Sent, "type" | "body">][] = [
  [
    "empty lists",
    () => ({ body: `{"spans":[{"span_id":"a","name":"b","attributes":{"a":[${"[],".repeat(9e6)}[]]}}]}` }),
  ],
  ["empty spans", () => ({ body: `{"spans":[${"{},".repeat(9e6)}{}]}` })],
  ["numbers", () => ({ body: `{"spans":[{"span_id":"a","name":"b","events":[${"1,".repeat(14e6)}1]}]}` })],
  ["empty resources", () => ({ body: `{"resourceSpans":[${"{},".repeat(9e6)}{}]}` })],
  ["empty protobuf resources", () => ({ type: proto, body: Buffer.alloc(30_000_000, field(1, "")) })],
  [
    "empty protobuf attributes",
    () => ({ type: proto, body: field(1, field(2, field(2, Buffer.alloc(30_000_000, field(9, ""))))) }),
  ],
];

for (const [what, make] of tiny) {
  test(`a body of millions of ${what} is 413`, async () => {
    await tooLarge(make());
  });
}

test("a request sent while an expensive one is being processed is answered first", async () => {
  // Just within every limit, with an error at the very end.
  const costly = `{"spans":[{"span_id":"a","name":"b","attributes":{"a":[${'{"k":1},'.repeat(990_000)}1]}},{}]}`;
  const answers: string[] = [];
  const outgoing = request(`${service.url}/public/traces`, {
    method: "POST",
    agent: false,
    headers: { "x-api-key": service.key, "content-type": json, "content-length": costly.length },
  });
  const answered = once(outgoing, "response").then(([response]) => {
    answers.push("costly");
    return (response as IncomingMessage).resume().statusCode;
  });
  outgoing.end(costly);
  await once(outgoing, "finish");
  for (const count of [1, 2]) {
    const small = await service.send({ body: canonicalBody(service.agentId) });
    assert.equal(small.status, 201);
    answers.push(`small ${count}`);
  }
  assert.equal(await answered, 400);
  assert.deepEqual(answers, ["small 1", "small 2", "costly"]);
});

test("more traces or spans than the limits are 413, in the sender's encoding", async () => {
  const small = await startTestService({ config: { roles: ["http"], bounds: smallBounds } });
  const traces = (count: number) => exportOf(Array.from({ length: count }, () => exportedSpan()));
  for (const encode of Object.values(encodings)) {
    assert.equal((await send(small, encode(traces(50)))).status, 200);
    const { message, hint } = refused(await send(small, encode(traces(51))), 413, "PAYLOAD_TOO_LARGE");
    assert.match(`${message} ${hint}`, /more than 50 traces.*send_batch_max_size/);
  }
  await small.stop();
});

test("a merged trace that exceeds the limit of spans or bytes is 413, alone or as part of a batch", async () => {
  const small = await startTestService({ config: { roles: ["http"], bounds: smallBounds } });
  const traceId = newTraceId();
  const spans = (count: number, more = {}) =>
    Array.from({ length: count }, () => exportedSpan({ traceId, ...more }));
  const first = exportOf(spans(3));
  assert.equal((await send(small, encodings.json(first))).status, 200);
  refused(await send(small, encodings.json(exportOf(spans(3)))), 413, "PAYLOAD_TOO_LARGE");
  refused(await send(small, encodings.protobuf(exportOf(spans(3)))), 413, "PAYLOAD_TOO_LARGE");
  const large = { attributes: [{ key: "a", value: { stringValue: "x".repeat(5_000) } }] };
  refused(await send(small, encodings.json(exportOf(spans(1, large)))), 413, "PAYLOAD_TOO_LARGE");

  // Known spans take no additional room.
  assert.equal((await send(small, encodings.json(first))).status, 200);
  assert.equal((await send(small, encodings.json(exportOf(spans(2))))).status, 200);

  const mixed = { resourceSpans: [resourceSpans(serviceName, [...spans(1), exportedSpan()])] };
  const said = [
    jsonOf(await send(small, encodings.json(mixed))),
    messageOf(await send(small, encodings.protobuf(mixed)), "ExportTraceServiceResponse"),
  ];
  for (const { partialSuccess } of said) {
    assert.equal(partialSuccess.rejectedSpans, 1);
    assert.match(partialSuccess.errorMessage, /PAYLOAD_TOO_LARGE: 1 span in 1 trace/);
  }
  await small.stop();
});
