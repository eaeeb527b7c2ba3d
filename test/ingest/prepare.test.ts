// Prepared bodies can be read back exactly, and span keys identify the same spans on both paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type PreparedBody, prepareBody } from "../../src/ingest/prepare.ts";
import type { PreparedGroup } from "../../src/ingest/prepare-groups.ts";
import type { PreparedBatch } from "../../src/ingest/prepared.ts";
import { readResource, scan } from "../../src/wire/batch.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { canonicalSpan, encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { decodeBatch } from "../support/decode-batch.ts";
import { resourceSpans } from "../wire/make-body.ts";

function canonical(spans: unknown[], more: object = {}): PreparedBatch {
  const body = prepareBody(Buffer.from(JSON.stringify({ spans, ...more })), "json", decodeLimits);
  assert.ok(body.path === "canonical");
  return body.batch;
}

function exported(spans: unknown[]): PreparedBatch {
  const body = prepareBody(encodings.protobuf(exportOf(spans)).body, "protobuf", decodeLimits);
  assert.ok(body.path === "otlp");
  const [group] = body.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

const keysOf = ({ spanKeys }: PreparedBatch) =>
  Array.from({ length: spanKeys.length / 8 }, (_, at) => spanKeys.toString("hex", at * 8, at * 8 + 8));

test("a prepared batch is read back exactly as it was sent, and has the length it states", () => {
  const batch = canonical([canonicalSpan({ attributes: { text: "\0 \ud800 é" } })], { metadata: { a: 1 } });
  const read = decodeBatch(batch.bytes);
  assert.deepEqual(read.spans[0]?.attributes, { text: "\0 \ud800 é" });
  assert.deepEqual(read.metadata, { a: 1 });
  assert.equal(batch.rawLength, Buffer.byteLength(JSON.stringify(read)));
});

test("with no privacy rule on, or none that finds anything, not a byte of what is stored changes", () => {
  const said = "Write to ann@example.com, [email] or 4111 1111 1111 1111: sk-abcdefghijklmnopqrstuvwx \0 é";
  const spans = [
    canonicalSpan({
      attributes: {
        "gen_ai.prompt": said,
        "gen_ai.response.text": JSON.stringify({ said }),
        "user.id": "ann@example.com",
        size: 42,
      },
      events: [{ name: said, attributes: { said } }],
      status: { code: 2, message: said },
    }),
  ];
  const bytes = Buffer.from(JSON.stringify({ spans, metadata: { said } }));
  const preparedBy = (rules: object | null) => {
    const storing = rules && {
      ...{ projectId: "p", revision: 1, pseudonymKey: "key" },
      rules: { builtIn: [], rules: [], pseudonyms: [], ...rules },
    };
    const body = prepareBody(bytes, "json", decodeLimits, { agents: [], only: null, storing });
    assert.ok(body.path === "canonical");
    return body.batch;
  };
  const plain = preparedBy(null);
  assert.deepEqual(decodeBatch(plain.bytes).spans[0]?.attributes, spans[0]?.attributes);
  for (const rules of [{}, { builtIn: ["ssn"] }, { rules: [{ name: "order", pattern: "ZQ-\\d{7}" }] }]) {
    assert.deepEqual(preparedBy(rules), plain);
  }
  assert.notDeepEqual(preparedBy({ builtIn: ["*"] }).bytes, plain.bytes);
});

test("many small batches use no more memory than they fill", () => {
  const spans = Array.from({ length: 1_000 }, (_, at) =>
    exportedSpan({ traceId: (at + 1).toString(16).padStart(32, "0") }),
  );
  const { body: bytes } = encodings.json(exportOf(spans));
  const body = prepareBody(bytes, "json", decodeLimits);
  const batches =
    body.path === "otlp" ? body.groups.flatMap(group => ("batch" in group ? group.batch : [])) : [];
  assert.equal(batches.length, 1_000);
  const filled = batches.reduce((sum, batch) => sum + batch.bytes.length + batch.spanKeys.length, 0);
  const buffers = new Set(batches.flatMap(batch => [batch.bytes.buffer, batch.spanKeys.buffer]));
  const kept = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(kept < 2 * filled + 2 * 64 * 1024, `${kept} bytes are kept for ${filled}`);
});

test("a resource is stored apart if its copies would take more than the body, and otherwise in each batch", () => {
  const sharedBy = (traces: number, resourceBytes: number, spanBytes = 0) => {
    const long = (length: number) => ({ key: "long", value: { stringValue: "x".repeat(length) } });
    const spans = Array.from({ length: traces }, () => exportedSpan({ attributes: [long(spanBytes)] }));
    const { body: bytes } = encodings.json({
      resourceSpans: [resourceSpans("agent", spans, [long(resourceBytes)])],
    });
    const body = prepareBody(bytes, "json", decodeLimits);
    assert.ok(body.path === "otlp");
    const batches = body.groups.flatMap(group => ("batch" in group ? group : []));
    return { ...body, batches, bodyBytes: bytes.length };
  };
  assert.deepEqual(sharedBy(1, 1_000_000).resources, []);
  assert.deepEqual(sharedBy(100, 500, 2_000).resources, []);

  const { batches, resources, bodyBytes } = sharedBy(100, 1_000_000);
  assert.deepEqual(new Set(batches.map(({ resource }) => resource)), new Set([0]));
  const [resource] = resources;
  assert.equal(readResource(scan(resource!.bytes))["service.name"], "agent");
  for (const { batch } of batches) {
    assert.equal(decodeBatch(batch.bytes).resource, null);
    assert.ok(batch.rawLength > 1_000_000, "the length is what a reader has to open");
  }
  const stored = [...batches.map(({ batch }) => batch), ...resources];
  const text = stored.reduce((sum, { bytes }) => sum + scan(bytes).text.length, 0);
  assert.ok(text < 2 * bodyBytes, `${text} bytes of JSON are stored for ${bodyBytes}`);
});

test("batches with the same spans and different shared resources have different bytes", () => {
  const prepared = (version: string) => {
    const resource = [{ key: "version", value: { stringValue: version.repeat(100_000) } }];
    const spans = [1, 2].map(trace =>
      exportedSpan({ traceId: `${trace}`.repeat(32), spanId: "a".repeat(16) }),
    );
    const { body } = encodings.json({ resourceSpans: [resourceSpans("agent", spans, resource)] });
    const { groups } = prepareBody(body, "json", decodeLimits) as Extract<PreparedBody, { path: "otlp" }>;
    return (groups[0] as PreparedGroup).batch.bytes.toString("hex");
  };
  assert.equal(prepared("1"), prepared("1"));
  assert.notEqual(prepared("1"), prepared("2"));
});

test("an OTLP span's key is its id in lower case", () => {
  const batch = exported([
    exportedSpan({ traceId: "ab".repeat(16), spanId: "00000000000000FF" }),
    exportedSpan({ traceId: "ab".repeat(16), spanId: "abcdefABCDEF0123" }),
  ]);
  assert.deepEqual(keysOf(batch), ["00000000000000ff", "abcdefabcdef0123"]);
});

test("a canonical span with an OTLP span's id has the same key, so each path recognizes the other's spans", () => {
  const id = "0123456789abcdef";
  assert.deepEqual(keysOf(canonical([canonicalSpan({ span_id: id })])), [id]);
});

test("different ids have different keys, even if they differ only in characters that UTF-8 cannot encode", () => {
  const ids = ["a", "A", "a ", "\0", "\ud800", "\udfff", "\ufffd", "0123456789ABCDEF", "x".repeat(100_000)];
  const batch = canonical(ids.map(span_id => canonicalSpan({ span_id })));
  assert.equal(batch.spanCount, ids.length);
  assert.equal(new Set(keysOf(batch)).size, ids.length);
  assert.deepEqual(keysOf(canonical(ids.map(span_id => canonicalSpan({ span_id })))), keysOf(batch));
});

test("columns contain only what a text column can store", () => {
  const attributes = { "gen_ai.prompt": "\0\ud800", "gen_ai.response.text": "x".repeat(1_000) };
  const { columns } = canonical([canonicalSpan({ name: "a\0b", attributes })]);
  for (const text of [columns.name, columns.userInput!, columns.responseText!]) {
    assert.ok(text.length <= 500 && text.isWellFormed() && !text.includes("\0"));
  }
});

test("columns are derived with the conventions of the agent that the request names, or of the key's only one", () => {
  const spans = [
    { span_id: "a", name: "a", attributes: { "openinference.span.kind": "LLM", "input.value": "Hi" } },
  ];
  const agentId = "0199a1b2-0000-7000-8000-000000000001";
  const agents = [{ agentId, serviceName: "shop", conventions: ["openinference"], conventionRules: [] }];
  const inputOf = (body: object, only: string | null) => {
    const prepared = prepareBody(Buffer.from(JSON.stringify(body)), "json", decodeLimits, { agents, only });
    const batch =
      prepared.path === "canonical" ? prepared.batch : (prepared.groups[0] as { batch: PreparedBatch }).batch;
    return [batch.columns.userInput, batch.readBy.conventions];
  };
  assert.deepEqual(inputOf({ spans, platformId: agentId.toUpperCase() }, null), ["Hi", ["openinference"]]);
  assert.deepEqual(inputOf({ spans }, agentId), ["Hi", ["openinference"]]);
  assert.deepEqual(inputOf({ spans }, null), [null, []]);
  assert.deepEqual(inputOf({ spans, platformId: agentId.replace("1", "2") }, null), [null, []]);
  const attributes = Object.entries(spans[0]!.attributes).map(([key, stringValue]) => ({
    key,
    value: { stringValue },
  }));
  const exported = (name: string) => exportOf([exportedSpan({ attributes })], name);
  assert.deepEqual(inputOf(exported("shop"), null), ["Hi", ["openinference"]]);
  assert.deepEqual(inputOf(exported("Shop"), null), [null, []]);
});

test("columns of a trace that no convention recognizes are the same with all conventions and with none", async () => {
  const request = (attributes: object[], scope: string) => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
        scopeSpans: [
          {
            scope: { name: scope },
            spans: [
              {
                traceId: "0af7651916cd43dd8448eb211c80319c",
                spanId: "00f067aa0ba902b7",
                name: "GET /health",
                attributes,
              },
            ],
          },
        ],
      },
    ],
  });
  const read = (body: object, conventions: string[]) => {
    const agents = [{ agentId: "a", serviceName: "shop", conventions, conventionRules: [] }];
    const bytes = Buffer.from(JSON.stringify(body));
    const prepared = prepareBody(bytes, "json", decodeLimits, { agents, only: null });
    const [group] = prepared.path === "otlp" ? prepared.groups : [];
    assert.ok(group && "batch" in group);
    return group.batch!.columns;
  };
  const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
  for (const [attributes, scope, noise] of [
    [[text("url.path", "/health"), text("http.method", "GET")], "fastapi", "health_check"],
    [[text("app.step", "1")], "mcp", "mcp_client"],
    [[text("app.step", "1")], "app", null],
    [[text("gen_ai.prompt", "Where is it?")], "app", null],
  ] as const) {
    const [all, none] = [["*"], []].map(conventions => read(request([...attributes], scope), conventions));
    assert.deepEqual(all, none);
    assert.equal(all!.noise, noise, scope);
  }
  const recognized = request([text("openinference.span.kind", "AGENT"), text("input.value", "Hi")], "app");
  assert.deepEqual([read(recognized, ["*"]).userInput, read(recognized, []).userInput], ["Hi", null]);
  const byScope = request([text("input", "Hi")], "pipecat.turn");
  assert.equal(read(byScope, ["*"]).name, "GET /health");
});
