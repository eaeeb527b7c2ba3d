// Every spelling of a private IP address is refused, unless the operator allowed it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { guardOf } from "../../src/remote/outbound-targets.ts";

const strict = guardOf([]);

const unfit: [address: string, why: string][] = [
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["169.254.169.254", "link-local"],
  ["100.64.0.1", "carrier-NAT"],
  ["100.100.100.200", "carrier-NAT"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.192", "reserved"],
  ["192.0.2.1", "reserved"],
  ["198.18.0.1", "reserved"],
  ["198.51.100.1", "reserved"],
  ["203.0.113.1", "reserved"],
  ["224.0.0.1", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["fec0::1", "private"],
  ["fc00::1", "private"],
  ["fd00:ec2::254", "private"],
  ["ff02::1", "multicast"],
  ["2001:db8::1", "reserved"],
  ["3fff::1", "reserved"],
  ["100::1", "reserved"],
  ["5f00::1", "reserved"],
  ["2001::1", "reserved"],
  ["4000::1", "reserved"],
  // IPv4 in IPv6
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:169.254.169.254", "link-local"],
  ["::ffff:0:10.0.0.1", "reserved"],
  ["::127.0.0.1", "loopback"],
  ["::7f00:1", "reserved"],
  ["64:ff9b::127.0.0.1", "loopback"],
  ["64:ff9b::a9fe:a9fe", "link-local"],
  ["64:ff9b:1::10.0.0.1", "reserved"],
  ["64:ff9b:1::8.8.8.8", "reserved"],
  ["2002:7f00:1::", "loopback"],
  ["2002:a00:1::1", "private"],
  // addresses that no resolver returns
  ["2130706433", "unknown"],
  ["0x7f.1", "unknown"],
  ["0177.0.0.1", "unknown"],
  ["127.1", "unknown"],
  ["", "unknown"],
];

for (const [address, why] of unfit) {
  test(`${address} is refused as ${why}`, () => assert.equal(strict("agent.example.com", address), why));
}

const fit = [
  "8.8.8.8",
  "172.32.0.1",
  "100.128.0.1",
  "2606:4700::1111",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2002:808:808::1",
];

for (const address of fit) {
  test(`${address} is public`, () => assert.equal(strict("agent.example.com", address), undefined));
}

test("an allowed network allows its addresses in all their forms, and no others", () => {
  const guard = guardOf(["10.1.0.0/16", "::1", "192.168.0.9", "fd00:1::7"]);
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "::1", "192.168.0.9", "fd00:1::7"]) {
    assert.equal(guard("x", address), undefined, address);
  }
  for (const address of ["10.2.0.1", "127.0.0.1", "192.168.0.10", "fd00::1", "fd00:1::8"]) {
    assert.notEqual(guard("x", address), undefined, address);
  }
});

test("an allowed host may resolve to any address; its subdomains and sibling hosts may not", () => {
  const guard = guardOf(["agent.internal"]);
  for (const host of ["agent.internal", "Agent.Internal", "agent.internal."]) {
    assert.equal(guard(host, "10.0.0.1"), undefined, host);
  }
  for (const host of ["x.agent.internal", "internal", "agent.internal.example.com"]) {
    assert.equal(guard(host, "10.0.0.1"), "private", host);
  }
});
