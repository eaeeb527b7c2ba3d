// Tests which IP address a request's client has, behind trusted and other proxies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientReader } from "../../src/http/frame/client-ip.ts";

type Headers = Record<string, string>;
type Peer = { peer: string; headers?: Headers; header?: string };

const trusted = ["127.0.0.1", "10.1.0.0/16", "fd00::/8"];

const untrusted = /SVC_TRUSTED_PROXIES does not name/;
const otherHeader = /set SVC_FORWARDED_HEADER/;

const cases: [string, Peer, { ip: string; problem?: RegExp }][] = [
  ["without a proxy is the peer's", { peer: "203.0.113.7" }, { ip: "203.0.113.7" }],
  ["is an IPv4 address, though the socket maps it", { peer: "::ffff:203.0.113.7" }, { ip: "203.0.113.7" }],
  [
    "is never what an unknown peer forwards",
    { peer: "203.0.113.7", headers: { "x-forwarded-for": "198.51.100.1" } },
    { ip: "203.0.113.7" },
  ],
  [
    "is a proxy's, with a warning, if a local peer forwards and is not trusted",
    { peer: "192.168.1.4", headers: { "x-forwarded-for": "198.51.100.1" } },
    { ip: "192.168.1.4", problem: untrusted },
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
    "is the peer's if the proxy obscures it",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1, _hidden" } },
    { ip: "127.0.0.1" },
  ],
  [
    "is the peer's if the header is empty",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "" } },
    { ip: "127.0.0.1" },
  ],
  [
    "is an IPv4 address, though the proxy maps it",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "::ffff:198.51.100.1" } },
    { ip: "198.51.100.1" },
  ],
  [
    "is what the proxy appends to what the client wrote, in a line of its own or the client's",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.9, garbage,, 198.51.100.1" } },
    { ip: "198.51.100.1" },
  ],
  [
    "is never what the client writes in the other header",
    { peer: "127.0.0.1", headers: { "x-forwarded-for": "198.51.100.1", forwarded: "for=1.1.1.1" } },
    { ip: "198.51.100.1" },
  ],
  [
    "is the proxy's, with a warning, if it sets another header than the one that is read",
    { peer: "127.0.0.1", headers: { forwarded: "for=198.51.100.1" } },
    { ip: "127.0.0.1", problem: otherHeader },
  ],
  [
    "is read from Forwarded if the proxy sets that",
    {
      peer: "fd00::1",
      header: "forwarded",
      headers: {
        forwarded: 'for=1.1.1.1;proto=http, for="[2001:db8::1]:4711";proto=https;by=10.1.0.1',
        "x-forwarded-for": "1.1.1.1",
      },
    },
    { ip: "2001:db8::1" },
  ],
  [
    "is what the proxy appends to Forwarded, whatever quote the client left open",
    { peer: "127.0.0.1", header: "forwarded", headers: { forwarded: 'for="1.1.1.1, for=198.51.100.1' } },
    { ip: "198.51.100.1" },
  ],
  [
    "is read from any header that the proxy sets",
    { peer: "127.0.0.1", header: "cf-connecting-ip", headers: { "cf-connecting-ip": "198.51.100.1" } },
    { ip: "198.51.100.1" },
  ],
];

for (const [name, { peer, headers = {}, header = "x-forwarded-for" }, { ip, problem }] of cases) {
  test(`the client's IP address ${name}`, () => {
    const read = clientReader({ trusted, header });
    const client = read({ headers, socket: { remoteAddress: peer } });
    assert.equal(client.ip, ip);
    if (problem) assert.match(client.problem ?? "", problem);
    else assert.equal(client.problem, undefined);
  });
}
