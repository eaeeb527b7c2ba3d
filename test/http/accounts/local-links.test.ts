// A verification link is shown on the screen only where nobody else can see it; one test for each condition.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LocalLinks } from "../../../src/http/accounts/local-links.ts";

const link = "http://localhost:4000/verify-email?token=t";
const own = { host: "127.0.0.1", baseUrl: "http://localhost:4000", smtpUrl: undefined };
const direct = { headers: { host: "localhost:4000" }, socket: { remoteAddress: "127.0.0.1" } };

/** Whether the account's link is shown. */
async function isShown(
  config: Partial<typeof own> | { smtpUrl: string } | { trustedProxies: string[] } = {},
  asked: object = {},
): Promise<boolean> {
  const links = new LocalLinks({ ...own, ...config });
  await links.keep("ada", link);
  return (await links.find("ada", { ...direct, ...asked })) !== null;
}

test("on the user's own machine without a mail server, the account's latest link is shown to that account alone", async () => {
  const links = new LocalLinks(own);
  await links.keep("ada", "http://localhost:4000/old");
  await links.keep("ada", link);
  assert.equal(await links.find("ada", direct), link);
  assert.equal(await links.find("bob", direct), null);
  for (const host of ["localhost", "::1", "127.8.9.1"]) assert.ok(await isShown({ host }), host);
  for (const baseUrl of ["http://127.0.0.1:4000", "http://[::1]:4000"])
    assert.ok(await isShown({ baseUrl }), baseUrl);
  for (const remoteAddress of ["::1", "::ffff:127.0.0.1"]) {
    assert.ok(await isShown({}, { socket: { remoteAddress } }), remoteAddress);
  }
});

test("with a mail server no link is shown", async () => {
  assert.equal(await isShown({ smtpUrl: "smtp://mail.example.com" }), false);
});

for (const host of ["0.0.0.0", "::", "192.168.1.4", "onlooker.internal", ""]) {
  test(`a service that listens on “${host}” shows no link`, async () =>
    assert.equal(await isShown({ host }), false));
}

for (const baseUrl of [
  "https://onlooker.example.com",
  "http://192.168.1.4:4000",
  "http://localhost.example.com",
]) {
  test(`a service that is opened at ${baseUrl} shows no link`, async () =>
    assert.equal(await isShown({ baseUrl }), false));
}

test("a service behind a proxy shows no link", async () =>
  assert.equal(await isShown({ trustedProxies: ["127.0.0.1"] }), false));

for (const remoteAddress of ["192.168.1.9", "203.0.113.7", "::ffff:10.0.0.2", undefined]) {
  test(`a request from ${remoteAddress} is shown no link`, async () =>
    assert.equal(await isShown({}, { socket: { remoteAddress } }), false));
}

for (const name of [
  "x-forwarded-for",
  "x-forwarded-proto",
  "forwarded",
  "via",
  "x-real-ip",
  "cf-connecting-ip",
  "true-client-ip",
]) {
  test(`a request with ${name}, from a proxy or tunnel, is shown no link`, async () => {
    const headers = { ...direct.headers, [name]: "127.0.0.1" };
    assert.equal(await isShown({}, { headers }), false);
  });
}

test("a request for another host, through a tunnel that adds no header, is shown no link", async () => {
  for (const host of ["demo.example.com", undefined])
    assert.equal(await isShown({}, { headers: { host } }), false);
});

test("a link is shown for 24 hours", async t => {
  t.mock.timers.enable({ apis: ["Date"] });
  const links = new LocalLinks(own);
  await links.keep("ada", link);
  t.mock.timers.tick(24 * 3_600_000 - 1);
  assert.equal(await links.find("ada", direct), link);
  t.mock.timers.tick(2);
  assert.equal(await links.find("ada", direct), null);
});
