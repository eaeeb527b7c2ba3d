// Tests which write requests of browsers may use their session, and what the others are told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { originFault } from "../../src/http/frame/origin.ts";

const local = "http://localhost:4000";
const secure = "https://onlooker.example";

type Case = [name: string, baseUrl: string, headers: Record<string, string>];

const accepted: Case[] = [
  ["no origin, as sent by other clients", local, { host: "localhost:4000" }],
  ["the base URL", local, { origin: local, host: "localhost:4000" }],
  ["the base URL, behind a proxy that replaces Host", secure, { origin: secure, host: "10.0.0.7:4000" }],
  ["another name of the service", local, { origin: "http://127.0.0.1:4000", host: "127.0.0.1:4000" }],
  ["https behind a proxy that passes Host on", local, { origin: secure, host: "onlooker.example" }],
  [
    "another name, with the default port in Host",
    local,
    { origin: "https://other.example", host: "other.example:443" },
  ],
  [
    "another name over http, with the default port in Host",
    local,
    { origin: "http://other.example", host: "other.example:80" },
  ],
  ["a forwarded local port", secure, { origin: "http://localhost:4000", host: "localhost:4000" }],
];
for (const [name, baseUrl, headers] of accepted) {
  test(`a change is accepted from ${name}`, () => {
    assert.equal(originFault({ method: "POST", headers }, baseUrl), undefined);
  });
}

const otherSite = /^The request was made by a page of another site\.$/;
const rejected: [...Case, RegExp, RegExp][] = [
  ["a page of another site", local, { "sec-fetch-site": "cross-site" }, otherSite, /Sign in/],
  ["an opaque origin", local, { origin: "null", host: "localhost:4000" }, otherSite, /Sign in/],
  [
    "the same host name on another port",
    local,
    { origin: "http://localhost:8080", host: "localhost:4000" },
    /opened at http:\/\/localhost:8080, but Onlooker's URL is http:\/\/localhost:4000, .* Host header is localhost:4000/,
    /SVC_BASE_URL to http:\/\/localhost:8080\. A proxy has to pass on the Host header/,
  ],
  [
    "a proxy that replaces Host, without SVC_BASE_URL",
    local,
    { origin: secure, host: "127.0.0.1:4000" },
    /opened at https:\/\/onlooker\.example, but Onlooker's URL is http:\/\/localhost:4000/,
    /SVC_BASE_URL to https:\/\/onlooker\.example/,
  ],
  [
    "the default port of another scheme",
    local,
    { origin: "https://other.example", host: "other.example:80" },
    /Host header is other\.example:80/,
    /SVC_BASE_URL/,
  ],
  ["no Host", local, { origin: "http://other.example" }, /Host header is missing/, /SVC_BASE_URL/],
  ...["evil@other.example", "other.example/evil", "other.example?"].map((host): [...Case, RegExp, RegExp] => [
    `a Host header that is no host, ${host}`,
    local,
    { origin: "http://other.example", host },
    /opened at/,
    /SVC_BASE_URL/,
  ]),
  [
    "a host name that begins with ours",
    secure,
    { origin: "https://onlooker.example.evil.example", host: "onlooker.example" },
    /evil\.example/,
    /SVC_BASE_URL/,
  ],
  [
    "an https service that was opened over http",
    secure,
    { origin: "http://onlooker.example", host: "onlooker.example" },
    /without TLS/,
    /Open https:\/\/onlooker\.example/,
  ],
];
for (const [name, baseUrl, headers, message, hint] of rejected) {
  test(`a change is rejected from ${name}`, () => {
    const fault = originFault({ method: "POST", headers }, baseUrl);
    assert.equal(fault?.code, "UNAUTHORIZED");
    assert.match(fault.message, message);
    assert.match(fault.hint!, hint);
    assert.equal(originFault({ method: "GET", headers }, baseUrl), undefined, "reading needs no origin");
  });
}
