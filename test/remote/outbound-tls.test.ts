// Over TLS the checked address is dialled, and the certificate must be for the name that was asked for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { openOutbound } from "../../src/remote/outbound.ts";

// A certificate of its own making for agent.example.com, with the key that signed it.
const pem = readFileSync(new URL("../fixtures/tls/agent.example.com.pem", import.meta.url), "utf8");
setDefaultCACertificates([...getCACertificates("default"), pem.slice(0, pem.indexOf("-----BEGIN PRIVATE"))]);

const names: unknown[] = [];
const server = createServer({ key: pem, cert: pem }, (request, response) => {
  names.push((request.socket as { servername?: unknown }).servername, request.headers.host);
  response.end("hello");
});
await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const outbound = openOutbound({
  allow: ["127.0.0.1"],
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
});
after(async () => {
  await outbound.close();
  server.closeAllConnections();
  server.close();
});

test("the name that was asked for is told and verified, whatever host header the caller gives", async () => {
  const headers = { host: "other.example.com" };
  const response = await outbound.fetch(`https://agent.example.com:${port}/`, { headers });
  assert.equal(await response.text(), "hello");
  assert.deepEqual(names, ["agent.example.com", `agent.example.com:${port}`]);
});

for (const host of ["other.example.com", "127.0.0.1"]) {
  test(`a certificate for another name than ${host} is not taken`, async () => {
    await assert.rejects(outbound.fetch(`https://${host}:${port}/`), (error: TypeError) => {
      assert.equal((error.cause as { code: string }).code, "ERR_TLS_CERT_ALTNAME_INVALID");
      return true;
    });
  });
}
