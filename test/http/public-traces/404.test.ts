// 404: a service.name that no agent of the project has, and URLs that are not the endpoint.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeAgent } from "../../support/app.ts";
import { encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { exportSpans, openExporter, recordSpans } from "../../support/exporters.ts";
import { json, refused, send } from "../../support/send.ts";
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

  test(`the path that an SDK builds from the wrong variable is answered in ${encoding} with the right variable`, async () => {
    for (const path of ["/public/traces/v1/traces", "/public/traces/v1/traces/"]) {
      for (const key of [service.key, null]) {
        const answer = await send(service, { path, key, ...encode(exportOf([exportedSpan()])) });
        assert.match(String(refused(answer, 404, "NOT_FOUND").hint), /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/);
      }
    }
  });
}

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
  "/v1/traces",
]) {
  test(`${path} is not a URL of the endpoint`, async () => {
    const { status, headers, bytes } = await send(service, {
      path,
      ...encodings.protobuf(exportOf([exportedSpan()])),
    });
    assert.deepEqual([status, JSON.parse(bytes.toString()).code], [404, "NOT_FOUND"]);
    assert.match(String(headers["content-type"]), new RegExp(`^${json}`));
  });
}
