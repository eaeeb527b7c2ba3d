// Tests Onlooker behind nginx, Caddy, HAProxy and Apache, each with its sample from docs/deploying.md, by HTTP/1.1 and HTTP/2.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import {
  type Answer,
  clientAddress,
  disconnect,
  openEvents,
  openSession,
  type Sent,
  send,
  sendNoBody,
  sendOn,
  type Target,
  type Version,
} from "../support/https-client.ts";
import { leftOut } from "../support/needs.ts";
import {
  type Certificate,
  makeCertificate,
  type ProxyName,
  publicHost,
  type RunningProxy,
  replaced,
  sampleOf,
  startProxy,
} from "../support/proxies.ts";

const origin = `https://${publicHost}`;
const versions: Version[] = ["HTTP/1.1", "HTTP/2"];
const json = { "content-type": "application/json" };
const password = "correct horse battery";

let service: TestService;
let servicePort: number;
let certificate: Certificate;
before(async () => {
  certificate = await makeCertificate();
  servicePort = await freePort();
  service = await startTestService({
    config: { roles: ["http"], port: servicePort, baseUrl: origin, trustedProxies: ["127.0.0.1"] },
  });
});
after(async () => {
  await service?.stop();
  if (certificate) rmSync(certificate.folder, { recursive: true, force: true });
});

/** What a proxy needs to pass on the Host header; Caddy and HAProxy do so anyway. */
const hostSettings: Partial<Record<ProxyName, string>> = {
  nginx: "proxy_set_header Host $http_host;",
  apache: "ProxyPreserveHost On",
};

