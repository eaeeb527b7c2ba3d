// Tests which IP address a request's client has, behind trusted and other proxies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientReader } from "../../src/http/client-ip.ts";

type Headers = Record<string, string>;

const trusted = ["127.0.0.1", "10.1.0.0/16", "fd00::/8"];

const cases: [string, { peer: string; headers?: Headers }, { ip: string; shared?: true }][] = [
  ["without a proxy is the peer's", { peer: "203.0.113.7" }, { ip: "203.0.113.7" }],
  ["is an IPv4 address, though the socket maps it", { peer: "::ffff:203.0.113.7" }, { ip: "203.0.113.7" }],
  [
    "is never what an unknown peer forwards",
    { peer: "203.0.113.7", headers: { "x-forwarded-for": "198.51.100.1" } },
    { ip: "203.0.113.7" },
  ],
  [
    "is a proxy's, and shared, if a local peer forwards and is not trusted",
    { peer: "192.168.1.4", headers: { "x-forwarded-for": "198.51.100.1" } },
    { ip: "192.168.1.4", shared: true },
  ],
  [
    "is what a trusted proxy forwards",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1" } },
    { ip: "198.51.100.1" },
  ],
  [
    "is the rightmost that is no proxy, whatever the client wrote before it",
    { peer: "::ffff:10.1.2.3", headers: { "x-forwarded-for": "1.1.1.1, 198.51.100.1, 10.1.9.9" } },
    { ip: "198.51.100.1" },
  ],
  [
    "is the first proxy's if all addresses are proxies",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "10.1.0.2,10.1.0.3" } },
    { ip: "10.1.0.2" },
  ],
  [
    "is the nearest proxy's if what it forwards is no address",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1, unknown, 10.1.0.3" } },
    { ip: "10.1.0.3" },
  ],
  [
    "is read without port and brackets",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "[2001:db8::1]:4711" } },
    { ip: "2001:db8::1" },
  ],
  [
    "is not a number that could be read as an address",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "3405803783" } },
    { ip: "127.0.0.1" },
  ],
  [
    "is read from Forwarded too",
    {
      peer: "fd00::1",
      headers: { forwarded: 'for=1.1.1.1;proto=http, for="[2001:db8::1]:4711";proto=https;by=10.1.0.1' },
    },
    { ip: "2001:db8::1" },
  ],
  [
    "is the proxy's, and shared, if the two headers disagree: the client wrote one of them",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1", forwarded: "for=1.1.1.1" } },
    { ip: "127.0.0.1", shared: true },
  ],
  [
    "is known if both headers agree",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.1" } },
    { ip: "198.51.100.1" },
  ],
];

for (const [name, { peer, headers = {} }, { ip, shared = false }] of cases) {
  test(`the client's IP address ${name}`, () => {
    const read = clientReader(trusted);
    assert.deepEqual(read({ headers, socket: { remoteAddress: peer } }), { ip, shared });
  });
}
