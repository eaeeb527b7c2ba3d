// Tests when the dashboard says that it is opened at another URL than SVC_BASE_URL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWrongBaseUrl } from "../../web/shell/base-url.ts";

const cases: [name: string, baseUrl: string, opened: string, wrong: boolean][] = [
  ["the same URL", "https://onlooker.example", "https://onlooker.example", false],
  ["another name of this machine", "http://localhost:4000", "http://127.0.0.1:4000", false],
  ["the default behind a proxy with TLS", "http://localhost:4000", "https://onlooker.example", true],
  ["http in the setting, https in the browser", "http://onlooker.example", "https://onlooker.example", true],
  ["a tunnel with TLS on this machine", "http://localhost:4000", "https://localhost:8443", true],
  ["the machine's IP address in its network", "http://localhost:4000", "http://192.168.1.5:4000", true],
  ["a local port forwarded to the server", "https://onlooker.example", "http://localhost:4000", false],
];
for (const [name, baseUrl, opened, wrong] of cases) {
  test(`the base URL is ${wrong ? "reported as wrong" : "fine"} for ${name}`, () => {
    assert.equal(isWrongBaseUrl(baseUrl, opened), wrong);
  });
}