for (const name of ["nginx", "caddy", "haproxy", "apache"] as const) {
  const skip = await leftOut("openssl", name);
  suite(`behind ${name}`, { skip }, () => {
    let proxy: RunningProxy;
    let target: Target;
    let loggedBefore: number;
    let since: number;
    before(async () => {
      since = performance.now();
      loggedBefore = service.logs.length;
      proxy = await startProxy(name, servicePort, certificate);
      target = { port: proxy.port, ca: certificate.pem };
    });
    after(async () => {
      await proxy?.stop();
      console.log(`${name}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
    });

    const trace = (more: object = {}): Sent => ({
      method: "POST",
      path: "/public/traces",
      headers: { ...json, "x-api-key": service.key },
      body: JSON.stringify(canonicalBody(service.agent.id, { ...more })),
    });

    test("closes /metrics and sign-up, however they are spelled, and nothing else", async () => {
      for (const version of versions) {
        for (const path of ["/metrics", "/%6detrics", "/metrics?all=1"]) {
          const { status, text } = await send(version, target, { path });
          assert.equal(status, 404, path);
          assert.doesNotMatch(text, /svc_|NOT_FOUND/, path);
        }
        for (const path of ["/api/auth/sign-up/email", "/api/auth/%73ign-up/email"]) {
          const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password });
          const { status } = await send(version, target, { method: "POST", path, headers: json, body });
          assert.equal(status, 404, path);
        }
        const ready = await send(version, target, { path: "/readyz" });
        assert.deepEqual([ready.status, JSON.parse(ready.text).status], [200, "ready"]);
      }
    });

    test("lets a user sign up with a Secure cookie, and lists the client's IP address", async () => {
      const open = await startProxy(
        name,
        servicePort,
        certificate,
        replaced(sampleOf(name), "/api/auth/sign-up/", "/closed/"),
      );
      try {
        for (const version of versions) {
          const to = { ...target, port: open.port };
          const email = `${randomUUID()}@example.com`;
          const headers = { ...json, origin, "x-forwarded-for": "203.0.113.9" };
          const signUp = { method: "POST", path: "/api/auth/sign-up/email", headers };
          const signedUp = await send(version, to, { ...signUp, body: JSON.stringify({ email, password }) });
          assert.equal(signedUp.status, 200, signedUp.text);
          const cookie = sessionCookieOf(signedUp);
          const sessions = await send(version, to, {
            path: "/api/auth/list-sessions",
            headers: { cookie },
          });
          assert.deepEqual(
            JSON.parse(sessions.text).map(({ ipAddress }: { ipAddress: string }) => ipAddress),
            [clientAddress],
          );
        }
      } finally {
        await open.stop();
      }
    });

    test("names the client last in X-Forwarded-For, and deletes the Forwarded of the client", async () => {
      const upstream = createServer(({ headers }, response) => response.end(JSON.stringify(headers)));
      upstream.listen(0, "127.0.0.1");
      await once(upstream, "listening");
      const { port } = upstream.address() as AddressInfo;
      const echoing = await startProxy(name, port, certificate);
      try {
        for (const version of versions) {
          const headers = { "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" };
          const to = { ...target, port: echoing.port };
          const received = JSON.parse((await send(version, to, { path: "/readyz", headers })).text);
          assert.equal(received.forwarded, undefined);
          assert.equal(received["x-forwarded-for"].split(",").at(-1).trim(), clientAddress);
        }
      } finally {
        await echoing.stop();
        upstream.close();
      }
    });

    test("says why sign-in fails at another URL", async () => {
      for (const version of versions) {
        const other = await signIn(version, target, { origin: "https://other.example.net" });
        assert.equal(other.status, 401);
        assert.match(other.text, /opened at https:\/\/other\.example\.net, but Onlooker's URL is https:/);
        assert.match(other.text, new RegExp(`Host header is ${publicHost}`));
        const plain = await signIn(version, target, { origin: `http://${publicHost}` });
        assert.match(plain.text, /without TLS/);
        const right = await signIn(version, target, { origin });
        assert.equal(right.status, 200, right.text);
        sessionCookieOf(right);
        const host = "other.example.net";
        const alias = await signIn(version, target, { origin: `https://${host}` }, host);
        assert.equal(alias.status, 200, alias.text);
      }
    });

    const hostSetting = hostSettings[name];
    if (hostSetting !== undefined) {
      test("says that the Host header is missing if the proxy does not pass it on", async () => {
        const sample = replaced(sampleOf(name), hostSetting, "");
        const without = await startProxy(name, servicePort, certificate, sample);
        try {
          const host = "other.example.net";
          const to = { ...target, port: without.port };
          const { status, text } = await signIn("HTTP/2", to, { origin: `https://${host}` }, host);
          assert.equal(status, 401);
          assert.match(text, /A proxy has to pass on the Host header/);
        } finally {
          await without.stop();
        }
      });
    }

    test("passes on the client's x-request-id and generates none", async () => {
      for (const version of versions) {
        const id = randomUUID();
        const { headers, ...rest } = trace();
        const named = await send(version, target, { ...rest, headers: { ...headers, "x-request-id": id } });
        assert.deepEqual([named.status, JSON.parse(named.text).externalId], [201, id]);
        const unnamed = JSON.parse((await send(version, target, trace())).text);
        assert.match(unnamed.externalId, /^[\da-f]{8}-[\da-f]{4}-7/, "not one of Onlooker's own");
      }
    });

    test("reads a span whose id contains a slash", async () => {
      const spans = [canonicalSpan({ span_id: "a/b" })];
      for (const version of versions) {
        const { traceId } = JSON.parse((await send(version, target, trace({ spans }))).text);
        const path = `/api/traces/${traceId}/spans/a%2Fb` as const;
        const read = await send(version, target, { path, headers: { cookie: service.client.cookie } });
        assert.equal(read.status, 200, read.text);
      }
    });

    test("accepts a trace of 20 MB", async () => {
      for (const version of versions) {
        const spans = [canonicalSpan({ attributes: { "gen_ai.prompt": "x".repeat(20_000_000) } })];
        const { status, text } = await send(version, target, trace({ spans }));
        assert.equal(status, 201, text);
      }
    });

    for (const version of versions) {
      test(`shows a client with a wrong key the 401 after 30 MB by ${version}, 20 of 20 times`, async () => {
        const body = Buffer.alloc(30_000_000, " ");
        const headers = { ...json, "x-api-key": "svc_wrong" };
        const results: Record<string, number> = {};
        for (let attempt = 0; attempt < 20; attempt++) {
          const sent = { method: "POST", path: "/public/traces", headers, body };
          const result = await send(version, target, sent).then(resultOf, error => String(error));
          results[result] = (results[result] ?? 0) + 1;
        }
        assert.deepEqual(results, { "401 UNAUTHORIZED": 20 });
      });
    }

    test("serves the next request after one whose body never came, 15 of 15 times", async () => {
      const session = await openSession(target);
      const results: Record<string, number> = {};
      for (let attempt = 0; attempt < 15; attempt++) {
        await sendNoBody(session, "/public/traces", 30);
        const result = await sendOn(session, trace()).then(resultOf, error => String(error));
        results[result] = (results[result] ?? 0) + 1;
      }
      session.destroy();
      assert.deepEqual(results, { "201": 15 });
    });

    test("passes on server-sent events without delay", async () => {
      for (const version of versions) {
        const events = await openEvents(version, target, service.client.cookie);
        await eventually(() => assert.match(events.received(), /^retry: 2000\n/));
        for (let sent = 0; sent < 5; sent++) {
          const { traceId } = JSON.parse((await send("HTTP/1.1", target, trace())).text);
          const begun = performance.now();
          await eventually(() => assert.ok(events.received().includes(traceId)));
          // A proxy that buffers waits for the next line, which comes after 15 s.
          const ms = performance.now() - begun;
          assert.ok(ms < 3_000, `the event took ${Math.round(ms)} ms`);
        }
        events.close();
      }
    });

    test("leaves no warning in Onlooker's log, also of clients that disconnect while they send", async () => {
      for (const key of ["svc_wrong", service.key]) {
        const headers = { ...json, "x-api-key": key, "content-length": 25_000_000 };
        await disconnect(target, { path: "/public/traces", headers });
      }
      assert.equal((await send("HTTP/2", target, trace())).status, 201);
      const lines = service.logs.slice(loggedBefore).map(line => JSON.parse(line));
      assert.deepEqual(
        lines.filter(({ level }) => level >= 40),
        [],
      );
    });
  });
}

function signIn(version: Version, to: Target, headers: { origin: string }, host?: string): Promise<Answer> {
  const { email, password } = service.owner;
  return send(version, to, {
    method: "POST",
    path: "/api/auth/sign-in/email",
    headers: { ...json, ...headers },
    body: JSON.stringify({ email, password }),
    ...(host !== undefined && { host }),
  });
}

/** The session's cookie as a browser sends it; browsers keep cookies of this name only if they are Secure. */
function sessionCookieOf({ cookies }: Answer): string {
  const cookie = cookies.find(cookie => cookie.startsWith("__Host-svc.session_token="));
  assert.match(cookie ?? "", /; Secure/i);
  return cookie!.split(";", 1)[0]!;
}

/** The status, and the code if it is the service's own answer. */
function resultOf({ status, type, text }: Answer): string {
  if (status < 400) return String(status);
  return type.startsWith("application/json") ? `${status} ${JSON.parse(text).code}` : `${status} ${type}`;
}
