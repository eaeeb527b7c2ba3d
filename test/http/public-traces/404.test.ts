// 404: a service.name that no agent of the project has, and URLs that are not the endpoint.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeAgent, makeKey } from "../../support/app.ts";
import { encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { exportSpans, openExporter, recordSpans } from "../../support/exporters.ts";
import { statusMessage } from "../../support/rpc-status.ts";
import { json, proto, refused, send } from "../../support/send.ts";
import { serviceName, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  await makeAgent(await service.signUp(), { otlpServiceName: "of-another-account" });
});
after(() => service.stop());

for (const [encoding, encode] of Object.entries(encodings)) {
  for (const name of [
    "nobody",
    serviceName.toUpperCase(),
    ` ${serviceName}`,
    `${serviceName}\0`,
    "of-another-account",
    "a\nb",
    "x".repeat(10_000),
  ]) {
    test(`an unknown service.name in ${encoding} is OTLP_PLATFORM_NOT_FOUND: ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const answer = await send(service, encode(exportOf([exportedSpan()], name)));
      const { hint } = refused(answer, 404, "OTLP_PLATFORM_NOT_FOUND");
      assert.match(String(hint), /OTEL_SERVICE_NAME/);
    });
  }

  test(`an SDK's default service name in ${encoding} is answered with the variable to set`, async () => {
    const answer = await send(service, encode(exportOf([exportedSpan()], "unknown_service:node")));
    const { hint } = refused(answer, 404, "OTLP_PLATFORM_NOT_FOUND");
    assert.match(String(hint), /default name.*OTEL_SERVICE_NAME/);
  });
}

const traces = /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/;
for (const [paths, hinted] of [
  [["/", "/v1/traces", "/public/v1/traces", "/public/traces/v1/traces", "/public/traces/v1/traces/"], traces],
  [["/public/logs/v1/traces"], traces],
  [
    ["/v1/logs", "/public/v1/logs", "/public/logs/v1/logs", "/public/traces/v1/logs/"],
    /OTEL_EXPORTER_OTLP_LOGS_ENDPOINT.*\/public\/logs.*OTEL_LOGS_EXPORTER=none/,
  ],
  [["/v1/metrics", "/public/traces/v1/metrics/"], /OTEL_METRICS_EXPORTER=none/],
] as const) {
  for (const path of paths) {
    test(`${path}, where SDKs send with the wrong variables, is answered with the right one, whatever the body`, async () => {
      const { type, body } = encodings.json(exportOf([exportedSpan()]));
      const gzipped = { headers: { "content-encoding": "gzip" }, body: gzipSync(body) };
      for (const sent of [
        { type, ...gzipped },
        { type: proto, ...gzipped },
        { type, body: Buffer.alloc(2_000_000) },
        { type, body, key: null },
      ]) {
        const answer = await send(service, { path, ...sent });
        assert.equal(answer.headers["content-type"], sent.type);
        assert.match(String(refused(answer, 404, "NOT_FOUND").hint), hinted);
        assert.match(answer.statusMessage, /^Not Found: NOT_FOUND, Set OTEL_/);
      }
    });
  }
}

test("a request to a wrong path is entered in the ingestion log of its key's project, and only with a key", async () => {
  const owner = await service.signUp();
  const { key } = await makeKey(owner);
  const logged = async () => {
    const body = await owner.client.read(`/api/projects/${owner.projectId}/ingestion`);
    return body.items.map(({ code, requests }: { code: string; requests: number }) => [code, requests]);
  };
  for (const sent of [null, "svc_unknown", key]) {
    refused(await send(service, { path: "/v1/traces", key: sent }), 404, "NOT_FOUND");
  }
  await eventually(async () => assert.deepEqual(await logged(), [["NOT_FOUND", 1]]));
});

test("the reason phrase of an error has its code and the sentences of its hint that fit in 120 characters", async () => {
  const { statusMessage } = await send(service, encodings.protobuf(exportOf([exportedSpan()], "nobody")));
  assert.match(
    statusMessage,
    /^Not Found: OTLP_PLATFORM_NOT_FOUND, Set OTEL_SERVICE_NAME to an agent's OTLP /,
  );
  const long = await send(service, { path: "/v1/traces" });
  assert.equal(
    long.statusMessage,
    "Not Found: NOT_FOUND, Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the URL that ends in /public/traces; exporters use it unchanged.",
  );
});

test("a lone surrogate in a service.name is an unknown name, not an error", async () => {
  const body = JSON.stringify(exportOf([exportedSpan()], "NAME")).replace("NAME", "\\ud800");
  refused(await send(service, { body }), 404, "OTLP_PLATFORM_NOT_FOUND");
});

test("an agent whose service name was changed or who was deleted is no longer found", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "before" });
  const sent = (name: string) => send(service, encodings.json(exportOf([exportedSpan()], name)));
  assert.equal((await sent("before")).status, 200);
  await service.client.patch(`/api/agents/${agent.id}`, { otlpServiceName: "after" }).expect(200);
  refused(await sent("before"), 404, "OTLP_PLATFORM_NOT_FOUND");
  assert.equal((await sent("after")).status, 200);
  await service.client.delete(`/api/agents/${agent.id}`).expect(204);
  refused(await sent("after"), 404, "OTLP_PLATFORM_NOT_FOUND");
});

test("a stock exporter without a service name is told to set one", async () => {
  const exporter = openExporter("json", service);
  const failure = await exportSpans(exporter, recordSpans(undefined, { name: "root" }));
  assert.equal((failure as { code?: unknown }).code, 404);
  assert.match(String((failure as { data?: unknown }).data), /OTEL_SERVICE_NAME/);
  await exporter.shutdown();
});

for (const path of [
  "/public",
  "/public/",
  "/public/traces//",
  "/public/traces/x",
  "/public/Traces",
  "/v1/trace",
]) {
  test(`${path} is not a URL of the endpoint`, async () => {
    const { status, headers, bytes } = await send(service, {
      path,
      ...encodings.protobuf(exportOf([exportedSpan()])),
    });
    assert.equal(status, 404);
    const isIngestion = path.startsWith("/public/");
    assert.match(String(headers["content-type"]), new RegExp(`^${isIngestion ? proto : json}`));
    const code = isIngestion ? statusMessage(bytes).split(":")[0] : JSON.parse(bytes.toString()).code;
    assert.equal(code, "NOT_FOUND");
  });
}
