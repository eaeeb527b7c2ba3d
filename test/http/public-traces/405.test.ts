// 405: the endpoint answers only POST, and says so whatever else is in the request.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { proto, type Sent, send } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
});
after(() => service.stop());

async function notAllowed(sent: Sent): Promise<void> {
  const { status, headers, bytes } = await send(service, sent);
  assert.deepEqual([status, headers.allow], [405, "POST"]);
  assert.match(String(headers["content-type"]), /^application\/json/);
  if (sent.method !== "HEAD") assert.equal(JSON.parse(bytes.toString()).code, "METHOD_NOT_ALLOWED");
}

for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]) {
  test(`${method} on the endpoint is METHOD_NOT_ALLOWED, with or without a key`, async () => {
    for (const path of ["/public/traces", "/public/traces/", "/public/traces?x=1"]) {
      await notAllowed({ method, path });
      await notAllowed({ method, path, key: null, type: null });
    }
  });
}

test("the method is checked before the body: neither broken JSON nor 40 MB of it matters", async () => {
  await notAllowed({ method: "PUT", body: "{" });
  await notAllowed({ method: "PUT", type: proto, body: "{" });
  await notAllowed({ method: "DELETE", type: "text/plain", body: "{" });
  await notAllowed({ method: "PATCH", body: Buffer.alloc(2_000_000, " ") });
});

test("GET on the doubled path is METHOD_NOT_ALLOWED too", async () => {
  await notAllowed({ method: "GET", path: "/public/traces/v1/traces" });
});

test("a browser's preflight is refused and grants nothing", async () => {
  const headers = { origin: "https://elsewhere.example", "access-control-request-method": "POST" };
  const answer = await send(service, { method: "OPTIONS", headers });
  assert.equal(answer.status, 405);
  assert.deepEqual(
    Object.keys(answer.headers).filter(name => name.startsWith("access-control-")),
    [],
  );
});
