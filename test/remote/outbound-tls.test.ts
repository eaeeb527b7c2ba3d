// Over TLS, the checked IP address is dialed, and the certificate must be for the requested host name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { openOutbound } from "../../src/remote/outbound.ts";

// A self-signed certificate for agent.example.com, with its key.
const pem = readFileSync(new URL("../fixtures/tls/agent.example.com.pem", import.meta.url), "utf8");
const trusted = getCACertificates("default");
setDefaultCACertificates([...trusted, pem.slice(0, pem.indexOf("-----BEGIN PRIVATE"))]);

const names: unknown[] = [];
/** Where to, once there is one. */
let location: string | undefined;
const server = createServer({ key: pem, cert: pem }, (request, response) => {
  names.push((request.socket as { servername?: unknown }).servername, request.headers.host);
  if (location !== undefined) response.writeHead(307, { location });
  response.end("hello");
});
await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const outbound = openOutbound({
  allow: ["127.0.0.1"],
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
});
after(async () => {
  setDefaultCACertificates(trusted);
  await outbound.close();
  server.closeAllConnections();
  server.close();
});

test("the requested host name is sent and verified, whatever host header the caller sets", async () => {
  const headers = { host: "other.example.com" };
  const response = await outbound.fetch(`https://agent.example.com:${port}/`, { headers });
  assert.equal(await response.text(), "hello");
  assert.deepEqual(names, ["agent.example.com", `agent.example.com:${port}`]);
});

for (const host of ["other.example.com", "127.0.0.1"]) {
  test(`a certificate for another name than ${host} is rejected`, async () => {
    await assert.rejects(outbound.fetch(`https://${host}:${port}/`), (error: TypeError) => {
      assert.equal((error.cause as { code: string }).code, "ERR_TLS_CERT_ALTNAME_INVALID");
      return true;
    });
  });
}

test("a redirect from https to http on the same host drops credentials", async () => {
  const plain = createPlainServer((request, response) => response.end(JSON.stringify(request.headers)));
  await new Promise<void>(resolve => plain.listen(0, "127.0.0.1", resolve));
  location = `http://agent.example.com:${(plain.address() as AddressInfo).port}/`;
  const headers = { authorization: "hidden", "x-key": "hidden", "x-request-id": "run-1" };
  const response = await outbound.fetch(`https://agent.example.com:${port}/`, { headers });
  const sent = await response.text();
  assert.match(sent, /"x-request-id":"run-1"/);
  assert.doesNotMatch(sent, /hidden/);
  plain.closeAllConnections();
  plain.close();
});
