// Serving the dashboard's files: which URL returns which file, with which cache headers and security policy.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { registerDashboard } from "../../src/http/dashboard.ts";
import { registerPublic } from "../../src/http/ingestion/public.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

const page = "<!doctype html><title>Onlooker</title>";
const script = "console.log('the dashboard')";
const folder = mkdtempSync(join(tmpdir(), "onlooker-dashboard-"));
let service: TestApp;
let unbuilt: TestApp;
before(async () => {
  mkdirSync(join(folder, "assets"));
  for (const [name, text] of [
    ["index.html", page],
    ["assets/index-abc.js", script],
    ["favicon.svg", "<svg/>"],
  ] as const) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
  }
  writeFileSync(join(folder, ".sources"), "not for sending");
  const extend = (from: string) => (app: TestApp["app"]) => {
    registerPublic(app, { config: {} } as Parameters<typeof registerPublic>[1]);
    registerDashboard(app, from);
  };
  service = await startTestApp({ extend: extend(folder) });
  unbuilt = await startTestApp({ extend: extend(join(folder, "nothing")) });
});
after(async () => {
  await service.close();
  await unbuilt.close();
  rmSync(folder, { recursive: true });
});

test("every URL a person could open returns the page, without inline scripts and never from a stale cache", async () => {
  for (const path of [
    "/",
    "/sign-in",
    "/projects/1/agents/2",
    "/verify-email?token=x",
    "/index.html",
    "/nowhere",
  ]) {
    const { headers, body } = await service.client().get(path).expect(200);
    assert.equal(body, page, path);
    assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(headers.get("cache-control"), "no-cache");
    const policy = headers.get("content-security-policy")!;
    assert.doesNotMatch(policy, /unsafe|\*/);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ]) {
      assert.equal(policy.split("; ").includes(rule), true, rule);
    }
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
  }
});

test("unknown URLs of the API, ingestion and health checks are 404 in JSON, as are missing files", async () => {
  for (const path of [
    "/api",
    "/api/nowhere",
    "/public",
    "/public/nowhere",
    "/v1/nowhere",
    "/healthz/x",
    "/assets/index-old.js",
    "/assets/",
    "/.sources",
    "/assets/index-abc.js.br",
    "/..%2f.sources",
    "/robots.txt",
  ]) {
    assert.equal((await service.client().get(path).expect(404)).body.code, "NOT_FOUND", path);
  }
  assert.equal((await service.client().get("/public/traces").expect(405)).body.code, "METHOD_NOT_ALLOWED");
  assert.equal((await service.client().post("/sign-in").expect(404)).body.code, "NOT_FOUND");
  assert.deepEqual(await service.client().read("/healthz"), { status: "ok" });
});

test("hashed files are cached for good, and others revalidated with 304", async () => {
  const asset = await service.client().get("/assets/index-abc.js").expect(200);
  assert.equal(asset.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(asset.headers.get("content-type"), "text/javascript; charset=utf-8");
  const icon = await service.client().get("/favicon.svg").expect(200);
  assert.equal(icon.headers.get("cache-control"), "no-cache");
  // Not by fetch, which adds `Cache-Control: no-cache` to conditional requests.
  const { etag } = await getRaw(`${service.url}/favicon.svg`, "br");
  const again = await getRaw(`${service.url}/favicon.svg`, "br", etag);
  assert.deepEqual([again.status, again.bytes.length], [304, 0]);
});

for (const [accepted, encoding, decode] of [
  ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
  ["gzip", "gzip", gunzipSync],
  ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
  ["identity", undefined, (bytes: Buffer) => bytes],
] as const) {
  test(`a client that accepts "${accepted}" gets ${encoding ?? "the plain form"}`, async () => {
    const reply = await getRaw(`${service.url}/assets/index-abc.js`, accepted);
    assert.equal(reply.encoding, encoding);
    assert.equal(decode(reply.bytes).toString(), script);
  });
}

test("a header of spaces is parsed in linear time", async () => {
  // In quadratic time, these would exceed the test file's time limit.
  const accepted = `a${" ".repeat(15_000)}b, gzip ; q=1`;
  for (let times = 0; times < 500; times += 1) {
    assert.equal((await getRaw(`${service.url}/`, accepted)).encoding, "gzip");
  }
});

test("HEAD returns only the headers", async () => {
  const { headers, body } = await service.client().request("HEAD", "/").expect(200);
  assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(body, "");
});

test("if the dashboard was not built, / says so and the API works", async () => {
  const { body } = await unbuilt.client().get("/").expect(404);
  assert.match(body.message, /not built/);
  assert.match(body.hint!, /npm run build/);
  await unbuilt.client().get("/sign-in").expect(404);
  await unbuilt.signUp();
});

type Raw = {
  status: number | undefined;
  etag: string | undefined;
  encoding: string | undefined;
  bytes: Buffer;
};

function getRaw(url: string, accepted: string, known?: string): Promise<Raw> {
  const headers = { "accept-encoding": accepted, ...(known && { "if-none-match": known }) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, async reply => {
      const bytes = Buffer.concat(await reply.toArray());
      const { etag, "content-encoding": encoding } = reply.headers;
      resolve({ status: reply.statusCode, etag, encoding, bytes });
    });
    asked.on("error", reject).end();
  });
}
